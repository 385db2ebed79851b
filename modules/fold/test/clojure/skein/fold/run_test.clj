;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.run-test
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.kinds :as kinds]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ExceptionInfo IFn)
   (skein.fold.spi Span)))

(set! *warn-on-reflection* true)

(def ^:private xs (vec (range 1000)))

(defn- data-of [f] (try (f) nil (catch ExceptionInfo e (dissoc (ex-data e) :wanted))))
(defn- error-of [f] (:skein/error (data-of f)))

(defmulti ^:private plus (fn [& args] (count args)))
(defmethod plus 0 [] 0)
(defmethod plus :default [a b] (+ a b))

(deftest a-var-or-a-multimethod-is-a-fold-too
  (is (= 6 (fold/fold (fn [& args] (apply + args)) [1 2 3]) (fold/fold {:combine (partial + 0), :step (comp + +)} [1 2 3])
         (fold/fold (reify IFn (invoke [_] 0) (invoke [_ a b] (+ a b))) [1 2 3])))
  (is (= 6 (fold/fold #'+ [1 2 3]) (fold/fold {:combine #'+, :step #'+} [1 2 3]) (fold/fold (fold/through (map inc) plus) [0 1 2])))
  (is (= 6 (fold/fold (fold/finish :sum (fold/fuse {:sum fold/sum})) [1 2 3])) "the function of finish may be a keyword"))

(deftest errors-have-keywords
  (is (= :skein/bad-argument
         (error-of #(fold/fold {:combine :k, :step +} xs)) (error-of #(fold/fold {:step +} xs))
         (error-of #(fold/fold (fold/through (map inc) {:combine nil, :step +}) xs))))
  (is (= :skein/bad-argument (error-of #(fold/fold {:combine +, :step nil} xs)) (error-of #(fold/fold {:combine +, :step 7} xs))))
  (is (= :skein/bad-argument
         (error-of #(fold/fold max xs)) (error-of #(fold/fold {:combine -, :step +} []))
         (error-of #(fold/fold {:combine (fn ([] 0) ([_] 0)), :step +} xs))
         (error-of #(fold/fold {:step +, :combine inc, :identity (constantly 0)} xs)) (error-of #(fold/fuse [{:step +, :combine max}]))))
  (is (= :skein/bad-argument (error-of #(fold/fold {:combine +, :step inc} xs)) (error-of #(fold/fold {:combine +, :step (fn [_ _ _])} []))))
  (is (= :skein/bad-argument (error-of #(fold/fold {:step max, :combine max, :identity inc} xs))))
  (is (= 999 (fold/fold {:step max, :combine max, :identity (constantly 0)} xs)))
  (is (= :skein/bad-argument (error-of #(fold/fold (fold/through 512 +) xs)) (error-of #(fold/fold {:xform 512, :combine +, :step +} xs))))
  (is (= :skein/bad-argument (error-of #(fold/fold 7 xs)) (error-of #(fold/fold {:combine +} xs)) (error-of #(fold/fold :sum xs))
         (error-of #(fold/fold (assoc fold/sum :identity 0) xs)) (error-of #(fold/fuse [(assoc fold/sum :complete 5)]))))
  (is (= :skein/bad-argument (error-of #(fold/fold {:trace 5} + xs)) (error-of #(fold/explain {:trace 5} fold/sum xs))))
  (is (= {:skein/error :skein/bad-argument, :argument :grain, :value "-1"} (data-of #(fold/fold {:grain -1} + xs))))
  (is (= :skein/bad-argument
         (error-of #(fold/fold {:workers 0} + xs)) (error-of #(fold/fold {:parallelism 2} + xs))
         (error-of #(fold/fold {:pool 7} + xs)) (error-of #(fold/fold :k + xs)) (error-of #(fold/fold + conj xs))
         (error-of #(fold/fold [:grain 2] fold/sum xs))
         (error-of #(fold/explain [:grain 2] fold/sum xs)) (error-of #(fold/explain {:trace true} fold/sum xs))))
  (is (= {:skein/error :skein/bad-argument, :class "java.lang.Long", :value "7"} (data-of #(fold/fold + 7)))))

(deftest a-refused-call-names-the-right-order-of-arguments
  (doseq [[f error advice]
          [[#(fold/fold (map inc) fold/sum xs) :skein/bad-argument "(fold (through (map inc) sum) coll)"]
           [#(fold/explain (map inc) fold/sum xs) :skein/bad-argument "(fold (through (map inc) sum) coll)"]
           [#(fold/fold + conj xs) :skein/bad-argument "(fold {:combine +, :step conj} coll)"]
           [#(fold/fold {:workers 2} xs) :skein/bad-argument "is {:workers 2}. Options come first: (fold options f coll)"]
           [#(fold/fold fold/sum {:workers 2} xs) :skein/bad-argument "Options come first: (fold options f coll)"]]
          :let [thrown (is (thrown? ExceptionInfo (f)))]]
    (is (= error (:skein/error (ex-data thrown))))
    (is (str/includes? (ex-message thrown) advice))))

(defrecord ^:private Opened [count])
(extend-protocol source/Source
  Opened (-source [opened] (swap! (:count opened) inc) []))

(deftest a-fold-of-nothing-runs-on-one-thread
  (is (= {:value 0, :path :serial, :threads 1, :pieces []}
         (select-keys (fold/explain fold/sum []) [:value :path :threads :pieces]))))

(deftest elements-of-an-array-keep-their-class
  (doseq [coll [(int-array 300) (long-array 300) (double-array 300)]]
    (is (= (transduce (comp (map identity) (map class)) conj [] coll)
           (fold/fold (fold/through (comp (map identity) (map class)) (fold/into [])) coll))))
  (doseq [choose [max min]
          coll [(int-array 300 7) (long-array 300 7)]
          xform [identity (filter odd?) (map inc)]]
    (is (= (class (transduce xform (completing choose) 7 coll))
           (class (fold/fold (fold/through xform {:combine (fn ([] 7) ([a b] (choose a b))), :step choose}) coll))))))

(deftest a-range-is-divided-however-many-numbers-it-has
  (doseq [[r size] [[(range 0 5000000000) 5000000000] [(range 5000000000 0 -1) 5000000000] [(rest (range 5000000000)) 4999999999]
                    [(range -5000000000000000000 5000000000000000000 3) 3333333333333333334]
                    [(range Long/MAX_VALUE Long/MIN_VALUE -1000000007) 18446743945]
                    [(drop 32 (range 0 1e10)) nil] [(range Long/MIN_VALUE Long/MAX_VALUE) nil] [(range 0 5000000000N) nil]]
          :let [source (kinds/source r)]]
    (is (= (take 3 r) (fold/fold {:grain 2, :workers 3} (fold/through (take 3) (fold/into [])) r)))
    (if size
      (let [^Span span source
            step (- (long (second r)) (long (first r)))]
        (is (= size (.size span)))
        (is (= (take 40 r) (.reduce span conj [] 0 40)))
        (is (= (take 2 (iterate #(+' step %) (+' (first r) (*' step (- (long size) 2)))))
               (.reduce span conj [] (- (long size) 2) size))))
      (is (not (instance? Span source))))))

(deftest a-fold-that-is-refused-opens-no-source
  (let [opened (->Opened (atom 0))]
    (is (= 0 (fold/fold {:ordered? false} + opened)))
    (is (= :skein/bad-argument (error-of #(fold/fold {:ordered? false} (fold/through (take 1) +) opened))))
    (is (= 1 @(:count opened)))))

(deftype ^:private Itself []
  source/Source
  (-source [this] this))

(deftest a-source-that-returns-itself-is-refused
  (is (= :skein/bad-argument (error-of #(fold/fold + (->Itself))))))

(deftype ^:private Indexing [rf ^:unsynchronized-mutable ^long n]
  IFn
  (invoke [_] (rf)) (invoke [_ acc] (rf acc))
  (invoke [_ acc x] (let [i n] (set! n (inc n)) (rf acc [i x]))))

(deftest state-in-a-field-is-state
  (let [indexing (fn [rf] (->Indexing rf 0))
        indexed (fold/through (comp (map inc) indexing) (fold/into []))]
    (is (= [(map-indexed vector (map inc xs)) :in-order]
           ((juxt :value :path) (within-deadline (fold/explain {:grain 10, :workers 3} indexed xs)))))
    (is (= :skein/bad-argument (error-of #(fold/fold {:ordered? false} indexed xs))))))

(deftest a-reify-that-closes-over-values-keeps-no-state
  (let [adding (fn [n] (fn [rf] (reify IFn
                                  (invoke [_] (rf)) (invoke [_ acc] (rf acc))
                                  (invoke [_ acc x] (rf acc (+ (long n) (long x)))))))]
    (is (= [(map #(+ 7 (long %)) xs) :parallel]
           ((juxt :value :path)
            (within-deadline (fold/explain {:grain 10, :workers 3} (fold/through (adding 7) (fold/into [])) xs)))))))

(deftest a-stateful-transducer-without-order-is-refused
  (doseq [[stage xform] {"clojure.core/take" (take 3), "clojure.core/distinct" (distinct), "clojure.core/partition-by" (partition-by odd?)
                         "clojure.core/take-while" (take-while odd?), "clojure.core/halt-when" (halt-when odd?)
                         "clojure.core/map-indexed" (comp (map inc) (map-indexed vector))}]
    (is (= [:skein/bad-argument stage]
           ((juxt :skein/error :stage) (data-of #(fold/fold {:ordered? false} (fold/through xform +) xs))))))
  (is (= :skein/bad-argument
         (error-of #(fold/fold {:ordered? false} (fold/fuse [(fold/through (take 2) fold/sum)]) xs)))))
