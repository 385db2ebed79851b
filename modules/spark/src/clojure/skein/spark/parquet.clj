;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.parquet
  "The rows of Parquet files as a source on a cluster.

  It needs org.apache.spark/spark-sql_2.13, in the version of the cluster, beside spark-core.

      (skein.fold/fold skein.fold/count (rows {:columns [\"url\" \"status\"]} cluster \"hdfs:///logs/day=*\"))"
  (:require
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.spark.cluster :as cluster]
   [skein.spark.present :as present]
   [skein.spark.source :as source])
  (:import
   (clojure.lang RT)
   (java.util Iterator)
   (scala.jdk.javaapi CollectionConverters)))

(set! *warn-on-reflection* true)

(present/check! "org.apache.spark.sql.SparkSession" "spark-sql_2.13")
(import '(org.apache.spark SparkException)
        '(org.apache.spark.sql AnalysisException Column Dataset Row SparkSession))

;;;; There

(defn- value
  "Returns what Spark has for a column, as Clojure's data."
  [x]
  (condp instance? x
    Row (let [^Row row x]
          (into {} (map (fn [i] [(keyword (aget (.fieldNames (.schema row)) (int i))) (value (.get row (int i)))])) (range (.length row))))
    scala.collection.Map (into {} (map (fn [[k v]] [(value k) (value v)])) (CollectionConverters/asJava ^scala.collection.Map x))
    scala.collection.Iterable (into [] (map value) (CollectionConverters/asJava ^scala.collection.Iterable x))
    x))

(defn- row->map [^objects columns ^Row row]
  (let [n (alength columns)
        pairs (object-array (* 2 n))]
    (dotimes [i n]
      (aset pairs (* 2 i) (aget columns i))
      (aset pairs (inc (* 2 i)) (value (.get row i))))
    (RT/map pairs)))

(defn- row->vector [^objects columns ^Row row]
  (mapv (fn [i] (value (.get row (int i)))) (range (alength columns))))

(defn ^:no-doc of-rows
  "Returns the source of the rows of an iterator of Rows, as maps or vectors. For executors."
  [^Iterator rows columns as]
  (let [columns (object-array (map keyword columns))]
    (eduction (map (if (= :vectors as) #(row->vector columns %) #(row->map columns %)))
              (iterator-seq rows))))

;;;; Here

(defn- with-session
  "Calls f with a session of the cluster's context in which days and times are java.time's. The session that is
  active when an RDD is made decides how they are read."
  [cluster f]
  (cluster/context cluster)
  (let [session (.newSession (.getOrCreate (SparkSession/builder)))
        before (SparkSession/getActiveSession)]
    (.set (.conf session) "spark.sql.datetime.java8API.enabled" true)
    (SparkSession/setActiveSession session)
    (try
      (f session)
      (finally
        (if (.isDefined before) (SparkSession/setActiveSession (.get before)) (SparkSession/clearActiveSession))))))

(defn- dataset ^Dataset [^SparkSession session paths]
  (let [failed! (fn [problem ^Throwable e]
                  (throw (error/failure [:skein/file problem]
                                        (str "Can't read " (str/join ", " paths) " as Parquet: " (first (str/split-lines (str (ex-message e)))))
                                        {:path (first paths)} e)))]
    (try
      (.parquet (.read session) ^"[Ljava.lang.String;" (into-array String paths))
      (catch AnalysisException e
        (failed! (if (str/includes? (str (ex-message e)) "PATH_NOT_FOUND") :missing :unreadable) e))
      (catch SparkException e (failed! :unreadable e)))))

(defn- wanted-columns [^Dataset rows columns]
  (let [have (vec (.columns rows))]
    (when-let [missing (first (remove (set have) columns))]
      (error/fail! :skein/bad-argument (str "The files have no column " (error/preview missing) "; they have " (str/join ", " have) ".")
                   {:argument :columns, :value missing, :columns have}))
    (if columns (vec columns) have)))

(defn rows
  "Returns the source of the rows of Parquet files, in the order in which Spark reads them: large files first.

  - paths  string or a collection of strings: a file, a folder of files, or a pattern. Folders such as day=1 are columns
  - options:
    - :columns  names of the columns to read, by default all; fewer columns are read faster
    - :as       :maps, the default, from keywords to values; or :vectors of values, in the order of :columns

  Values of days and times are those of java.time, arrays are vectors, maps and structs are maps. Throws :skein/file, :skein/bad-argument, and :skein/missing-library when the namespace is loaded without spark-sql."
  ([cluster paths] (rows nil cluster paths))
  ([options cluster paths]
   (let [{:keys [columns as] :or {as :maps}}
         (check/options "rows" options {:columns [#(and (sequential? %) (seq %) (every? string? %)) "a vector of names"]
                                        :as [#{:maps :vectors} ":maps or :vectors"]})]
     (with-session cluster
       (fn of-files [session]
         (let [all (dataset session (if (string? paths) [paths] (mapv str paths)))
               columns (wanted-columns all columns)
               picked (.select all ^"[Lorg.apache.spark.sql.Column;" (into-array Column (map #(.col all (str "`" % "`")) columns)))]
           (source/of-rdd cluster (.javaRDD picked) [`of-rows columns as])))))))
