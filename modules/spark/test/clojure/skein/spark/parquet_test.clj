;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.parquet-test
  "Parquet files that Spark wrote."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.fold :as fold]
   [skein.kind :refer [kind-of]]
   [skein.spark :as spark]
   [skein.spark.bed :as bed]
   [skein.spark.folds :as folds]
   [skein.spark.parquet :as parquet])
  (:import
   (clojure.lang ExceptionInfo)
   (java.time Instant LocalDate)
   (org.apache.spark.sql SparkSession)))

(set! *warn-on-reflection* true)

(def ^:private columns
  ["id" "id % 7 as bucket" "concat('n', id) as name" "id / 2.0D as half" "if(id % 10 = 0, null, id) as maybe" "array(id, id + 1) as pair"
   "map('k', id) as m" "named_struct('x', id, 'deep', array(named_struct('y', 'z'))) as s" "date'2020-01-02' as day"
   "timestamp'2020-01-02 03:04:05Z' as at" "cast(id as decimal(10,2)) as money" "id % 2 = 0 as even"])

(defn- written
  "Returns the path of a folder of Parquet files that Spark wrote, with `n` rows."
  [n]
  (let [path (str (io/file (bed/temp-dir "skein-parquet") "rows"))
        session (.getOrCreate (SparkSession/builder))]
    (-> (.range session 0 n 1 3)
        (.selectExpr ^"[Ljava.lang.String;" (into-array String columns))
        (.write)
        (.parquet path))
    path))

(defn- row [n]
  {:id n, :bucket (mod n 7), :name (str \n n), :half (/ n 2.0), :maybe (when-not (zero? (long (mod n 10))) n), :pair [n (inc n)]
   :m {"k" n}, :s {:x n, :deep [{:y "z"}]}, :day (LocalDate/of 2020 1 2), :at (Instant/parse "2020-01-02T03:04:05Z")
   :money (bigdec (str n ".00")), :even (even? n)})

(defn- error-of [f] (try (f) nil (catch ExceptionInfo e (assoc (ex-data e) :message (ex-message e)))))

(deftest rows-are-those-that-were-written
  (let [cluster (bed/bed :local)
        path (written 100)]
    (is (= (mapv row (range 100)) (sort-by :id (fold/fold (fold/into []) (parquet/rows cluster path)))))
    (is (= (set (map (fn [n] [(str \n n) n]) (range 100)))
           (fold/fold (fold/into #{}) (parquet/rows {:columns ["name" "id"], :as :vectors} cluster path))))
    (is (= {0 15, 1 15, 2 14, 3 14, 4 14, 5 14, 6 14}
           (fold/fold (fold/through (map :bucket) fold/frequencies) (parquet/rows {:columns ["bucket"]} cluster [path]))))
    (is (= 2 (count (fold/fold (fold/through (take 2) (fold/into [])) (parquet/rows cluster path)))))
    (is (= "row 7" (:message (error-of #(fold/fold (fold/through (map :id) (folds/fails-at 7 folds/with-data)) (parquet/rows cluster path))))))))

(deftest unreadable-files-are-refused
  (let [cluster (bed/bed :local)
        path (written 3)
        text (str (doto (io/file (bed/temp-dir "skein-parquet") "text") (spit "no parquet, but longer than a few bytes")))]
    (is (= [:skein/file :missing] (kind-of (error-of #(parquet/rows cluster "/no/such/rows")))))
    (is (= [:skein/file :unreadable] (kind-of (error-of #(parquet/rows cluster text)))))
    (let [{:keys [message] :as data} (error-of #(parquet/rows {:columns ["id" "nobody"]} cluster path))]
      (is (= :skein/bad-argument (kind-of data)))
      (is (str/includes? message "id, bucket")))
    (is (= :skein/bad-argument (kind-of (error-of #(parquet/rows {:as :rows} cluster path)))))
    (is (= :skein/bad-argument (kind-of (error-of #(parquet/rows {:colums ["id"]} cluster path)))))))

(deftest executors-read-them-too
  (let [path (do (bed/bed :local) (written 50))
        cluster (bed/bed :pair)]
    (is (= 1225 (fold/fold (fold/through (map :id) fold/sum) (parquet/rows {:columns ["id"]} cluster path))))))
