;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.lines
  "Files as lines, cut into ranges of bytes: a range has the lines that begin in it, as in skein.fold.lines. Files are wherever
  Hadoop's file systems find them, and must be readable by each executor."
  {:no-doc true}
  (:require
   [skein.fold.lines :as lines]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.source :as source])
  (:import
   (com.github.luben.zstd ZstdInputStream)
   (java.io BufferedInputStream FileInputStream IOException InputStream)
   (java.net URI)
   (java.nio.charset Charset)
   (java.util.zip GZIPInputStream)
   (org.apache.commons.compress.compressors.bzip2 BZip2CompressorInputStream)
   (org.apache.commons.compress.compressors.lz4 FramedLZ4CompressorInputStream)
   (org.apache.hadoop.conf Configuration)
   (org.apache.hadoop.fs FileStatus FileSystem Path)
   (org.apache.spark SparkEnv)
   (org.apache.spark.deploy SparkHadoopUtil)
   (org.tukaani.xz XZInputStream)
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

(defn- unpacked ^InputStream [^InputStream in kind]
  (case kind
    :gzip (GZIPInputStream. in 65536)
    :zstd (ZstdInputStream. in)
    :bzip2 (BZip2CompressorInputStream. in true)
    :xz (XZInputStream. in)
    :lz4 (FramedLZ4CompressorInputStream. in true)))

(defn part
  "Returns the source of the lines that begin at the bytes `from` to `to` of the file at `uri`."
  [uri from to charset]
  (LineRange. (fn [position] (opened uri position)) uri from to (Charset/forName charset)))

(defn packed
  "Returns the source of all lines of the compressed file at `uri`; kind is :gzip, :zstd, :bzip2, :xz or :lz4."
  [uri kind charset]
  (LineRange. (fn [_] (BufferedInputStream. (unpacked (BufferedInputStream. (opened uri 0) 65536) kind) 65536))
              uri 0 Long/MAX_VALUE (Charset/forName charset)))

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

(def ^:private magics
  "The first bytes of compressed data, by which skein.fold.lines tells them too."
  [[:gzip [0x1F 0x8B]] [:bzip2 [0x42 0x5A 0x68]] [:zstd [0x28 0xB5 0x2F 0xFD]] [:xz [0xFD 0x37 0x7A 0x58 0x5A 0]] [:lz4 [0x04 0x22 0x4D 0x18]]])

(defn kind-of
  "Returns how data that begin with `head`, a sequence of bytes from 0 to 255, are compressed, or nil."
  [head]
  (or (some (fn [[kind magic]] (when (= magic (take (count magic) head)) kind)) magics)
      ;; A skippable frame of Zstandard, by which pzstd begins.
      (when (and (= [0x2A 0x4D 0x18] (take 3 (rest head))) (= 0x50 (bit-and 0xF0 (long (first head))))) :zstd)))

(defn- head
  "Returns the first bytes of a file."
  [^Configuration conf ^Path path]
  (try
    (with-open [in (.open (.getFileSystem path conf) path)]
      (mapv #(bit-and 0xFF (long %)) (.readNBytes in 6)))
    (catch IOException e
      (failed! :skein/file-unreadable path (str "Can't read " path ": " (ex-message e) ".")))))

(defn- calls [conf ^FileStatus status split-bytes charset]
  (let [path (.getPath status)
        uri (str (.toUri path))
        size (.getLen status)
        kind (when (pos? size) (kind-of (head conf path)))]
    (if kind
      [[`packed uri kind charset]]
      (for [[from to] (source/cuts 0 size (quot (+ size (dec split-bytes)) split-bytes))]
        [`part uri from to charset]))))

(def ^:private options
  {:charset [some? "a charset or the name of one"], :split-bytes [pos-int? "a positive number of bytes"]})

(defn lines
  "See skein.spark/lines."
  [opts cluster paths]
  (let [{:keys [split-bytes charset] :or {charset "UTF-8"} :as opts} (check/options "lines" opts options)
        ;; What skein.fold.lines refuses is refused here.
        _ (lines/lines (dissoc opts :split-bytes) paths)
        charset (if (instance? Charset charset) (.name ^Charset charset) charset)
        conf (.hadoopConfiguration (cluster/context cluster))
        files (into [] (mapcat #(statuses conf %)) (if (or (string? paths) (not (coll? paths))) [paths] paths))
        total (transduce (map #(.getLen ^FileStatus %)) + files)
        split (or split-bytes (max 1 (min max-split-bytes (quot total (source/default-partitions cluster)))))]
    (source/of-calls cluster (mapcat #(calls conf % split charset) files))))
