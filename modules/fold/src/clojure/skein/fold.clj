;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold
  "Parallel folds with transducers over everything that has elements. doc/folds.md explains.

  * `fold` runs one, `explain` tells what it did
  * `through`, `fuse`, `group-by`, `then` make folds of folds
  * `count sum mean variance min max frequencies distinct` are folds; `top into histogram quantiles` make them

  A fold is a map {:identity :xform :step :combine :complete} and knows nothing of threads.

      (fold (group-by odd? (fuse {:n count, :sum sum})) (range 10))
      ;=> {false {:n 5, :sum 20}, true {:n 5, :sum 25}}

  It takes one pass in the order of the source, and only ever combines neighbours. For files see skein.fold.lines."
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
    (error/fail! :skein/bad-fold
                 (str "The " k " of a fold is a function of " wanted ", unlike " (error/preview part) ". Leave it out, or give one.")
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
    :else (error/fail! :skein/bad-fold
                       (str "A fold is a map with :step, :combine and :identity, or a function that is both step and combine, not "
                            (error/preview f) ".")
                       {:fold f})))

(defn- run [opts f coll]
  (let [f (fold-value f)]
    (parts/completed f (run/run opts f coll))))

(defn fold
  "Returns the fold of `coll`, made on as many threads as it is worth.

  f        a fold: {:identity (fn [] value), :step (fn [value x]), :combine (fn [left right]), :xform transducer,
           :complete (fn [value])}; all but :step and :combine may be left out; without :identity, (combine) gives it
  combine  function of no argument, the identity, and of two, the values of two neighbouring parts
  step     reducing function; called with one argument at the end of each part if it has that arity
  xform    transducer
  coll     whatever skein.fold.source knows, or nil
  opts     :parallelism  threads at most, the caller's included; default one per processor
           :grain        elements (bytes, of a file) that a thread takes at a time; by default measured
           :unordered    true lets any two parts be combined; needs a commutative combine
           :pool         Executor to run helpers on, instead of threads of its own
           :on-progress  function of {:done n, :total n-or-nil, :unit :elements-or-:bytes}, called now and then by
                         one thread at a time, and in the end unless the fold throws

  The value is what `transduce` gives if combine is associative and agrees with step; sums of doubles are so but for their
  last digits. A transducer that keeps state (take,
  distinct, partition-by and so on) gets its elements in order; what stands before it still runs in parallel. A reduced
  value from step ends the fold there. So does an exception, which is thrown as it is unless something before it ends
  the fold; interrupting the caller ends it at once. When fold returns or throws, no step is running any more. Steps see
  the caller's dynamic bindings.

  Throws :skein/bad-combine, :skein/bad-step, :skein/bad-xform, :skein/bad-fold, :skein/bad-grain, :skein/bad-option,
  :skein/not-foldable, and :skein/stateful-unordered.

      (fold (map inc) + + [1 2 3])
      ;=> 9

      (fold {:parallelism 4} (through (filter odd?) (into [])) (range 10))
      ;=> [1 3 5 7 9]"
  ([f coll] (run nil f coll))
  ([combine step coll]
   (if (or (map? combine) (map? step))
     (run combine step coll)
     (run/run-plain nil combine step coll)))
  ([xform combine step coll]
   (if (map? xform)
     (run/run xform {:combine combine, :step step} coll)
     (run/run-plain xform combine step coll)))
  ([opts xform combine step coll]
   (run/run opts {:xform xform, :combine combine, :step step} coll)))

(defn explain
  "Folds as `(fold opts f coll)` does, and returns what happened: a map of

  :value       what fold returns
  :path        :serial, :parallel, or :in-order, which is parallel up to a transducer that needs order
  :reason      why it was serial or in order, a string, or nil
  :grain       elements (bytes, of a file) in a block, on average
  :pieces      a map for each part with a value of its own: where it began in units (:from), how many it did (:units), in
               how many blocks (:blocks), in what time (:ns), on which thread (:thread); if it was in order, there is one
               part, its time is that of all threads together, and it has the name of one
  :threads     how many threads took part
  :elapsed-ns  time in all

      (select-keys (explain {:parallelism 1} sum (range 10)) [:value :path])
      ;=> {:value 45, :path :serial}"
  ([f coll] (explain nil f coll))
  ([opts f coll]
   (let [f (fold-value f)]
     (update (run/explain opts f coll) :value #(parts/completed f %)))))

;;;; Folds of folds

(defn- made-by
  "Returns the fold `f` with the call [symbol & arguments] that makes it as metadata, so that another process can make it again.
  The fold is there too: a map that was changed since is another fold."
  [call f]
  (vary-meta f assoc ::made {:call call, :fold f}))

(defn through
  "Returns the fold `f` of what the transducer `xform`, if it is not nil, lets through: a map over, a filter of, the elements.
  Throws :skein/bad-xform and :skein/bad-fold.

      (fold (through (comp (map inc) (filter even?)) count) [1 2 3])
      ;=> 2"
  [xform f]
  (when (some? xform) (run/check-xform xform))
  (made-by [`through xform f] (run/fed-through xform (fold-value f))))

(defn then
  "Returns the fold `f` with its value post-processed by `g`. Throws :skein/not-a-function and :skein/bad-fold.

      (fold (then sum str) [1 2 3])
      ;=> \"6\""
  [f g]
  (check/function "g of then" g)
  (let [{:keys [complete] :as fold} (fold-value f)]
    (made-by [`then f g] (assoc fold :complete (if complete (comp g complete) g)))))

(defn- check-folds [folds]
  (when-not (and (or (map? folds) (sequential? folds))
                 ;; The map that is a fold has functions where a map of folds would have folds.
                 (not (and (map? folds) (every? #(arity/function? (% folds)) [:step :combine]))))
    (error/fail! :skein/bad-fold
                 (str "Folds to fuse stand in a map from name to fold, or in a vector, but this is " (error/preview folds) ".")
                 {:folds (error/preview folds)})))

(defn fuse
  "Returns the fold that does several folds in one pass.

  folds  map from name to fold, or vector of folds; its value is a map or vector likewise

  Throws :skein/bad-fold.

      (fold (fuse [count sum]) [1 2 3])
      ;=> [3 6]"
  [folds]
  (check-folds folds)
  (let [names (when (map? folds) (vec (keys folds)))
        fused (parts/fuse (mapv fold-value (if names (vals folds) folds)))]
    (made-by [`fuse folds] (if names (then fused #(zipmap names %)) fused))))

(defn group-by
  "Returns the fold whose value is a map from (key-fn x) to the fold `f` of all such x. Throws :skein/not-a-function and
  :skein/bad-fold.

      (fold (group-by clj/count (into [])) [\"a\" \"bc\" \"d\"])
      ;=> {1 [\"a\" \"d\"], 2 [\"bc\"]}"
  [key-fn f]
  (made-by [`group-by key-fn f] (parts/group-by-key (check/function "key-fn of group-by" key-fn) (fold-value f))))

;;;; Folds

(def count
  "The fold whose value is how many elements there are."
  {:identity (fn fresh [] 0)
   :step (fn step [n _] (inc (long n)))
   :combine +})

(def sum
  "The fold whose value is the sum of the elements."
  {:combine +, :step +})

(def mean
  "The fold whose value is the arithmetic mean of the elements, a double, or nil if there are none.

      (fold mean [1 2 6])
      ;=> 3.0"
  (summary/moments (fn complete [[n mean]] (when (pos? (long n)) mean))))

(def variance
  "The fold whose value is the sample variance of the elements, a double, or nil if there are less than two.

      (fold variance [1 2 3])
      ;=> 1.0"
  (summary/moments (fn complete [[n _ squares]] (when (< 1 (long n)) (/ (double squares) (dec (long n)))))))

(defn- better-of
  "Returns the fold of the element that `better` (clj/min or clj/max) prefers, or nil."
  [better]
  (let [pick (fn pick ([] nil) ([a b] (cond (nil? a) b (nil? b) a :else (better a b))))]
    {:combine pick, :step pick}))

(def min
  "The fold whose value is the least number, or nil if there are none."
  (better-of clj/min))

(def max
  "The fold whose value is the greatest number, or nil if there are none.

      (fold (fuse [min max]) [3 1 2])
      ;=> [1 3]"
  (better-of clj/max))

(def frequencies
  "The fold whose value is a map from element to how often it occurs.

      (fold frequencies \"abba\")
      ;=> {\\a 2, \\b 2}"
  summary/frequencies-fold)

(def distinct
  "The fold whose value is a vector of the different elements, in the order of their first occurrence.

      (fold distinct [3 1 3 2 1])
      ;=> [3 1 2]"
  (let [add (fn add [[seen xs] x] (if (contains? seen x) [seen xs] [(conj seen x) (conj xs x)]))]
    {:identity (fn fresh [] [#{} []])
     :step add
     :combine (fn combine [left [_ xs]] (reduce add left xs))
     :complete second}))

(defn into
  "Returns the fold whose value is `to`, a collection or nil, with the elements conjoined, in order. Throws
  :skein/bad-collection.

      (fold (into {}) [[:a 1] [:b 2] [:a 3]])
      ;=> {:a 3, :b 2}"
  [to]
  (check/that :skein/bad-collection "to of into" to (or (nil? to) (coll? to)) "nil or a collection to add to")
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

  n       int >= 0
  key-fn  function to compare elements by; default identity. Of equal ones the first come first

  Throws :skein/bad-number and :skein/not-a-function.

      (fold (top 2 clj/count) [\"a\" \"bcd\" \"ef\" \"gh\"])
      ;=> [\"bcd\" \"ef\"]"
  ([n] (top n identity))
  ([n key-fn]
   (check/whole "n of top" n 0 Integer/MAX_VALUE)
   (check/function "key-fn of top" key-fn)
   (made-by [`top n key-fn] (summary/top n (fn order [a b] (compare (key-fn b) (key-fn a)))))))

(defn histogram
  "Returns the fold whose value counts numbers between `edges`: a vector, one longer.

  edges  ascending numbers, no two equal; the counts are of x below the first, of x from the first up to the second, and
         so on; NaN counts in the last

  Throws :skein/bad-number.

      (fold (histogram [0 10]) [-1 0 9 10 11])
      ;=> [1 2 2]"
  [edges]
  (check-numbers "edges of histogram" edges "a collection of ascending numbers" #(or (empty? %) (apply < %)))
  ;; binarySearch has -0.0 before 0.0, to which adding 0.0 turns it.
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
  "Returns the fold of numbers whose value is a map from each of `ps` to the number of that rank, to within 1 %.

  ps  numbers from 0 to 1; 0.5 is the median. Its space grows with the logarithm of the numbers' range. If one of the numbers
      is NaN, so are all quantiles

  Throws :skein/bad-number.

      (update-vals (fold (quantiles [0.5]) (range 1 1000)) #(Math/round (/ % 10)))
      ;=> {0.5 50}"
  [ps]
  (check-numbers "ps of quantiles" ps "a collection of numbers from 0 to 1" (fn ranks? [ps] (every? #(<= 0 % 1) ps)))
  (made-by [`quantiles (vec ps)] (summary/quantiles ps)))
