;; SPDX-License-Identifier: Apache-2.0
(ns app
  "Makes an application of the launcher ready to run, out of the modules on the class path.

      java -cp CLASS-PATH:tools/build clojure.main -m app FOLDER MODULE...

  Writes FOLDER/app.jar: the Java classes, all namespaces of some modules and what they require compiled ahead of time with direct
  linking, and all other sources and resources unchanged, so that a command may load a namespace when it first needs it. Copies
  the libraries beside it, because a user may not be allowed to read the builder's repository. Writes the class path, and the
  folders of sources."
  (:require
   [aot]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.walk :as walk]
   [jar])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(def ^:private refer-core '(clojure.core/refer 'clojure.core))

(defn- without-refer
  "Returns what the macro `ns` expands to, changed so that a namespace refers to clojure.core's names only while it is compiled. Its
  classes hold the vars themselves. Referring 700 names took half of the time of loading a namespace."
  [expansion]
  (walk/postwalk (fn change [form] (if (= refer-core form) (list `when `*compile-files* form) form)) expansion))

(defn- compile! [modules classes]
  (alter-var-root #'ns (fn change [expand] (fn expand-less [& arguments] (without-refer (apply expand arguments)))))
  (aot/compile! classes (map second (mapcat #(aot/namespaces (io/file % "src" "clojure")) modules)) {:direct-linking true}))

(defn- compiled?
  "Returns whether the Clojure source at `path` has its class among `entries`. Such a source
  is left out: Clojure would otherwise compare the two files' times at every start."
  [entries path]
  (contains? entries (str/replace path #"\.cljc?$" "__init.class")))

(defn- copy! [^File library folder]
  (let [copy (io/file folder "lib" (.getName library))]
    (io/make-parents copy)
    (io/copy library copy)
    (str "lib/" (.getName library))))

(defn -main [folder & modules]
  (let [classes (io/file folder "classes")
        [libraries folders] ((juxt filter remove) #(.isFile ^File %)
                                                  (map io/file (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))))
        folders (remove #(= "build" (.getName ^File %)) folders)]
    (compile! modules classes)
    (let [compiled (into (jar/files-below classes) (filter #(str/ends-with? (key %) ".class")) (mapcat jar/files-below folders))]
      (jar/write! (io/file folder "app.jar")
                  (into compiled (remove #(compiled? compiled (key %))) (mapcat jar/files-below folders))))
    (jar/delete-tree! classes)
    ;; Clojure's jar comes first: while Clojure starts it looks for its own parts, and opening one jar is quicker than opening two.
    (let [[core others] ((juxt filter remove) #(re-find #"^lib/clojure-" %) (map #(copy! % folder) libraries))]
      (spit (io/file folder "class-path") (str/join "\n" (concat core ["app.jar"] others [""]))))
    (let [root (str (.getCanonicalPath (io/file ".")) "/")]
      (spit (io/file folder "sources")
            (str/join (for [source folders, :let [[_ module] (re-matches #"(.*)/src/clojure" (str source))], part ["src" "deps.edn"] :when module]
                        (str (str/replace-first module root "") "/" part "\n"))))))
  (shutdown-agents))
