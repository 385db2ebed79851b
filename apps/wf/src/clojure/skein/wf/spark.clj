;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.spark
  "Counts logs on an Apache Spark cluster, for `skein wf --spark`.

  * `with-cluster`  calls a function with what `skein.wf.driver` needs to have a cluster count
  * `counting`      a recipe -> the fold of slices that executors do

  A recipe, which is data, and the numbers of the inputs' formats are sent; the tables come back as bytes. `skein.spark` is looked
  up by name when it is needed: the module is on the class path only if --spark is given."
  (:require
   [clojure.string :as str]
   [skein.fold :as fold]
   [skein.impl.error :as error]
   [skein.wf.driver :as driver]
   [skein.wf.filter :as filter]
   [skein.wf.own :as own]
   [skein.wf.query :as query])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io ByteArrayInputStream ByteArrayOutputStream Closeable DataInputStream DataOutputStream FileNotFoundException)
   (java.net URI)
   (java.util.concurrent.atomic AtomicLong)
   (skein.wf Accumulator Analysis AnalysisPlan Budget)
   (skein.wf.wf2 Wf2)))

(set! *warn-on-reflection* true)

;;;; The fold

(defn- maker
  "Returns the function that makes the accumulators of a recipe, whose tables may take `memory-bytes` together."
  [{:keys [report query formats approx anonymize? databases own input-formats]} ^long memory-bytes]
  (case report
    :wf2 (let [budget (Budget. memory-bytes)] (fn new-tally [] (Wf2. budget)))
    :analysis (let [plan (query/plan query formats {:approx approx, :anonymize? anonymize?, :databases databases, :memory-bytes memory-bytes
                                                    :sinks (when own (:sinks (own/tallies own)))})]
                (fn new-analysis [] (Analysis. plan (int-array input-formats))))))

(defn- sink-of [accumulator]
  (when (instance? Analysis accumulator) (.sink ^Analysis accumulator)))

(defn- packed
  "Returns what an accumulator has counted, as [bytes what-its-sink-has-counted]."
  [^Accumulator accumulator]
  (let [bytes (ByteArrayOutputStream.)]
    (.writeTo accumulator (DataOutputStream. bytes))
    [(.toByteArray bytes) (some-> (sink-of accumulator) own/counted)]))

(defn- unpacked
  "Returns the accumulator that `packed` has turned into `x`, or `x` if it is an accumulator."
  ^Accumulator [new-accumulator x]
  (if (vector? x)
    (let [[bytes sunk] x
          ^Accumulator accumulator (new-accumulator)]
      (.readFrom accumulator (DataInputStream. (ByteArrayInputStream. bytes)))
      (when sunk (own/add-counted! (sink-of accumulator) sunk))
      accumulator)
    x))

(def ^:private part-of-heap "How much of the heap the tables of all tasks of a process may take." 0.6)

(defn counting
  "Returns the fold of slices by the accumulators of a recipe.

  recipe  {:report         :wf2 or :analysis
           :query :formats :approx :anonymize? :databases :own  as `skein.wf.query/plan` and `skein.wf.own/tallies` take them
           :input-formats  the number of each input's format
           :tasks          how many tasks an executor runs at once, which share its memory}"
  [{:keys [tasks] :as recipe}]
  (let [bytes (long (* (double part-of-heap) (.maxMemory (Runtime/getRuntime))))
        there (delay (maker recipe (quot bytes (long tasks))))
        here (delay (maker recipe bytes))]
    {:identity (fn fresh [] (@there))
     :step (fn step
             ([acc] (packed acc))
             ([^Accumulator acc slice] (.add acc slice) acc))
     :combine (fn combine [a b] (driver/merge-all (unpacked @here a) (unpacked @here b)))
     :complete (fn complete [x] (unpacked @here x))}))

;;;; The cluster

(defn- spark
  "Returns the value of a var of skein.spark."
  [sym]
  (try
    @(requiring-resolve sym)
    (catch FileNotFoundException _
      (error/fail! :skein/missing-library (str "skein.spark is not on the class path. ./skein wf puts it there if --spark is on the command line, not in"
                                            " a file of --config. Otherwise add modules/spark, and Spark 4.2.")
                   {}))))

(defn- local-path
  "Returns the path of this machine's file that a URI names, or nil if it is no such file."
  [uri]
  (let [uri (URI. uri)]
    (when (= "file" (.getScheme uri)) (.getPath uri))))

(defn- check-regular! [{:keys [name repeatable?]}]
  (when-not repeatable?
    (error/fail! [:skein/bad-argument :usage] (str name " is a pipe or a device, which no executor can read; give --spark files") {:path name})))

(defn- prepare
  "Like `skein.wf.driver/prepare`, for a file that `found` returned."
  [{:keys [name uri size packed? failure] :as file}]
  (when failure (throw failure))
  (merge (if-let [path (local-path uri)]
           (doto (assoc (driver/prepare path) :name name) check-regular!)
           (driver/prepare-elsewhere name size packed? (fn [position] ((spark 'skein.spark.files/opened) uri position))))
         (select-keys file [:uri :size])))

(defn- found
  "Returns what a path means, [{:name :uri :size :packed?} ...], or [{:name :failure}] if it can't be looked up. One file is
  called `path`; several files of a pattern have their own names."
  [cluster path]
  (try
    (let [files ((spark 'skein.spark.files/found) cluster path)]
      (if (next files)
        (mapv #(assoc % :name (or (local-path (:uri %)) (:uri %))) files)
        (mapv #(assoc % :name path) files)))
    (catch ExceptionInfo e [{:name path, :failure e}])))

(defn- named
  "Returns an exception about the file at a URI, with the name of the input in place of the URI."
  [^ExceptionInfo e prepared]
  (let [{:keys [path] :as data} (ex-data e)
        {:keys [name]} (some #(when (= path (:uri %)) %) prepared)]
    (if name (ex-info (str/replace (ex-message e) path name) (assoc data :path name) e) e)))

(defn- sent
  "Returns a recipe as executors need it."
  [recipe prepared tasks]
  (cond-> (assoc recipe :input-formats (mapv :format prepared), :tasks tasks)
    (:query recipe) (update-in [:query :where] #(mapv filter/settled %))))

(defn- counter
  "Returns the function by which `skein.wf.driver` has a cluster count."
  [cluster]
  (fn count-there [prepared _ {:keys [recipe on-start]}]
    (let [total (transduce (map :size) + prepared)
          done (AtomicLong.)
          progress (fn note [{:keys [done-parts total-parts]}] (.set done (quot (* (long total) (long done-parts)) (long total-parts))))]
      (when on-start (on-start {:total-bytes total, :bytes-read (fn bytes-read [] (.get done))}))
      (try
        (fold/fold
          {:on-progress (fn [{:keys [done total]}] (progress {:done-parts done, :total-parts total}))}
          ((spark 'skein.spark/named) `counting (sent recipe prepared ((spark 'skein.spark.cluster/tasks-per-process) cluster)))
          ((spark 'skein.spark/slices) (when (:whole-files? recipe) {:split-bytes Long/MAX_VALUE}) cluster (mapv :uri prepared)))
        (catch ExceptionInfo e (throw (named e prepared)))))))

(defn with-cluster
  "Connects to a Spark cluster, calls (f files options), and closes the connection. files are what the patterns and paths mean there, and
  options what `skein.wf.driver` needs to have the cluster count. Throws what skein.spark/connect throws, and :skein/missing-library."
  [master paths f]
  (with-open [^Closeable cluster ((spark 'skein.spark/connect) {:app "skein wf"} master)]
    (f (into [] (mapcat #(found cluster %)) paths)
       {:prepare prepare, :counter (counter cluster)})))
