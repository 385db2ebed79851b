;; SPDX-License-Identifier: Apache-2.0
(ns lab.e5-sums
  "The sum of the even numbers below ten million, each incremented. After Eli Bendersky, 2017.

      java -Xms1g -Xmx1g -XX:+AlwaysPreTouch -cp \"$(./skein classpath):.\" clojure.main -m lab.e5-sums"
  (:require
   [clojure.core.reducers :as r]
   [lab.measure :as measure])
  (:import
   (java.util Arrays Collection)
   (java.util.function LongPredicate LongUnaryOperator ToLongFunction)
   (java.util.stream LongStream)))

(set! *warn-on-reflection* true)

(def ^:private sizes
  {:full {:n 9999999, :budget-ms 600}
   :quick {:n 1999999, :budget-ms 80}
   :tiny {:n 999, :budget-ms 0}})

(measure/when-on "clojure"
  (defn- fused [xs]
    (reduce (fn [sum x] (if (even? x) (+ sum (inc x)) sum)) 0 xs))

  (defn- stream-sum [^LongStream xs]
    (.. xs parallel
        (filter (reify LongPredicate (test [_ x] (even? x))))
        (map (reify LongUnaryOperator (applyAsLong [_ x] (inc x))))
        sum))

  (defn- boxed-stream ^LongStream [^Collection xs]
    (.mapToLong (.stream xs) (reify ToLongFunction (applyAsLong [_ x] (long x)))))

  (defn- array-loop [^longs xs]
    (loop [i 0 sum 0]
      (if (< i (alength xs))
        (let [x (aget xs i)]
          (recur (inc i) (if (even? x) (+ sum (inc x)) sum)))
        sum)))

  (defn- range-loop [^long n]
    (loop [x 0 sum 0]
      (if (< x n) (recur (inc x) (if (even? x) (+ sum (inc x)) sum)) sum)))

  (defn- contestants [n numbers boxed longs]
    (concat
      (for [[column xs] {"range" numbers, "vector" boxed, "long array" longs}
            [row f] {"reduce over a lazy seq" #(reduce + (map inc (filter even? xs)))
                     "reducers" #(reduce + (r/map inc (r/filter even? xs)))
                     "reduce, fused by hand" #(fused xs)
                     "transduce" #(transduce (comp (filter even?) (map inc)) + xs)
                     "r/fold" #(r/fold + (r/map inc (r/filter even? xs)))}]
        [row column f])
      [["parallel stream" "range" #(stream-sum (LongStream/range 0 n))]
       ["parallel stream" "vector" #(stream-sum (boxed-stream boxed))]
       ["parallel stream" "long array" #(stream-sum (Arrays/stream ^longs longs))]
       ["loop on one core" "range" #(range-loop n)]
       ["loop on one core" "long array" #(array-loop longs)]])))

(measure/when-on "skein"
  (require '[skein.fold :as fold])

  (defn- contestants [_ numbers boxed longs]
    (for [[column xs] {"range" numbers, "vector" boxed, "long array" longs}
          [row options] {"skein.fold" {}, "skein.fold on one core" {:workers 1}}]
      [row column #(fold/fold options fold/sum (eduction (filter even?) (map inc) xs))])))

(defn- run [{:keys [n]}]
  (let [numbers (range n)]
    (doseq [[row column f] (contestants n numbers (vec numbers) (long-array numbers))]
      (measure/measure! {:row row, :column column, :expected (let [k (quot (inc n) 2)] (* k k))} f))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
