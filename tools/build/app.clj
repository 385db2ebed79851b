;; SPDX-License-Identifier: Apache-2.0
(ns app
  "Makes an application of the launcher ready to run, out of the modules on the class path.

      java -cp CLASS-PATH:tools/build clojure.main -m app FOLDER MODULE...

  Writes FOLDER/app.jar: the Java classes, all namespaces of some modules and what they require compiled ahead
  of time with direct linking, and all other sources and resources unchanged, so that a command may load a
  namespace when it first needs it. Copies the libraries beside it, because a user may not be allowed to read
  the builder's repository. Writes the class path, and the folders of sources."
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
  "Returns what the macro `ns` expands to, changed so that a namespace refers to clojure.core's names only
  while it is compiled. Its classes hold the vars themselves. Referring 700 names took half of the time of
  loading a namespace."
  [expansion]
  (walk/postwalk (fn change [form] (if (= refer-core form) (list `when `*compile-files* form) form))
                 expansion))

(defn- compile! [modules classes]
  (alter-var-root #'ns (fn change [expand]
                         (fn expand-less [& arguments] (without-refer (apply expand arguments)))))
  (aot/compile! classes
                (map second (mapcat #(aot/namespaces (io/file % "src" "clojure")) modules))
                {:direct-linking true}))

(defn- compiled?
  "Returns whether the Clojure source at `path` has its class among `entries`. Such a source
  is left out: Clojure would otherwise compare the two files' times at every start."
  [entries path]
  (contains? entries (str/replace path #"\.cljc?$" "__init.class")))

(defn- jar-entries [classes folders]
  (let [files (mapcat jar/files-below folders)
        compiled (into (jar/files-below classes) (filter #(str/ends-with? (key %) ".class")) files)]
    (into compiled (remove #(compiled? compiled (key %))) files)))

(defn- sources-of
  "Returns what the modules with these folders are built from, as paths relative to the project."
  [folders]
  (let [root (str (.getCanonicalPath (io/file ".")) "/")]
    (for [folder folders
          :let [[_ module] (re-matches #"(.*)/src/clojure" (str folder))]
          :when module
          part ["src" "deps.edn"]]
      (str (str/replace-first module root "") "/" part))))

(defn- write-lines! [file lines]
  (spit file (str/join (map #(str % "\n") lines))))

(defn- copy! [^File library folder]
  (let [copy (io/file folder "lib" (.getName library))]
    (io/make-parents copy)
    (io/copy library copy)
    (str "lib/" (.getName library))))

(defn -main [folder & modules]
  (let [classes (io/file folder "classes")
        entries (map io/file (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator)))
        libraries (filter #(.isFile ^File %) entries)
        folders (filter #(.isDirectory ^File %) (butlast entries))] ; the last one is tools/build
    (compile! modules classes)
    (jar/write! (io/file folder "app.jar") (jar-entries classes folders))
    (jar/delete-tree! classes)
    ;; Clojure's jar comes first: while Clojure starts it looks for its own parts, and opening one jar is
    ;; quicker than opening two.
    (let [{[core] true, others false} (group-by #(str/starts-with? % "lib/clojure-")
                                                (map #(copy! % folder) libraries))]
      (write-lines! (io/file folder "class-path") (list* core "app.jar" others)))
    (write-lines! (io/file folder "sources") (sources-of folders)))
  (shutdown-agents))
