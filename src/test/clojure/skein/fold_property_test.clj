;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold-property-test
  "Folds against plain transduce: sources, transducers, sizes, parallelism, grain.

  The suite runs `default-cases`; many more by JAVA_OPTS=-Dskein.fold.cases=20000 ./skein test skein.fold-property-test"
  (:require [clojure.test :refer [deftest is]]
            [clojure.test.check :as check]
            [clojure.test.check.generators :as gen]
            [clojure.test.check.properties :as prop]
            [skein.deadline :refer [within-deadline]]
            [skein.fold :as fold])
  (:import (clojure.lang IReduceInit)
           (java.util ArrayDeque ArrayList Collection LinkedList TreeSet)
           (java.util.stream StreamSupport)))

(set! *warn-on-reflection* true)

(def ^:private default-cases 2000)
(def ^:private cases (Long/getLong "skein.fold.cases" (long default-cases)))
(def ^:private batch 500)

(defn- reducible [xs]
  (reify IReduceInit
    (reduce [_ f init] (reduce f init xs))))

(def ^:private sources
  "From name to a function of a vector of longs that gives a source. What has an order of its own is what the oracle sees."
  {:vector identity
   :subvec #(subvec (into [:before] (conj % :after)) 1 (inc (count %)))
   :vec-of #(apply vector-of :long %)
   :list #(apply list %)
   :lazy #(map identity %)
   :unchunked #(take (count %) (iterate inc 0))
   :range #(range (count %))
   :range-down #(range (count %) 0 -3)
   :hash-set set
   :hash-map #(zipmap % (map str %))
   :sorted-set #(into (sorted-set) %)
   :sorted-map #(into (sorted-map) (zipmap % %))
   :array-list #(ArrayList. ^Collection %)
   :linked-list #(LinkedList. ^Collection %)
   :deque #(ArrayDeque. ^Collection %)
   :tree-set #(TreeSet. ^Collection %)
   :objects #(object-array %)
   :longs #(long-array %)
   :ints #(int-array %)
   :doubles #(double-array %)
   :bytes #(byte-array (map unchecked-byte %))
   :chars #(char-array (map char %))
   :booleans #(boolean-array (map even? %))
   :string #(apply str (map char %))
   :eduction #(eduction (map inc) (filter odd?) %)
   :stateful-eduction #(eduction (map inc) (drop 7) %)
   :reducible reducible})

(def ^:private once
  "Sources that can be used once: a function that gives a new one."
  {:iterator (fn [xs] #(.iterator ^Iterable xs))
   :spliterator (fn [xs] #(.spliterator ^Iterable xs))
   :stream (fn [xs] #(StreamSupport/stream (.spliterator ^Iterable xs) false))})

(defn- doubled
  "A transducer that nobody knows, and which keeps no state."
  [rf]
  (fn ([] (rf)) ([acc] (rf acc)) ([acc x] (let [acc (rf acc x)] (if (reduced? acc) acc (rf acc x))))))

(defn- alternate
  "A transducer that nobody knows, and which keeps state."
  [rf]
  (let [seen (volatile! 0)]
    (fn ([] (rf)) ([acc] (rf acc)) ([acc x] (if (even? (long (vswap! seen inc))) (rf acc x) acc)))))

(def ^:private transducers
  {:none nil
   :map (map hash)
   :filter (filter #(even? (hash %)))
   :remove (remove #(odd? (hash %)))
   :keep (keep #(when (even? (hash %)) (str %)))
   :mapcat (mapcat #(vector % (hash %)))
   :cat (comp (map vector) cat)
   :replace (replace {1 :one})
   :doubled doubled
   :take (take 37)
   :take-all (take 100000)
   :take-while (take-while #(not= 77 (mod (hash %) 101)))
   :halt (halt-when #(= 77 (mod (hash %) 101)))
   :drop (drop 13)
   :drop-while (drop-while #(not= 5 (mod (hash %) 11)))
   :distinct (comp (map #(mod (hash %) 50)) (distinct))
   :dedupe (comp (map #(quot (hash %) 7)) (dedupe))
   :partition-by (partition-by #(quot (hash %) 10))
   :partition-all (partition-all 7)
   :map-indexed (map-indexed vector)
   :keep-indexed (keep-indexed #(when (even? (long %1)) %2))
   :take-nth (take-nth 3)
   :interpose (interpose :and)
   :alternate alternate})

(def ^:private steps
  "From name to {:combine :step :init?}; the oracle is (transduce xform step (combine) xs)."
  {:conj {:combine into, :step conj}
   :sum-of-hashes {:combine + :step (completing (fn [a x] (+ (long a) (long (hash x)))))}
   :stop {:combine into, :step (fn ([acc] acc) ([acc x] (if (= 3 (mod (hash x) 301)) (reduced (conj acc :end)) (conj acc x))))}
   :transient {:combine (fn ([] (transient [])) ([a b] (into a b))), :step (completing conj! persistent!)}})

(defn- oracle [xform {:keys [combine step]} xs]
  (let [step (if (= conj step) (completing conj) step)]
    (transduce (or xform identity) step (combine) xs)))

(defn- agrees? [{:keys [size source stages step parallelism grain]}]
  (let [xs (vec (range size))
        make (or (once source) (fn [xs] (let [made ((sources source) xs)] (fn [] made))))
        fresh (make xs)
        xforms (keep transducers stages)
        xform (when (seq xforms) (apply comp xforms))
        {:keys [combine] step-fn :step :as s} (steps step)
        opts (cond-> {:parallelism parallelism} grain (assoc :grain grain))
        oracle-xs (let [o (fresh)] (cond (instance? java.util.Iterator o) xs
                                         (instance? java.util.Spliterator o) xs
                                         (instance? java.util.stream.BaseStream o) xs
                                         :else o))]
    (= (oracle xform s oracle-xs)
       (fold/fold opts xform combine step-fn (fresh)))))

(def ^:private case-gen
  (gen/hash-map :size (gen/frequency [[3 (gen/choose 0 40)] [2 (gen/choose 0 400)] [1 (gen/choose 0 5000)]])
                :source (gen/elements (into (vec (keys sources)) (keys once)))
                :stages (gen/vector (gen/elements (keys transducers)) 0 3)
                :step (gen/elements (keys steps))
                :parallelism (gen/choose 1 8)
                :grain (gen/one-of [(gen/return nil) (gen/choose 1 20) (gen/choose 1 600)])))

(defn- run-batch [n]
  (within-deadline (check/quick-check n (prop/for-all [c case-gen] (agrees? c)))))

(deftest folds-agree-with-transduce
  (loop [left (long cases)]
    (when (pos? left)
      (let [{:keys [pass? shrunk seed result]} (run-batch (min left (long batch)))]
        (is pass? (pr-str seed (:smallest shrunk) result))
        (when pass? (recur (- left (long batch))))))))
