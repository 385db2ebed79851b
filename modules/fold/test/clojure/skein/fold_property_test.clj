;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold-property-test
  "Folds against plain transduce: sources, transducers, sizes, workers, grain.

  The suite runs `default-cases`; many more by JAVA_OPTS=-Dskein.fold.cases=20000 ./skein test skein.fold-property-test"
  (:require
   [clojure.core.protocols :as protocols]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ExceptionInfo IReduceInit PersistentQueue Seqable)
   (java.util ArrayDeque ArrayList Collection LinkedList TreeMap TreeSet)
   (java.util.stream LongStream StreamSupport)))

(set! *warn-on-reflection* true)

(def ^:private default-cases 2000)
(def ^:private cases (Long/getLong "skein.fold.cases" (long default-cases)))
(def ^:private batch 500)

(defn- reducible [xs]
  (reify IReduceInit
    (reduce [_ f init] (reduce f init xs))))

(defn- read-on [xs]
  (let [left (volatile! (seq xs))]
    (source/reading (fn read-next! [] (let [x (first @left)] (vswap! left next) x)))))

(def ^:private sources
  "From name to a function of a vector of longs that gives a source. The oracle folds the same source, so that it sees the same order."
  {:vector identity
   :subvec #(subvec (into [:before] (conj % :after)) 1 (inc (count %)))
   :vec-of #(apply vector-of :long %)
   :subvec-of-subvec #(subvec (subvec (into [:before :before] (conj % :after)) 1) 1 (inc (count %)))
   :subvec-of-vec-of #(subvec (apply vector-of :int 0 (conj % 0)) 1 (inc (count %)))
   :list #(apply list %)
   :queue #(into PersistentQueue/EMPTY %)
   :lazy #(map identity %)
   :unchunked #(take (count %) (iterate inc 0))
   :range #(range (count %))
   :range-down #(range (count %) 0 -3)
   :range-at-the-end #(range (- Long/MAX_VALUE (* 3 (count %))) Long/MAX_VALUE 3)
   :range-of-doubles #(range 0 (count %) 0.5)
   :hash-set set
   :hash-map #(zipmap % (map str %))
   :sorted-set #(into (sorted-set) %)
   :sorted-map #(into (sorted-map) (zipmap % %))
   :sorted-by #(into (sorted-set-by >) %)
   :java-map #(TreeMap. ^java.util.Map (zipmap % %))
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
   :shorts #(short-array (map unchecked-short %))
   :floats #(float-array %)
   :booleans #(boolean-array (map even? %))
   :string #(apply str (map char %))
   :characters #(StringBuilder. ^String (apply str (map char %)))
   :seqable (fn [xs] (reify Seqable (seq [_] (seq xs))))
   :coll-reduce (fn [xs] (reify protocols/CollReduce
                           (coll-reduce [this f] (protocols/coll-reduce this f (f)))
                           (coll-reduce [_ f init] (reduce f init xs))))
   :eduction #(eduction (map inc) (filter odd?) %)
   :stateful-eduction #(eduction (map inc) (drop 7) %)
   :reducible reducible})

(def ^:private once
  "Sources that can be used once, or not without Skein: a function that gives a new one."
  {:indexed (fn [xs] #(source/indexed (count xs) xs))
   :iterator (fn [xs] #(.iterator ^Iterable xs))
   :spliterator (fn [xs] #(.spliterator ^Iterable xs))
   :stream (fn [xs] #(StreamSupport/stream (.spliterator ^Iterable xs) false))
   :long-stream (fn [xs] #(LongStream/range 0 (count xs)))
   :reading (fn [xs] #(read-on xs))})

(defn- doubled
  "A transducer that nobody knows, and which keeps no state."
  [rf]
  (fn ([] (rf)) ([acc] (rf acc)) ([acc x] (let [acc (rf acc x)] (if (reduced? acc) acc (rf acc x))))))

(defn- alternate
  "A transducer that nobody knows, and which keeps state."
  [rf]
  (let [seen (volatile! 0)]
    (fn ([] (rf)) ([acc] (rf acc)) ([acc x] (if (even? (long (vswap! seen inc))) (rf acc x) acc)))))

(defn- slow
  "Returns x, sometimes after some 10 us, so that a fold without a grain of its own becomes parallel, or doesn't."
  [x]
  (when (zero? (long (mod (hash x) 7)))
    (dotimes [_ 300] (Math/sin 1.5)))
  x)

(defn- boom [x]
  (if (= 50 (mod (hash x) 211)) (throw (ex-info "boom" {:boom x})) x))

(def ^:private transducers
  {:none nil
   :map (map hash)
   :slow (map slow)
   :boom (map boom)
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

(def ^:private order-free #{:none :map :slow :filter :remove :keep :mapcat :cat :replace :doubled})

(defn- options [{:keys [source stages step workers grain unordered]}]
  (cond-> {:workers workers}
    grain (assoc :grain grain)
    (and unordered (= :sum-of-hashes step) (every? order-free stages) (not= :stateful-eduction source)) (assoc :ordered? false)))

(defmacro ^:private outcome
  "The value of `body`, or the data of what it throws."
  [& body]
  `(try (do ~@body) (catch ExceptionInfo e# [:threw (ex-data e#)])))

(defn- agrees? [{:keys [size source stages step] :as case}]
  (let [xs (vec (range size))
        fresh (if-let [make (once source)] (make xs) (constantly ((sources source) xs)))
        xforms (keep transducers stages)
        xform (when (seq xforms) (apply comp xforms))
        {:keys [combine] step-fn :step :as s} (steps step)]
    (= (outcome (oracle xform s (if (once source) xs (fresh))))
       (outcome (fold/fold (options case) (fold/through xform {:combine combine, :step step-fn}) (fresh))))))

(def ^:private case-gen
  (gen/hash-map :size (gen/frequency [[3 (gen/choose 0 40)] [2 (gen/choose 0 400)] [1 (gen/choose 0 5000)]])
                :source (gen/elements (into (vec (keys sources)) (keys once)))
                :stages (gen/vector (gen/elements (keys transducers)) 0 3)
                :step (gen/elements (keys steps))
                :workers (gen/choose 1 8)
                :unordered gen/boolean
                :grain (gen/one-of [(gen/return nil) (gen/choose 1 20) (gen/choose 1 600)])))

(defn- run-batch [n]
  (within-deadline (check/quick-check n (prop/for-all [c case-gen] (agrees? c)))))

(deftest folds-agree-with-transduce
  (loop [left (long cases)]
    (when (pos? left)
      (let [{:keys [pass? shrunk seed result]} (run-batch (min left (long batch)))]
        (is pass? (pr-str seed (:smallest shrunk) result))
        (when pass? (recur (- left (long batch))))))))
