;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.lines
  "Files as lines, cut into ranges of bytes: a range has the lines that begin in it, as in skein.fold.lines. Files are wherever
  Hadoop's file systems find them, and must be readable by each executor."
  (:require
   [clojure.string :as str]
   [skein.fold.lines :as lines]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.source :as source])
  (:import
   (com.github.luben.zstd ZstdInputStream)
   (java.io FileInputStream IOException InputStream)
   (java.net URI)
   (java.nio.charset Charset)
   (java.util.zip GZIPInputStream)
   (org.apache.hadoop.conf Configuration)
   (org.apache.hadoop.fs FileStatus FileSystem Path)
   (org.apache.spark SparkEnv)
   (org.apache.spark.deploy SparkHadoopUtil)
   (skein.spark.rt LineRange)))

(set! *warn-on-reflection* true)

(def ^:const max-split-bytes "How long a range is at most, unless :split-bytes says otherwise." (* 128 1024 1024))

;;;; There

(defn- opened ^InputStream [uri ^long position]
  (if (= "file" (.getScheme (URI. uri)))
    (let [in (FileInputStream. (.getPath (URI. uri)))]
      (.position (.getChannel in) position)
      in)
    (let [path (Path. (URI. uri))
          ^Configuration conf (.newConfiguration (SparkHadoopUtil/get) (.conf (SparkEnv/get)))]
      (doto (.open (.getFileSystem path conf) path)
        (.seek position)))))

(defn- unpacked ^InputStream [uri]
  (let [in (opened uri 0)]
    (if (str/ends-with? uri ".gz")
      (GZIPInputStream. in 65536)
      (ZstdInputStream. in))))

(defn part
  "Returns the source of the lines that begin at the bytes `from` to `to` of the file at `uri`; of all, unpacked, if `to` is nil."
  [uri from to charset]
  (let [charset (Charset/forName charset)]
    (if to
      (LineRange. (fn [position] (opened uri position)) uri from to charset)
      (LineRange. (fn [_] (unpacked uri)) uri 0 Long/MAX_VALUE charset))))

;;;; Here

(defn- failed! [error path message]
  (error/fail! error message {:path (str path)}))

(defn- statuses
  "Returns the FileStatus of each file that `path` means, which may be a pattern such as logs/*.gz."
  [^Configuration conf path]
  (let [found (try
                (let [path (Path. (str path))]
                  (.globStatus (FileSystem/get (.toUri path) conf) path))
                (catch IOException e
                  (failed! :skein/file-unreadable path (str "Can't look for " path ": " (ex-message e) "."))))]
    (when (empty? found)
      (failed! :skein/file-missing path (str "There is no file " path ", as seen from here. A cluster needs files that each executor can read.")))
    (doseq [^FileStatus status found]
      (when (.isDirectory status)
        (failed! :skein/file-is-directory path (str (.getPath status) " is a directory. Give its files, for instance by " (.getPath status) "/*."))))
    (sort-by #(str (.getPath ^FileStatus %)) found)))

(defn- packed? [uri]
  (or (str/ends-with? uri ".gz") (str/ends-with? uri ".zst")))

(defn- calls [^FileStatus status split-bytes charset]
  (let [uri (str (.toUri (.getPath status)))
        size (.getLen status)]
    (if (packed? uri)
      [[`part uri 0 nil charset]]
      (for [[from to] (source/cuts 0 size (quot (+ size (dec split-bytes)) split-bytes))]
        [`part uri from to charset]))))

(defn- check-split [n]
  (when-not (or (nil? n) (pos-int? n))
    (error/fail! :skein/bad-option (str "The option :split-bytes is " (error/preview n) ", but should be a positive number of bytes.")
                 {:option :split-bytes, :value (error/preview n)})))

(defn lines
  "See skein.spark/lines."
  [cluster paths {:keys [split-bytes] :as opts}]
  ;; What skein.fold.lines refuses is refused here.
  (lines/lines paths (dissoc opts :split-bytes))
  (check-split split-bytes)
  (let [charset (let [c (:charset opts "UTF-8")] (if (instance? Charset c) (.name ^Charset c) c))
        conf (.hadoopConfiguration (cluster/context cluster))
        files (into [] (mapcat #(statuses conf %)) (if (or (string? paths) (not (coll? paths))) [paths] paths))
        total (transduce (map #(.getLen ^FileStatus %)) + files)
        split (or split-bytes (max 1 (min max-split-bytes (quot total (source/default-partitions cluster)))))]
    (source/of-calls cluster (mapcat #(calls % split charset) files))))
