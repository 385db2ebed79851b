;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.print-test
  "Values as bounded text: as `pr-str` gives it where possible, and harmless everywhere else."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing]]
   [clojure.test.check :as tc]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.trace.print :as print])
  (:import
   (java.util ArrayList Collections HashMap LinkedHashMap)
   (java.util.concurrent CompletableFuture)))

(set! *warn-on-reflection* true)

(defn- text
  ([x] (text x {}))
  ([x limits] (within-deadline (print/text x (merge print/default-limits limits)))))

(defrecord Point [x y])
(deftype Plain [])
(deftype Loud [])
(defmethod print-method Loud [_ ^java.io.Writer w] (.write w "loud"))
(deftype Sore [])
(defmethod print-method Sore [_ ^java.io.Writer w] (.write w "half") (throw (Exception. "sore")))
(deftype Sorest [])
(defmethod print-method Sorest [x ^java.io.Writer w] (print-method x w))
(deftype Endless [])
(defmethod print-method Endless [_ ^java.io.Writer w] (while true (.write w "on and on ")))

(def ^:private plain-value
  (gen/recursive-gen (fn [inner] (gen/one-of [(gen/vector inner 0 4) (gen/map inner inner {:max-elements 3})
                                              (gen/set inner {:max-elements 3}) (gen/list inner)]))
                     (gen/one-of [gen/small-integer gen/string-ascii gen/keyword gen/symbol gen/boolean gen/ratio
                                  gen/char-ascii (gen/return nil)])))

(deftest plain-values-are-as-pr-str-gives-them
  (let [wide {:length 1000000, :level 1000000, :chars 1000000}
        {:keys [pass? shrunk]} (tc/quick-check 300 (prop/for-all [x plain-value] (= (pr-str x) (text x wide))))]
    (is pass? (pr-str (:smallest shrunk))))
  (are [x] (= (pr-str x) (text x))
    1.5 1.5M 12345678901234567890N #"a+" #inst "2020-01-01" #uuid "00000000-0000-0000-0000-000000000001"
    String #'inc '() [] {} #{} (list 1 '(2)) (sorted-map :a 1) (array-map :a [1]) "a\"\\b" \newline))

(deftest records-and-collections-of-java-show-their-elements
  (are [expected x] (= expected (text x))
    "#skein.trace.print_test.Point{:x 1, :y [2]}" (->Point 1 [2])
    "[1 2]" (ArrayList. [1 2])
    "{1 2}" (HashMap. {1 2})
    "#<long[] [1 2]>" (long-array [1 2])
    "#<Object[][] [#<Object[] [1]> nil]>" (into-array (Class/forName "[Ljava.lang.Object;") [(object-array [1]) nil])
    "loud" (Loud.)
    "[loud]" [(Loud.)]
    "#<ExceptionInfo \"no\">" (ex-info "no" {})
    "#<fn clojure.core/inc>" inc))

(deftest lazy-sequences-stay-unrealised
  (let [n (atom 0)
        xs (map (fn [x] (swap! n inc) x) (iterate inc 0))
        unchunked (fn unchunked [k] (lazy-seq (swap! n inc) (cons k (unchunked (inc (long k))))))
        ys (unchunked 0)]
    (are [expected x] (= expected (text x))
      "(…)" xs
      "[(…) {:a (…)}]" [xs {:a xs}]
      "(1 2 …)" (cons 1 (cons 2 xs))
      "(0 …)" (iterate inc 0)
      "(…)" (repeatedly rand)
      "(…)" (iterator-seq (.iterator (ArrayList. [1 2]))))
    (is (= 0 @n))
    (second ys)
    (is (= "(0 1 …)" (text ys)))
    (is (= 2 @n))))

(deftest endless-and-large-values-are-cut
  (are [expected x limits] (= expected (text x limits))
    "(1 1 1 ...)" (doall (take 9 (repeat 1))) {:length 3}
    "[0 1 ...]" (vec (range 1000000)) {:length 2}
    "(0 1 ...)" (range 100) {:length 2}
    "[[#]]" [[[1]]] {:level 2}
    "\"xxxxxxxx…" (apply str (repeat 1000000 "x")) {:chars 10}
    "{:a 1, ...}" (array-map :a 1 :b 2) {:length 1}
    "\"a\\nb\"" "a\nb" {})
  (is (<= (count (text (Endless.))) 400))
  (is (<= (count (text (vec (repeat 1000 "a rather long string, many times")))) 400))
  (is (str/starts-with? (text (.pow (biginteger 10) 100000)) "#<BigInteger")))

(deftest cycles-are-cut
  (let [a (atom nil), l (ArrayList.), m (LinkedHashMap.), o (object-array 1)
        looped (fn looped [] (let [p (promise)] (deliver p [p]) p))]
    (reset! a {:me a})
    (.add l l)
    (.put m :me m)
    (aset o 0 o)
    (are [expected x] (= expected (text x))
      "#<Atom {:me #<cycle>}>" a
      "[#<cycle>]" l
      "{:me #<cycle>}" m
      "#<Object[] [#<cycle>]>" o
      "#<Promise [#<cycle>]>" (looped))))

(deftest pending-values-are-not-awaited
  (are [expected x] (= expected (text x))
    "#<Promise pending>" (promise)
    "#<Delay pending>" (delay (throw (Exception. "forced")))
    "#<Future pending>" (CompletableFuture.)
    "#<Future 1>" (CompletableFuture/completedFuture 1)
    "#<Future #<Exception \"e\">>" (CompletableFuture/failedFuture (Exception. "e"))
    "#<Delay #<Exception \"d\">>" (let [d (delay (throw (Exception. "d")))] (try @d (catch Exception _ d)))))

(deftest printing-is-safe-from-any-value
  (testing "a print-method that fails, or never ends"
    (is (re-matches #"#<unprintable Sore \p{XDigit}+>" (text (Sore.))))
    (is (re-matches #"\[1 #<unprintable Sore \p{XDigit}+> 2\]" (text [1 (Sore.) 2])))
    (is (re-matches #"#<unprintable Sorest \p{XDigit}+>" (text (Sorest.)))))
  (testing "code of the value's class is not run"
    (let [hostile (proxy [Object] [] (toString [] (throw (Error. "x"))) (hashCode [] (throw (Error. "x")))
                    (equals [_] (throw (Error. "x"))))
          list-like (proxy [java.util.AbstractList] [] (size [] (throw (Error. "x"))) (get [_] (throw (Error. "x"))))]
      (is (str/starts-with? (text hostile) "#<"))
      (is (str/starts-with? (text [hostile {:a list-like}]) "[#<"))
      (is (str/starts-with? (text (ex-info "m" {:x hostile})) "#<ExceptionInfo"))
      (is (str/starts-with? (text (proxy [Exception] [] (getMessage [] (throw (Error. "x"))))) "#<"))))
  (testing "a collection that fails or changes while it is read"
    (is (str/starts-with? (text (Collections/checkedList (proxy [java.util.AbstractList] [] (size [] 1) (get [_] (throw (Error. "x")))) Object)) "#<")))
  (testing "deep nesting"
    (is (<= (count (text (nth (iterate vector 1) 100000) {:level 1000000})) 400))
    (is (<= (count (text (nth (iterate vector 1) 100000))) 400))))

(deftest a-plain-object-shows-its-class
  (is (re-matches #"#<Plain \p{XDigit}+>" (text (Plain.)))))
