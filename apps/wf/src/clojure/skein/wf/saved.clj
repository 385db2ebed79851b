;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.saved
  "What was counted, in a file, so that another run continues from there.

  - `opened`      path -> the header of a file
  - `unread`      inputs -> those of which something was not counted yet
  - `check!`      throws unless the saved question is the one that is asked
  - `add-to`      -> a function that adds what was counted to a new analysis
  - `write!`      writes such a file

  A file is gzip: the length of a header, the header as EDN, and the tables. A log is recognised by its first bytes, unpacked,
  even if its name has changed. So if it grows, or is rotated and compressed, counting continues where the last run stopped."
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str]
   [skein.fold.input :as input]
   [skein.impl.error :as error]
   [skein.wf.driver :as driver]
   [skein.wf.query :as query])
  (:import
   (java.io BufferedInputStream BufferedOutputStream DataInputStream DataOutputStream File FileInputStream FileOutputStream IOException)
   (java.nio.file CopyOption Files StandardCopyOption)
   (java.security MessageDigest)
   (java.util Arrays HexFormat)
   (java.util.zip GZIPInputStream GZIPOutputStream)
   (skein.fold.files InputFile)
   (skein.fold.spi Slice)
   (skein.wf Analysis WrappedFormat$Wrapper)))

(set! *warn-on-reflection* true)

(def ^:private version 3)

(def ^:private most-logs
  "How many logs are remembered: those that were read last. Older ones have usually been deleted by then."
  1000)

(defn- unusable! [^String path reason]
  (error/fail! [:skein/file (if (.exists (File. path)) :foreign :missing)]
               (str path " is not a file of --save that this version can read: " reason) {:path path}))

;;;; Reading

(defn- read-header [path ^DataInputStream in]
  (let [{v :version :as header} (edn/read-string (String. (.readNBytes in (.readInt in)) "UTF-8"))]
    (when-not (= v version) (unusable! path (str "it is of version " (error/preview v) ", not " version)))
    header))

(defn- with-file
  "Calls f with a stream of the file after its header, and with the header."
  [^String path f]
  (try
    (with-open [in (DataInputStream. (BufferedInputStream. (GZIPInputStream. (FileInputStream. path)) 65536))]
      (let [header (read-header path in)]
        (f in (update header :formats (partial mapv (fn wrapper [{:keys [wrapper] :as format}]
                                                      (cond-> format wrapper (assoc :wrapper (WrappedFormat$Wrapper/valueOf wrapper)))))))))
    (catch IOException e (unusable! path (if (.exists (File. path)) (or (ex-message e) "it ends early") "there is no such file")))
    ;; A header that some other program has written may be any text.
    (catch RuntimeException e (if (ex-data e) (throw e) (unusable! path "it is damaged, or something else has written it")))))

(defn opened
  "Returns the header of the file at `path`: {:path, :question, :given, :formats, :logs}. Throws :skein/file."
  [path]
  (assoc (with-file path (fn header [_ header] header)) :path path))

(defn add-to
  "Returns a function that adds what was saved to an analysis that has counted nothing, of the plan to which `check!` has agreed."
  [{:keys [path]}]
  (fn add [^Analysis analysis]
    (with-file path (fn tables [^DataInputStream in _]
                      (.readFrom analysis in)
                      (when-not (neg? (.read in)) (unusable! path "other bytes follow its end"))))))

;;;; The question

(defn- question [query {:keys [approx anonymize?]}]
  {:tallies (mapv #(update % :percentiles set) (first (query/counted query approx)))
   :where (vec (:where query)), :approx approx, :anonymize? (boolean anonymize?)})

(defn- in-shell [argument]
  (if (re-matches #"[\w.,:/=+@%-]+" argument) argument (str "'" argument "'")))

(defn check!
  "Throws :skein/bad-argument unless the planned query (see `skein.wf.analysis/planned`) equals the saved one."
  [{:keys [path given] saved :question} {:keys [query options prepared formats]}]
  (let [asked (question query options)]
    (doseq [{:keys [name from format]} prepared
            :when (and (pos? (long from)) (= :w3c (:layout (formats format))))]
      (error/fail! [:skein/bad-argument :usage]
                   (str name " has grown since it was counted, and in a W3C log an earlier line names the fields; count such a log when it no longer grows")
                   {:path name}))
    (doseq [[part words] {:tallies "other tallies", :where "other conditions", :approx "another --approx", :anonymize? "another --anonymize"}
            :when (not= (part asked) (part saved))]
      (error/fail! [:skein/bad-argument :usage]
                   (str path " was saved with " words ", by " (str/join " " (map in-shell given)) "; what is counted now can't be added to it; give the same tallies and conditions")
                   {:path path, :saved (part saved), :asked (part asked)}))))

;;;; Logs

(defn- digest [^bytes bytes n]
  (.formatHex (HexFormat/of) (.digest (MessageDigest/getInstance "SHA-256") (Arrays/copyOf bytes (int n)))))

(defn- counted-before
  "Returns what is saved of a log, with :read, the number of its unpacked bytes that were counted, or nil if it is another log."
  [logs ^bytes head]
  (let [begins? (fn begins? [{:keys [beginning sha]}]
                  (and (pos? (long beginning)) (<= (long beginning) (alength head)) (= sha (digest head beginning))))]
    (last (sort-by :read (filter begins? logs)))))

(defn- beginning
  "Returns the first bytes of an input's counted lines, by which `log-of` recognises a log."
  ^bytes [{:keys [^bytes head to]}]
  (Arrays/copyOf head (int (min (alength head) (long to)))))

(defn- check-different!
  "Throws :skein/bad-argument if two inputs continue the same log, or begin like the same log. Its new lines would count twice."
  [inputs]
  (doseq [[log [one other]] (group-by :log inputs)
          :when (and log other)]
    (error/fail! [:skein/bad-argument :usage]
                 (str (:name one) " and " (:name other) " are the same log, and a part of it was counted before; give one of them")
                 {:paths [(:name one) (:name other)]}))
  (doseq [[one other] (partition 2 1 (sort-by beginning #(Arrays/compareUnsigned ^bytes %1 ^bytes %2) (filter :repeatable? inputs)))
          :let [^bytes first-bytes (beginning one), ^bytes others (beginning other), n (alength first-bytes)]
          :when (and (pos? n) (<= n (alength others)) (Arrays/equals first-bytes 0 n others 0 n))]
    (error/fail! [:skein/bad-argument :usage]
                 (str (:name one) " and " (:name other) " begin with the same lines, as one log under two names does; give one of them")
                 {:paths [(:name one) (:name other)]})))

(defn- whole-lines
  "Returns the end of the last line in a file that ends with a line feed, or 0."
  [^InputFile file]
  (loop [to (.length file)]
    (let [from (max 0 (- to 65536))
          bytes (input/bytes-at file from (- to from))
          line-feed (loop [i (dec (alength bytes))] (cond (neg? i) nil, (= 10 (aget bytes i)) i, :else (recur (dec i))))]
      (cond line-feed (+ from (long line-feed) 1), (zero? from) 0, :else (recur from)))))

(defn unread
  "Returns the inputs that were not counted to their end before. Each has :from, where its uncounted part begins, and :to, where this run stops. An input
  that can be read by position stops at the end of its last whole line, so that the next run begins with a whole one. Throws :skein/bad-argument."
  [{:keys [logs]} prepared]
  (let [inputs (for [{:keys [^InputFile file head repeatable?] :as input} prepared
                     :let [log (when repeatable? (counted-before logs head))
                           from (long (:read log 0))
                           to (cond (.isSerial file) Long/MAX_VALUE, (< from (.length file)) (max from (long (whole-lines file))), :else 0)]
                     :when (or (zero? from) (and (< from Long/MAX_VALUE) (< from (long (if (.isSerial file) to (.length file))))))]
                 (assoc input
                        :log log, :from from, :to to, :whole file
                        :file (cond (not (.isSerial file)) (input/between file from to)
                                    (pos? from) (input/without file from)
                                    :else file)))]
    (check-different! inputs)
    (vec inputs)))

(defn- add-last-lines!
  "Adds the last lines without a line feed, which `unread` has left out."
  [^Analysis analysis inputs]
  (doseq [[i {:keys [to ^InputFile whole]}] (map-indexed vector inputs)
          :let [n (if (.isSerial whole) 0 (- (.length whole) (long to)))]
          :when (pos? n)]
    (.add analysis (Slice. (Arrays/copyOf (input/bytes-at whole to n) (int (+ n 1 Slice/PAD))) 0 (int n) to (int i)))))

(defn- log-of [{:keys [^bytes head to repeatable?]}]
  (let [n (min (alength head) (long to))]
    (when (and repeatable? (pos? n))
      {:beginning n, :sha (digest head n), :read to})))

;;;; Writing

(defn- header [inputs {:keys [formats query options]}]
  {:version version
   :question (question query options)
   :given (:given options)
   :formats (mapv (fn plain [{:keys [wrapper] :as format}] (cond-> format wrapper (assoc :wrapper (str wrapper)))) formats)
   :logs (vec (take-last most-logs (concat (:logs (:saved options)) (keep log-of inputs))))})

(defn- write-file! [^String path ^Analysis analysis header]
  (let [file (.getCanonicalFile (File. path))
        new (File/createTempFile (str "." (.getName file) ".") ".new" (.getParentFile file))
        ^bytes text (binding [*print-length* nil, *print-level* nil] (.getBytes (pr-str header) "UTF-8"))]
    (try
      (with-open [out (DataOutputStream. (BufferedOutputStream. (GZIPOutputStream. (FileOutputStream. new)) 65536))]
        (.writeInt out (alength text))
        (.write out text)
        (.writeTo analysis out))
      (Files/move (.toPath new) (.toPath file)
                  (into-array CopyOption [StandardCopyOption/ATOMIC_MOVE StandardCopyOption/REPLACE_EXISTING]))
      (finally (.delete new)))))

(defn write!
  "Writes what was counted of the inputs that `unread` has returned into the file at `path`, atomically; writes nothing if `path`
  is nil. Then adds the last lines without a line feed to what was counted, so that they are shown. The next run reads these lines again.

  counted  as `skein.wf.driver/run` returns it
  planned  as `skein.wf.analysis/planned` returns it

  Throws :skein/file."
  [path {:keys [result failures]} {:keys [prepared] :as planned}]
  (let [lost (into #{} (comp (remove :counted?) (map :input)) failures)
        inputs (filterv (comp not lost :name) prepared)]
    (when path
      (try (write-file! path result (header inputs planned))
           (catch IOException e
             (error/fail! [:skein/file :unwritable] (str path ": can't be written: " (ex-message e)) {:output path}))))
    (add-last-lines! result inputs)))
