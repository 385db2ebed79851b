;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.files
  "Files in parts, as lines or slices like those of skein.fold.lines. A part has the lines that begin in a range of a file's bytes. A
  compressed file is one part. Hadoop's file systems open the files."
  {:no-doc true}
  (:require
   [skein.fold.input :as input]
   [skein.fold.lines :as lines]
   [skein.fold.source :as fold-source]
   [skein.fold.unpack :as unpack]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.source :as source])
  (:import
   (java.io FileInputStream FileNotFoundException IOException InputStream)
   (java.net URI)
   (java.nio.charset Charset)
   (org.apache.hadoop.conf Configuration)
   (org.apache.hadoop.fs FSDataInputStream FileStatus FileSystem Path)
   (org.apache.spark SparkEnv)
   (org.apache.spark.deploy SparkHadoopUtil)
   (skein.fold.files PositionChannel)
   (skein.fold.spi Slice Span)))

(set! *warn-on-reflection* true)

(def ^:const max-split-bytes "The largest length of a part, unless :split-bytes says otherwise." (* 128 1024 1024))

;;;; There, and here

(defn opened
  "Returns an InputStream of the file at `uri`, from `position` on."
  ^InputStream [uri ^long position]
  (if (= "file" (.getScheme (URI. uri)))
    (let [in (FileInputStream. (.getPath (URI. uri)))]
      (.position (.getChannel in) position)
      in)
    (let [path (Path. (URI. uri))
          ^Configuration conf (.newConfiguration (SparkHadoopUtil/get) (.conf (SparkEnv/get)))]
      (doto (.open (.getFileSystem path conf) path)
        (.seek position)))))

(defn- channel
  "Opens the file at `uri` for reads by position."
  ^PositionChannel [uri]
  (let [^InputStream in (opened uri 0)]
    (if (instance? FileInputStream in)
      (input/channel (.getChannel ^FileInputStream in))
      (reify PositionChannel
        ;; Mostly forwards, which is fast in Hadoop's file systems.
        (read [_ bytes position]
          (locking in
            (.seek ^FSDataInputStream in position)
            (.read in (.array bytes) (.position bytes) (.remaining bytes))))
        (isOpen [_] true)
        (close [_] (.close in))))))

(defn- between
  "Returns the source of the elements of a Span that begin in a range."
  [^Span span ^long from ^long to]
  (reify Span
    (size [_] (- to from))
    (reduce [_ step acc a b] (.reduce span step acc (+ from a) (+ from b)))
    (unit [_] (.unit span))
    (minBlock [_] (.minBlock span))
    (close [_] (.close span))))

(defn- part-of
  "Returns the source of the records of a part; from, to and size are nil for a compressed file, which is one part.

  files  function of an input, returns the source of all of its records"
  [{:keys [uri from to size]} files]
  (if size
    (between (fold-source/-source (files (input/by-position uri size #(channel uri)))) from to)
    (files (input/stream uri (opened uri 0)))))

(defn line-part
  "Returns the source of the lines of a part {:uri :from :to :size} of a file."
  [part charset]
  (part-of part #(lines/lines {:charset charset} %)))

(defn slice-part
  "Returns the source of the slices of a part {:uri :from :to :size} of the file with the number `file`."
  [part file]
  (eduction (map (fn [^Slice slice] (Slice. (.bytes slice) (.from slice) (.to slice) (.position slice) (int file))))
            (part-of part lines/slices)))

;;;; Here

(defn- failed! [error path message]
  (error/fail! error message {:path (str path)}))

(defn- failing
  "Calls `f`. If it throws, throws an error that names the file instead. `doing` says what `f` does."
  [path doing f]
  (try
    (f)
    (catch FileNotFoundException _
      (failed! [:skein/file :missing] path (str "There is no file " path ", as seen from here. A cluster needs files that each executor can read.")))
    (catch IllegalArgumentException e
      (failed! :skein/bad-argument path (str (error/preview path) " names no file: " (ex-message e) ".")))
    (catch IOException e
      (failed! [:skein/file :unreadable] path (str "Can't " doing " " path ": " (ex-message e) ".")))
    ;; The class of a file system may be missing.
    (catch RuntimeException e
      (failed! [:skein/file :unreadable] path (str "Can't " doing " " path ": " (ex-message e) ". The library of its file system may be missing on the class path.")))))

(defn- statuses
  "Returns the FileStatus of each file that `path` means, by name. If no file is called `path`, it may be a pattern such as logs/*.gz."
  [^Configuration conf path]
  (let [found (failing path "look for"
                       #(let [path (Path. (str path))
                              system (FileSystem/get (.toUri path) conf)]
                          (if (.exists system path)
                            [(.getFileStatus system path)]
                            (seq (or (.globStatus system path) (throw (FileNotFoundException.)))))))]
    (when (empty? found)
      (failed! [:skein/file :missing] path (str "No file matches " path ", as seen from here. A cluster needs files that each executor can read.")))
    (doseq [^FileStatus status found]
      (when (.isDirectory status)
        (failed! [:skein/file :directory] path (str (.getPath status) " is a directory. Give its files, for instance as " (.getPath status) "/*."))))
    (sort-by #(str (.getPath ^FileStatus %)) found)))

(defn- packed?
  "Returns whether a file is compressed, by its first bytes."
  [^Configuration conf ^Path path]
  (failing path "read"
           #(with-open [in (.open (.getFileSystem path conf) path)]
              (some? (unpack/packing (.readNBytes in unpack/magic-bytes))))))

(defn found
  "Returns what a path or a pattern means, by name: [{:uri string, :size bytes, :packed? whether it is compressed} ...]. Throws
  :skein/file and :skein/bad-argument."
  [cluster path]
  (let [conf (.hadoopConfiguration (cluster/context cluster))]
    (mapv (fn [^FileStatus status]
            (let [size (.getLen status)]
              {:uri (str (.toUri (.getPath status))), :size size, :packed? (and (pos? size) (packed? conf (.getPath status)))}))
          (statuses conf path))))

(defn- quotient-up [n divisor] (quot (+' n (dec divisor)) divisor))

(defn- parts
  "Returns the parts of each of `files`: [[{:uri :from :to :size} ...] ...]."
  [files split-bytes]
  (for [{:keys [uri size packed?]} files]
    (if packed?
      [{:uri uri}]
      (for [[from to] (source/cuts 0 size (quotient-up size split-bytes))]
        {:uri uri, :from from, :to to, :size size}))))

(defn- default-split-bytes
  "Returns the length of the parts of `total` bytes. Each core reads at least four parts, all of one length, so the cores end together."
  [total cores]
  (let [rounds (max 4 (quotient-up total (* cores max-split-bytes)))]
    (max 1 (quotient-up total (* cores rounds)))))

(defn- source-of
  "Returns the source whose parts are the results of (call part file), where file is the file's number."
  [split-bytes cluster paths call]
  (let [files (into [] (mapcat #(found cluster %)) (if (or (string? paths) (not (coll? paths))) [paths] paths))
        total (transduce (map :size) + files)
        split (or split-bytes (default-split-bytes total (cluster/cores cluster)))]
    (source/of-calls cluster (for [[file its] (map-indexed vector (parts files split)), part its] (call part file)))))

(def ^:private split-option {:split-bytes [pos-int? "a positive number of bytes"]})

(defn lines
  "See skein.spark/lines."
  [opts cluster paths]
  (let [{:keys [split-bytes charset] :or {charset "UTF-8"} :as opts}
        (check/options "lines" opts (assoc split-option :charset [some? "a charset or the name of one"]))
        charset (if (instance? Charset charset) (.name ^Charset charset) charset)]
    ;; Refuses here what skein.fold.lines refuses.
    (lines/lines (dissoc opts :split-bytes) paths)
    (source-of split-bytes cluster paths (fn [part _] [`line-part part charset]))))

(defn slices
  "See skein.spark/slices."
  [opts cluster paths]
  (let [{:keys [split-bytes]} (check/options "slices" opts split-option)]
    (lines/slices paths)
    (source-of split-bytes cluster paths (fn [part file] [`slice-part part file]))))
