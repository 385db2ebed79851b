;; SPDX-License-Identifier: Apache-2.0
(ns skein.reducers-test
  "The same expression in clojure.core.reducers and in skein.reducers."
  (:require [clojure.core.reducers :as theirs]
            [clojure.string :as str]
            [clojure.test :refer [deftest is testing]]
            [clojure.walk :as walk]
            [skein.deadline :refer [within-deadline]]
            [skein.fold.lines :as lines]
            [skein.fold.source :as source]
            [skein.reducers :as r]))

(set! *warn-on-reflection* true)

(defmacro ^:private same
  "Asserts that `expr`, in which r/ names a namespace of reducers, gives the same in both."
  [expr]
  (let [upstream (walk/postwalk #(if (and (symbol? %) (= "r" (namespace %))) (symbol "theirs" (name %)) %) expr)]
    `(is (= ~upstream (within-deadline ~expr)) ~(pr-str expr))))

(def ^:private xs (vec (range 10000)))
(def ^:private m (zipmap (range 5000) (range)))

(deftest every-public-function-is-there
  (let [internal '#{fjinvoke fjtask pool ->Cat}]
    (is (= [] (remove (set (keys (ns-publics 'skein.reducers)))
                      (remove internal (keys (ns-publics 'clojure.core.reducers))))))))

(deftest folds-and-reductions
  (same (r/fold + xs))
  (same (r/fold 100 + + xs))
  (same (r/fold + (fn [a x] (+ a (* 2 x))) xs))
  (same (r/fold + nil))
  (same (r/fold + []))
  (same (r/fold (r/monoid into vector) conj (r/map inc xs)))
  (same (r/reduce + (r/map inc xs)))
  (same (r/reduce + 5 (r/filter even? xs)))
  (same (reduce + 0 (r/remove even? xs)))
  (same (into [] (r/mapcat #(range (mod % 3)) xs)))
  (same (into [] (r/flatten [1 [2 [3 4]] '(5) 6])))
  (same (into [] (r/take 5 (r/map inc xs))))
  (same (into [] (r/drop 9990 xs)))
  (same (into [] (r/take-while #(< % 7) xs)))
  (same (r/fold + (r/take 10 xs)))
  (same (into [] ((r/map inc) xs)))
  (same (into [] ((comp (r/filter odd?) (r/map inc)) xs))))

(deftest maps-give-key-and-value
  (same (r/fold + (fn [a k v] (+ a k v)) m))
  (same (r/fold + (r/map (fn [k v] (* k v)) m)))
  (same (r/reduce (fn [a k v] (+ a k v)) 0 m))
  (same (r/fold + (r/map (fn [_ v] v) (r/filter (fn [k _] (even? k)) m))))
  (same (r/fold + (r/map (fn [_ v] v) (into (sorted-map) m)))))

(deftest foldcat-collects-in-order
  (same (into [] (r/foldcat (r/filter even? xs))))
  (same (count (r/foldcat xs)))
  (same (r/fold + (r/foldcat xs)))
  (same (into [] (r/cat [1 2] [3])))
  (same (reduce + (r/cat [1 2] [3])))
  (same (r/fold + (r/cat (r/cat [1 2] [3]) [4])))
  (same (reduce + (r/foldcat (r/map inc xs)))))

(deftest reducers-and-folders-of-ones-own
  (same (r/fold + (r/folder xs (fn [f] (fn ([] (f)) ([a x] (f a (* 2 x))))))))
  (same (reduce + (r/reducer xs (fn [f] (fn [a x] (f (f a x) x)))))))

(deftest what-is-wrong-upstream-is-right
  (testing "reduced ends the fold"
    (is (= 10 (within-deadline (r/fold 1 + (fn [a x] (if (= x 5) (reduced a) (+ a x))) xs)))))
  (testing "reduced ends the reduction of both halves of a cat"
    (is (= 1 (reduce (fn [a x] (if (= x 2) (reduced a) (+ a x))) 0 (r/cat [1 2] [3])))))
  (testing "a step's other arity is not a completion"
    (is (= 3 (r/fold + (fn ([] 0) ([_] :wrong) ([a x] (+ a x))) [1 2]))))
  (testing "a transducer's last group is not lost"
    (is (= [[1 2] [3]] (r/fold into conj (eduction (partition-all 2) [1 2 3])))))
  (testing "whatever has elements is folded"
    (doseq [coll [(long-array xs) (java.util.ArrayList. ^java.util.Collection xs) (apply list xs) (into (sorted-set) xs)
                  (.iterator ^Iterable xs)]]
      (is (= 49995000 (within-deadline (r/fold 100 + + coll)))))))

(defrecord ^:private Deck [cards]
  source/Source
  (-source [_] cards))

(defrecord ^:private Hand [cards])
(extend-protocol source/Source
  Hand
  (-source [hand] (:cards hand)))

(deftest sources-that-upstream-does-not-know
  (let [make #(r/map count (lines/lines "LICENSE"))]
    (is (= (reduce + (map count (str/split-lines (slurp "LICENSE"))))
           (r/fold + (make)) (r/reduce + (make)) (reduce + (make)))))
  (doseq [[kind make] {"a record" #(->Deck [7 11 3]), "a record extended" #(->Hand [7 11 3]), "a function" #(source/indexed 3 [7 11 3])
                       "an iterator" #(.iterator ^Iterable [7 11 3]), "a stream" #(.stream [7 11 3])}]
    (testing kind
      (is (= 21 (r/fold + (make)) (r/reduce + (make)) (r/reduce + 0 (make))))
      (is (= [7 11] (into [] (r/take 2 (make)))))
      (is (= 18 (r/fold + (r/take 2 (make)))))
      (is (= [8 12 4] (r/fold into conj (r/map inc (make))) (r/reduce conj [] (r/map inc (make))))))))
