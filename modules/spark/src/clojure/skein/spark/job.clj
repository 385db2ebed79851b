;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.job
  "Runs tasks, and hands their results to the caller in the order of the partitions, each as soon as its left neighbours have
  been handed out.

  Spark's scheduler calls back on its own thread, which does no more than put the result into a queue. All else happens on
  the thread of the caller."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.codec :as codec])
  (:import
   (java.util.concurrent LinkedBlockingQueue TimeUnit)
   (org.apache.spark SimpleFutureAction SparkContext)
   (org.apache.spark.rdd RDD)
   (scala Function0 Function1 Function2)
   (scala.concurrent ExecutionContext)
   (scala.jdk.javaapi CollectionConverters)
   (scala.runtime BoxedUnit)
   (scala.util Try)
   (skein.spark.rt PartTask)))

(set! *warn-on-reflection* true)

(def ^:private ^:const look-ms "How often a waiting caller checks its job." 250)
(def ^:const default-lost-after-ms "How long a job waits for executors when it has none." 60000)

;;;; What Spark reports

(defn- messages [^Throwable t]
  (str/join "\n" (map str (take-while some? (iterate #(.getCause ^Throwable %) t)))))

(defn- java-of
  "Returns the version of the Java that refused a class, or nil. Reads it from the text of the refusal: class files of Java 17 have version 61."
  [text]
  (some-> (re-find #"class file versions up to (\d+)" text) second parse-long (- 44)))

(defn- reported
  "Returns the exception to throw for a job that Spark gave up."
  [cluster ^Throwable t]
  (let [text (messages t)
        failure (fn [error message data] (error/failure error message data t))]
    (condp re-find text
      #"UnsupportedClassVersionError"
      (let [found (java-of text)]
        (failure [:skein/far-code :java] (str "The executors run on " (if found (str "Java " found) "a Java older than 21") ", but Skein needs 21 or newer: set JAVA_HOME of the "
                                           "workers, or spark.executorEnv.JAVA_HOME by :conf of connect, to one of those.")
                 {:wanted 21, :found found}))

      #"maxResultSize"
      (failure :skein/too-large (str "The partial values are together larger than spark.driver.maxResultSize. Let the fold keep less, use fewer "
                                  "partitions, or raise that setting by :conf of connect.") {})

      #"OutOfMemoryError"
      (failure :skein/too-large (str "An executor had too little memory for its part of the fold. Let the fold keep less, use more partitions, or "
                                  "raise spark.executor.memory by :conf of connect.") {})

      #"ClassNotFoundException: (skein|clojure)\.|NoClassDefFoundError: (skein|clojure)/"
      (failure [:skein/far-code :missing] (str "The executors have no Skein or no Clojure on their class path. Ship their jars, by :jars of "
                                            "connect; shipped were " (cluster/jars-of cluster) ".") {:jars (cluster/jars-of cluster)})

      (failure :skein/cluster-lost (str "Spark gave up the fold: " (ex-message t)) {}))))

(defn- lost! [cluster ms]
  (error/fail! :skein/cluster-lost
               (str "There has been no executor for " (quot ms 1000) " seconds. Check the workers, and that they have the memory and the "
                    "cores that an executor asks for.")
               {:waited-ms ms}))

;;;; Submitting

(defn- function-2 [f]
  (reify Function2 (apply [_ a b] (f a b) BoxedUnit/UNIT)))

(defn- with-interrupts
  "Calls f while jobs of this thread are submitted so that cancelling one interrupts its tasks."
  [^SparkContext context f]
  (let [property "spark.job.interruptOnCancel"
        before (.getLocalProperty context property)]
    (.setLocalProperty context property "true")
    (try (f) (finally (.setLocalProperty context property before)))))

(defn- submit ^SimpleFutureAction [^SparkContext context ^RDD rdd part indices ^LinkedBlockingQueue results]
  (let [wanted (.toSeq (CollectionConverters/asScala ^java.util.List (mapv int indices)))
        job (with-interrupts context
              #(.submitJob context rdd part wanted
                           (function-2 (fn [i bytes] (.add results [i bytes])))
                           (reify Function0 (apply [_] nil))))]
    (.onComplete ^SimpleFutureAction job
                 (reify Function1
                   (apply [_ outcome]
                     (when (.isFailure ^Try outcome) (.add results [:failed (.get (.failed ^Try outcome))]))))
                 (ExecutionContext/global))
    job))

;;;; Waiting

(defn- millis ^long [] (quot (System/nanoTime) 1000000))

(defn- time-left
  "Returns how long to wait for the next result. Throws :skein/timeout if no time is left."
  [deadline timeout-ms]
  (if deadline
    (let [left (- (long deadline) (millis))]
      (when-not (pos? left)
        (error/fail! :skein/timeout (str "The fold took longer than " timeout-ms " ms, and was cancelled.") {:timeout-ms timeout-ms}))
      (min left look-ms))
    look-ms))

(defn- next-result
  "Waits for a result and returns [index bytes]. Throws if the job failed, is late, or has no executors."
  [cluster ^LinkedBlockingQueue results {:keys [timeout-ms deadline lost-after-ms]}]
  (let [patience (check/milliseconds :lost-after-ms (or lost-after-ms default-lost-after-ms))]
    (loop [seen (millis)]
      (if-let [[i x] (.poll results (time-left deadline timeout-ms) TimeUnit/MILLISECONDS)]
        (if (= :failed i) (throw (reported cluster x)) [(int i) x])
        (let [now (millis)]
          (cond
            (pos? (cluster/executors cluster)) (recur now)
            (< patience (- now seen)) (lost! cluster patience)
            :else (recur seen)))))))

(defn reduce-results
  "Runs a task for each of the partitions `indices` of `rdd`, and returns the reduction of their results in that order.

  part   skein.spark.rt.PartTask
  rf     function of the value so far and [index [how value stats bytes]]: what skein.spark.far/run returned, and its size;
         a reduced value cancels the rest
  opts   :timeout-ms and :deadline, in ms of this process's clock; :lost-after-ms

  Waits on this thread. The remaining tasks are cancelled, however it ends."
  [cluster rdd part indices rf init opts]
  (let [results (LinkedBlockingQueue.)
        indices (vec indices)
        job (submit (cluster/context cluster) rdd part indices results)]
    (try
      ;; A result comes with the position of its task in `indices`.
      (loop [acc init, place 0, early {}]
        (if (= place (count indices))
          acc
          (if-let [^bytes bytes (early place)]
            (let [acc (rf acc [(indices place) (conj (codec/decode bytes) (alength bytes))])]
              (if (reduced? acc) acc (recur acc (inc place) (dissoc early place))))
            (recur acc place (conj early (next-result cluster results opts))))))
      (finally
        (when-not (.isCompleted job) (.cancel job))))))

(defn with-deadline
  "Returns the options with the time at which a fold that begins now is late."
  [{:keys [timeout-ms] :as opts}]
  (cond-> opts timeout-ms (assoc :deadline (+ (millis) (check/milliseconds :timeout-ms timeout-ms)))))
