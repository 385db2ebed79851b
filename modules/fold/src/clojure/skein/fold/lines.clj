;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.lines
  "Files as sources of folds.

  * `lines`    strings, for convenience
  * `records`  strings or byte arrays that end with a delimiter of your own
  * `slices`   many lines at a time in a byte buffer, for speed

  Each takes one path or several, and returns a source that can be folded any number of times. A fold looks at the files when
  it begins, and reads them up to the size that they have then. A part of a file owns the records whose first byte lies in it,
  so each record is read exactly once, in order.

  A compressed file is unpacked. Its first bytes say how it is compressed, not its name. gzip needs no library. Zstandard needs
  com.github.luben/zstd-jni on the class path, bzip2 and lz4 org.apache.commons/commons-compress, xz org.tukaani/xz. Several
  compressed files are read in parallel. A single one is unpacked by one thread while others process its lines. Pipes, devices
  and the files of /proc, which have no size, are read in the same way. A pipe can be folded once. Before the fold waits for
  more from a pipe, it processes all complete records that it has read.

  Throws :skein/file, :skein/too-large
  and :skein/missing-library, and for arguments :skein/bad-argument.

      (skein.fold/fold skein.fold/count (lines \"LICENSE\"))
      ;=> 202"
  (:require
   [skein.fold.input :as input]
   [skein.fold.source :as source]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (java.io File)
   (java.nio.charset Charset StandardCharsets)
   (java.nio.file InvalidPathException Path)
   (java.util Arrays Collection)
   (skein.fold.files FilesSpan InputFile RecordFormat StreamFeed)))

(set! *warn-on-reflection* true)

(defn- bad-path! [x why]
  (error/fail! :skein/bad-argument
               (str "A path must be a string, a java.io.File or a java.nio.file.Path, but is " (error/preview x) why ".")
               {:path (error/preview x)}))

(defn- ->path [x]
  (try
    (condp instance? x
      Path x
      InputFile x
      File (.toPath ^File x)
      String (if (= "" x) (bad-path! x ", which is empty") (Path/of x (make-array String 0)))
      (bad-path! x ""))
    (catch InvalidPathException e (bad-path! x (str ": " (.getReason e))))))

(defn- ->paths [x]
  (if (or (sequential? x) (instance? Collection x))
    (mapv ->path x)
    [(->path x)]))

(def ^:private charset-option {:charset [some? "a charset or the name of one"]})
(def ^:private record-options (assoc charset-option :as [#{:string :bytes} ":string or :bytes"]))
(def ^:private slice-options {:delimiter [some? "a character, a string or a byte array"]})

(def ^:private probe-chars "Characters that the charset must encode as ASCII does, so that a file can be divided at bytes." "\n\r aZ0")

(defn- ->charset ^Charset [x]
  (let [charset (cond
                  (instance? Charset x) x
                  (and (string? x) (try (Charset/isSupported x) (catch IllegalArgumentException _ false))) (Charset/forName x))]
    (if (and charset (.canEncode ^Charset charset)
             (Arrays/equals (.getBytes ^String probe-chars ^Charset charset)
                            (.getBytes ^String probe-chars StandardCharsets/US_ASCII)))
      charset
      (error/fail! :skein/bad-argument
                   (str "The charset " (error/preview x) " is unknown, or not an extension of ASCII as UTF-8 is, so a file can't be "
                        "divided at the bytes that end its lines.")
                   {:charset (str x)}))))

(defn- overlaps-itself?
  "Returns whether the end of the bytes equals their beginning, so that two delimiters could overlap."
  [^bytes bytes]
  (let [n (alength bytes)]
    (boolean (some (fn same? [k] (Arrays/equals (Arrays/copyOfRange bytes 0 (int k)) (Arrays/copyOfRange bytes (- n (int k)) n)))
                   (range 1 n)))))

(defn- within-characters?
  "Returns whether the byte `b` occurs in the encoding of some character after its first byte. Then not every `b` is the first
  byte of a character."
  [b ^Charset charset]
  (cond
    (= StandardCharsets/UTF_8 charset) (<= -128 (long b) -65)
    (= 1.0 (.maxBytesPerChar (.newEncoder charset))) false
    :else (boolean (some (fn holds? [c]
                           (let [bytes (.getBytes (String/valueOf (char c)) charset)]
                             (loop [i 1]
                               (cond (>= i (alength bytes)) false
                                     (= (long b) (aget bytes i)) true
                                     :else (recur (inc i))))))
                         (range 0x10000)))))

(defn- delimiter-bytes
  "Returns the bytes of the delimiter `x`, or nil if it is not a delimiter or `charset` can't encode it."
  ^bytes [x ^Charset charset]
  (if (bytes? x)
    x
    (when-let [text (when (or (char? x) (string? x)) (str x))]
      (let [bytes (.getBytes ^String text charset)]
        (when (= text (String. bytes charset)) bytes)))))

(defn- ->delimiter
  "Returns the bytes of the delimiter `x`. If `charset` is nil, the bytes need not fit a charset."
  ^bytes [x ^Charset charset]
  (let [bytes (delimiter-bytes x (or charset StandardCharsets/UTF_8))]
    (when (or (nil? bytes) (zero? (alength bytes)) (overlaps-itself? bytes))
      (error/fail! :skein/bad-argument
                   (str "A delimiter must be a character, a string or a byte array that is not empty, whose end does not equal its "
                        "beginning, and that the file's charset can encode, but is " (error/preview x) ".")
                   {:delimiter (error/preview x)}))
    (when (and charset (within-characters? (aget bytes 0) charset))
      (error/fail! :skein/bad-argument
                   (str "In " charset " the first byte of the delimiter " (error/preview x) " also occurs within other characters, so "
                        "a file can't be divided there. Choose another, or convert the file to UTF-8.")
                   {:delimiter (error/preview x), :charset (str charset)}))
    bytes))

(defn- ->input [path]
  (if (instance? InputFile path) path (input/file path)))

;; Not a defrecord, which would be a map: some functions test for maps first.
(deftype-once ^:private Files [paths format]
  source/Source
  (-source [_]
    (let [files (mapv ->input paths)
          ^InputFile file (first files)]
      (if (and (= 1 (count files)) (.isSerial file))
        (StreamFeed. file format)
        (FilesSpan. files format)))))

(defn lines
  "Returns a source of the lines of files, as strings, like `line-seq`. A line ends with line feed, carriage return or both, which
  are not part of the string. A byte order mark stays in the first line.

      (skein.fold/fold (skein.fold/into []) (eduction (take 1) (lines \"deps.edn\")))
      ;=> [\";; SPDX-License-Identifier: Apache-2.0\"]

  - paths    string, File or Path, or a collection of these
  - options:
    - :charset  name or java.nio.charset.Charset, an extension of ASCII; by default UTF-8"
  ([paths] (lines nil paths))
  ([options paths]
   (let [{:keys [charset] :or {charset StandardCharsets/UTF_8}} (check/options "lines" options charset-option)]
     (Files. (->paths paths) (RecordFormat/lines (->charset charset))))))

(defn records
  "Returns a source of the records of files. Each record ends with `delimiter`, which is left out.

  - paths      as for `lines`
  - delimiter  character, string or byte array. Its end must not equal its beginning, as in \"aba\". Its first byte must not
               occur inside other characters of the charset, as | does in Shift_JIS
  - options:
    - :charset  as for `lines`
    - :as       :string, the default, or :bytes for byte arrays"
  ([paths delimiter] (records nil paths delimiter))
  ([options paths delimiter]
   (let [{:keys [charset as] :or {charset StandardCharsets/UTF_8}} (check/options "records" options record-options)
         charset (->charset charset)
         raw? (= :bytes as)]
     (Files. (->paths paths)
             (RecordFormat/records (->delimiter delimiter (when-not (and raw? (bytes? delimiter)) charset))
               (when-not raw? charset))))))

(defn slices
  "Returns a source of parts of files. Each element is a skein.fold.spi.Slice: some complete lines in a buffer.

  - paths    as for `lines`
  - options:
    - :delimiter  the end of a line, as for `records`; by default line feed

  A slice has fields bytes, from, to, position and file, the number of its file in `paths`. `.copy` and `.text` copy it. Its
  buffer is reused when the step that got it has returned. The length of a slice depends on how long the step takes, and on
  the option :grain of the fold."
  ([paths] (slices nil paths))
  ([options paths]
   (let [{:keys [delimiter] :or {delimiter \newline}} (check/options "slices" options slice-options)]
     (Files. (->paths paths) (RecordFormat/slices (->delimiter delimiter nil))))))
