;; SPDX-License-Identifier: Apache-2.0
(ns aot
  "Adds the compiled Clojure of a module to its jar, beside the sources.

      java -cp CLASS-PATH clojure.main tools/build/aot.clj SOURCES JAR

  Clojure loads a compiled namespace in place of its source if the class file is newer. In
  the jar all files have one time, so that the same sources give the same jar; here the
  class files get a later one.

  Calls are not linked directly. So compiled code runs on any version of Clojure that has the functions it calls, and
  `with-redefs` affects every call."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File PushbackReader)
   (java.nio.file FileSystem FileSystems Files LinkOption OpenOption Path)
   (java.nio.file.attribute BasicFileAttributeView FileAttribute FileTime)))

(set! *warn-on-reflection* true)

(def ^:private later-ms "More than two seconds, the resolution of times in a jar." 10000)

(defn- files-below [^File folder]
  (sort (filter (fn file? [^File f] (.isFile f)) (file-seq folder))))

(defn- ns-form
  "Returns the ns form of a source file, or nil if it begins with another form: such a file is part of a namespace."
  [^File file]
  (with-open [in (PushbackReader. (io/reader file))]
    (let [form (binding [*read-eval* false] (read {:read-cond :allow, :eof nil} in))]
      (when (and (seq? form) (= 'ns (first form))) form))))

(defn- required
  "Returns the namespaces that an ns form requires, without those that it only abbreviates."
  [form]
  (for [[directive & libs] (filter seq? form)
        :when (#{:require :use} directive)
        lib libs
        :let [[n & options] (if (sequential? lib) lib [lib])]
        :when (and (symbol? n) (not (some #{:as-alias} options)))]
    n))

(defn- on-class-path? [n]
  (io/resource (str (str/replace (namespace-munge n) \. \/) ".clj")))

(defn- compile-all!
  "Compiles the namespaces of the source folder into `classes`, except those that require a library that only
  some users have. Namespaces of other modules are loaded before, so they are not compiled."
  [^File sources classes]
  (let [clojure? (fn clojure? [^File f] (str/ends-with? (.getName f) ".clj"))
        forms (filter (fn complete? [form] (every? on-class-path? (required form)))
                      (keep ns-form (filter clojure? (files-below sources))))
        own (map second forms)]
    (run! require (remove (set own) (distinct (mapcat required forms))))
    (binding [*compile-path* (str classes)]
      (doseq [n own :when (not (contains? (loaded-libs) n))]
        (compile n)))))

(def ^:private no-links (make-array LinkOption 0))

(defn- set-times! [^Path path ^FileTime time]
  (let [^BasicFileAttributeView times (Files/getFileAttributeView path BasicFileAttributeView no-links)]
    (.setTimes times time time time)))

(defn- ensure-folder! [^Path folder time]
  (when-not (or (nil? folder) (Files/exists folder no-links))
    (ensure-folder! (.getParent folder) time)
    (Files/createDirectory folder (make-array FileAttribute 0))
    (set-times! folder time)))

(defn- add!
  "Writes a class file into the jar at `to`. All of its times, and those of the folders made for it, are `time`."
  [^File file ^Path to time]
  (ensure-folder! (.getParent to) time)
  (Files/write to (Files/readAllBytes (.toPath file)) ^"[Ljava.nio.file.OpenOption;" (make-array OpenOption 0))
  (set-times! to time))

(defn- open-jar ^FileSystem [^File jar]
  (let [^Path path (.toPath jar)
        ^java.util.Map no-options {}]
    (FileSystems/newFileSystem path no-options)))

(defn- add-to-jar! [^File classes jar]
  (with-open [fs (open-jar jar)]
    (let [path (fn path [name] (.getPath fs name (make-array String 0)))
          ^Path manifest (path "META-INF/MANIFEST.MF")
          made (.toMillis (Files/getLastModifiedTime manifest no-links))
          later (FileTime/fromMillis (+ (long made) (long later-ms)))]
      (doseq [^File file (files-below classes)
              :let [^Path to (path (str/replace (str (.relativize (.toPath classes) (.toPath file))) File/separatorChar \/))]]
        (add! file to later)))))

(let [[sources jar] *command-line-args*
      classes (Files/createTempDirectory "aot" (make-array FileAttribute 0))]
  (try
    (compile-all! (io/file sources) classes)
    (add-to-jar! (.toFile classes) (io/file jar))
    (finally
      (run! (fn delete [^File f] (.delete f)) (reverse (file-seq (.toFile classes)))))))
(shutdown-agents)
