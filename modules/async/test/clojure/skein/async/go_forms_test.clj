;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.go-forms-test
  "Every kind of form in a go block, with parks in it, means what it means elsewhere."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.walk :as walk]
   [skein.async :as a :refer [<! <!! >! alts! go]]
   [skein.deadline :refer [await-port]]
   [skein.upstream :refer [both= deftwin]])
  (:import
   (java.io Closeable StringWriter)
   (java.util ArrayList)))

(set! *warn-on-reflection* true)

(deftwin later
  "A port that gives `v` after a while, from another thread."
  [v]
  (let [c (a/chan)]
    (a/thread (a/>!! c v))
    c))

(defn- now
  "A port that has `v` ready."
  [v]
  (doto (a/chan 1) (a/put! v)))

(defmacro ^:private runs=
  "Asserts that the body, as a go block, gives `expected`."
  [expected & body]
  `(is (= ~expected (await-port (go ~@body)))))

(defn- compiled
  "The value of `form` in this namespace; the compiler's warnings go nowhere."
  [form]
  (binding [*ns* (the-ns 'skein.async.go-forms-test) *err* (StringWriter.)]
    (eval form)))

;;;; Names

(deftest a-local-shadows-a-parking-operation
  (runs= 2 (let [<! inc] (<! 1)))
  (runs= [:put 1] (let [>! (fn [& args] (vec args))] (>! :put 1)))
  (let [<! inc] (runs= 2 (<! 1)))
  (runs= [3 2] (let [x (<! (later 2)) <! inc] [(<! x) x]))
  (runs= [:mine 5] (letfn [(alts! [x] [:mine x])] (alts! 5)))
  (runs= 6 ((fn [<!] (<! 5)) inc))
  (runs= 1 (loop [<! first] (<! [1]))))

(deftest a-local-shadows-a-macro
  (both= [:fn 1] (let [when (fn [x] [:fn x])] (a/<!! (a/go (when 1)))))
  (both= [[1] 2] (a/<!! (a/go (let [-> vector] [(-> 1) (a/<! (later 2))]))))
  (both= 5 (let [let* 5] (a/<!! (a/go let*)))))

(deftest names-are-kept-apart
  (both= [1 2 1] (a/<!! (a/go (let [x 1 y (let [x (a/<! (later 2))] x)] [x y x]))))
  (both= [3 2 1] (a/<!! (a/go (let [x 1] (let [x1 x x 2] (let [y x x (a/<! (later 3))] [x y x1]))))))
  (both= [1 [2 3]] (a/<!! (a/go (let [[x & more] (a/<! (later [1 2 3]))] [x (vec more)]))))
  (both= [1 5 {:a 1}] (a/<!! (a/go (let [{:keys [a b] :or {b 5} :as m} (a/<! (later {:a 1}))] [a b m])))))

(deftest qualified-and-aliased-operations-park
  (runs= [1 2 3] [(<! (later 1)) (a/<! (later 2)) (skein.async/<! (later 3))]))

(defmacro ^:private take-it [port] `(<! ~port))
(defmacro ^:private local? [sym] (contains? &env sym))

(deftest user-macros-are-expanded
  (runs= 2 (inc (take-it (later 1))))
  (runs= [true false true] (let [x (<! (later 1)) seen (local? x)] [seen (local? y) (let [y x] (local? y))])))

;;;; Conditions

(deftest if-and-related-macros
  (both= [:then :else :else :none nil]
         (a/<!! (a/go [(if (a/<! (later true)) :then :else)
                       (if (a/<! (later false)) :then :else)
                       (if-let [x (first [])] (a/<! (later x)) :else)
                       (or (a/<! (later false)) (a/<! (later :none)))
                       (when (nil? (a/<! (later 1))) 1)])))
  (both= [3 [:b] false] (a/<!! (a/go (let [order (atom [])]
                                       [(cond (= 1 (a/<! (later 2))) (do (swap! order conj :a) 1)
                                              (= 2 (a/<! (later 2))) (do (swap! order conj :b) (a/<! (later 3)))
                                              :else (swap! order conj :c))
                                        @order
                                        (and (a/<! (later true)) (a/<! (later false)) (a/<! (later 1)))])))))

(deftest case-with-parks
  (let [pick (fn [x] (go (case (<! (later x))
                           1 :one
                           (2 3) (<! (later :two-or-three))
                           :k (do (<! (later 1)) :keyword)
                           "s" :string
                           (\c nil) :char-or-nil
                           [1 2] :vector
                           (<! (later :default)))))]
    (is (= [:one :two-or-three :two-or-three :keyword :string :char-or-nil :vector :default :default]
           (mapv #(await-port (pick %)) [1 2 3 :k "s" \c [1 2] 4 :other]))))
  (testing "constants of the same hash"
    (let [pick (compiled '(fn [x] (go (case x "Aa" (<! (later :a)) "BB" (<! (later :b)) ("C#" "Bb") :b-too :no))))]
      (is (= [:a :b :b-too :no] (mapv #(await-port (pick %)) ["Aa" "BB" "C#" "x"])))))
  (testing "no clause matches"
    (runs= "No matching clause: 9" (try (case (<! (later 9)) :k :one) (catch IllegalArgumentException e (ex-message e)))))
  (runs= 2 (case 1 1 (let [x (<! (later 1))] (inc (long x))) 3))
  (runs= [:neg :big] [(case (long (<! (later -5))) -5 :neg 5 :pos :no)
                      (case (long (<! (later 5000000000))) 5000000000 :big :no)]))

(deftest condp-and-some-threading
  (runs= :three (condp = (<! (later 3)) 1 :one 3 (<! (later :three)) :none))
  (runs= [4 nil] [(some-> (<! (later 1)) inc (+ (long (<! (later 2))))) (some-> (<! (go nil)) inc)])
  (runs= 6 (->> (<! (later [1 2 3])) (reduce + (long (<! (go 0)))))))

;;;; Loops

(deftest loop-and-recur-across-parks
  (both= [[4 3 2 1 0] 10] (a/<!! (a/go (loop [i 0 seen () sum 0]
                                         (if (< i 5) (recur (inc i) (conj seen (a/<! (later i))) (+ sum i)) [(vec seen) sum])))))
  (both= [2 1] (a/<!! (a/go (loop [x 1 y 2 n 0] (if (< n 3) (recur y (do (a/<! (later 1)) x) (inc n)) [x y])))))
  (both= [[0 0] [0 1] [1 0] [1 1]]
         (a/<!! (a/go (loop [i 0 seen []]
                        (if (= i 2)
                          seen
                          (recur (inc i) (loop [j 0 seen seen]
                                           (if (= j 2) seen (recur (inc j) (conj seen [i (do (a/<! (later 1)) j)]))))))))))
  (runs= 5 (loop [i (<! (later 0))] (if (< (long i) 5) (recur (inc (long i))) i)))
  (runs= [1000000 3] (let [n (loop [i 0] (if (< i 1000000) (recur (inc i)) i))] [n (<! (later 3))])))

(deftest recur-out-of-let-case-and-if-let
  (runs= [:done 3] (loop [n 0]
                     (let [x (<! (now n))]
                       (case (long x) 3 [:done x] (when-let [y (<! (now (inc (long x))))] (recur (long y))))))))

(deftest closures-in-a-loop-keep-their-own-values
  (both= [0 1 2] (a/<!! (a/go (loop [i 0 fs []] (if (< i 3) (do (a/<! (later 1)) (recur (inc i) (conj fs (fn [] i)))) (mapv #(%) fs)))))))

(deftest doseq-dotimes-while-for
  (both= [[1 :a] [1 :b] [3 :a] [3 :b]]
         (a/<!! (a/go (let [seen (atom [])]
                        (doseq [x [1 2 3] :when (odd? x) y [:a :b]]
                          (swap! seen conj [(a/<! (later x)) y]))
                        @seen))))
  (both= [100 4950] (a/<!! (a/go (let [seen (atom 0) n (atom 0)]
                                   (doseq [x (range 100)] (swap! n inc) (swap! seen + (a/<! (later x))))
                                   [@n @seen]))))
  (both= [0 1 2] (a/<!! (a/go (let [seen (atom [])] (dotimes [i 3] (swap! seen conj (a/<! (later i)))) @seen))))
  (both= 3 (a/<!! (a/go (let [n (atom 0)] (while (< (a/<! (later @n)) 3) (swap! n inc)) @n))))
  (runs= [1 2 3] (doall (for [x [1 2 3]] (<! (later x)))))
  (runs= [[1 2] [2 3]] (let [xs (<! (later [1 2]))] (vec (for [x xs] [x (inc (long x))])))))

;;;; Functions and objects

(deftest letfn-around-parks
  (runs= [true 7] (letfn [(ev? [n] (if (zero? (long n)) true (od? (dec (long n)))))
                          (od? [n] (if (zero? (long n)) false (ev? (dec (long n)))))]
                    (let [x (<! (later 10))] [(ev? x) (<! (later 7))])))
  (runs= 6 (let [k (<! (later 1))]
             (letfn [(f [n] (+ (long n) (long k)))]
               (f (<! (later 5)))))))

(deftest functions-close-over-what-lives-across-parks
  (both= [3 [2 4]] (a/<!! (a/go (let [x (a/<! (later 1)) f (fn [y] (+ x y)) y (a/<! (later 2))]
                                  [(f y) (mapv #(* 2 %) [x y])]))))
  (runs= 3 (let [x (<! (later 1)) o (reify Callable (call [_] (+ 2 (long x))))] (<! (later 0)) (.call ^Callable o)))
  (runs= [1 120] [(<! (later 1)) ((fn fact [n] (if (zero? (long n)) 1 (* (long n) (long (fact (dec (long n))))))) 5)]))

(deftest nested-blocks
  (both= 6 (a/<!! (a/go (let [x (a/<! (later 1)) y (a/<! (a/go (+ x (a/<! (later 2)))))]
                          (+ y (a/<! (a/go-loop [n 0] (if (< n 3) (recur (inc n)) n))))))))
  (both= 10 (a/<!! (a/go (a/<! (a/go (a/<! (a/go (a/<! (a/go 10))))))))))

(defprotocol ^:private Counting
  (add-later [this port])
  (total [this]))

(defrecord ^:private Point [x y]
  Counting
  (add-later [this port] (go (+ (long x) (long (:y this)) (long (<! port)) (long (.-x this)))))
  (total [_] (+ (long x) (long y))))

(deftest blocks-in-methods
  (is (= 14 (await-port (add-later (->Point 1 2) (later 10)))) "of a record"))

(deftest blocks-set-mutable-fields
  (let [c (compiled '(do
                       (deftype Counter [^:volatile-mutable ^long n ^:unsynchronized-mutable label ^long step]
                         Counting
                         (add-later [_ port]
                           (go (set! n (+ n (long (<! port))))
                               (set! label [label (<! (now :labelled))])
                               (set! n (+ n step))
                               [n label]))
                         (total [_] n))
                       (Counter. 1 :new 100)))]
    (is (= [111 [:new :labelled]] (await-port (add-later c (later 10)))))
    (is (= 111 (total c)))))

(deftest interop-with-parks
  (runs= ["ab" 3 "true" 7 [1 2]]
         [(.concat ^String (<! (later "a")) (<! (later "b")))
          (.length ^String (<! (later "abc")))
          (String/valueOf (boolean (<! (later true))))
          (Math/max (long (<! (later 3))) (long (<! (later 7))))
          (vec (doto (ArrayList.) (.add (<! (later 1))) (.add (<! (later 2)))))])
  (runs= "xyz" (str (doto (StringWriter. (int (<! (later 10)))) (.write ^String (<! (later "xyz"))))))
  (runs= [5 [5 0]] (let [arr (long-array 2)] [(aset arr 0 (long (<! (later 5)))) (vec arr)])))

;;;; try

(defn- boom [] (throw (ex-info "boom" {})))

(deftest try-with-parks-everywhere
  (both= [[:body :finally] 1]
         (a/<!! (a/go (let [order (atom [])
                            v (try (swap! order conj :body) (a/<! (later 1)) (finally (a/<! (later 2)) (swap! order conj :finally)))]
                        [@order v]))))
  (both= [:caught :parked :finally]
         (a/<!! (a/go (let [order (atom [])]
                        (try (a/<! (later 1)) (throw (ex-info "boom" {}))
                             (catch Exception _ (swap! order conj :caught (a/<! (later :parked))))
                             (finally (a/<! (later 1)) (swap! order conj :finally)))
                        @order))))
  (testing "nested, rethrown, chosen by class"
    (runs= [:inner-finally :outer "boom" :outer-finally]
           (let [order (atom [])]
             (try
               (try (<! (later 1)) (boom)
                    (catch ArithmeticException _ (swap! order conj :wrong))
                    (finally (<! (later 1)) (swap! order conj :inner-finally)))
               (catch RuntimeException e (<! (later 1)) (swap! order conj :outer (ex-message e)))
               (finally (swap! order conj :outer-finally)))
             @order)))
  (testing "an exception in catch or finally wins"
    (runs= "second" (try (try (<! (later 1)) (boom) (catch Exception _ (<! (later 1)) (throw (ex-info "second" {}))))
                         (catch Exception e (ex-message e))))
    (runs= "third" (try (try (boom) (finally (<! (later 1)) (throw (ex-info "third" {})))) (catch Exception e (ex-message e)))))
  (testing "a handler is in force in its body only"
    (runs= "boom" (try (try (<! (later 1)) (catch Exception _ :wrong)) (boom) (catch Exception e (ex-message e))))))

(deftest try-in-a-loop
  (both= [0 :odd 2 :odd 4]
         (a/<!! (a/go (loop [i 0 seen []]
                        (if (< i 5)
                          (let [v (try (let [x (a/<! (later i))] (if (odd? x) (throw (ex-info "odd" {})) x))
                                       (catch Exception _ :odd))]
                            (recur (inc i) (conj seen v)))
                          seen))))))

(deftest finally-runs-once
  (runs= 1 (let [n (atom 0)]
             (try (try (<! (later 1)) (boom) (finally (swap! n inc) (<! (later 1)))) (catch Exception _))
             @n)))

(deftest with-open-closes-last-first
  (let [order (atom [])
        resource (fn ^Closeable [k] (reify Closeable (close [_] (swap! order conj k))))]
    (runs= :v (with-open [_ ^Closeable (resource :first) _ ^Closeable (resource :second)]
                (swap! order conj (<! (later :body)))
                :v))
    (is (= [:body :second :first] @order))
    (runs= "boom" (try (with-open [_ ^Closeable (resource :third)] (<! (later 1)) (boom)) (catch Exception e (ex-message e))))
    (is (= :third (peek @order)))))

;;;; Order, literals, everything else

(deftest arguments-are-evaluated-from-left-to-right
  (both= [[1 2 3 4] [1 2 3 4]]
         (a/<!! (a/go (let [order (atom []) note (fn [x] (swap! order conj x) x)]
                        [(vector (note 1) (a/<! (later (note 2))) (note 3) (a/<! (later (note 4)))) @order]))))
  (runs= [{:a 1 :b 2} #{1 2} [:a :b :c]]
         (let [order (atom []) note (fn [k v] (swap! order conj k) v)]
           [{:a (note :a 1) :b (<! (later (note :b 2)))} #{(<! (later 1)) (note :c 2)} @order]))
  (testing "values read before a park stay the same"
    (runs= [1 2 3] (let [x (atom 1)] [@x (do (reset! x 2) (<! (later 2))) (do (reset! x 3) @x)]))))

(deftest metadata-and-quoted-forms
  (runs= [{:k 1} '(<! c) 'sym #'clojure.core/inc] [(meta (with-meta [] {:k (<! (later 1))})) '(<! c) 'sym (do (<! (later 1)) #'inc)])
  (runs= {:k 2} (meta ^{:k (<! (later 2))} [(<! (later 1))])))

(def ^:private defined nil)

(deftest a-park-in-the-middle-of-other-things
  (runs= 8 (do (def ^:private defined (<! (later 8))) defined))
  (runs= "thrown" (try (throw (<! (later (ex-info "thrown" {})))) (catch Exception e (ex-message e))))
  (runs= 3 (<! (<! (later (later 3)))))
  (runs= 5 ((<! (later +)) (<! (later 2)) 3))
  (runs= [:v] (:k (<! (later {:k [:v]}))))
  (runs= [1 true] (let [c (a/chan 1)] [(when (>! c 1) (<! c)) (>! c 2)]))
  (runs= :ok (do (<! (later 1)) (assert (<! (later true))) :ok))
  (runs= 2 (with-redefs [defined (<! (later 2))] defined)))

(deftest primitives-stay-primitive
  (both= [3 2.5 true \b 1000]
         (a/<!! (a/go (let [n (long (a/<! (later 2))) d (double 1.5) b (boolean true) ch (char 97) i (int 999)]
                        (a/<! (later 1))
                        [(inc n) (+ d 1) (and b true) (char (inc (int ch))) (inc i)]))))
  (let [warnings (StringWriter.)]
    (binding [*err* warnings
              *ns* (the-ns 'skein.async.go-forms-test)
              *warn-on-reflection* true
              *unchecked-math* :warn-on-boxed]
      (is (= [10 "2" 4.0 3 0]
             (await-port
               (eval '(let [limit 5]
                        (go (let [s ^String (<! (later "abc")) n (long (<! (later 2))) x (double n)]
                              (<! (later 1))
                              [(loop [i 0 sum 0] (if (< i limit) (do (<! (later 1)) (recur (inc i) (+ sum i))) sum))
                               (Long/toString n)
                               (* x 2.0)
                               (.length s)
                               (.indexOf s "a")]))))))))
    (is (= "" (str warnings)) "nothing is boxed or reflective")))

(deftest two-thousand-parks-in-a-row
  (let [n 2000 c (a/chan)
        sum (compiled (list 'fn '[c] (list 'go (concat '(let [sum (atom 0)]) (repeat n '(swap! sum + (<! c))) '(@sum)))))
        result (sum c)]
    (go (dotimes [i n] (>! c i)))
    (is (= (quot (* n (dec n)) 2) (await-port result)))))

(deftest many-locals-across-parks
  (let [names (mapv #(symbol (str "x" %)) (range 120))]
    (is (= (range 120)
           (await-port (compiled `(go (let [~@(mapcat (fn [i n] [n `(<! (go ~i))]) (range) names)]
                                        (<! (go 1))
                                        ~names))))))))

(deftest a-thread-takes-the-result-of-a-block
  (is (= [1 2] (let [x 1 p (go (<! (later 2)))] [x (<!! p)]))))

;;;; Types across a park

(defn- compiled-with-warnings
  "Returns the value of `form`, or the class and message of its exception, and how many reflection warnings it gives."
  [form]
  (let [err (StringWriter.)
        value (binding [*ns* (the-ns 'skein.async.go-forms-test) *err* err *warn-on-reflection* true]
                (try (eval form) (catch ArithmeticException e [:thrown (ex-message e)])))]
    [value (count (re-seq #"Reflection warning" (str err)))]))

(deftest locals-keep-their-types-across-a-park
  ;; `park` is a call of a function in plain code, and a take in a block.
  (doseq [form '[(let [m (doto (java.util.HashMap.) (.put 1 2))] (park 1) (.get m 1))
                 (let [s (str (cond-> "a" (odd? 1) (str "b")))] (park 1) (.length s))
                 (let [n (let [k 5] (* k 2))] (park 1) (Math/abs n))
                 (let [b (as-> (StringBuilder.) b (doto b (.append "x")))] (park 1) (.length b))
                 (.substring (str (let [g 1] g)) (park 0))
                 (let [^long d (park 5)] [(case (identity :a) :a d :b (inc d)) (park 1)])
                 (let [x ^NoSuchClass (identity 5)] (park 1) [x])
                 (let [x ^clojure.core/long (identity 5)] (park 1) [x])
                 (quot (long (let [q 5] (if (number? q) (rem (long q) 7) 1))) (long (park 0)))]]
    (testing (pr-str form)
      (is (= (compiled-with-warnings (list 'let '[park identity] form))
             (compiled-with-warnings
               (list 'skein.async/<?? (list 'skein.async/async (walk/postwalk-replace '{park (fn [x] x)} form))))
             (compiled-with-warnings
               (list 'skein.async/<?? (list 'skein.async/async
                                            (walk/postwalk #(if (and (seq? %) (= 'park (first %)))
                                                              (list 'skein.async/<! (list `now (second %)))
                                                              %)
                                                           form)))))))))

(deftest default-in-a-catch-clause-is-any-throwable
  (runs= :caught (try (<! (now 1)) (throw (Error. "meant")) (catch :default _ :caught)))
  (runs= 1 (try 1 (catch :default _ :caught))))

(deftest forty-blocks-in-one-another-are-refused
  (is (= :skein/block-too-large
         (try (compiled (nth (iterate (fn [form] (list 'skein.async/go form)) 1) 40))
              (catch Throwable t (:skein/error (ex-data (or (ex-cause t) t))))))))
