;; SPDX-License-Identifier: Apache-2.0
(ns jar
  "Jars whose bytes depend on their content alone."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File OutputStream)
   (java.time LocalDateTime)
   (java.util.zip ZipEntry ZipOutputStream)))

(set! *warn-on-reflection* true)

(defn files-below
  "Returns a map from path relative to `folder`, with slashes, to File."
  [folder]
  (let [root (.toPath (io/file folder))]
    (into {} (for [^File file (file-seq (io/file folder)) :when (.isFile file)]
               [(str/replace (str (.relativize root (.toPath file))) File/separatorChar \/) file]))))

(def ^:private entry-time (LocalDateTime/of 2026 1 1 0 0))

(defn- time-of
  "Clojure loads a compiled namespace in place of its source if the class file is newer, by more than the
  resolution of times in a jar."
  [path]
  (if (str/ends-with? path ".class") (.plusSeconds ^LocalDateTime entry-time 10) entry-time))

(defn write!
  "Writes `entries`, a map from path to File, into a jar."
  [jar entries]
  (io/make-parents jar)
  (with-open [out (ZipOutputStream. (io/output-stream jar))]
    (doseq [[^String path ^File file] (sort-by key entries)]
      (.putNextEntry out (doto (ZipEntry. path) (.setTimeLocal (time-of path))))
      (io/copy file ^OutputStream out)
      (.closeEntry out))))

(defn delete-tree! [folder]
  (run! (fn delete [^File file] (.delete file)) (reverse (file-seq (io/file folder)))))
