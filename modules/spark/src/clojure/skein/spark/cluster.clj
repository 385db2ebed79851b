;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.cluster
  "A connection to Spark: a SparkContext, with the code of this process shipped to its executors."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]]
   [skein.spark.jars :as jars]
   [skein.spark.present])
  (:import
   (java.io Closeable IOException)
   (java.net InetSocketAddress Socket)
   (org.apache.spark SparkConf SparkContext)
   (org.apache.spark.api.java JavaSparkContext)))

(set! *warn-on-reflection* true)

(def ^:private ^:const answer-ms "How long a master may take to accept a connection." 5000)

(deftype-once Cluster [^SparkContext context own? jars]
  Closeable
  (close [_] (when own? (.stop context)))
  Object
  (toString [_] (str "#<Cluster " (.master context) ">")))

(defn context ^SparkContext [^Cluster cluster]
  (when-not (instance? Cluster cluster)
    (error/fail! :skein/bad-argument (str "A cluster is what skein.spark/connect returns, not " (error/preview cluster) ".")
                 {:value (error/preview cluster)}))
  (let [context ^SparkContext (.context cluster)]
    (when (.isStopped context)
      (error/fail! :skein/cluster-lost (str "The connection to " (.master context) " is closed. Connect again.") {:master (.master context)}))
    context))

(defn jars-of
  "Returns the jars that were shipped when `cluster` was connected."
  [^Cluster cluster]
  (.jars cluster))

(defn- in-process?
  "Returns whether the tasks of a cluster with this master run in this process."
  [master]
  (boolean (re-matches #"local(\[.*\])?" master)))

(defn local?
  "Returns whether the cluster's tasks run in this process."
  [cluster]
  (in-process? (.master (context cluster))))

(defn cores
  "Returns how many tasks run at once, as far as is known."
  ^long [cluster]
  (.defaultParallelism (context cluster)))

(defn executors
  "Returns how many processes run tasks now."
  ^long [cluster]
  (let [known (.size (.getExecutorMemoryStatus (context cluster)))]
    (if (local? cluster) known (dec known))))

(defn tasks-per-process
  "Returns how many tasks run at once in a process of the cluster, at most."
  ^long [cluster]
  (let [cores (cores cluster)]
    (if (local? cluster)
      cores
      (.getInt (.conf (context cluster)) "spark.executor.cores" (int cores)))))

(defn- answers? [host port]
  (try
    (with-open [socket (Socket.)]
      (.connect socket (InetSocketAddress. ^String host (int port)) (int answer-ms))
      true)
    (catch IOException _ false)))

(defn- no-master! [master]
  (error/fail! :skein/cluster-lost
               (str "No Spark master answers at " master ". Check the address, host:port, and that the master runs.")
               {:master master}))

(defn- check-master
  "Throws :skein/cluster-lost if no master of spark://host:port,host:port accepts a connection: Spark itself tries for minutes."
  [master]
  (when-let [[_ places] (re-matches #"spark://(.+)" master)]
    (let [places (for [place (str/split places #",")
                       :let [[_ host port] (re-matches #"(.+):(\d{1,5})" place)]]
                   (if host [host (parse-long port)] [place nil]))]
      (when-not (some (fn [[host port]] (and port (<= 1 port 65535) (answers? host port))) places)
        (no-master! master)))))

(defn- conf ^SparkConf [master {:keys [app conf]} jars]
  (let [made (doto (SparkConf.) (.setMaster master) (.setAppName (or app "skein")))]
    (.setJars made ^"[Ljava.lang.String;" (into-array String jars))
    (doseq [[k v] conf] (.set made (name k) (str v)))
    made))

(defn- start
  "Returns the SparkContext of this configuration. Throws :skein/bad-argument."
  ^SparkContext [^SparkConf conf master]
  (try
    (SparkContext. conf)
    (catch Exception e
      (throw (error/failure :skein/bad-argument (if (str/includes? (str (ex-message e)) "Only one SparkContext")
                                                  "This process already has a connection to Spark, and can have only one. Close that one, or give connect its SparkContext as the master."
                                                  (str "Spark can't start with the master " master ": " (ex-message e) ". Check the master, and the settings in :conf."))
               {:master master} e)))))

(def ^:private options
  {:app [some? "a name"]
   :jars [some? ":auto, :there or a collection of paths"]
   :conf [map? "a map of Spark's settings"]})

(defn connect
  "See skein.spark/connect."
  [opts master]
  (let [opts (check/options "connect" opts options)]
    (cond
      (instance? SparkContext master) (Cluster. master false [])
      (instance? JavaSparkContext master) (Cluster. (.sc ^JavaSparkContext master) false [])
      (not (string? master)) (error/fail! :skein/bad-argument
                                          (str "A master is a string such as \"local[4]\" or \"spark://host:7077\", or a SparkContext, not "
                                               (error/preview master) ".")
                                          {:master (error/preview master)})
      :else
      (let [wanted (:jars opts :auto)
            ;; Tasks in this process have its class path.
            jars (if (and (= :auto wanted) (in-process? master)) [] (jars/wanted wanted))]
        (check-master master)
        (let [context (start (conf master opts jars) master)]
          ;; If a master accepts connections but never answers, Spark gives up, and stops the context.
          (when (.isStopped context) (no-master! master))
          (Cluster. context true jars))))))
