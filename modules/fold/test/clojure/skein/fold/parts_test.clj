;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.parts-test
  "Folds of folds, compared with plain functions of the whole collection."
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold])
  (:import
   (clojure.lang IReduceInit)))

(set! *warn-on-reflection* true)

;; Pairs of a fold and a function of a vector of longs that gives its value.

(defn- first-over [n]
  [{:combine (fn ([] nil) ([a b] (or a b))), :step (fn step [_ x] (when (< (long n) (long x)) (reduced x)))}
   (fn model [xs] (first (filter #(< (long n) (long %)) xs)))])

(defn- counts-between [edges]
  (fn model [xs]
    (reduce (fn [counts x] (update counts (count (take-while #(<= (long %) (long x)) edges)) inc))
            (vec (repeat (inc (count edges)) 0)) xs)))

(def ^:private leaf-gen
  (gen/one-of
    [(gen/elements [[fold/count count] [fold/sum #(reduce + %)] [fold/frequencies frequencies] [fold/distinct (comp vec distinct)]
                    [fold/min #(when (seq %) (apply min %))] [fold/max #(when (seq %) (apply max %))]])
     (gen/let [to (gen/elements [[] #{} () nil [9] #{3} '(4 5) (sorted-set) (sorted-set-by >)])]
       [(fold/into to) #(into to %)])
     (gen/let [n (gen/choose 0 80), k (gen/elements [identity odd? #(quot (long %) 5)])]
       [(fold/top n k) #(vec (take n (sort-by k (comp - compare) %)))])
     (gen/let [edges (gen/fmap sort (gen/set (gen/choose -20 20) {:max-elements 5}))]
       [(fold/histogram edges) (counts-between edges)])
     (gen/fmap first-over (gen/choose -5 60))]))

(def ^:private transducers
  [(map inc) (filter even?) (take 7) (take 0) (drop 3) (dedupe) (distinct) (map-indexed +) (mapcat #(vector % %))
   (comp (map dec) (take-while #(< (long %) 40))) (comp (partition-all 3) (map count)) (comp (partition-by odd?) (map count))])

(def ^:private fold-gen
  (gen/recursive-gen
    (fn [inner]
      (gen/one-of
        [(gen/let [pairs (gen/vector inner 0 3)]
           [(fold/fuse (mapv first pairs)) (fn [xs] (mapv #((second %) xs) pairs))])
         (gen/let [pairs (gen/map (gen/elements [:a :b "c"]) inner)]
           [(fold/fuse (update-vals pairs first)) (fn [xs] (update-vals pairs #((second %) xs)))])
         (gen/let [[f model] inner, k (gen/choose 1 5)]
           [(fold/group-by #(mod (long %) (long k)) f) (fn [xs] (update-vals (group-by #(mod (long %) (long k)) xs) model))])
         (gen/let [[f model] inner] [(fold/finish vector f) (comp vector model)])
         (gen/let [[f model] inner, xform (gen/elements transducers)] [(fold/through xform f) #(model (into [] xform %))])]))
    leaf-gen))

(defn- reducible [xs]
  (reify IReduceInit
    (reduce [_ f init] (reduce f init xs))))

(deftest folds-of-folds-agree-with-their-parts
  (let [result (within-deadline
                 (check/quick-check
                   1500
                   (prop/for-all [[f model] fold-gen
                                  xs (gen/vector (gen/choose -30 60) 0 120)
                                  make (gen/elements [vec long-array #(apply list %) reducible])
                                  workers (gen/choose 1 4)
                                  grain (gen/choose 1 20)]
                     (= (model xs) (fold/fold {:workers workers, :grain grain} f (make xs))))))]
    (is (:pass? result) (pr-str (:seed result) (drop 1 (:smallest (:shrunk result))) (:result result)))))
