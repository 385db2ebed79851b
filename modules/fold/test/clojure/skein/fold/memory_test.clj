;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.memory-test
  "Sources in memory against the sequences of their elements, and loops against the chains that they stand for."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.fold :as fold]
   [skein.fold.kinds :as kinds]
   [skein.fold.primitive :as primitive]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ArrayChunk)
   (java.lang.ref WeakReference)
   (java.util ArrayList Collection)
   (java.util.concurrent ConcurrentHashMap)
   (skein.fold.memory Items)
   (skein.fold.spi Span)))

(set! *warn-on-reflection* true)

(def ^:private makers
  "Kind -> function from a vector of bytes to a source with positions that holds them, as numbers
  or characters."
  {:vector vec, :subvec #(subvec (into [:no] %) 1), :long #(long-array %), :int #(int-array %), :double #(double-array %), :byte #(byte-array %)
   :short #(short-array %), :float #(float-array %), :char #(char-array (map char %)), :object #(object-array %), :list #(ArrayList. ^Collection %)
   :text #(apply str (map char %)), :vector-of #(apply vector-of :long %), :range #(range (count %)), :indexed #(source/indexed (count %) (vec %))})

(defn- reduced-span [^Span span step from to]
  (.reduce span step [] from to))

(deftest a-part-of-a-span-is-that-part-of-its-elements
  (let [result (check/quick-check
                 400
                 (prop/for-all [kind (gen/elements (keys makers))
                                xs (gen/vector (gen/choose 0 100) 1 100)
                                a gen/nat, b gen/nat]
                   (let [coll ((makers kind) xs)
                         ^Span span (kinds/source coll)
                         n (.size span)
                         [from to] (sort [(min a n) (min b n)])
                         wanted (take (- to from) (drop from (if (instance? Span coll) xs (seq coll))))]
                     (and (= n (count xs))
                          (= wanted (reduced-span span conj from to))
                          (= (take 3 wanted)
                             (unreduced (reduced-span span (fn [acc x] (let [acc (conj acc x)] (if (= 3 (count acc)) (reduced acc) acc))) from to)))))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

;;;; Items

(defn- items-of ^Items [kind xs]
  (case kind
    :iterator (Items. (.iterator ^Collection (ArrayList. ^Collection xs)) nil)
    :list (Items/ofSeq (apply list xs))
    :lazy (Items/ofSeq (map identity xs))
    :chunked (Items/ofSeq (seq xs))
    :cons (Items/ofSeq (reduce #(cons %2 %1) (lazy-seq nil) (reverse xs)))
    :mixed (let [[a b c] (partition-all (inc (quot (count xs) 3)) xs)]
             (Items/ofSeq (reduce #(cons %2 %1) (chunk-cons (ArrayChunk. (to-array b)) (apply list c)) (reverse a))))))

(defn- read-all
  "The elements of `items`, read by `sizes`: a positive one by next, a negative one by reduce."
  [^Items items sizes]
  (loop [acc [], [size & sizes] (cycle sizes)]
    (if (.exhausted items)
      [acc (.taken items)]
      (recur (if (pos? (long size))
               (let [^Span block (.next items size)] (.reduce block conj acc 0 (.size block)))
               (.reduce items conj acc (- (long size))))
             sizes))))

(deftest items-are-read-once-in-order-by-blocks-of-any-size
  (let [result (check/quick-check
                 400
                 (prop/for-all [kind (gen/elements [:iterator :list :lazy :chunked :cons :mixed])
                                xs (gen/vector gen/small-integer 0 120)
                                sizes (gen/not-empty (gen/vector (gen/one-of [(gen/choose 1 50) (gen/choose -50 -1)]) 1 5))]
                   (= [xs (count xs)] (read-all (items-of kind xs) sizes))))]
    (is (:pass? result) (pr-str (:smallest (:shrunk result))))))

(deftest a-reduction-of-items-stops-on-request
  (doseq [kind [:iterator :list :lazy :chunked :cons :mixed]
          :let [items (items-of kind (vec (range 100)))
                stop (fn [acc x] (if (= 40 x) (reduced (conj acc x)) (conj acc x)))]]
    (is (= (range 41) @(.reduce items stop [] 1000)) kind)
    (is (= (range 41 100) (first (read-all items [7]))) kind)))

(deftest items-release-processed-elements
  (let [first-one (atom nil)
        made (fn [i] (let [x (Object.)]
                       (when (zero? (long i)) (reset! first-one (WeakReference. x)))
                       x))
        coll (fn coll [^long i] (lazy-seq (cons (made i) (when (< i 300) (coll (inc i))))))
        held? #(some? (.get ^WeakReference @first-one))
        step (fn step [n _]
               (when (= 150 n) (dotimes [_ 100] (when (held?) (System/gc))))
               (if (= 151 n) (reduced (held?)) (inc (long n))))]
    (is (false? (fold/fold {:workers 1} {:combine (fn ([] 0) ([a _] a)), :step step} (coll 0))))))

;;;; Loops

(def ^:private loops-kept @#'primitive/loops)
(defn- n-compiled [] (count (filter ifn? (.values ^ConcurrentHashMap loops-kept))))

(deftest a-loop-is-compiled-for-large-folds
  (let [f (fn [x] (+ x 1))
        xs (vec (range 20000))
        before (n-compiled)
        sum #(fold/fold {:workers 1} (fold/through (map f) +) xs)]
    (dotimes [_ 5] (is (= 200010000 (sum))))
    (is (= before (n-compiled)) "a hundred thousand elements are too few")
    (dotimes [_ 15] (is (= 200010000 (sum))))
    (is (= (inc before) (n-compiled)))
    (dotimes [_ 5] (is (= 200010000 (sum))))
    (is (= (inc before) (n-compiled)) "once")))

(deftest a-small-fold-compiles-no-loop
  (let [before (count loops-kept)
        f (fn [x] x)]
    (dotimes [_ 10] (fold/fold (fold/through (map f) +) (vec (range 9999))))
    (is (= before (count loops-kept)))))

(deftest a-sample-of-the-elements-chooses-the-loop
  (doseq [[kind xs] {:boxed-longs (vec (range 12000))
                     :boxed-doubles (mapv double (range 12000))
                     :objects (vec (take 12000 (cycle [1 2 :a 3 nil])))}
          odd-ones [{} {0 :odd} {6001 :odd} {6001 1/2, 6002 nil, 11400 2.5} {4 1N, 7000 7}]
          to-source [identity object-array]
          :let [source (to-source (reduce-kv assoc xs odd-ones))
                xform (comp (filter number?) (filter pos?) (map inc))]]
    (with-redefs [primitive/worth-compiling 0
                  primitive/loops (ConcurrentHashMap.)]
      (is (= (transduce xform + source) (fold/fold {:workers 1} (fold/through xform +) source)) [kind odd-ones])
      (is (= (transduce xform conj source) (fold/fold (fold/through xform (fold/into [])) source)) [kind odd-ones])
      (is (= #{(if (contains? odd-ones 0) :objects kind)} (set (map first (keys @#'primitive/loops)))) [kind odd-ones]))))

(deftest a-compiled-loop-agrees-with-its-chain
  (with-redefs [primitive/worth-compiling 0]
    (let [xs (vec (range 12000))
          seen (atom [])]
      (testing "to the first reduced value"
        (is (= (range 1 101) (fold/fold {:workers 1}
                                        (fold/through (map inc) {:combine into
                                                                 :step (fn [acc x] (if (= 100 x) (reduced (conj acc x)) (conj acc x)))})
                                        xs))))
      (testing "to the first exception"
        (is (thrown-with-msg? ArithmeticException #"zero"
                              (fold/fold {:workers 1}
                                         (fold/through (map #(do (swap! seen conj %) (/ 1 (- 100 (long %))))) +) xs)))
        (is (= (range 101) @seen)))
      (testing "past stages that it does not know"
        (is (= (into [] (comp (filter odd?) (partition-all 7)) xs)
               (fold/fold (fold/through (comp (filter odd?) (partition-all 7)) (fold/into [])) xs)))
        (is (= (transduce (comp (map str) (mapcat seq)) conj [] xs)
               (fold/fold (fold/through (comp (map str) (mapcat seq)) (fold/into [])) xs))))
      (testing "over more stages than it takes"
        (is (= (transduce (apply comp (repeat 30 (map inc))) + xs)
               (fold/fold (fold/through (apply comp (repeat 30 (map inc))) +) xs)))))))
