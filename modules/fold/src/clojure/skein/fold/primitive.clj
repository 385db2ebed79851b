;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.primitive
  "Compiles a fold's chain into one loop, in which hinted functions get unboxed numbers.

  A chain that begins with `map`, `filter` or `remove` is known by the classes of these transducers. With a Clojure that makes them
  differently there are no loops, and folds are slower. What follows the known stages is called by the loop, element by element. A
  loop is compiled, and kept for functions of the same classes, when the elements that it would have folded are worth it."
  {:no-doc true}
  (:require
   [skein.impl.internals :as internals])
  (:import
   (clojure.lang DynamicClassLoader IFn IFn$DD IFn$DDD IFn$DL IFn$DLD IFn$DO IFn$LD IFn$LDL IFn$LL IFn$LLL IFn$LO IFn$ODO IFn$OLO Reduced)
   (java.util.concurrent ConcurrentHashMap)
   (java.util.concurrent.atomic AtomicLong)
   (skein.base Internals)
   (skein.fold.memory Fused Fused$Loop Spans)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* false)

;;;; clojure.core's functions on unboxed numbers

;; Each test is the condition of an `if`. Elsewhere Clojure calls a method for it, such as Numbers.isZero. The profile of
;; the branch in that method counts all its calls in the program. So a loop with even? took 40 % longer in a program that calls zero? often.
(def ^:private known
  "Maps a function of clojure.core to hinted ones that return or throw the same for longs or doubles."
  {inc [(fn ^long [^long x] (inc x)) (fn ^double [^double x] (inc x))]
   dec [(fn ^long [^long x] (dec x)) (fn ^double [^double x] (dec x))]
   - [(fn ^long [^long x] (- x)) (fn ^double [^double x] (- x))]
   unchecked-inc [(fn ^long [^long x] (unchecked-inc x))]
   unchecked-dec [(fn ^long [^long x] (unchecked-dec x))]
   long [(fn ^long [^long x] x)]
   double [(fn ^double [^long x] (double x)) (fn ^double [^double x] x)]
   even? [(fn [^long x] (if (zero? (bit-and x 1)) true false))]
   odd? [(fn [^long x] (if (zero? (bit-and x 1)) false true))]
   pos? [(fn [^long x] (if (pos? x) true false)) (fn [^double x] (if (pos? x) true false))]
   neg? [(fn [^long x] (if (neg? x) true false)) (fn [^double x] (if (neg? x) true false))]
   zero? [(fn [^long x] (if (zero? x) true false)) (fn [^double x] (if (zero? x) true false))]
   + [(fn ^long [^long a ^long b] (+ a b)) (fn ^double [^double a ^double b] (+ a b))]
   * [(fn ^long [^long a ^long b] (* a b)) (fn ^double [^double a ^double b] (* a b))]
   max [(fn ^long [^long a ^long b] (max a b))]
   min [(fn ^long [^long a ^long b] (min a b))]
   unchecked-add [(fn ^long [^long a ^long b] (unchecked-add a b))]
   bit-and [(fn ^long [^long a ^long b] (bit-and a b))]
   bit-or [(fn ^long [^long a ^long b] (bit-or a b))]
   bit-xor [(fn ^long [^long a ^long b] (bit-xor a b))]})

(def ^:private hinted
  "For each operation on elements of a type: the interfaces that take them unboxed, and the type of their results."
  {[:map :long] [[IFn$LL :long] [IFn$LD :double]]
   [:map :double] [[IFn$DD :double] [IFn$DL :long]]
   [:filter :long] [[IFn$LO]], [:filter :double] [[IFn$DO]]
   [:remove :long] [[IFn$LO]], [:remove :double] [[IFn$DO]]
   [:step :long] [[IFn$LLL :long] [IFn$DLD :double] [IFn$OLO :object]]
   [:step :double] [[IFn$DDD :double] [IFn$LDL :long] [IFn$ODO :object]]})

;;;; From a chain to operations

(defn- part-of
  "Returns the class of the result of `make` for a function, and the name of the field that holds that function; nil if there is none."
  [make field]
  (let [probe (fn probe [_])
        made (make probe)]
    (when (identical? probe (Internals/closedOver made field)) [(class made) field])))

(def ^:private maps (part-of map "f"))
(def ^:private filters (part-of filter "pred"))
(def ^:private complements (part-of complement "f"))

(defn- within
  "Returns the function that `f` was made from, given the class and the field that `part-of` returns; or nil."
  [[made field] f]
  (when (and made (identical? made (class f))) (Internals/closedOver f field)))

(defn- operation
  "Returns the operation on an element of type `t`: {:op :f :interface :out}. Without :interface the element is boxed for it."
  [op f t]
  (or (some (fn fit [[^Class interface out]]
              (when-let [f (if (instance? interface f) f (some #(when (instance? interface %) %) (when (fn? f) (known f))))]
                {:op op, :f f, :interface interface, :out out}))
            (hinted [op t]))
      {:op op, :f f, :out :object}))

(defn- stage-operation [stage t]
  (if-let [f (within maps stage)]
    (operation :map f t)
    (when-let [test (within filters stage)]
      (if-let [refused (within complements test)]
        (operation :remove refused t)
        (operation :filter test t)))))

(defn- operations
  "Returns the operations of a chain. The last one is the step, or :next: the chain from the first unknown stage on."
  [^objects stages step ^objects chain t]
  (loop [i 0, t t, ops []]
    (if (= i (alength stages))
      (conj ops (operation :step step t))
      (if-let [op (stage-operation (aget stages i) t)]
        (recur (inc i) (if (= :map (:op op)) (:out op) t) (conj ops op))
        (conj ops {:op :next, :f (aget chain i), :out :object})))))

(defn- boxes-ints?
  "Returns whether a chain for longs would box a number that was an int, which must be an Integer then."
  [ops step]
  (let [[before-map [mapping]] (split-with #(not= :map (:op %)) ops)]
    (not (and (every? :interface before-map)
              (if mapping (:interface mapping) (not (contains? #{max min} step)))))))

;;;; From operations to a loop

(defn- call [{:keys [interface place]} x boxed & args]
  (if interface
    `(.invokePrim ~(vary-meta place assoc :tag (symbol (.getName ^Class interface))) ~@args ~x)
    `(~place ~@args ~boxed)))

(defn- body
  "Returns the form of `acc` after `ops` have been applied to the element `x`. `boxed` is the form of the element as an object."
  [[operation & more] boxed]
  (case (:op operation)
    :map `(let [~'x ~(call operation 'x boxed)] ~(body more 'x))
    :filter `(if ~(call operation 'x boxed) ~(body more boxed) ~'acc)
    :remove `(if ~(call operation 'x boxed) ~'acc ~(body more boxed))
    :step (call operation 'x boxed 'acc)
    :next `(~'next ~'acc ~boxed)))

(def ^:private elements-of
  "For each kind of array: bindings around the loop, where `i` begins and ends, the next `i`, and the element at `i`. For a range, `i` is
  the element. The loop has only one `recur`: the JIT compiler optimizes such a loop best."
  '{:objects [[] from to (unchecked-inc i) (aget ^objects elements (unchecked-int i))]
    :longs [[] from to (unchecked-inc i) (aget ^longs elements (unchecked-int i))]
    :ints [[] from to (unchecked-inc i) (long (aget ^ints elements (unchecked-int i)))]
    :doubles [[] from to (unchecked-inc i) (aget ^doubles elements (unchecked-int i))]
    :range [[start (aget ^longs elements 0), distance (aget ^longs elements 1)]
            (unchecked-add start (unchecked-multiply from distance))
            (unchecked-add start (unchecked-multiply to distance))
            (unchecked-add i distance)
            i]})

(def ^:private unboxing
  "For each kind of array that is expected to hold boxed numbers: the class of the boxes, and the form of the number in a box."
  '{:boxed-longs [Long (.longValue ^Long element)], :boxed-doubles [Double (.doubleValue ^Double element)]})

(defn- loop-form
  "Returns the form of a function from an array of the operations' functions to a loop. At an object of another class
  than expected, the chain reduces the rest of the array."
  [kind ops]
  (let [[box number] (unboxing kind)
        ops (map-indexed (fn place [i op] (assoc op :place (symbol (str "f" i)))) ops)
        [around from to next-i element] (elements-of (if box :objects kind))
        [unboxed boxed] (case (:out (last ops)) :long '[(long acc) (Long/valueOf acc)] :double '[(double acc) (Double/valueOf acc)] '[acc acc])
        step (body ops (if box 'element 'x))
        go-on (if (= 'acc unboxed)
                `(let [~'acc ~step] (if (instance? Reduced ~'acc) ~'acc (recur ~next-i ~'acc)))
                `(recur ~next-i ~step))
        each (if box
               `(let [~'element ~element]
                  (if (instance? ~box ~'element)
                    (let [~'x ~number] ~go-on)
                    (.reduce (Spans/ofObjects ~'elements ~'i ~'end) (aget ~'chain 0) ~boxed 0 (unchecked-subtract ~'end ~'i))))
               `(let [~'x ~element] ~go-on))]
    `(fn [~'^objects functions]
       (let [~@(mapcat (fn [i op] [(:place op) `(aget ~'functions ~i)]) (range) ops)]
         (reify Fused$Loop
           (reduce [~'_ ~'elements ~'chain ~'acc ~'from ~'to]
             (let [~@around, ~'end ~to, ~'next (aget ~'chain ~(dec (count ops)))]
               (loop [~'i ~from, ~'acc ~unboxed]
                 (if (== ~'i ~'end)
                   ~boxed
                   ~each)))))))))

(defn- compiled
  "Returns the value of `form`, compiled on its own."
  [form]
  (with-bindings {#'*ns* (the-ns 'clojure.core), #'*compile-files* false, #'*warn-on-reflection* false, #'*unchecked-math* false}
    (internals/eval-with-loader form (DynamicClassLoader. (.getClassLoader Fused)))))

;;;; When

(def ^:private worth-compiling "This many elements take longer than compiling a loop." 300000)
(def ^:private max-operations "More would nest too deeply." 16)
(def ^:private max-loops "More would take too much memory, since each keeps the classes of the functions that it was made for." 200)

;; Maps what a loop would be made of to the number of elements that it would have folded, later to the function that makes it a step.
(defonce ^:private ^ConcurrentHashMap loops (ConcurrentHashMap.))

(defn- maker-of [kind ops size]
  (let [of (reduce (fn [of {:keys [op f]}] (conj of op (class f))) [kind] ops)
        found (.get loops of)]
    (cond
      (ifn? found) found
      (and (nil? found) (<= (long max-loops) (.size loops))) nil
      :else (let [^AtomicLong seen (or found (do (.putIfAbsent loops of (AtomicLong.)) (.get loops of)))]
              (when (and (instance? AtomicLong seen) (<= (long worth-compiling) (.addAndGet seen (long size))))
                (let [loop-of (compiled (loop-form kind ops))
                      had (long-array 1)
                      maker (fn [chain functions acc-type] (Fused. chain (loop-of functions) acc-type had))]
                  (.put loops of maker)
                  maker))))))

(defn- fused [kind size stages step chain]
  (let [ops (operations stages step chain (case kind :objects :object (:doubles :boxed-doubles) :double :long))]
    (cond
      (< (long max-operations) (count ops)) nil
      (and (= :ints kind) (boxes-ints? ops step)) nil
      (and (unboxing kind) (not-any? :interface ops)) (recur :objects size stages step chain)
      :else
      (when-let [maker (maker-of kind ops size)]
        (maker chain (to-array (mapv :f ops)) (case (:out (peek ops)) :long Long :double Double nil))))))

(Fused/setMaker (fn [kind size stages step chain] (fused (keyword kind) size stages step chain)))
