;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.primitive-test
  "Unboxed pipelines against transduce: values, their classes, overflows."
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.primitive :as primitive]))

(set! *warn-on-reflection* true)

(def ^:private long-gen
  (gen/frequency [[20 (gen/choose -100 100)]
                  [1 (gen/elements [Long/MAX_VALUE Long/MIN_VALUE (dec Long/MAX_VALUE) (quot Long/MAX_VALUE 2)])]]))

(def ^:private double-gen
  (gen/frequency [[20 (gen/fmap double (gen/choose -100 100))]
                  [1 (gen/elements [##NaN ##Inf ##-Inf -0.0 1e308 Double/MIN_VALUE 0.1])]]))

(def ^:private source-gen
  (gen/one-of
    [(gen/vector long-gen 0 600)
     (gen/vector double-gen 0 600)
     (gen/vector (gen/frequency [[40 long-gen] [2 (gen/fmap double (gen/choose -100 100))] [1 (gen/elements [1N 1/2 (int 3) nil :a])]]) 0 600)
     (gen/fmap long-array (gen/vector long-gen 0 600))
     (gen/fmap #(int-array (map unchecked-int %)) (gen/vector long-gen 0 600))
     (gen/fmap double-array (gen/vector double-gen 0 600))
     (gen/let [start long-gen, n (gen/one-of [(gen/choose 0 600) (gen/choose 10000 11000)]), step (gen/elements [1 -1 3 -7 Long/MAX_VALUE Long/MIN_VALUE])]
       (let [end (+' start (*' n step))]
         (range start (long (max Long/MIN_VALUE (min Long/MAX_VALUE end))) step)))]))

(def ^:private stages
  "Known, hinted and unknown functions of longs and doubles."
  {:inc (map inc), :dec (map dec), :negate (map -), :unchecked-inc (map unchecked-inc), :unchecked-dec (map unchecked-dec)
   :long (map long), :double (map double), :unknown (map identity), :var (map #'inc), :class (map class)
   :long-long (map (fn ^long [^long x] (unchecked-multiply 3 x))), :long-double (map (fn ^double [^long x] (* 0.5 x)))
   :double-double (map (fn ^double [^double x] (+ 1.5 x))), :double-long (map (fn ^long [^double x] (long (Math/signum x))))
   :even (filter even?), :odd (filter odd?), :pos (filter pos?), :neg (filter neg?), :not-zero (remove zero?), :not-even (remove even?)
   :not-pos (filter (complement pos?)), :long-test (filter (fn [^long x] (< x 50))), :double-test (remove (fn [^double x] (< x 50.0)))
   :nil-test (filter (fn [^long x] (when (< x 50) 7))), :false-test (filter (fn [^long x] (Boolean/valueOf (< x 10))))
   :take (take 20), :take-while (take-while (fn [^long x] (< x 90))), :map-indexed (map-indexed vector)})

(defn- folding [identity step combine] {:combine (fn ([] identity) ([a b] (combine a b))), :step step})

(def ^:private steps
  "Folds whose combine is associative. Sums of doubles, and sums that overflow, would not be."
  {:unchecked-add (folding 0 (fn step [a x] (unchecked-add (long a) (unchecked-long x))) unchecked-add)
   :and (folding -1 bit-and bit-and), :or (folding 0 bit-or bit-or), :xor (folding 0 bit-xor bit-xor)
   :max (folding Long/MIN_VALUE max max), :min (folding Long/MAX_VALUE min min)
   :conj {:combine into, :step conj}
   :long-long (folding 0 (fn ^long [^long a ^long x] (unchecked-add a x)) unchecked-add)
   :long-double (folding 0 (fn ^long [^long a ^double x] (if (< x 5) (inc a) a)) +)
   :double-long (folding 0.0 (fn ^double [^double a ^long x] (+ a (rem x 7))) +)
   :double-double (folding 0.0 (fn ^double [^double a ^double x] (if (< x 5) (+ a 1) a)) +)
   :object-long {:combine into, :step (fn ([a] a) ([a ^long x] (if (= x 77) (reduced (conj a :end)) (conj a x))))}
   :object-double {:combine into, :step (fn ([a] a) ([a ^double x] (if (= x 77.0) (reduced (conj a :end)) (conj a x))))}})

(defn- outcome
  "Returns the class of the value of `f`, and its text, since NaN equals nothing; or the class of what
  `f` throws."
  [f]
  (try (let [v (f)] [(class v) (pr-str v)]) (catch Throwable t [:threw (class t)])))

(def ^:private ^:const enough "This many elements may have a loop." 10000)

(defn- tiled
  "Returns an array or a vector repeated, so that it may have a compiled loop; returns any other source as it is."
  [source]
  (let [again (fn [xs] (take (+ (count xs) (long enough)) (cycle xs)))]
    (cond
      (zero? (count source)) source
      (vector? source) (vec (again source))
      (instance? (Class/forName "[J") source) (long-array (again source))
      (instance? (Class/forName "[I") source) (int-array (again source))
      (instance? (Class/forName "[D") source) (double-array (again source))
      :else source)))

(defn- agrees? [{:keys [source long? names step workers grain]}]
  (let [source (if long? (tiled source) source)
        xform (apply comp (map stages names))
        {:keys [combine step]} (steps step)]
    (= (outcome #(transduce xform (completing step) (combine) source))
       (outcome #(fold/fold (cond-> {:workers workers} grain (assoc :grain grain))
                            (fold/through xform {:combine combine, :step step}) source)))))

(def ^:private case-gen
  (gen/hash-map :source source-gen
                :long? (gen/frequency [[4 (gen/return false)] [1 (gen/return true)]])
                :names (gen/vector (gen/elements (keys stages)) 0 3)
                :step (gen/elements (keys steps))
                :workers (gen/choose 1 4)
                :grain (gen/one-of [(gen/return nil) (gen/choose 1 300)])))

(deftest unboxed-folds-agree-with-transduce
  (with-redefs [primitive/worth-compiling 0
                primitive/max-loops Long/MAX_VALUE]
    ;; In parts, each with a deadline: a slow machine needs half a minute for all of them.
    (dotimes [_ 10]
      (let [result (within-deadline (check/quick-check 200 (prop/for-all [c case-gen] (agrees? c))))]
        (is (:pass? result)
            (pr-str (:seed result) (update (first (:smallest (:shrunk result))) :source (juxt class vec)) (:result result)))))))

(deftest boxed-elements-stay-the-same-objects
  (with-redefs [primitive/worth-compiling 0]
    (let [v (vec (range 1000 (+ 1000 (long enough))))]
      (doseq [source [v (object-array v)]
              xform [(filter pos?) (comp (remove neg?) (take enough)) (comp (filter pos?) (map identity))]]
        (is (every? true? (map identical? v (fold/fold (fold/through xform (fold/into [])) source))))))))

(deftest sums-and-products-overflow-as-transduce-does
  (with-redefs [primitive/worth-compiling 0]
    ;; Padded with the neutral element: a product with zeros would not overflow if a helper took all but the first element.
    (doseq [[f xs neutral] [[+ [Long/MAX_VALUE 1] 0] [* [Long/MAX_VALUE 2] 1]]
            make [vec long-array #(long-array (concat % (repeat 300 neutral))) #(long-array (concat % (repeat enough neutral)))]]
      (is (= [:threw ArithmeticException] (outcome #(fold/fold f (make xs))) (outcome #(reduce f (make xs))))))
    (doseq [f [inc dec -], n [300 enough]]
      (is (= [:threw ArithmeticException]
             (outcome #(fold/fold (fold/through (map f) +)
                                  (long-array (repeat n (if (= f inc) Long/MAX_VALUE Long/MIN_VALUE))))))))))
