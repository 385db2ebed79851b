;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.far
  "What a task does: folds one partition, and returns the partial value, or why there is none, as bytes.

  A request is a map {:fold :source :stages :max-bytes :files :bindings}, encoded; see `run`. An exception is a result like
  any other, not a failure of the task, which Spark would run again."
  {:no-doc true}
  (:require
   [skein.fold :as fold]
   [skein.impl.error :as error]
   [skein.spark.codec :as codec]
   [skein.spark.names :as names]
   [skein.spark.order :as order]))

(set! *warn-on-reflection* true)

(defn- watching
  "Returns a transducer that passes everything on. It counts the elements in the first cell of `units`, and sets `stopped` when
  the step returns a reduced value."
  [^longs units stopped]
  (fn watch [rf]
    (fn
      ([] (rf))
      ([acc] (rf acc))
      ([acc x]
       (aset units 0 (inc (aget units 0)))
       (let [acc (rf acc x)]
         (when (reduced? acc) (vreset! stopped true))
         acc)))))

(defn- fold-partition
  "Folds `source` on one thread. Returns [:value v n], or [:stopped v n] if a step has returned a reduced value. v is the value
  before :complete, n is the number of elements."
  [f source]
  (let [units (long-array 1)
        stopped (volatile! false)
        value (fold/fold {:workers 1} (fold/through (watching units stopped) (dissoc f :complete)) source)]
    [(if @stopped :stopped :value) value (aget units 0)]))

(defn- check-files
  "Throws :skein/far-code if a namespace's file here is not the one that the caller has."
  [files]
  (doseq [[n there] files
          :let [here (names/fingerprint n)]]
    (when-not (= here there)
      (error/fail! [:skein/far-code (if here :differs :missing)]
                   (if here
                     (str "The namespace " n " has changed since its jar was shipped. Close the cluster and connect again.")
                     (str "The namespace " n " is not on the class path here. Ship the jar that holds it, by :jars of skein.spark/connect."))
                   {:namespace n, :jars (names/shipped)}))))

(defn- open
  "Returns the source for a partition. `source` is an encoded call [symbol & arguments] that returns it, or is the source itself. If
  there is a call `reader`, it makes the source from `source`."
  [source reader]
  (let [[sym & args] (if (bytes? source) (codec/decode source) reader)]
    (cond
      (bytes? source) (apply (names/resolve-name sym) args)
      reader (apply (names/resolve-name sym) source args)
      :else source)))

(defn- fold-here [{:keys [f stages files bindings max-bytes reader]} source where]
  (check-files files)
  (with-bindings (or bindings {})
    (let [start (System/nanoTime)
          f (if stages (order/prefix f stages) f)
          [how value units] (fold-partition f (open source reader))
          stats (assoc where :units units, :ns (- (System/nanoTime) start))]
      (codec/encode [how value stats] max-bytes))))

(defn- thrown [^Throwable t where]
  (codec/encode [:thrown t where] Integer/MAX_VALUE))

(defn run
  "Returns the encoded [how value stats] of the fold of one partition: how is :value, :stopped or :thrown.

  request  bytes of {:f          fold
                     :stages     how many stages of its xform to do, into a vector; nil for the whole fold
                     :files      map from namespace to the checksum of its file
                     :bindings   map from var to value
                     :max-bytes  how large the result may be
                     :reader     a call [symbol & arguments] that gets the partition first, and returns the source; or nil}
  source   the partition: a source of skein.fold, or the bytes of a call [symbol & arguments] that returns one
  where    map that is added to stats, or nil"
  [^bytes request source where]
  (try
    (fold-here (codec/decode request) source where)
    (catch VirtualMachineError e
      ;; Spark has to know that this process is in trouble. A stack overflow concerns only the step.
      (if (instance? StackOverflowError e) (thrown e where) (throw e)))
    (catch Throwable t (thrown t where))))
