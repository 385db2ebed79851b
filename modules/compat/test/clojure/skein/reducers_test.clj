;; SPDX-License-Identifier: Apache-2.0
(ns skein.reducers-test
  "The same expression in clojure.core.reducers and in skein.reducers."
  (:require
   [clojure.core.reducers :as theirs]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.walk :as walk]
   [skein.deadline :refer [within-deadline]]
   [skein.fold.lines :as lines]
   [skein.fold.source :as source]
   [skein.reducers :as r]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(defrecord ^:private Pair [left right])

(defmacro ^:private same
  "Asserts that `expr`, in which r/ names a namespace of reducers, gives the same in both."
  [expr]
  (let [upstream (walk/postwalk #(if (and (symbol? %) (= "r" (namespace %))) (symbol "theirs" (name %)) %) expr)]
    `(is (= ~upstream (within-deadline ~expr)) ~(pr-str expr))))

(def ^:private xs (vec (range 10000)))
(def ^:private m (zipmap (range 5000) (range)))

(deftest every-public-var-is-there
  (is (= [] (remove (set (keys (ns-publics 'skein.reducers))) (keys (ns-publics 'clojure.core.reducers)))))
  (is (= 6 @(.submit ^java.util.concurrent.ForkJoinPool @r/pool ^java.util.concurrent.ForkJoinTask (r/fjtask #(r/fold + [1 2 3]))))))

(deftest the-size-of-a-group-is-any-number
  (doseq [n [1 2 512 512N 513N 1.5 7/2 1M 1e30 ##Inf Long/MAX_VALUE (int 3) (short 5)]
          coll [[1 2 3] xs (apply list (range 100))]]
    (is (= (theirs/fold n + + coll) (within-deadline (r/fold n + + coll))) n))
  (testing "upstream, a size below one never ends"
    (doseq [n [0 -1 0.0 0.5]]
      (is (= 49995000 (within-deadline (r/fold n + + xs))))))
  (is (= :skein/bad-argument (try (r/fold :n + + xs) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))))

(deftype ^:private Cards [n]
  r/CollFold
  (coll-fold [_ n combinef reducef] (reducef (combinef) n)))

(deftest a-user-type-gets-the-size-of-a-group
  (is (= [512] (r/fold into conj (->Cards 3))))
  (is (= [7] (r/fold 7 into conj (->Cards 3)))))

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

;;;; Each function over each kind of collection, as upstream

(def ^:private colls
  {"a vector" [3 1 2 5 4], "a long vector" (vec (range 1500)), "an empty vector" [], "a subvec" (subvec [0 1 2 3 4] 1 4)
   "a map" {:a 1, :b 2, :c 3}, "a hash map" (zipmap (range 100) (range)), "a sorted map" (sorted-map 2 :b, 1 :a), "an empty map" {}
   "a Java map" (java.util.TreeMap. {1 2, 3 4}), "a record" (->Pair 1 2)
   "a set" #{1 2 3}, "a sorted set" (sorted-set 3 1 2)
   "a range" (range 20), "a range of doubles" (range 0 2 0.5), "nil" nil
   "a list" '(1 2 3), "an empty list" (), "a lazy sequence" (map inc (range 70)), "keys" (keys {1 2, 3 4})
   "a string" "hello", "an array" (long-array [1 2 3]), "a Java list" (java.util.ArrayList. [1 2 3])
   "an eduction" (eduction (map inc) [1 2 3]), "nested ones" [1 [2 '(3 [4])] nil [{:a 1} #{5}] ()]
   "a cat" (theirs/cat [1 2] [3]), "what only reduces itself" (theirs/map inc [1 2 3]), "a number" 7})

(defn- pairs
  "A reducing function that distinguishes an element from a key with its value."
  ([] [])
  ([left right] (conj left right))
  ([acc k v] (conj acc [:kv k v])))

(def ^:private uses
  "Maps the description of a use to a function of `r`, where (r name) is the public function of that name, and of a collection."
  (let [joined (fn joined ([] []) ([left right] (into left right)))
        args (fn args [& xs] (vec xs))
        small? (fn small? [& xs] (not= 2 (last xs)))
        transformations
        {"map" #((% 'map) args %2), "map, curried" #(((% 'map) args) %2)
         "map of an entry's key" #((% 'map) key %2), "map of key and value" #((% 'map) (fn [k v] [k v]) %2)
         "filter" #((% 'filter) small? %2), "filter, curried" #(((% 'filter) small?) %2), "remove" #((% 'remove) small? %2)
         "mapcat" #((% 'mapcat) args %2), "mapcat to maps" #((% 'mapcat) (fn [& xs] {:xs xs}) %2)
         "mapcat to nil" #((% 'mapcat) (constantly nil) %2), "flatten" #((% 'flatten) %2), "flatten, curried" #(((% 'flatten)) %2)
         "take-while" #((% 'take-while) small? %2), "take" #((% 'take) 2 %2), "take none" #((% 'take) 0 %2)
         "take less than none" #((% 'take) -1 %2), "take, curried" #(((% 'take) 1) %2), "drop" #((% 'drop) 1 %2)
         "drop, curried" #(((% 'drop) 3) %2), "drop less than none" #((% 'drop) -1 %2)
         "reducer" #((% 'reducer) %2 (map args)), "folder" #((% 'folder) %2 (map args))
         "take of a map" #((% 'take) 2 ((% 'map) args %2)), "map of a take" #((% 'map) args ((% 'take) 2 %2))
         "map of a filter" #((% 'map) args ((% 'filter) small? %2)), "a drop of a flatten" #((% 'drop) 1 ((% 'flatten) %2))
         "cat" #((% 'cat) [:a] %2), "a collection itself" (fn [_ coll] coll)}
        ends
        {"into" (fn [_ coll] (into [] coll)), "reduce" (fn [_ coll] (reduce conj [] coll))
         "reduce without init" (fn [_ coll] (reduce pairs coll))
         "r/reduce" #((% 'reduce) pairs [] %2), "r/reduce without init" #((% 'reduce) pairs %2)
         "r/fold" #((% 'fold) joined pairs %2), "r/fold with n" #((% 'fold) 7 joined pairs %2)
         "r/fold with a monoid" #((% 'fold) ((% 'monoid) into vector) pairs %2)
         "foldcat" #(into [] ((% 'foldcat) %2)), "foldcat's count" #(count ((% 'foldcat) %2))
         "cat of one's own" #(into [] ((% 'fold) ((% 'cat) (fn [] (java.util.ArrayList.))) (% 'append!) %2))}]
    (for [[name-of-transformation transformation] transformations, [name-of-end end] ends]
      [(str name-of-end " of " name-of-transformation)
       (fn use [r coll] (end r (transformation r coll)))])))

(defn- value-of [f namespace coll]
  (try (f (fn r [sym] @(ns-resolve namespace sym)) coll)
       (catch Throwable _ ::threw)))

(deftest every-function-agrees-with-upstream
  (within-deadline
    (doseq [[use f] uses, [kind coll] colls]
      (let [expected (value-of f 'clojure.core.reducers coll)]
        ;; What upstream can't do may work here.
        (when-not (= ::threw expected)
          (is (= expected (value-of f 'skein.reducers coll)) (str use " over " kind)))))))

(deftest foldcat-collects-in-order
  (same (into [] (r/foldcat (r/filter even? xs))))
  (same (count (r/foldcat xs)))
  (same (r/fold + (r/foldcat xs)))
  (same (into [] (r/cat [1 2] [3])))
  (same (reduce + (r/cat [1 2] [3])))
  (same (r/fold + (r/cat (r/cat [1 2] [3]) [4])))
  (same (reduce + (r/foldcat (r/map inc xs)))))

(deftest user-reducers-and-folders
  (same (r/fold + (r/folder xs (fn [f] (fn ([] (f)) ([a x] (f a (* 2 x))))))))
  (same (reduce + (r/reducer xs (fn [f] (fn [a x] (f (f a x) x)))))))

(deftest bugs-of-upstream-are-absent
  (testing "reduced ends the fold"
    (is (= 10 (within-deadline (r/fold 1 + (fn [a x] (if (= x 5) (reduced a) (+ a x))) xs)))))
  (testing "reduced ends the reduction of both halves of a cat"
    (is (= 1 (reduce (fn [a x] (if (= x 2) (reduced a) (+ a x))) 0 (r/cat [1 2] [3])))))
  (testing "a step's other arity is not a completion"
    (is (= 3 (r/fold + (fn ([] 0) ([_] :wrong) ([a x] (+ a x))) [1 2]))))
  (testing "a transducer's last group is not lost"
    (is (= [[1 2] [3]] (r/fold into conj (eduction (partition-all 2) [1 2 3])))))
  (testing "anything with elements is folded"
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

(deftest sources-unknown-to-upstream
  (let [make #(r/map count (lines/lines "LICENSE"))]
    (is (= (reduce + (map count (str/split-lines (slurp "LICENSE"))))
           (r/fold + (make)) (r/reduce + (make)) (reduce + (make)))))
  (doseq [[kind make] {"a record" #(->Deck [7 11 3]), "a record extended" #(->Hand [7 11 3]), "a function" #(source/indexed 3 [7 11 3])
                       "an iterator" #(.iterator ^Iterable (vector 7 11 3)), "a stream" #(.stream ^java.util.Collection (vector 7 11 3))}]
    (testing kind
      (is (= 21 (r/fold + (make)) (r/reduce + (make)) (r/reduce + 0 (make))))
      (is (= [7 11] (into [] (r/take 2 (make)))))
      (is (= 18 (r/fold + (r/take 2 (make)))))
      (is (= [8 12 4] (r/fold into conj (r/map inc (make))) (r/reduce conj [] (r/map inc (make))))))))

(deftest collections-from-before-a-reload-work
  (is (= []
         (reloading/faults
           '[[skein.fold :as fold] [skein.fold.lines :as lines] [skein.fold.source :as source] [skein.reducers :as r]]
           '[(require 'skein.reducers :reload)
             (require 'skein.reducers :reload-all)]
           '[[:lines (lines/lines "LICENSE") (fn [xs] (r/fold + (r/map count xs))) 11156]
             [:own-type
              (do (deftype Own [] source/Source (-source [_] [1 2 3])) (->Own))
              (fn [xs] (r/fold + xs))
              6]
             [:extended-type
              (do (deftype Bare [])
                  (extend-protocol r/CollFold Bare (coll-fold [_ _ combinef _] (combinef 4 4)))
                  (->Bare))
              (fn [xs] (r/fold + xs))
              8]
             [:cat
              (r/cat (java.util.ArrayList. [1 2]) (java.util.ArrayList. [3]))
              (fn [xs] [(r/fold + (r/map inc xs)) (r/fold + (r/cat xs (java.util.ArrayList. [4]))) (fold/fold + xs)])
              [9 10 6]]
             [:cat-of-maps (r/cat {1 2} {3 4}) (fn [xs] (r/fold + (fn [acc k v] (+ acc k v)) xs)) 10]]))))
