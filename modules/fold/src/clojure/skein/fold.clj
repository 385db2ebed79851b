;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold
  "Parallel folds with transducers, over collections, files and your own sources. The guide is doc/folds.md.

  * `fold` runs a fold, `explain` runs it and returns how it ran
  * `through`, `fuse`, `group-by`, `finish` make folds from folds
  * `count sum mean variance min max frequencies distinct` are folds; `top into histogram quantiles` return folds

  A fold is a map {:identity :xform :step :combine :complete}. It does not depend on threads.

      (fold (group-by odd? (fuse {:n count, :sum sum})) (range 10))
      ;=> {false {:n 5, :sum 20}, true {:n 5, :sum 25}}

  A fold makes one pass over the source, and combines only neighbouring parts, in order. For files see skein.fold.lines."
  (:refer-clojure :exclude [count distinct frequencies group-by into max min])
  (:require
   [clojure.core :as clj]
   [skein.fold.arity :as arity]
   [skein.fold.parts :as parts]
   [skein.fold.run :as run]
   [skein.fold.summary :as summary]
   [skein.impl.check :as check]
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

;;;; Running

(defn- check-part [k part wanted fits?]
  (when-not (or (nil? part) (fits? part))
    (error/fail! :skein/bad-argument
                 (str "The " k " of a fold must be a function of " wanted ", but is " (error/preview part) ". Leave it out, or pass a function.")
                 {:key k, :value part})))

(defn- check-numbers [what xs wanted ok?]
  (check/number what xs wanted #(and (seqable? %) (every? number? %) (ok? %))))

(defn- fold-value [f]
  (cond
    (and (map? f) (contains? f :step))
    (do (check-part :identity (:identity f) "no argument" #(arity/takes? % 0))
        (check-part :complete (:complete f) "one argument" ifn?)
        f)
    (arity/function? f) {:combine f, :step f}
    :else (error/fail! :skein/bad-argument
                       (str "A fold must be a map with :step, :combine and :identity, or a function that is both step and combine, but is "
                            (error/preview f) ". Options come first: (fold options f coll).")
                       {:fold f})))

(defn- fold-after
  "Returns the fold `f` that follows the options `opts`."
  [opts f]
  (when (arity/function? opts)
    (error/fail! :skein/bad-argument
                 (str "The options of fold must be a map, but are " (error/preview opts) ". A transducer goes into the fold, as in (fold "
                      "(through (map inc) sum) coll), and so do two functions, as in (fold {:combine +, :step conj} coll).")
                 {:argument "opts of fold", :value (error/preview opts)}))
  (fold-value f))

(defn fold
  "Returns the fold of `coll`. Uses more threads than the caller's if the work is large enough.

  - f     a fold, or a function that is both :step and :combine. A fold is a map:
    - :step      reducing function; if it has an arity of one, it is called with the value of each part at its end
    - :combine   function of the values of two neighbouring parts
    - :identity  function of no argument that returns the first value of a part; by default :combine
    - :xform     transducer in front of the step
    - :complete  function of the value of the whole fold
  - coll  any source that skein.fold.source knows, or nil
  - opts, for a source of skein.spark those of its own:
    - :workers      the most threads, the caller's included; by default one per processor
    - :grain        elements (for a file, bytes) that a thread takes at a time; by default measured
    - :ordered?     by default true; false: any two parts may be combined; needs a commutative combine
    - :pool         Executor that runs the helpers, instead of the fold's own threads
    - :on-progress  function of {:done n, :total n-or-nil, :unit :elements-or-:bytes}, called from time to time by
                    one thread at a time, and at the end unless the fold throws

  If combine is associative and agrees with step, the value is that of `transduce`, except for the last digits of sums of
  doubles. A transducer that keeps state (take, distinct, partition-by and so on) gets its elements in order; the
  transducers before it still run in parallel. A reduced value from step ends the fold there. So does an exception; it is
  thrown unchanged, unless an earlier element ends the fold. Interrupting the caller ends the fold at once. When fold
  returns or throws, no step is running. Steps see the caller's dynamic bindings.

  Throws :skein/bad-argument.

      (fold (through (map inc) +) [1 2 3])
      ;=> 9

      (fold {:workers 4} (through (filter odd?) (into [])) (range 10))
      ;=> [1 3 5 7 9]"
  ([f coll] (fold nil f coll))
  ([opts f coll]
   (let [f (fold-after opts f)]
     (parts/completed f (run/run opts f coll)))))

(defn explain
  "Folds as `(fold opts f coll)` does. Returns a map that says how the fold ran.

      (select-keys (explain {:workers 1} sum (range 10)) [:value :path])
      ;=> {:value 45, :path :serial}

  - :value       the value that fold returns
  - :path        :serial, :parallel, or :in-order, which is parallel up to a transducer that needs order
  - :reason      why it was serial or in order, a string, or nil
  - :grain       the average number of units in a block, which is what a thread takes at a time. A unit is an element, or a byte
                 of a file
  - :pieces      a map for each part that has a value: its first unit (:from), how many units (:units) and blocks (:blocks) it
                 had, how long it took (:ns), and its thread (:thread). If the path is :in-order, there is one part, with the
                 time of all threads together and the name of one of them
  - :threads     how many threads worked on the fold
  - :elapsed-ns  the time of the whole fold

  For a source of skein.spark the keys are those of doc/spark.md."
  ([f coll] (explain nil f coll))
  ([opts f coll]
   (let [f (fold-after opts f)]
     (update (run/explain opts f coll) :value #(parts/completed f %)))))

;;;; Folds of folds

(defn- made-by
  "Returns the fold `f` with metadata from which another process can make it again: the call [symbol & arguments], and the fold
  itself, because a map that was changed later is another fold."
  [call f]
  (vary-meta f assoc ::made {:call call, :fold f}))

(defn through
  "Returns the fold `f` of the elements that come out of the transducer `xform`, which may be nil. Throws :skein/bad-argument
  if `xform` is no transducer.

      (fold (through (comp (map inc) (filter even?)) count) [1 2 3])
      ;=> 2"
  [xform f]
  (when (some? xform) (run/check-xform xform))
  (made-by [`through xform f] (run/fed-through xform (fold-value f))))

(defn finish
  "Returns the fold whose value is `g` of the value of the fold `f`.
  Throws :skein/bad-argument.

      (fold (finish str sum) [1 2 3])
      ;=> \"6\""
  [g f]
  (check/function "g of finish" g)
  (let [{:keys [complete] :as fold} (fold-value f)]
    (made-by [`finish g f] (assoc fold :complete (if complete (comp g complete) g)))))

(defn- check-folds [folds]
  (when-not (and (or (map? folds) (sequential? folds))
                 ;; The map that is a fold has functions where a map of folds would have folds.
                 (not (and (map? folds) (every? #(arity/function? (% folds)) [:step :combine]))))
    (error/fail! :skein/bad-argument
                 (str "fuse takes a map from name to fold, or a vector of folds, but got " (error/preview folds) ".")
                 {:folds (error/preview folds)})))

(defn fuse
  "Returns the fold that does several folds in one pass.

  - folds  map from name to fold, or vector of folds; the value is a map or vector accordingly

  Throws :skein/bad-argument.

      (fold (fuse [count sum]) [1 2 3])
      ;=> [3 6]"
  [folds]
  (check-folds folds)
  (let [names (when (map? folds) (vec (keys folds)))
        fused (parts/fuse (mapv fold-value (if names (vals folds) folds)))]
    (made-by [`fuse folds] (if names (finish #(zipmap names %) fused) fused))))

(defn group-by
  "Returns the fold whose value is a map from (key-fn x) to the fold `f` of all x with that key. Throws
  :skein/bad-argument.

      (fold (group-by clj/count (into [])) [\"a\" \"bc\" \"d\"])
      ;=> {1 [\"a\" \"d\"], 2 [\"bc\"]}"
  [key-fn f]
  (made-by [`group-by key-fn f] (parts/group-by-key (check/function "key-fn of group-by" key-fn) (fold-value f))))

;;;; Folds

(def count
  "The fold whose value is the number of elements."
  {:identity (fn fresh [] 0)
   :step (fn step [n _] (inc (long n)))
   :combine +})

(def sum
  "The fold whose value is the sum of the elements."
  {:combine +, :step +})

(def mean
  "The fold whose value is the arithmetic mean of the elements, a double,
  or nil if there are none.

      (fold mean [1 2 6])
      ;=> 3.0"
  (summary/moments (fn complete [[n mean]] (when (pos? (long n)) mean))))

(def variance
  "The fold whose value is the sample variance of the elements, a double,
  or nil if there are fewer than two.

      (fold variance [1 2 3])
      ;=> 1.0"
  (summary/moments (fn complete [[n _ squares]] (when (< 1 (long n)) (/ (double squares) (dec (long n)))))))

(defn- better-of
  "Returns the fold whose value is the element that `better` (clj/min or clj/max) prefers, or nil."
  [better]
  (let [pick (fn pick ([] nil) ([a b] (cond (nil? a) b (nil? b) a :else (better a b))))]
    {:combine pick, :step pick}))

(def min
  "The fold whose value is the least number, or nil if there are none."
  (better-of clj/min))

(def max
  "The fold whose value is the greatest number,
  or nil if there are none.

      (fold (fuse [min max]) [3 1 2])
      ;=> [1 3]"
  (better-of clj/max))

(def frequencies
  "The fold whose value is a map from element
  to how often it occurs.

      (fold frequencies \"abba\")
      ;=> {\\a 2, \\b 2}"
  summary/frequencies-fold)

(def distinct
  "The fold whose value is a vector of the different elements,
  in the order of their first occurrence.

      (fold distinct [3 1 3 2 1])
      ;=> [3 1 2]"
  (let [add (fn add [[seen xs] x] (if (contains? seen x) [seen xs] [(conj seen x) (conj xs x)]))]
    {:identity (fn fresh [] [#{} []])
     :step add
     :combine (fn combine [left [_ xs]] (reduce add left xs))
     :complete second}))

(defn into
  "Returns the fold whose value is `to`, a collection or nil, with the elements added in order.
  Throws :skein/bad-argument.

      (fold (into {}) [[:a 1] [:b 2] [:a 3]])
      ;=> {:a 3, :b 2}"
  [to]
  (check/that "to of into" to (or (nil? to) (coll? to)) "nil or a collection to add to")
  (let [part (if (and (or (set? to) (map? to)) (not (record? to))) (empty to) [])
        conj-on (if (instance? clojure.lang.IEditableCollection part)
                  {:identity (fn fresh [] (transient part))
                   :step (fn step ([acc] (persistent! acc)) ([acc x] (conj! acc x)))}
                  {:identity (fn fresh [] part), :step conj})]
    (made-by [`into to]
             (assoc conj-on
                    :combine (fn combine [left right] (clj/into left right))
                    :complete (fn complete [all] (clj/into to all))))))

(defn top
  "Returns the fold whose value is a vector of the `n` greatest elements, greatest first.

  - n       int >= 0
  - key-fn  function whose values are compared; by default identity. Equal elements stay in their order

  Throws :skein/bad-argument.

      (fold (top 2 clj/count) [\"a\" \"bcd\" \"ef\" \"gh\"])
      ;=> [\"bcd\" \"ef\"]"
  ([n] (top n identity))
  ([n key-fn]
   (check/whole "n of top" n 0 Integer/MAX_VALUE)
   (check/function "key-fn of top" key-fn)
   (made-by [`top n key-fn] (summary/top n (fn order [a b] (compare (key-fn b) (key-fn a)))))))

(defn histogram
  "Returns the fold whose value is a vector of counts of the numbers between `edges`; it has one count more than there are edges.

  - edges  ascending numbers, no two equal. The first count is of numbers below the first edge, the second of numbers from the
           first edge up to, but not including, the second, and so on. NaN is counted in the last

  Throws :skein/bad-argument.

      (fold (histogram [0 10]) [-1 0 9 10 11])
      ;=> [1 2 2]"
  [edges]
  (check-numbers "edges of histogram" edges "a collection of ascending numbers" #(or (empty? %) (apply < %)))
  ;; binarySearch orders -0.0 before 0.0; adding 0.0 turns -0.0 into 0.0.
  (let [edges (double-array (map #(+ 0.0 (double %)) edges))
        place (fn place [x]
                (let [i (java.util.Arrays/binarySearch edges (+ 0.0 (double x)))]
                  (if (neg? i) (- -1 i) (inc i))))
        zeros (vec (repeat (inc (alength edges)) 0))]
    (made-by [`histogram (vec edges)]
             {:identity (fn fresh [] zeros)
              :step (fn step [counts x] (update counts (place x) inc))
              :combine (fn combine [left right] (mapv + left right))})))

(defn quantiles
  "Returns the fold of numbers whose value is a map from each of `ps` to that quantile, with a relative error of at
  most 1 %.

  - ps  numbers from 0 to 1; 0.5 is the median

  Memory use grows with the logarithm of the numbers' range. If one of the numbers is NaN, all quantiles are NaN.

  Throws :skein/bad-argument.

      (update-vals (fold (quantiles [0.5]) (range 1 1000)) #(Math/round (/ % 10)))
      ;=> {0.5 50}"
  [ps]
  (check-numbers "ps of quantiles" ps "a collection of numbers from 0 to 1" (fn ranks? [ps] (every? #(<= 0 % 1) ps)))
  (made-by [`quantiles (vec ps)] (summary/quantiles ps)))
