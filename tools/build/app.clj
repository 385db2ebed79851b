;; SPDX-License-Identifier: Apache-2.0
(ns app
  "Makes the jar of an application of the launcher out of the modules on the class path: the Java classes, all namespaces of
  some of the modules and what they require compiled ahead of time with direct linking, and all other sources and
  resources unchanged, so that a command may load a namespace when it first needs it.

      java -cp CLASS-PATH clojure.main tools/build/app.clj FOLDER MODULE...

  Writes FOLDER/app.jar. A MODULE is a folder such as apps/wf. The jar is for `./skein` alone. Maven and aot.clj make those
  of the libraries."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.walk :as walk])
  (:import
   (java.io File OutputStream)
   (java.nio.file.attribute FileTime)
   (java.util.zip ZipEntry ZipOutputStream)))

(set! *warn-on-reflection* true)

;; All entries have one time, so the jar's bytes depend on its content alone.
(def ^:private entry-time (FileTime/fromMillis 946684800000))

(defn- delete-tree! [^File folder]
  (doseq [^File file (reverse (file-seq folder))]
    (.delete file)))

(defn- files-below
  "Returns a map from path relative to `folder`, with slashes, to File."
  [^File folder]
  (let [prefix (.toPath folder)]
    (into (sorted-map)
          (for [^File file (file-seq folder) :when (.isFile file)]
            [(str/replace (str (.relativize prefix (.toPath file))) File/separatorChar \/) file]))))

(defn- folders
  "Returns the folders on the class path that end in `ending`: those of the modules."
  [ending]
  (for [entry (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))
        :when (str/ends-with? entry ending)]
    (io/file entry)))

(defn- namespaces
  "Returns the namespaces of a module."
  [module]
  (for [path (mapcat (comp keys files-below) (folders (str "/" module "/src/clojure")))
        :let [[_ name] (re-matches #"(.*)\.cljc?" path)]
        :when name]
    (symbol (str/replace name #"[/_]" {"/" ".", "_" "-"}))))

(def ^:private refer-core '(clojure.core/refer 'clojure.core))

(defn- without-refer
  "Returns what the macro `ns` expands to, changed so that a namespace refers to clojure.core's names only while it is compiled. Its
  classes hold the vars themselves. Referring 700 names took half of the time of loading a namespace."
  [expansion]
  (walk/postwalk (fn change [form] (if (= refer-core form) (list `when `*compile-files* form) form)) expansion))

(defn- compile! [namespaces ^File classes]
  (.mkdirs classes)
  (alter-var-root #'ns (fn change [expand] (fn expand-less [& arguments] (without-refer (apply expand arguments)))))
  (binding [*compile-path* (str classes)
            *compiler-options* (assoc *compiler-options* :direct-linking true)]
    (run! compile namespaces)))

(defn- compiled?
  "Returns whether the Clojure source at `path` has its class among `entries`. Such a source
  is left out: Clojure would otherwise compare the two files' times at every start."
  [entries path]
  (contains? entries (str/replace path #"\.cljc?$" "__init.class")))

(defn- jar-entries [^File compiled]
  (let [classes (into (files-below compiled)
                      (comp (mapcat files-below) (filter #(str/ends-with? (key %) ".class")))
                      (folders "/target/classes"))]
    (into classes
          (comp (mapcat files-below) (remove #(compiled? classes (key %))))
          (folders "/src/clojure"))))

(defn- write-jar! [^File jar entries]
  (with-open [out (ZipOutputStream. (io/output-stream jar))]
    (doseq [[^String path ^File file] entries]
      (.putNextEntry out (.setLastModifiedTime (ZipEntry. path) entry-time))
      (io/copy file ^OutputStream out)
      (.closeEntry out))))

(let [[folder & modules] *command-line-args*
      classes (io/file folder "classes")]
  (compile! (mapcat namespaces modules) classes)
  (write-jar! (io/file folder "app.jar") (jar-entries classes))
  (delete-tree! classes))
(shutdown-agents)
