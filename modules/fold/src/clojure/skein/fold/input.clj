;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.input
  "Files, pipes and open streams: their sizes, whether they can be read by position, and their unpacked contents.

  * `file` `stream` `standard-input` `by-position` return an input; `skein.fold.lines` takes it as a path
  * `head` `bytes-at` return some of its bytes
  * `between` `without` return a part of it
  * `leaving-out-rests` `left-out` are for gzip files with other bytes after them

  An input is a map: :path is its name in errors; :packing is how it is compressed, such as \"gzip\", or nil if it isn't or is a pipe;
  :repeatable? says whether it can be read more than once. Its first bytes tell whether it is compressed, not its name."
  {:no-doc true}
  (:require
   [skein.fold.unpack :as unpack]
   [skein.impl.error :as error]
   [skein.impl.once :refer [defrecord-once]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io BufferedInputStream EOFException FileDescriptor FileInputStream FilterInputStream IOException InputStream InterruptedIOException)
   (java.nio.channels Channels ClosedByInterruptException FileChannel)
   (java.nio.file AccessDeniedException FileSystemException Files LinkOption NoSuchFileException OpenOption Path)
   (java.nio.file.attribute BasicFileAttributes)
   (java.util.concurrent.atomic AtomicLong)
   (java.util.zip ZipException)
   (skein.fold.files InputFile PositionChannel)))

(set! *warn-on-reflection* true)

;;;; Errors

(defn- reason [e]
  (let [said (or (ex-message e) (str e))] ; the exception of a closed channel has no message
    (cond
      (instance? AccessDeniedException e) "its permissions forbid it"
      (instance? ZipException e) (str "it is not a gzip file, or a damaged one (" said ")")
      (instance? FileSystemException e) (or (.getReason ^FileSystemException e) said)
      (instance? RuntimeException e) (str "it is damaged (" e ")")
      :else said)))

(defn- failure [error path message & [data cause]]
  (error/failure error message (assoc data :path path) cause))

(defn- missing [path]
  (failure [:skein/file :missing] path (str "There is no file " path ". Check the spelling, and the folder in which the program runs.")))

(defn- directory [path]
  (failure [:skein/file :directory] path (str path " is a directory. Name the files in it, as in " path "/*.log.")))

(defn- ended-early [path serial? position]
  (if serial?
    (failure [:skein/file :truncated] path
      (str path " is cut off: what is compressed in it ends early" (when (pos? (long position)) (str ", after " position " unpacked bytes"))
           ". Was it written and copied to its end?")
      {:unpacked position})
    (failure [:skein/file :truncated] path
      (str path " ended at byte " position ", earlier than when the fold began. Was it truncated or rotated meanwhile?")
      {:position position})))

(defn- too-long [path position]
  (failure :skein/too-large path
    (str "A record in " path " that begins at byte " position " does not fit in memory or in an array. Is the delimiter right?")
    {:position position}))

(defn- interrupted [path]
  (Thread/interrupted)
  (InterruptedException. (str "interrupted while reading " path)))

(defn- cut-off?
  "Returns whether an exception of an unpacking library says that the data end too early. zstd-jni and commons-compress say so only in the message."
  [e]
  (boolean (re-find #"^(?:Truncated source|Premature end of |Unexpected end of )" (str (ex-message e)))))

(defn- error-of
  "Returns the exception that reports `e`, which was thrown when an input was read at `position`; see skein.fold.files.InputFile/fail."
  ^Throwable [path serial? e position]
  (condp instance? e
    ExceptionInfo e
    ClosedByInterruptException (interrupted path)
    InterruptedIOException (interrupted path)
    NoSuchFileException (missing path)
    OutOfMemoryError (too-long path position)
    EOFException (ended-early path serial? position)
    (if (cut-off? e)
      (ended-early path serial? position)
      (let [why (reason e)]
        (failure [:skein/file :unreadable] path (str "Can't read " path ": " why ".") {:position position, :reason why} e)))))

;;;; Inputs

(def ^:private ^:const buffer-bytes (bit-shift-left 1 17))

(def ^:private ^"[Ljava.nio.file.OpenOption;" to-read (make-array OpenOption 0))

(defn- unpacked ^InputStream [{:keys [path left-out]} ^InputStream in]
  (unpack/unpacked path (BufferedInputStream. in buffer-bytes) left-out))

(defn- open-pipe
  "Opens a file that may make its reader wait for ever, so that an interrupt ends the wait."
  ^InputStream [^Path at]
  (proxy [FilterInputStream] [(Channels/newInputStream (FileChannel/open at to-read))]
    ;; On JDK 21 a channel's stream would look for its position, which a pipe does not have.
    (available [] 0)))

(defn- open-anew ^InputStream [{:keys [at start repeatable?] :as input}]
  (let [raw (if repeatable? (Files/newInputStream at to-read) (open-pipe at))]
    (try
      (doto (unpacked input raw) (.skipNBytes start))
      (catch Throwable t ; thrown again; the file must not stay open
        (.close raw)
        (throw t)))))

(defn channel
  "Returns a PositionChannel for an open file."
  ^PositionChannel [^FileChannel file]
  (reify PositionChannel
    (read [_ bytes position] (.read file bytes position))
    (isOpen [_] (.isOpen file))
    (close [_] (.close file))))

;; at: a Path, or nil. opened: atom with a function from the input to a stream that can be opened only once; nil when it has been
;; opened, or if there is none. open-channel: function that returns a PositionChannel; nil if the input can't be read by position.
(defrecord-once ^:private Input [path at packing serial? repeatable? ^long start ^long size left-out opened open-channel]
  InputFile
  (start [_] start)
  (length [_] size)
  (isSerial [_] serial?)
  (open [this]
    (let [[opened] (reset-vals! opened nil)]
      (cond opened (opened this)
            at (open-anew this)
            :else (throw (IOException. "a stream can't be read twice")))))
  (channel [_] (open-channel))
  (fail [_ e position] (throw (error-of path serial? e position))))

(defn- guarded
  "Returns the value of (f). If `f` throws, throws the error for a failed read at `position` instead."
  [path position f]
  (try (f) (catch Exception e (throw (error-of path true e position)))))

(defn file
  "Returns the input at a java.nio.file.Path, which must exist and not be a directory. A pipe is not opened yet."
  [^Path at]
  (let [path (str at)]
    (when (= "" path) (throw (missing "\"\"")))
    (guarded path 0
             #(let [found (Files/readAttributes at BasicFileAttributes ^"[Ljava.nio.file.LinkOption;" (make-array LinkOption 0))
                    _ (when (.isDirectory found) (throw (directory path)))
                    _ (when-not (Files/isReadable at) (throw (AccessDeniedException. path)))
                    regular? (.isRegularFile found)
                    head (when regular? (with-open [in (Files/newInputStream at to-read)] (.readNBytes in unpack/magic-bytes)))
                    packing (unpack/packing head)
                    ;; The system's files in /proc have contents but no size.
                    sizeless? (and (zero? (.size found)) (seq head))]
                (->Input path at packing (boolean (or (not regular?) packing sizeless?)) regular? 0 (.size found) nil (atom nil)
                         (fn open [] (channel (FileChannel/open at to-read))))))))

(defn stream
  "Returns an input with the contents of an InputStream, which is called `path` in errors. It can be read once."
  [path in]
  (->Input path nil nil true false 0 0 nil (atom #(unpacked % in)) nil))

(defn by-position
  "Returns an input of the first `size` bytes of a file, wherever it is. Errors call it `path`. (open) returns a PositionChannel."
  [path size open]
  (->Input path nil nil false true 0 size nil nil open))

(defn standard-input
  "Returns the standard input of the process, which is called \"-\"."
  []
  (stream "-" (FileInputStream. FileDescriptor/in)))

(defn between
  "Returns an input with the bytes [from, to) of another one, which must be readable by position."
  [{:keys [size] :as input} from to]
  (assoc input :start from, :size (- (min (long size) (long to)) (long from))))

(defn without
  "Returns an input without the first `n` of its unpacked bytes. It must be an input that can be read more than once."
  [{:keys [size serial?] :as input} n]
  (if serial? (assoc input :start n) (between input n size)))

(defn leaving-out-rests
  "Returns an input that leaves out any other bytes after the last gzip member. Otherwise such bytes are an error."
  [input]
  (assoc input :left-out (AtomicLong.)))

(defn left-out
  "Returns how many bytes were left out when an input was read to its end, 0 if none."
  ^long [input]
  (if-let [^AtomicLong n (:left-out input)] (.get n) 0))

(defn head
  "Returns the first `n` bytes of an input, unpacked, or all if there are fewer. The input can still be read from its beginning."
  ^bytes [{:keys [path repeatable? opened] :as input} n]
  (guarded path 0
           #(if repeatable?
              (with-open [in (open-anew input)] (.readNBytes in (int n)))
              (let [in (BufferedInputStream. (.open ^InputFile input) (max (int n) (int buffer-bytes)))
                    _ (.mark in (int n))
                    head (.readNBytes in (int n))]
                (.reset in)
                (reset! opened (constantly in))
                head))))

(defn bytes-at
  "Returns the `n` bytes at `position`, or fewer at the end, of a `file` that is read by position."
  ^bytes [{:keys [path at start]} position n]
  (guarded path position
           #(with-open [in (Files/newInputStream at to-read)]
              (.skip in (+ (long start) (long position)))
              (.readNBytes in (int n)))))
