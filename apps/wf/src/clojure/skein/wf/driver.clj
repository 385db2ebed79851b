;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.driver
  "Folds accumulators over inputs: files, plain or compressed, pipes and standard input. Reports what can't be read.

  - `prepare`       path -> its first bytes, unpacked, and how to read it
  - `prepare-all`   paths -> prepared inputs and failures
  - `run`           prepared inputs -> one accumulator
  - `explained`     calls a function, and explains its errors of memory

  Threads are used only here, by a fold over slices. Its step counts the lines of a slice, and its combine merges what two
  workers have counted."
  (:require
   [skein.fold :as fold]
   [skein.fold.input :as input]
   [skein.fold.lines :as lines]
   [skein.impl.error :as error])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io InputStream)
   (java.nio.file Path)
   (java.util.concurrent.atomic AtomicLong)
   (skein.fold.files InputFile)
   (skein.wf Accumulator TooManyKeys)))

(set! *warn-on-reflection* true)

(def ^:const default-slice-bytes
  "Small enough to stay in a core's cache while it is read and counted."
  262144)

;;;; One input

(def ^:const head-bytes
  "How many bytes `prepare` reads."
  65536)

(def ^:private ^:const long-head-bytes
  "How many bytes `prepare` reads if the first line is longer than `head-bytes`."
  16777216)

(defn- head-of
  "Returns the first bytes of a file, with a whole line among them if possible. `first-bytes` is a function of a number that returns
  that many of them, unpacked."
  ^bytes [first-bytes]
  (let [^bytes head (first-bytes head-bytes)]
    (if (and (= head-bytes (alength head)) (neg? (.indexOf (String. head "ISO-8859-1") 10)))
      (first-bytes long-head-bytes)
      head)))

(def ^:private archives
  "Kinds of files that are neither logs nor compressed logs: name, position of the magic bytes, magic bytes."
  [["zip" 0 "PK\u0003\u0004"] ["7z" 0 "7z\u00bc\u00af\u0027\u001c"] ["rar" 0 "Rar!\u001a\u0007"] ["tar" 257 "ustar"] ["gzip" 0 "\u001f\u008b"]
   ["bzip2" 0 "BZh91AY&SY"] ["zstd" 0 "\u0028\u00b5\u002f\u00fd"] ["xz" 0 "\u00fd7zXZ\u0000"] ["lz4" 0 "\u0004\u0022\u004d\u0018"]])

(defn- archive-of
  "Returns which of `archives` a file is, by its first unpacked bytes, or nil."
  [^bytes head]
  (let [text (String. head "ISO-8859-1")]
    (some (fn archive [[name at magic]] (when (.startsWith text ^String magic (int at)) name)) archives)))

(defn- check-archive! [path packing head]
  (when-let [archive (archive-of head)]
    (error/fail! [:skein/file :archive]
                 (str path (if packing (str ", unpacked by " packing ", ") " ") "is a " archive
                      " archive, not a log. Unpack it and give the logs in it, or pipe them to skein wf -.")
                 {:path path, :archive archive})))

(def ^:private ^:const more-bytes "How many bytes are read in the middle and at the end of a file, to detect its format." 16384)

(defn- whole-lines
  "Returns the whole lines in some bytes of a file."
  ^bytes [^bytes bytes]
  (let [text (String. bytes "ISO-8859-1")
        from (inc (.indexOf text 10))
        to (inc (.lastIndexOf text 10))]
    (.getBytes (if (< 0 from to) (subs text from to) "") "ISO-8859-1")))

(defn- sample
  "Returns lines of the beginning of a file. For a larger file, adds lines of its middle and its end, since its format may have changed.

  bytes-at  function of a position and a number of bytes, nil if the file can only be read from its beginning"
  [head size bytes-at]
  (if (or (nil? bytes-at) (<= (long size) head-bytes))
    [head]
    (into [head] (map #(whole-lines (bytes-at % more-bytes))) [(quot (long size) 2) (- (long size) more-bytes)])))

(defn prepare-elsewhere
  "Like `prepare`, for a file that this process can only open by (open position), which returns an InputStream.

  size  how many bytes it has"
  [path size packed? open]
  (let [head (head-of (fn first-bytes [n] (with-open [^InputStream in (open 0)] (input/head (input/stream path in) n))))]
    (check-archive! path nil head)
    {:name path, :head head, :repeatable? true
     :samples (sample head size (when-not packed? (fn [position n] (with-open [^InputStream in (open position)] (.readNBytes in n)))))}))

(defn prepare
  "Returns an input that is ready to be read: {:name path, :file an input of skein.fold.input, :head bytes, :samples [bytes ...],
  :repeatable?}. :head is its first bytes, unpacked; :samples are lines from several places. \"-\" is standard input. A pipe is open
  from here on, and can be read once. Throws what `skein.fold.lines` throws, and :skein/file."
  [^String path]
  (let [^InputFile file (input/leaving-out-rests (if (= path "-") (input/standard-input) (input/file (Path/of path (make-array String 0)))))
        head (head-of #(input/head file %))]
    (check-archive! path (:packing file) head)
    {:name path, :file file, :head head, :samples (sample head (.length file) (when-not (.isSerial file) #(input/bytes-at file %1 %2))), :repeatable? (:repeatable? file)}))

;;;; What can't be read

(def ^:private file-errors
  #{:skein/file :skein/too-large :skein/missing-library :skein/bad-log-format})

(defn- failure
  "Returns the failure of an input for an exception of `skein.fold.lines`. Throws any other exception."
  [^ExceptionInfo e]
  (let [{:keys [path input problem] :skein/keys [error]} (ex-data e)
        input (or path input)] ; without one the error is not of an input
    (if (and input (file-errors error))
      (cond-> {:skein/error error, :input input, :message (error/untold (ex-message e))}
        problem (assoc :problem problem))
      (throw e))))

(defn- fail-inputs! [failures]
  (let [{:keys [message problem] :as worst} (first failures)]
    (error/fail! [(:skein/error worst) problem] message {:input (:input worst), :failures (vec failures)})))

(defn value-or-failure
  "Returns (f x), or a map with :skein/error if that throws because an input can't be read."
  [f x]
  (try (f x)
       (catch ExceptionInfo e (failure e))))

(defn prepare-all
  "Returns `[prepared failures]` for a seq of paths, each prepared by :prepare, which is `prepare` unless it is given.
  Throws the first failure, with all under :failures, unless :keep-going?."
  [paths {:keys [keep-going? prepare] :or {prepare prepare}}]
  (let [{failures true, prepared false} (group-by (comp some? :skein/error) (map #(value-or-failure prepare %) paths))]
    (when (and (seq failures) (not keep-going?)) (fail-inputs! failures))
    [(vec prepared) (vec failures)]))

;;;; Running

(defn- total-bytes
  "Returns the size of all inputs together, or nil when one of them is a stream."
  [prepared]
  (reduce (fn add [^long total {:keys [^InputFile file]}]
            (if (.isSerial file) (reduced nil) (+ total (.length file))))
          0
          prepared))

(defn- too-many-keys! [bytes]
  (error/fail! :skein/too-large
               (str "there are too many different keys for the memory; filter, give Java more memory, as in JAVA_OPTS=-Xmx8g, "
                    "or add --approx, if it is missing, for counts with a known error" (when bytes (str " (now the tables may take " (quot (long bytes) 1000000) " MB)")))
               (if bytes {:limit-bytes bytes} {})))

(defn explained
  "Calls f, and returns its value. If the tables, the memory, the stack or a number overflow, throws an error that says what to do:
  :skein/too-large or :skein/bad-argument."
  [f]
  (try
    (f)
    (catch TooManyKeys e (too-many-keys! (.-limitBytes e)))
    (catch OutOfMemoryError _ (too-many-keys! nil))
    (catch StackOverflowError _
      (error/fail! :skein/bad-argument
                   (str "a regular expression overflows the stack on one of the lines; write it without a repeated choice"
                        " such as (a|b)*, or give Java a larger stack, as in JAVA_OPTS=-Xss64m")
                   {:filter :match}))
    (catch ArithmeticException _
      (error/fail! :skein/too-large "The bytes add up to more than 2^63 - 1; are the sizes in the log real?" {}))))

(defn- step [^Accumulator acc slice]
  (.add acc slice)
  acc)

(defn merge-all
  "Adds what `other` has counted to `acc`, several tallies in parallel, because the threads have nothing else to do at the end."
  [^Accumulator acc ^Accumulator other]
  (fold/fold {:grain 1, :ordered? false}
             {:identity (constantly nil), :step (fn step [_ part] (.merge acc other (int part))), :combine (constantly nil)}
             (range (.parts acc)))
  acc)

(defn- count-slices
  "Returns an accumulator of all slices of the inputs."
  ^Accumulator [prepared new-accumulator {:keys [workers slice-bytes on-start]}]
  (let [done (AtomicLong.)]
    (when on-start
      (on-start {:total-bytes (total-bytes prepared), :bytes-read (fn bytes-read [] (.get done))}))
    (fold/fold (cond-> {:workers (or workers (.availableProcessors (Runtime/getRuntime)))
                        :grain (or slice-bytes default-slice-bytes)
                        :ordered? false}
                 on-start (assoc :on-progress (fn note [progress] (.set done (long (:done progress))))))
               {:identity (fn fresh [] (new-accumulator prepared)), :step step, :combine merge-all}
               (lines/slices (mapv :file prepared)))))

(defn- with-earlier
  "Returns `counted`. If `add` is not nil, first merges a new accumulator, to which `add` has added, into it."
  [counted new-accumulator add]
  (if add
    (merge-all counted (doto (new-accumulator []) add))
    counted))

(defn- count-all
  "Returns `{:result accumulator, :bytes-read n}`, or a failure when an input can't be read to its end."
  [prepared new-accumulator {:keys [counter add-earlier] :or {counter count-slices} :as options}]
  (try
    (explained
      (fn count-them []
        (let [^Accumulator counted (counter prepared new-accumulator options)
              bytes-read (.inputBytes counted)]
          {:result (with-earlier counted new-accumulator add-earlier), :bytes-read bytes-read})))
    (catch ExceptionInfo e (failure e))))

(defn- rests
  "Returns a failure for each gzip input with other bytes at its end, which are not counted."
  [prepared]
  (for [{:keys [name file]} prepared
        :when (pos? (input/left-out file))]
    {:skein/error :skein/file, :problem :unreadable
     :input name
     :counted? true
     :message (str "The last " (input/left-out file) " bytes of " name " are not gzip. They are left out; the rest is counted.")}))

(defn run
  "Returns `{:result accumulator, :bytes-read n, :failures []}`: all prepared inputs, counted by accumulators, which are then
  merged. `new-accumulator` is a function of the inputs that makes one; it is called for each worker. An input with other bytes
  after its gzip members is counted, and also listed in :failures.

  With :keep-going?, an input that fails half-way has been counted in part, so the others are counted anew. That is
  impossible if one of them is a stream; then the failure is thrown after all.

  options  :workers, :slice-bytes, :keep-going?, :on-start as in `skein.wf.wf2/report`
           :counter  a function of the inputs, new-accumulator and the options that counts in place of this process's threads
           :add-earlier  a function that adds to a new accumulator what was counted before
           :recipe   data from which another process makes such accumulators, see `skein.wf.spark`

  Throws what `skein.fold.lines` throws, with :failures, :skein/too-large."
  [prepared new-accumulator {:keys [keep-going?] :as options}]
  (loop [prepared prepared, failures []]
    (let [{:keys [input] :as counted} (count-all prepared new-accumulator options)]
      (if-not (:skein/error counted)
        (assoc counted :failures (into failures (rests prepared)))
        (let [failures (conj failures counted)
              others (filterv #(not= input (:name %)) prepared)]
          (when (or (not keep-going?) (not-every? :repeatable? others)) (fail-inputs! failures))
          (recur others failures))))))
