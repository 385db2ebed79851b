;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.inputs
  "Where logs come from: files, plain or compressed, pipes and standard input.

  - `expand`    paths, some with wildcards -> paths
  - `repeated`  paths -> those that name a file again
  - `prepare`   path -> its first bytes, unpacked, and how to read it

  `skein.fold.files` opens, recognises and unpacks."
  (:require
   [skein.impl.error :as error])
  (:import
   (java.io File IOException InputStream)
   (java.nio.file FileSystems LinkOption Path)
   (skein.fold.files InputFile)))

(set! *warn-on-reflection* true)

(def ^:const head-bytes
  "How many bytes `prepare` looks at."
  65536)

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

(def ^:private archives
  "What a file may be that is no log and no compressed one: its name, where its magic bytes are, and they."
  [["zip" 0 "PK\u0003\u0004"] ["7z" 0 "7z\u00bc\u00af\u0027\u001c"] ["rar" 0 "Rar!\u001a\u0007"] ["tar" 257 "ustar"] ["gzip" 0 "\u001f\u008b"]
   ["bzip2" 0 "BZh91AY&SY"] ["zstd" 0 "\u0028\u00b5\u002f\u00fd"] ["xz" 0 "\u00fd7zXZ\u0000"] ["lz4" 0 "\u0004\u0022\u004d\u0018"]])

(defn- archive-of
  "Returns which of `archives` a file is, by its first bytes, unpacked; nil if it is none."
  [^bytes head]
  (let [text (String. head "ISO-8859-1")]
    (some (fn archive [[name at magic]] (when (.startsWith text ^String magic (int at)) name)) archives)))

(defn- check-archive! [path ^InputFile file head]
  (when-let [archive (archive-of head)]
    (error/fail! :skein/archive
                 (str path (if-let [packing (some-> file .packing)] (str ", unpacked by " packing ", ") " ") "is a " archive
                      " archive, not a log. Unpack it and give the logs in it, or pipe them to skein wf -.")
                 {:path path, :archive archive})))

(def ^:private ^:const more-bytes "How many bytes are looked at in the middle and at the end of a file." 16384)

(defn- whole-lines
  "Returns the whole lines in some bytes of a file."
  ^bytes [^bytes bytes]
  (let [text (String. bytes "ISO-8859-1")
        from (inc (.indexOf text 10))
        to (inc (.lastIndexOf text 10))]
    (.getBytes (if (< 0 from to) (subs text from to) "") "ISO-8859-1")))

(defn- sample
  "Returns lines of the beginning, and of a large file those of the middle and the end too, since its format may have changed.

  bytes-at  function of a position and a number of bytes, nil if the file can only be read from its beginning"
  [head size bytes-at]
  (if (or (nil? bytes-at) (< (long size) (* 2 head-bytes)))
    [head]
    (into [head] (map #(whole-lines (bytes-at % more-bytes))) [(quot (long size) 2) (- (long size) more-bytes)])))

(defn prepare-elsewhere
  "As `prepare`, of a file that this process can only open by (open position), which returns an InputStream.

  size  how many bytes it has"
  [path size packed? open]
  (let [head (with-open [^InputStream in (open 0)] (.head (InputFile/of path in) head-bytes))]
    (check-archive! path nil head)
    {:name path, :head head, :repeatable? true
     :samples (sample head size (when-not packed? (fn [position n] (with-open [^InputStream in (open position)] (.readNBytes in n)))))}))

(defn prepare
  "Returns an input that is ready to be read: {:name path, :file InputFile, :head bytes, :samples [bytes ...], :repeatable?}. :head
  is its first `head-bytes` bytes, unpacked; :samples are lines from several places. \"-\" is standard input. A pipe is open
  from here on, and can be read once. Throws what `skein.fold.lines` throws, and :skein/archive."
  [^String path]
  (let [file (if (= path "-") (InputFile/standardInput) (InputFile/of (Path/of path (make-array String 0))))
        head (.head file head-bytes)]
    (check-archive! path file head)
    {:name path, :file file, :head head, :samples (sample head (.size file) (when-not (.isSerial file) #(.bytesAt file %1 %2))), :repeatable? (.isRepeatable file)}))
