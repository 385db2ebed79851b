;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.source
  "What can be folded on a cluster: pieces, each a call that returns a source there, or the rows of an RDD."
  {:no-doc true}
  (:require
   [skein.fold.kinds :as kinds]
   [skein.fold.source :as fold-source]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]]
   [skein.spark.cluster :as cluster]
   [skein.spark.codec :as codec]
   [skein.spark.run :as run])
  (:import
   (java.util List)
   (org.apache.spark SparkContext)
   (org.apache.spark.api.java JavaRDD)
   (org.apache.spark.rdd RDD)
   (scala.jdk.javaapi CollectionConverters)
   (scala.reflect ClassTag)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-piece-bytes "The most bytes of an encoded piece of a local collection, if it can be cut." 1048576)

(defn- spread
  "Returns an RDD of one partition for each of `pieces`."
  ^RDD [^SparkContext context pieces]
  (let [pieces ^List (vec pieces)]
    (.parallelize context (.toSeq (CollectionConverters/asScala pieces)) (count pieces) (ClassTag/apply Object))))

(defn- parts
  "Returns the `parts` for skein.spark.run/run: those of a source of `pieces`, or of the rows of `rdd`, from which `reader` makes a source."
  [cluster pieces ^RDD rdd reader]
  {:cluster cluster
   :reader reader
   :pieces? (some? pieces)
   :n (if pieces (count pieces) (.getNumPartitions rdd))
   :rdd (cond
          (nil? pieces) rdd
          (seq pieces) (spread (cluster/context cluster) pieces))})

(deftype-once Far [cluster pieces rdd reader]
  fold-source/Source
  (-source [this] this)
  kinds/Remote
  (-fold [_ opts f] (run/run opts f (parts cluster pieces rdd reader)))
  (-explain [_ opts f] (run/explain opts f (parts cluster pieces rdd reader)))
  Object
  (toString [_] (str "#<Far source of " (:n (parts cluster pieces rdd reader)) " partitions>")))

(defn- encoded [call]
  (codec/encode call Integer/MAX_VALUE))

(defn of-calls
  "Returns the source whose parts the `calls`, vectors [symbol & arguments], return on the executors."
  [cluster calls]
  (cluster/context cluster)
  (Far. cluster (mapv encoded calls) nil nil))

(defn of-rdd
  "Returns the source of the rows of an RDD, or of what the call `reader`, [symbol & arguments], makes from an iterator of them on an
  executor."
  ([cluster rdd] (of-rdd cluster rdd nil))
  ([cluster rdd reader]
   (cluster/context cluster)
   (Far. cluster nil
         (condp instance? rdd
           RDD rdd
           JavaRDD (.rdd ^JavaRDD rdd)
           (error/fail! :skein/bad-argument (str "rows takes an RDD or a JavaRDD, not " (error/preview rdd) ".") {:value (error/preview rdd)}))
         reader)))

(defn default-partitions
  "Returns how many partitions a source has by default: four for each core, so that a slow one delays little."
  ^long [cluster]
  (* 4 (cluster/cores cluster)))

(defn partitions
  "Returns how many partitions the options of the function called `what` ask for."
  [what opts cluster]
  (:partitions (check/options what opts {:partitions [pos-int? "a whole number from 1"]}) (default-partitions cluster)))

(defn cuts
  "Returns the bounds [from to] of `n` ranges of whole numbers, about equally long, that follow one another from `from` to `to`."
  [from to n]
  (let [size (-' to from)
        n (max 1 (min n size))
        bound (fn [i] (+' from (quot (*' size i) n)))]
    (when (pos? size)
      (mapv (fn [i] [(bound i) (bound (inc i))]) (range n)))))

(defn- fitting
  "Returns the encoded pieces of the vector `v`, cut in halves while one is too large."
  [v]
  (let [piece (encoded ['clojure.core/identity v])]
    (if (and (< max-piece-bytes (count piece)) (< 1 (count v)))
      (let [half (quot (count v) 2)]
        (into (fitting (subvec v 0 half)) (fitting (subvec v half))))
      [piece])))

(defn of-vector
  "Returns the source of the elements of the vector `v`, which are sent."
  [cluster v n]
  (Far. cluster (into [] (mapcat (fn [[from to]] (fitting (subvec v from to)))) (cuts 0 (count v) n)) nil nil))

(defn opened
  "Returns the source that the function `f` returns for `path`. For executors."
  [f path]
  (f path))
