;; SPDX-License-Identifier: Apache-2.0
(ns skein.reducers
  "Like clojure.core.reducers, on the engine of `skein.fold`. Folds run in parallel over every source that the engine knows, such as
  files. A fold over the result of `reducer`, `take`, `take-while` or `drop` is serial, as in clojure.core.reducers.

  Differs: a `reduced` value ends the whole fold. n is the grain, except that the default, 512, lets the engine choose by
  measurement. A combine that can't be called with two arguments is refused even if there is nothing to combine.

      (fold + (filter even? (map inc [1 2 3])))
      ;=> 6"
  (:refer-clojure :exclude [cat drop filter flatten map mapcat reduce remove take take-while])
  (:require
   [clojure.core :as clj]
   [clojure.core.protocols :as protocols]
   [skein.fold.kinds :as kinds]
   [skein.fold.run :as run]
   [skein.fold.source :as source]
   [skein.impl.error :as error]
   [skein.impl.once :refer [defprotocol-once deftype-once]])
  (:import
   (clojure.lang APersistentMap Counted IReduce IReduceInit Seqable)
   (java.util ArrayList Collection Map)
   (java.util.concurrent ForkJoinPool ForkJoinTask)))

(set! *warn-on-reflection* true)

(defprotocol-once CollFold
  "The protocol that `fold` calls; extend it to a type that has its own way to fold."
  (coll-fold [coll n combinef reducef]
    "Returns the fold of `coll` in groups of about `n` elements; n is 512 unless the caller of `fold` passes another."))

(defonce
  ^{:doc "A delay of a ForkJoinPool, for programs that use it themselves. Folds run on the threads of skein.fold."}
  pool
  (delay (ForkJoinPool.)))

(defn fjtask
  "Like clojure.core.reducers/fjtask: returns a ForkJoinTask that calls `f`."
  [^Callable f]
  (ForkJoinTask/adapt f))

(defn- pairs?
  "Returns whether `coll` is a map, and not a record that is a source of other elements."
  [coll]
  (and (instance? Map coll)
       (or (instance? APersistentMap coll) (not (kinds/extended? coll)))))

(defn- reducible?
  "Returns whether `coll` can be reduced without the engine."
  [coll]
  (if (instance? Map coll)
    (pairs? coll)
    (or (seqable? coll)
        (instance? IReduceInit coll)
        (kinds/extended? protocols/CollReduce coll))))

(defn- reduce-elements
  "Reduces a source on this thread; a map's elements are its entries."
  [f init coll]
  (if (reducible? coll)
    (protocols/coll-reduce coll f init)
    (run/run {:workers 1} {:identity (fn fresh [] init), :combine f, :step f, :completes? false} coll)))

(defn reduce
  "Like clojure.core.reducers/reduce: for a map, `f` gets key and value as two arguments."
  ([f coll] (reduce f (f) coll))
  ([f init coll]
   (if (pairs? coll)
     (reduce-kv f init coll)
     (reduce-elements f init coll))))

(def ^:private ^:const default-n 512)

(defn- grain
  "Returns the options for blocks of about `n` elements. If `n` is the default or not above 0, the engine chooses."
  [n]
  (when-not (number? n)
    (error/fail! :skein/bad-argument (str "The size of a group must be a number of elements, but is " (error/preview n) ".") {:value n}))
  (when-not (or (== n default-n) (not (pos? n)))
    {:grain (max 1 (long (min n Long/MAX_VALUE)))}))

(defn fold
  "Like clojure.core.reducers/fold,
  on the engine of `skein.fold`.

      (fold 100 + + (range 10))
      ;=> 45"
  ([reducef coll] (fold reducef reducef coll))
  ([combinef reducef coll] (coll-fold coll default-n combinef reducef))
  ([n combinef reducef coll] (coll-fold coll n combinef reducef)))

(defn- run [coll n combinef reducef]
  (run/run (grain n)
    {:combine combinef, :step reducef, :completes? false}
    coll))

(extend-protocol CollFold
  nil
  (coll-fold [_ _ combinef _] (combinef))
  Map
  (coll-fold [coll n combinef reducef]
    (run coll n combinef (if (pairs? coll) (fn step [acc e] (reducef acc (key e) (val e))) reducef)))
  Object
  (coll-fold [coll n combinef reducef]
    (run coll n combinef reducef)))

;;;; Collections that transform the reducing function

(defn- transformed
  "Returns `coll` with reducing functions transformed by `xf`. `fold`, a function of n, combinef and reducef, folds it."
  [coll xf fold]
  (reify
    protocols/CollReduce
    (coll-reduce [this f] (protocols/coll-reduce this f (f)))
    (coll-reduce [_ f init] (reduce-elements (xf f) init coll))
    IReduceInit
    (reduce [_ f init] (reduce-elements (xf f) init coll))
    CollFold
    (coll-fold [_ n combinef reducef] (fold n combinef reducef))))

(defn reducer
  "Like clojure.core.reducers/reducer."
  [coll xf]
  (transformed coll xf (fn serially [_ combinef reducef] (reduce-elements (xf reducef) (combinef) coll))))

(defn folder
  "Like clojure.core.reducers/folder."
  [coll xf]
  (transformed coll xf (fn in-parallel [n combinef reducef] (coll-fold coll n combinef (xf reducef)))))

(defn- nested
  "Returns `f` for an inner reduction: a reduced value ends the inner and the outer one."
  [f]
  (fn step
    ([acc x] (let [acc (f acc x)] (if (reduced? acc) (reduced acc) acc)))
    ([acc k v] (let [acc (f acc k v)] (if (reduced? acc) (reduced acc) acc)))))

(defn map
  "Like clojure.core.reducers/map."
  ([f] (fn on [coll] (map f coll)))
  ([f coll]
   (folder coll (fn xf [f1]
                  (fn step
                    ([] (f1))
                    ([acc x] (f1 acc (f x)))
                    ([acc k v] (f1 acc (f k v))))))))

(defn mapcat
  "Like clojure.core.reducers/mapcat."
  ([f] (fn on [coll] (mapcat f coll)))
  ([f coll]
   (folder coll (fn xf [f1]
                  (let [inner (nested f1)]
                    (fn step
                      ([] (f1))
                      ([acc x] (reduce inner acc (f x)))
                      ([acc k v] (reduce inner acc (f k v)))))))))

(defn filter
  "Like clojure.core.reducers/filter."
  ([pred] (fn on [coll] (filter pred coll)))
  ([pred coll]
   (folder coll (fn xf [f1]
                  (fn step
                    ([] (f1))
                    ([acc x] (if (pred x) (f1 acc x) acc))
                    ([acc k v] (if (pred k v) (f1 acc k v) acc)))))))

(defn remove
  "Like clojure.core.reducers/remove."
  ([pred] (fn on [coll] (remove pred coll)))
  ([pred coll] (filter (complement pred) coll)))

(defn flatten
  "Like clojure.core.reducers/flatten."
  ([] (fn on [coll] (flatten coll)))
  ([coll]
   (folder coll (fn xf [f1]
                  (let [inner (nested f1)]
                    (fn step
                      ([] (f1))
                      ([acc x] (if (sequential? x) (reduce inner acc (flatten x)) (f1 acc x)))))))))

(defn take-while
  "Like clojure.core.reducers/take-while."
  ([pred] (fn on [coll] (take-while pred coll)))
  ([pred coll]
   (reducer coll (fn xf [f1]
                   (fn step
                     ([] (f1))
                     ([acc x] (if (pred x) (f1 acc x) (reduced acc)))
                     ([acc k v] (if (pred k v) (f1 acc k v) (reduced acc))))))))

(defn- counted
  "Returns a transformation whose step calls (choose i acc step) for the i-th element, from 0, of a reduction; (step) passes
  the element on."
  [choose]
  (fn xf [f1]
    (let [seen (volatile! -1)
          place (fn place [] (long (vswap! seen inc)))]
      (fn step
        ([] (f1))
        ([acc x] (choose (place) acc #(f1 acc x)))
        ([acc k v] (choose (place) acc #(f1 acc k v)))))))

(defn take
  "Like clojure.core.reducers/take."
  ([n] (fn on [coll] (take n coll)))
  ([n coll]
   (reducer coll (counted (fn choose [i acc step] (if (< (long i) (long n)) (step) (reduced acc)))))))

(defn drop
  "Like clojure.core.reducers/drop."
  ([n] (fn on [coll] (drop n coll)))
  ([n coll]
   (reducer coll (counted (fn choose [i acc step] (if (< (long i) (long n)) acc (step)))))))

;;;; Collecting

(deftype-once Cat [n left right]
  Counted
  (count [_] (int n))
  Seqable
  (seq [_] (concat (seq left) (seq right)))
  IReduce
  (reduce [this f] (.reduce this f (f)))
  (reduce [_ f init]
    (let [acc (clj/reduce (fn step [acc x] (let [acc (f acc x)] (if (reduced? acc) (reduced acc) acc))) init left)]
      (if (reduced? acc) (unreduced acc) (clj/reduce f acc right))))
  source/Source
  (-source [this]
    (object-array (seq this))))

;; As in clojure.core.reducers, a map in a cat passes key and value to a fold, and its entries to a reduction.
(defn- holds-pairs? [coll]
  (if (instance? Cat coll)
    (or (holds-pairs? (.left ^Cat coll)) (holds-pairs? (.right ^Cat coll)))
    (pairs? coll)))

(extend-type Cat
  CollFold
  (coll-fold [coll n combinef reducef]
    (if (holds-pairs? coll)
      (combinef (coll-fold (.left ^Cat coll) n combinef reducef) (coll-fold (.right ^Cat coll) n combinef reducef))
      (run coll n combinef reducef))))

(defn cat
  "Like clojure.core.reducers/cat."
  ([] (ArrayList.))
  ([ctor] (fn combine ([] (ctor)) ([left right] (cat left right))))
  ([left right]
   (cond
     (zero? (count left)) right
     (zero? (count right)) left
     :else (Cat. (+ (count left) (count right)) left right))))

(defn append!
  "Like clojure.core.reducers/append!."
  [^Collection acc x]
  (doto acc (.add x)))

(defn foldcat
  "Like clojure.core.reducers/foldcat,
  on the engine of `skein.fold`.

      (into [] (foldcat (map inc [1 2 3])))
      ;=> [2 3 4]"
  [coll]
  (fold cat append! coll))

(defn monoid
  "Like clojure.core.reducers/monoid."
  [op ctor]
  (fn combine
    ([] (ctor))
    ([a b] (op a b))))
