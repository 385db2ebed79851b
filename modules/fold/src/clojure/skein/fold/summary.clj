;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.summary
  "Folds that summarize elements in little space: moments, the greatest ones, counts of values,
  quantiles.

  `skein.fold` publishes them. Each accumulator is data, or becomes data at the end of its part of the source.

  Source: moments of parts are combined as in Chan, Golub, LeVeque, Updating Formulae and a Pairwise Algorithm for
  Computing Sample Variances, 1979; quantiles are those of a DDSketch, Masson, Rim, Lee 2019, without a bound on its buckets."
  {:no-doc true}
  (:import
   (java.util ArrayList Collections Comparator HashMap List Map$Entry)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

;;;; Moments: [count mean sum-of-squared-distances]

(defn- mean-of-both
  "Returns the mean of n-1 numbers whose mean is mean-1 and n-2 numbers whose mean is mean-2."
  ^double [^long n-1 ^double mean-1 ^long n-2 ^double mean-2]
  (let [n (+ n-1 n-2)
        apart (- mean-2 mean-1)]
    ;; The difference is useless for infinite numbers, and for numbers too far apart for a double.
    (if (Double/isInfinite apart)
      (+ (* mean-1 (/ (double n-1) n)) (* mean-2 (/ (double n-2) n)))
      (+ mean-1 (/ (* apart n-2) n)))))

(defn- add-moment [[n mean squares] x]
  (let [n (long n), x (double x)
        new-mean (if (zero? n) x (mean-of-both n mean 1 x))]
    [(inc n) new-mean (+ (double squares) (* (- x (double mean)) (- x new-mean)))]))

(defn- combine-moments [[n-1 mean-1 squares-1 :as left] [n-2 mean-2 squares-2 :as right]]
  (let [n-1 (long n-1), n-2 (long n-2), n (+ n-1 n-2)]
    (cond
      (zero? n-1) right
      (zero? n-2) left
      :else (let [apart (- (double mean-2) (double mean-1))]
              [n
               (mean-of-both n-1 mean-1 n-2 mean-2)
               (+ (double squares-1) (double squares-2) (/ (* apart apart n-1 n-2) n))]))))

(defn moments
  "Returns the fold of numbers whose value is `complete` of [count mean sum-of-squared-distances-from-the-mean]."
  [complete]
  {:identity (fn fresh [] [0 0.0 0.0]), :step add-moment, :combine combine-moments, :complete complete})

;;;; The greatest elements: a list, cut to n whenever it has grown to 2n

(defn- cut! [^ArrayList items ^long n ^Comparator order]
  (Collections/sort items order)
  (when (< n (.size items)) (.clear (.subList items (int n) (.size items))))
  items)

(defn- add-item! [^ArrayList items ^long n order x]
  (.add items x)
  (if (< (.size items) (max 64 (* 2 n))) items (cut! items n order)))

(defn top
  "Returns the fold of the first `n` elements in `order`, a Comparator; equal ones stay in the source's order."
  [n order]
  {:identity (fn fresh [] (ArrayList.))
   :step (fn step
           ([items] (vec (cut! items n order)))
           ([items x] (add-item! items n order x)))
   :combine (fn combine [left right] (vec (cut! (doto (ArrayList. ^List left) (.addAll right)) n order)))})

;;;; Counts of values

(defn- count! [^HashMap counts x]
  (let [^longs cell (.get counts x)]
    (if (nil? cell)
      (.put counts x (doto (long-array 1) (aset 0 1)))
      (aset cell 0 (inc (aget cell 0))))
    counts))

;; Keys that differ in Java and are equal in Clojure, such as 1 and 1N, are joined here.
(defn- counts->data [^HashMap counts]
  (persistent!
    (reduce (fn add [m ^Map$Entry e]
              (let [k (.getKey e)]
                (assoc! m k (+ (long (get m k 0)) (aget ^longs (.getValue e) 0)))))
            (transient {}) (.entrySet counts))))

(defn- add-counts [left right]
  (let [[large small] (if (< (count left) (count right)) [right left] [left right])]
    (persistent! (reduce-kv (fn add [m k n] (assoc! m k (+ (long n) (long (get m k 0)))))
                            (transient large) small))))

(def frequencies-fold
  "The fold whose value is a map from element to how often it occurs."
  {:identity (fn fresh [] (HashMap.))
   :step (fn step
           ([counts] (counts->data counts))
           ([counts x] (count! counts x)))
   :combine add-counts})

;;;; Quantiles: {:zero n, :nan n, :positive {bucket n}, :negative {bucket n}}; bucket i holds (g^(i-1), g^i]

(def ^:private ^:const accuracy 0.01)
(def ^:private growth (/ (+ 1.0 accuracy) (- 1.0 accuracy)))
(def ^:private log-growth (Math/log growth))

(def ^:private ^:const infinite-bucket Long/MAX_VALUE)

(defn- bucket ^long [^double x]
  (if (Double/isInfinite x)
    infinite-bucket
    (long (Math/ceil (/ (Math/log x) (double log-growth))))))

(defn- bucket->number ^double [^long i]
  (if (= infinite-bucket i)
    Double/POSITIVE_INFINITY
    (min Double/MAX_VALUE (/ (* 2.0 (Math/exp (* i (double log-growth)))) (+ 1.0 (double growth))))))

(defn- count-in-bucket [sketch x]
  (let [x (double x)]
    (cond
      (pos? x) (update-in sketch [:positive (bucket x)] (fnil inc 0))
      (neg? x) (update-in sketch [:negative (bucket (- x))] (fnil inc 0))
      (zero? x) (update sketch :zero inc)
      :else (update sketch :nan inc))))

(defn- add-sketches [left right]
  {:zero (+ (long (:zero left)) (long (:zero right)))
   :nan (+ (long (:nan left)) (long (:nan right)))
   :positive (merge-with + (:positive left) (:positive right))
   :negative (merge-with + (:negative left) (:negative right))})

(defn- sorted-counts
  "Returns [number count] pairs of a sketch, ascending by number."
  [{:keys [zero positive negative]}]
  (concat (for [[i n] (sort-by (comp - key) negative)] [(- (bucket->number i)) n])
          (when (pos? (long zero)) [[0.0 zero]])
          (for [[i n] (sort-by key positive)] [(bucket->number i) n])))

(defn- quantile [pairs total p]
  (let [rank (* (double p) (dec (long total)))]
    (loop [[[x n] & more] pairs, seen 0]
      (let [seen (+ seen (long n))]
        (if (or (nil? more) (< rank seen)) x (recur more seen))))))

(defn quantiles
  "Returns the fold of numbers whose value is a map from each of `ps` to the number at that rank: nil if there are no numbers,
  and NaN if one of them is NaN, which has no rank."
  [ps]
  {:identity (fn fresh [] {:zero 0, :nan 0, :positive {}, :negative {}})
   :step count-in-bucket
   :combine add-sketches
   :complete (fn complete [sketch]
               (let [pairs (sorted-counts sketch)
                     total (transduce (map second) + pairs)
                     number-at (cond
                                 (pos? (long (:nan sketch))) (constantly ##NaN)
                                 (seq pairs) #(quantile pairs total %)
                                 :else (constantly nil))]
                 (into {} (map (juxt identity number-at)) ps)))})
