;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.inputs
  "Where logs come from: files, plain or compressed, pipes and standard input.

  - `expand`    paths, some with wildcards -> paths
  - `repeated`  paths -> those that name a file again
  - `check`     what is wrong with a path, or nil
  - `prepare`   path -> its first bytes, unpacked, and how to read it
  - `reason`    why it could not be read

  What is compressed is known by its first bytes, not by its name. Gzip needs nothing but Java; bzip2 needs
  org.apache.commons/commons-compress on the class path, and Zstandard com.github.luben/zstd-jni; `./skein` brings both."
  (:require [clojure.string :as str]
            [skein.impl.error :as error])
  (:import (java.io BufferedInputStream EOFException File FileDescriptor FileInputStream IOException InputStream)
           (java.lang.reflect InvocationTargetException)
           (java.nio.file AccessDeniedException FileSystems Files LinkOption NoSuchFileException Path)
           (skein.fold.rt GzipStream ZstdFrames)
           (skein.wf Input Input$Opener)))

(set! *warn-on-reflection* true)

(def ^:const head-bytes
  "How many bytes `prepare` looks at."
  65536)

(def ^:private buffer-bytes 131072)

;;;; Paths

(defn- wildcard? [^String path]
  (boolean (re-find #"[*?\[{]" path)))

(defn- matches
  "Returns the files that a path with wildcards names, sorted."
  [^String path]
  (let [root (or (.getParentFile (File. path)) (File. "."))
        prefix (if (.getParentFile (File. path)) (str root File/separator) "")
        matcher (.getPathMatcher (FileSystems/getDefault) (str "glob:" (.getName (File. path))))]
    (if (wildcard? (str root))
      []
      (->> (.listFiles root)
           (filter (fn match? [^File file] (and (.isFile file) (.matches matcher (Path/of (.getName file) (make-array String 0))))))
           (map (fn path-of [^File file] (str prefix (.getName file))))
           sort))))

(defn expand
  "Returns `paths` with each that names no file, but has one of * ? [ { in its last part, replaced by the files it
  matches, sorted. One that matches nothing stays as it is."
  [paths]
  (into []
        (mapcat (fn files [^String path]
                  (or (when (and (wildcard? path) (not (.exists (File. path)))) (seq (matches path)))
                      [path])))
        paths))

(defn repeated
  "Returns those of `paths` that name the same file as one before them."
  [paths]
  (let [identity-of (fn identity-of [^String path]
                      (try (str (.toRealPath (Path/of path (make-array String 0)) (make-array LinkOption 0)))
                           (catch IOException _ path)))]
    (first (reduce (fn step [[again seen] path]
                     (let [id (if (= path "-") path (identity-of path))]
                       (if (seen id) [(conj again path) seen] [again (conj seen id)])))
                   [[] #{}]
                   paths))))

(defn- failure [keyword input message]
  {:skein/error keyword, :input input, :message message})

(defn reason
  "Returns why a file could not be read, of an exception whose message may be no more than the file's name."
  [^Throwable e]
  (cond
    (instance? NoSuchFileException e) "no such file any more"
    (instance? AccessDeniedException e) "no permission to read it"
    (str/blank? (some-> e .getMessage)) (if (instance? EOFException e) "it ends too early" "no reason given")
    :else (.getMessage e)))

(defn check
  "Returns what is wrong with a path, {:skein/error keyword, :input path, :message text}, or nil. \"-\" is standard input."
  [^String input]
  (let [file (File. input)]
    (cond
      (= input "-") nil
      (= input "") (failure :skein/file-missing input "\"\": no such file")
      (not (.exists file)) (failure :skein/file-missing input (str input ": no such file"))
      (.isDirectory file) (failure :skein/file-is-directory input
                                   (str input ": is a directory; name the files in it, as in " input "/*.log"))
      (not (.canRead file)) (failure :skein/file-unreadable input (str input ": no permission to read it")))))

;;;; Compression

(defn- begins? [^bytes head magic]
  (and (<= (count magic) (alength head))
       (every? true? (map-indexed (fn same? [i b] (= (long b) (bit-and 0xFF (aget head i)))) magic))))

(defn- packing
  "Returns how the bytes are compressed, by their beginning, or nil."
  [head]
  (cond
    (begins? head [0x1F 0x8B]) :gzip
    (begins? head [0x42 0x5A 0x68]) :bzip2
    (begins? head [0x28 0xB5 0x2F 0xFD]) :zstd))

(defn- construct
  "Returns a new `class-name`, a stream around `in`, from a library that may not be there."
  [^String class-name library types arguments]
  (let [^Class c (try (Class/forName class-name)
                      (catch ClassNotFoundException _
                        (error/fail! :skein/no-unpacker
                                     (str "reading this kind of compressed file needs " library " on the class path; ./skein has it")
                                     {:library library})))]
    (try (.newInstance (.getConstructor c (into-array Class types)) (object-array arguments))
         (catch InvocationTargetException e (throw (.getCause e))))))

(defn- damaged!
  "Throws what an unpacker threw at its input as an IOException: on damaged bytes it may trip over its own feet."
  [^RuntimeException e]
  (throw (if (ex-data e) e (IOException. (str "damaged: " e) e))))

(defn- unpacked
  "Returns a stream of what `in`, compressed as `packing` says, unpacks to; all its members, one after the other."
  ^InputStream [packing ^InputStream in]
  (case packing
    :gzip (GzipStream. in (int buffer-bytes))
    :bzip2 (construct "org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream"
                      "org.apache.commons/commons-compress" [InputStream Boolean/TYPE] [in true])
    :zstd (construct "com.github.luben.zstd.ZstdInputStream" "com.github.luben/zstd-jni" [InputStream] [(ZstdFrames. in)])
    in))

;;;; Opening

(defn- regular? [^String path]
  (and (not= path "-")
       (Files/isRegularFile (Path/of path (make-array String 0)) (make-array LinkOption 0))))

(defn- open-file ^InputStream [^String path]
  (cond
    (= path "-") (FileInputStream. FileDescriptor/in)
    (regular? path) (Files/newInputStream (Path/of path (make-array String 0)) (make-array java.nio.file.OpenOption 0))
    ;; JDK 21 would ask a stream of Files for its position to know how much is available; a pipe has none.
    :else (FileInputStream. path)))

(defn- peek-bytes
  "Returns the next `n` bytes of a stream, or all there are, and leaves them there."
  ^bytes [^BufferedInputStream in n]
  (.mark in (int n))
  (let [head (.readNBytes in (int n))]
    (.reset in)
    head))

(defn- open-unpacked
  "Returns a stream of the unpacked bytes of an input, that can be peeked at."
  ^BufferedInputStream [path]
  (let [in (BufferedInputStream. (open-file path) (int buffer-bytes))]
    (try
      (if-let [packing (packing (peek-bytes in 4))]
        (BufferedInputStream. (unpacked packing in) (int buffer-bytes))
        in)
      (catch Throwable e
        (.close in)
        (throw e)))))

(defn- once
  "Returns an opener that gives `in`, which is open already, and can't be opened again."
  [^InputStream in]
  (let [taken? (atom false)]
    (reify Input$Opener
      (open [_]
        (when-not (compare-and-set! taken? false true)
          (throw (IOException. "a stream can't be read twice")))
        in))))

(defn- prepare-file [path]
  (with-open [in (BufferedInputStream. (open-file path) (int buffer-bytes))]
    (let [size (.length (File. ^String path))
          head (peek-bytes in head-bytes)]
      (if-let [packing (packing head)]
        {:name path
         :head (peek-bytes (BufferedInputStream. (unpacked packing in) (int buffer-bytes)) head-bytes)
         :packing packing
         :opener (reify Input$Opener (open [_] (open-unpacked path)))
         :repeatable? true}
        {:name path, :head head, :size size, :repeatable? true}))))

(defn- prepare-stream [path]
  (let [in (open-unpacked path)]
    {:name path, :head (peek-bytes in head-bytes), :opener (once in), :repeatable? false}))

(defn prepare
  "Returns an input that is ready to be read: {:name path, :head bytes, :opener, :packing, :size, :repeatable?}; `check` has
  found nothing wrong with it. :head is its first `head-bytes` bytes, unpacked; :size, how large a file is that is read as it is. Standard input and pipes are open from here on, and
  can be read once. Throws IOException, and :skein/no-unpacker."
  [path]
  (try (if (regular? path) (prepare-file path) (prepare-stream path))
       (catch RuntimeException e (damaged! e))))

(defn ->input
  "Returns a prepared input for the engine: {:name, :opener, :format number, :limit bytes}, the last two if need be."
  ^Input [{:keys [name opener format limit] :or {format 0, limit Long/MAX_VALUE}}]
  (Input. name (int format) opener (long limit)))
