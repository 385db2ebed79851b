;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.run
  "Folds a source on a cluster: sends the fold, combines what comes back in the order of the partitions."
  {:no-doc true}
  (:require
   [skein.fold :as fold]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.job :as job]
   [skein.spark.order :as order]
   [skein.spark.request :as request])
  (:import
   (clojure.lang IReduceInit)
   (skein.spark.rt PartTask)))

(set! *warn-on-reflection* true)

;;;; Options

(def ^:private options
  {:order [#{:driver :refuse} ":driver or :refuse"]
   :max-result-bytes [pos-int? "a positive number of bytes"]
   :timeout-ms check/time-option
   :lost-after-ms check/time-option
   :bindings [#(and (coll? %) (every? var? %)) "a collection of vars"]
   :on-progress [ifn? "a function of one argument"]})

;;;; Results

(defn- throw-far
  "Throws the exception of a step on an executor. Its stack trace has the executor's frames, and then those of this thread."
  [^Throwable t]
  (let [here (.getStackTrace (Throwable.))]
    (.setStackTrace t (into-array StackTraceElement (concat (.getStackTrace t) here)))
    (throw t)))

(defn- note
  "Reports a result to `trace`, an atom or nil, and to :on-progress. Throws the exception of a result that is one."
  [trace {:keys [on-progress]} total i [how value stats bytes]]
  (when trace (swap! trace conj (assoc stats :partition i, :how how, :bytes bytes)))
  (when on-progress (on-progress {:done (inc (long i)), :total total, :unit :partitions}))
  (when (= :thrown how) (throw-far value)))

(defn- part ^PartTask [{:keys [pieces?]} request]
  (PartTask. (request/encoded request) (boolean pieces?)))

;;;; Folds whose parts can be combined

(defn- combine-results [{:keys [cluster rdd n opts trace] :as job} f request]
  (let [combine (:combine f)
        add (fn add [acc [i [how value :as result]]]
              (note trace opts n i result)
              (let [acc (if (= ::none acc) value (combine acc value))]
                (if (= :stopped how) (ensure-reduced acc) acc)))]
    (unreduced (job/reduce-results cluster rdd (part job request) (range n) add ::none opts))))

;;;; Folds that need order

(defn- in-order
  "Returns a source of the elements that the executors let through, in order. It asks for a few partitions
  at a time, so only their elements wait here."
  [{:keys [cluster rdd n opts trace] :as job} request]
  (let [part (part job request)
        wave (* 4 (cluster/cores cluster))]
    (reify IReduceInit
      (reduce [_ rf init]
        (let [add (fn add [acc [i [_ elements :as result]]]
                    (note trace opts n i result)
                    ;; Twice reduced: once for this partition's elements, once for the partitions that follow.
                    (reduce (fn step [acc x] (let [acc (rf acc x)] (if (reduced? acc) (reduced acc) acc))) acc elements))]
          (reduce (fn wave [acc indices]
                    (let [acc (job/reduce-results cluster rdd part indices add acc opts)]
                      (if (reduced? acc) (reduced acc) acc)))
                  init
                  (partition-all wave (range n))))))))

(defn- refuse! [{:keys [stage]}]
  (error/fail! :skein/cannot-travel
               (str stage " needs its elements in order, and no executor has them all. Leave out :order :refuse, and this process "
                    "runs the stage. Or leave out the stage.")
               {:stage stage}))

;;;; Running

(defn- run-in-order [job f request {:keys [index] :as stage}]
  (when (= :refuse (:order (:opts job))) (refuse! stage))
  (fold/fold {:workers 1} (dissoc (order/suffix f index) :complete) (in-order job (assoc request :stages index))))

(defn- run-traced
  "Returns [value stage]: the value of the fold `f`, not yet post-processed, and the stage that needed order, or nil.

  opts   see skein.spark
  parts  {:cluster, :rdd, :n how many partitions it has, :pieces? whether a partition's element says what to fold, :reader a call that
          makes a source from a partition on the executor, or nil}
  trace  atom of a vector, to which is added what each partition did; or nil"
  [opts f {:keys [n reader] :as parts} trace]
  (request/check f)
  (let [opts (job/with-deadline (check/options "fold" opts options))
        stage (order/first-in-order f)
        request {:f (request/far-fold f)
                 :reader reader
                 :bindings (into {} (map (juxt identity deref)) (:bindings opts))
                 :max-bytes (:max-result-bytes opts request/default-max-result-bytes)}
        job (assoc parts :opts opts, :trace trace)]
    [(cond
       (zero? n) (fold/fold (dissoc f :complete) [])
       stage (run-in-order job f request stage)
       :else (combine-results job f request))
     stage]))

(defn run
  "Returns the value of a fold on a cluster, not yet post-processed; see `run-traced`."
  [opts f parts]
  (first (run-traced opts f parts nil)))

(defn explain
  "Returns how a fold ran, with the value that `run` returns under :value; see doc/spark.md."
  [opts f parts]
  (let [trace (atom [])
        start (System/nanoTime)
        [value stage] (run-traced opts f parts trace)]
    {:value value
     :path (if stage :in-order :far)
     :reason (when stage (str (:stage stage) " needs its elements in order"))
     :partitions @trace
     :elapsed-ns (- (System/nanoTime) start)}))
