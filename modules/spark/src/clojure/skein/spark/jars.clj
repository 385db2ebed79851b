;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.jars
  "The jars that executors need: what is on this process's class path and isn't Spark's own."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (java.io File)
   (java.nio.file Files StandardCopyOption)
   (java.security MessageDigest)
   (java.util HexFormat)
   (java.util.zip ZipEntry ZipOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private sparks-own
  "The artifacts that each executor has: what Spark depends on."
  (delay (into #{} (comp (map str/trim) (remove str/blank?)) (line-seq (io/reader (io/resource "skein/spark/provided.txt"))))))

(defn sparks?
  "Returns whether a jar of this name is Spark's or one that Spark depends on."
  [^String jar-name]
  (boolean (some (fn [^String artifact]
                   (and (.startsWith jar-name (str artifact \-))
                        (Character/isDigit (.charAt jar-name (inc (.length artifact))))))
                 @sparks-own)))

(defn- files-of
  "Returns the files in a folder as [name file], by name."
  [^File folder]
  (let [root (.toPath folder)]
    (sort-by first
             (for [^File f (file-seq folder)
                   :when (.isFile f)]
               [(str/replace (str (.relativize root (.toPath f))) File/separator "/") f]))))

(defn- digest [files]
  (let [sha (MessageDigest/getInstance "SHA-256")]
    (doseq [[^String entry ^File f] files]
      (.update sha (.getBytes entry))
      (.update sha (Files/readAllBytes (.toPath f))))
    (subs (.formatHex (HexFormat/of) (.digest sha)) 0 16)))

(defn- write-jar! [files ^File jar]
  (with-open [out (ZipOutputStream. (io/output-stream jar))]
    (doseq [[^String entry ^File f] files]
      (.putNextEntry out (doto (ZipEntry. entry) (.setTime 0)))
      (Files/copy (.toPath f) out)
      (.closeEntry out))))

(defn pack
  "Returns the path of a jar with the files of `folder`, nil if it has none. A jar is made once for the same content."
  [^File folder]
  (let [files (files-of folder)]
    (when (seq files)
      (let [jar (io/file (System/getProperty "java.io.tmpdir") "skein-spark" (str (.getName folder) "-" (digest files) ".jar"))]
        (when-not (.exists jar)
          (io/make-parents jar)
          (let [draft (File/createTempFile "draft" ".jar" (.getParentFile jar))]
            (write-jar! files draft)
            (Files/move (.toPath draft) (.toPath jar) (into-array [StandardCopyOption/ATOMIC_MOVE StandardCopyOption/REPLACE_EXISTING]))))
        (str jar)))))

(defn auto
  "Returns the paths of the jars to ship, for all that is on the class path and isn't Spark's."
  []
  (vec (for [entry (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))
             :let [f (io/file entry)
                   jar (cond
                         (.isDirectory f) (pack f)
                         (and (.isFile f) (not (sparks? (.getName f)))) (str f))]
             :when jar]
         jar)))

(defn- existing [jar]
  (when-not (or (re-find #"^[a-z0-9]+:/" (str jar)) (.isFile (io/file jar)))
    (error/fail! :skein/bad-argument (str "There is no jar " (error/preview jar) ". The jars to ship are paths of files, or URLs that the executors can read.")
                 {:argument :jars, :value (error/preview jar)}))
  (str jar))

(defn wanted
  "Returns the paths of the jars that the option :jars means: :auto, :there or a collection. Throws :skein/bad-argument."
  [jars]
  (cond
    (= :auto jars) (auto)
    (= :there jars) []
    (and (coll? jars) (not (map? jars))) (mapv existing jars)
    :else (error/fail! :skein/bad-argument
                       (str "The option :jars is " (error/preview jars) ", but should be :auto, :there or a collection of paths.")
                       {:argument :jars, :value (error/preview jars)})))
