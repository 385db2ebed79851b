;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-test
  "Blocks mean what their bodies mean: one test per kind of form."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async]
   [skein.impl.go :as go]
   [skein.impl.go-programs :as programs :refer [alts-val block block-at-once put-val take-val]]
   [skein.kind :refer [kind-of]])
  (:import
   (clojure.lang Compiler$CompilerException)
   (java.lang.ref WeakReference)
   (java.util Date)
   (java.util.concurrent CountDownLatch TimeUnit)
   (skein.rt Buffers$Fixed Channel Waiter)
   (skein.rt.block Frame ThreadWaiter)))

(set! *warn-on-reflection* true)

;;;; Ports and outcomes

(defn now [v]
  (let [c (Channel. (Buffers$Fixed. 1))] (ThreadWaiter/put c v) c))

(defn later [v]
  (let [c (Channel. nil)]
    (Thread/startVirtualThread (fn answer [] (if (nil? v) (.close c) (ThreadWaiter/put c v))))
    c))

(defn join [p] (programs/join p))

(defn outcome [f]
  (try [:value (f)] (catch Throwable t [:thrown (class t) (ex-message t)])))

(defmacro same
  "Asserts that the body gives `expected`, and as a block, scheduled or started at
  once, the same value or exception as here."
  [expected & body]
  `(let [plain# (outcome (fn [] ~@body))]
     (is (= ~expected (second plain#)))
     (is (= plain# (outcome (fn [] (join (block-at-once ~@body))))))
     (when (= :value (first plain#))
       (is (= plain# (outcome (fn [] (join (block ~@body)))))))))

(defn- read-lines [text]
  (read (clojure.lang.LineNumberingPushbackReader. (java.io.StringReader. text))))

(defn- failure
  "The ex-data of the error that compiling `form` raises."
  [form]
  (try
    (binding [*ns* (the-ns 'skein.impl.go-test)] (eval form))
    nil
    (catch clojure.lang.Compiler$CompilerException e
      (let [cause (ex-cause e)] (assoc (ex-data cause) :message (ex-message cause))))))

;;;; Operations

(deftest operations-are-known-by-their-var
  (same 1 (skein.impl.go-programs/take-val (later 1)))
  (same 1 (programs/take-val (now 1)))
  (same true (put-val (Channel. (Buffers$Fixed. 1)) 1))
  (is (= [1 true] (join (block (let [c (later 1) [v p] (alts-val [c])] [v (identical? p c)])))))
  (is (= :nothing (join (block (first (alts-val [(Channel. nil)] :default :nothing))))))
  (is (= :nothing (join (block (first (alts-val [(Channel. nil)] {:default :nothing}))))))
  (is (= [1 2] (join (block (let [opts {:priority true}]
                              [(first (alts-val [(now 1) (now 2)] opts))
                               (first (alts-val [(now 2) (now 1)] :priority true {:default 3}))]))))))

(deftest a-local-shadows-an-operation
  (same 42 (let [take-val (fn [_] 42)] (take-val (later 1))))
  (same 42 (take-val (later ((fn [take-val] (take-val 1)) (constantly 42)))))
  (same 43 (letfn [(take-val [x] (inc x))] (take-val 42)))
  (same 5 (loop [take-val inc] (take-val 4)))
  (same 9 (try (throw (ex-info "" {})) (catch Exception take-val (count (str (class take-val) "")) 9))))

(deftest operations-in-functions-block
  (same [1 2] (mapv take-val [(later 1) (later 2)]))
  (same 3 (let [f (fn [c] (inc (take-val c)))] (f (later 2))))
  (same [1 2 3] (doall (for [i [1 2 3]] (take-val (later i)))))
  (same 7 (letfn [(f [c] (take-val c))] (+ (f (later 3)) (take-val (later 4)))))
  (same 4 @(reify clojure.lang.IDeref (deref [_] (take-val (later 4)))))
  (same 6 (reduce (fn [a c] (+ a (take-val c))) 0 [(later 1) (later 2) (later 3)])))

;;;; Special forms

(deftest bodies-without-a-park
  (same nil)
  (same nil nil)
  (same 3 (+ 1 2))
  (same [0 1 2] (loop [i 0 acc []] (if (< i 3) (recur (inc i) (conj acc i)) acc)))
  (same "x" (try (throw (ex-info "x" {})) (catch Exception e (ex-message e)))))

(deftest arguments-are-evaluated-once-and-in-order
  (same [[1 2 3 4] [:a 1 :b 2 :c 3 :d 4]]
        (let [log (atom []) n (fn [k v] (swap! log conj k v) v)]
          [(vector (n :a 1) (take-val (later (n :b 2))) (n :c 3) (take-val (later (n :d 4)))) @log]))
  (same [{:a 1 2 :b} #{3 4}] [{:a (take-val (later 1)) (take-val (now 2)) :b} #{(take-val (later 3)) 4}])
  (same {:m 1} (meta ^{:m (take-val (later 1))} [(take-val (later 2))]))
  (same [1 1] (let [x (atom 0)] [(swap! x inc) (do (take-val (later 1)) @x)]))
  (same 6 ((take-val (later +)) 1 2 3))
  (same 2 ((if (take-val (later true)) inc dec) (take-val (later 1))))
  (same 1 (:k (take-val (later {:k 1}))))
  (same 2 (:k (take-val (later {})) (take-val (later 2))))
  (same [1 2 3 4 5] (let [[a b & c] (take-val (later [1 2 3])) {:keys [d] e :f} (take-val (later {:d 4 :f 5}))]
                      (into [a b] (concat c [d e])))))

(deftest branches
  (same 2 (if (take-val (later false)) 1 2))
  (same nil (if (take-val (later nil)) 1))
  (same nil (when-not (take-val (later true)) 1))
  (same 3 (if (and (take-val (later true)) (or (take-val (later false)) 5)) 3 4))
  (same 4 (cond (take-val (later false)) 3 (= 1 (take-val (later 1))) 4 :else 5))
  (same 7 (let [x (if (take-val (later true)) 3 4)] (+ x 4)))
  (same "b" (condp = (take-val (later 2)) 1 "a" 2 (take-val (later "b")))))

(deftest case-of-all-kinds
  (letfn [(ints [n] (case (int n) 0 :zero 1 (take-val (later :one)) -5 :neg (100 200) (take-val (later :big)) (take-val (later :else))))
          (ints-in-block [n] (join (block (case (int n) 0 :zero 1 (take-val (later :one)) -5 :neg (100 200) (take-val (later :big)) (take-val (later :else))))))]
    (is (= (map ints [0 1 -5 100 200 7]) (map ints-in-block [0 1 -5 100 200 7]))))
  (doseq [k [:a :b "AaAa" "BBBB" 'x \c nil [1 2] 99999999999 1.5 :none]]
    (is (= [k (case k :a 1 :b 2 "AaAa" 3 "BBBB" 4 x 5 \c 6 nil 7 [1 2] 8 99999999999 9 1.5 10 11)]
           (join (block [(first (take-val (now [k]))) (case k :a 1 :b (take-val (later 2)) "AaAa" 3 "BBBB" (take-val (later 4)) x 5 \c 6
                                                        nil (take-val (later 7)) [1 2] (take-val (later 8)) 99999999999 9
                                                        1.5 10 (take-val (later 11)))])))
        (pr-str k)))
  (same 3 (case (take-val (later :x)) :x (case (take-val (later 1)) 1 (take-val (later 3)) 4) 5))
  (is (= IllegalArgumentException (class (try (join (block-at-once (case (take-val (later 3)) 1 2))) (catch Exception e e))))))

(deftest loops
  (same [0 1 2] (loop [i 0 acc []] (if (< i 3) (recur (inc i) (conj acc (take-val (later i)))) acc)))
  (same 45 (loop [i 0 s 0] (if (< i 10) (recur (inc i) (+ s (long (take-val (later i))))) s)))
  (same 3.5 (loop [d 0.5 i 0] (if (< i 3) (do (take-val (later 1)) (recur (+ d 1) (inc i))) d)))
  (same [2 1] (loop [a 1 b 2 i 0] (take-val (later 1)) (if (< i 3) (recur b a (inc i)) [a b])))
  (same [[0 0] [0 1] [1 0] [1 1]]
        (loop [i 0 out []]
          (if (< i 2)
            (recur (inc i) (loop [j 0 out out] (if (< j 2) (recur (inc j) (conj out [i (take-val (later j))])) out)))
            out)))
  (same 3 (loop [x (take-val (later 2)) y (inc x)] (if (pos? x) (recur (dec x) y) y)))
  (same [1 2 3] (let [out (atom [])] (doseq [x [1 2 3] :let [y (take-val (later x))]] (swap! out conj y)) @out))
  (same 6 (let [n (atom 0)] (dotimes [i 4] (swap! n + (take-val (later i)))) @n))
  (same 0 (let [n (atom 3)] (while (pos? @n) (take-val (later 1)) (swap! n dec)) @n))
  (same [0 1 2] (mapv #(%) (loop [i 0 fs []] (if (< i 3) (do (take-val (later 1)) (recur (inc i) (conj fs (fn [] i)))) fs))))
  (same :done (loop [x nil] (if x x (recur (take-val (later :done))))))
  (same "ab" (loop [^String s ""] (if (< (.length s) 2) (recur (take-val (later (str s (if (= s "") "a" "b"))))) s))))

(deftest exceptions
  (same [:caught "x"] (try (take-val (later 1)) (throw (ex-info "x" {})) (catch Exception e [:caught (ex-message e)])))
  (same clojure.lang.ExceptionInfo (throw (ex-info (str (take-val (later "x"))) {})))
  (same 2 (try (take-val (later 1)) (throw (ex-info "x" {})) (catch ArithmeticException _ 1) (catch RuntimeException _ (take-val (later 2)))))
  (same ArithmeticException (try (/ 1 (take-val (later 0))) (catch ClassCastException _ 1)))
  (same 3 (try (try (/ 1 (take-val (later 0))) (catch ClassCastException _ 1)) (catch ArithmeticException _ (take-val (later 3)))))
  (same "second" (try (try (throw (ex-info "first" {})) (catch Exception _ (take-val (later 1)) (throw (ex-info "second" {}))))
                      (catch Exception e (ex-message e))))
  (same ClassCastException (+ 1 (take-val (later "x"))))
  (same :npe (try (throw (take-val (later nil))) (catch NullPointerException _ :npe)))
  (same 5 (let [x (try (take-val (later 2)) (catch Exception _ 0)) y (try 3 (finally (take-val (later 9))))] (+ x y)))
  (same clojure.lang.ExceptionInfo (throw (take-val (later (ex-info "thrown" {}))))))

(deftest finally-runs-once-on-every-way-out
  (doseq [[body-throws catch-throws finally-throws] (for [a [false true] b [false true] c [false true]] [a b c])
          :let [step (fn [log k throws?] (swap! log conj k) (when throws? (throw (ex-info (str k) {}))) k)
                plain (fn [log] (try (step log :body body-throws)
                                     (catch Exception _ (step log :catch catch-throws))
                                     (finally (step log :finally finally-throws))))
                parking (fn [log] (join (block-at-once
                                          (try (take-val (later 1)) (step log :body body-throws)
                                               (catch Exception _ (take-val (later 1)) (step log :catch catch-throws))
                                               (finally (take-val (later 1)) (step log :finally finally-throws) (take-val (later 1)))))))
                run (fn [f] (let [log (atom [])] [(outcome (fn [] (f log))) @log]))]]
    (is (= (run plain) (run parking)) (pr-str [body-throws catch-throws finally-throws])))
  (same [1 [:inner :outer]]
        (let [log (atom [])]
          [(try (try (take-val (later 1)) (finally (take-val (later 1)) (swap! log conj :inner))) (finally (swap! log conj :outer))) @log]))
  (same [[0 1 2] [:f :f :f]]
        (let [log (atom [])]
          [(loop [i 0 out []] (if (< i 3) (recur (inc i) (conj out (try (take-val (later i)) (finally (swap! log conj :f))))) out)) @log])))

(deftest local-functions
  (same [true 120] (letfn [(even?' [n] (if (zero? n) true (odd?' (dec n))))
                           (odd?' [n] (if (zero? n) false (even?' (dec n))))
                           (fact [n] (if (zero? n) 1 (* n (fact (dec n)))))]
                     (take-val (later 1))
                     [(even?' 10) (do (take-val (later 1)) (fact 5))]))
  (same 4 (let [x 1 f (fn ([] x) ([y] (+ x y)))] (take-val (later 1)) (f 3)))
  (same [1 :x] (let [x 1 f (fn self [n] (if (zero? n) :x (self (dec n))))] [(take-val (later x)) (f 3)])))

(def ^:dynamic *d* 0)
(def ^:dynamic *e* 0)

(deftest bindings-go-with-the-block
  (same [1 2 1 0] (binding [*d* 1]
                    (let [a *d* b (binding [*d* 2] (take-val (later 1)) *d*)] (take-val (later 1)) [a b *d* *e*])))
  (same [3 4] (binding [*d* (take-val (later 3))] [*d* (do (take-val (later 1)) (inc *d*))]))
  (testing "set! of a binding made in the block"
    (same [5 9] (binding [*d* 1] (take-val (later 1)) (set! *d* 5) (take-val (later 1))
                  [*d* (binding [*e* 7] (take-val (later 1)) (set! *e* (take-val (later 9))) (take-val (later 1)) *e*)])))
  (same 3 (with-local-vars [v 1] (take-val (later 1)) (var-set v (take-val (later 3))) @v))
  (testing "exceptions restore"
    (same [:caught 0] [(try (binding [*d* 1] (take-val (later 1)) (throw (ex-info "" {}))) (catch Exception _ :caught)) *d*]))
  (testing "blocks made under a binding keep it, whoever ends first"
    (is (= [1 0] (join (block (let [gate (Channel. nil)
                                    inner (binding [*d* 1] (take-val (later 1)) (block (take-val gate) *d*))]
                                (put-val gate :go)
                                [(take-val inner) *d*])))))))

(deftest locking-is-left-alone
  (same [1 2] (let [o (Object.)] [(locking o (take-val (later 1))) (take-val (later 2))]))
  (is (true? (join (block (let [o (Object.)] (locking o (take-val (later 1)) (Thread/holdsLock o)))))))
  (same 3 (locking (take-val (later (Object.))) 3)))

(deftest interop
  (same 3 (.length ^String (take-val (later "abc"))))
  (same "bc" (. "abc" substring (take-val (later 1))))
  (same "b" (. "abc" (substring (int (take-val (later 1))) (take-val (later 2)))))
  (same 5 (Math/abs (long (take-val (later -5)))))
  (same 5 (. Math (abs (long (take-val (later -5))))))
  (same (Date. 7) (Date. (long (take-val (later 7)))))
  (same (Date. 7) (Date/new (long (take-val (later 7)))))
  (same 3 (String/.length (take-val (later "abc"))))
  (same ["1" "2"] (map Long/toString [(take-val (later 1)) 2]))
  (same [3 4] (let [p (java.awt.Point. 1 2)] (set! (.-x p) (int (take-val (later 3)))) (take-val (later 1)) (set! (. p y) 4) [(.-x p) (.y p)]))
  (same Long/MAX_VALUE (do (take-val (later 1)) Long/MAX_VALUE))
  (same [1 2] (let [a (long-array 2)] (aset a 0 (long (take-val (later 1)))) (take-val (later 1)) (aset a 1 2) (vec a)))
  (same true (instance? String (take-val (later "x"))))
  (same "x" (let [String 1] (take-val (later 1)) (. String valueOf "x"))))

(deftest definitions-and-quotes
  (same ['(take-val 1) `(inc 1) #'inc] [(do (take-val (later 1)) '(take-val 1)) `(inc 1) #'inc])
  (join (block (def made-in-a-block "doc" (take-val (later 17)))))
  (is (= 17 @(resolve 'skein.impl.go-test/made-in-a-block)))
  (same 5 (do (import java.util.UUID) (take-val (later 5)))))

(defmacro ^:private locals [] `(quote ~(set (keys &env))))
(defmacro ^:private primitive-of [x] (str (.getPrimitiveType ^clojure.lang.Compiler$LocalBinding (get &env x))))
(defmacro ^:private hint-of [x] (str (.-tag ^clojure.lang.Compiler$LocalBinding (get &env x))))
(defmacro ^:private if-local [x a b] (if (contains? &env x) a b))

(deftest macros-see-the-locals
  (is (= '#{a b} (join (let [a 1] (block (let [b (take-val (later 1))] (locals)))))))
  (same 1 (let [x 1] (take-val (later 1)) (if-local x x 2)))
  (same 2 (do (take-val (later 1)) (if-local x 1 2)))
  (is (= ["long" "" "double"] (join (block (let [x 1 y "s" z (* 1.5 (take-val (later 2)))
                                                 w (double z)] (take-val (later 1))
                                             [(primitive-of x) (primitive-of y) (primitive-of w)])))))
  (is (= "String" (join (block (let [^String s (take-val (later "x"))] (hint-of s))))))
  (is (= '#{f x y} (join (block (let [f (fn f [x] (let [y x] (locals)))] (f (take-val (later 1))))))))
  (testing "a local that has a macro's name is not a macro"
    (same 6 (let [when (fn [x] (* 2 x))] (take-val (later 1)) (when 3)))))

(def expansions (atom 0))
(defmacro counted [x] (swap! expansions inc) x)

(deftest macros-are-expanded-once
  (reset! expansions 0)
  (eval `(block (let [x# (counted 1)] (take-val (later x#)) (loop [i# 0] (if (< i# 2) (do (take-val (later 1)) (recur (+ i# (counted (take-val (later 1)))))) (fn [] (counted x#)))))))
  (is (= 3 @expansions)))

;;;; Deftypes

(definterface Counter (next_value []) (^long total []) (plain_field []))

(deftype Counting [^:unsynchronized-mutable n ^:volatile-mutable ^long sum ^String label]
  Counter
  (next_value [this] (block (set! n (inc n)) (take-val (later 1)) (set! sum (+ sum (long (take-val (later n))))) [n sum (.length label)]))
  (total [_] sum)
  (plain_field [this] n))

(defrecord Point3 [x y z]
  clojure.lang.IDeref
  (deref [this] (block (take-val (later 1)) [(.z this) z (:x this)])))

(deftest mutable-fields-of-the-type-around
  (let [c (Counting. 1 10 "abc")]
    (is (= [2 12 3] (join (.next_value c))))
    (is (= [3 15 3] (join (.next_value c))))
    (is (= [15 3] [(.total c) (.plain_field c)]))))

(deftest fields-of-the-record-around
  (is (= [3 3 1] (join @(->Point3 1 2 3)))))

;;;; Types

(defn- warnings
  "What compiling `form` prints with all warnings on."
  [form]
  (let [out (java.io.StringWriter.)]
    (binding [*ns* (the-ns 'skein.impl.go-test), *err* out, *warn-on-reflection* true, *unchecked-math* :warn-on-boxed]
      (eval form))
    (str out)))

(deftest types-live-across-parks
  (doseq [form '[(let [x (long 1)] (take-val c) (+ x 1))
                 (let [s (String. "a")] (take-val c) (.length s))
                 (let [^String s (take-val c)] (take-val c) (.length s))
                 (let [d (* 2.0 x)] (take-val c) (+ d x))
                 (let [i (int x)] (take-val c) (Integer/toString i))
                 (let [b (.isEmpty "") f (float 1.0) h (short 2) y (byte 3) k (char \a)]
                   (take-val c) [(Boolean/toString b) (Float/toString f) (Short/toString h) (Byte/toString y) (Character/toString k)])
                 (loop [i 0 a (long-array 3)] (take-val c) (when (< i 3) (aset a i (* 2 i)) (recur (inc i) a)))
                 (let [v (if (take-val c) 1 2)] (+ v 1))
                 (let [v (case (int x) 1 (do (take-val c) 5) 7)] (* v 2))
                 (.getTime (doto (Date.) (.setTime (long (take-val c)))))
                 (let [m (java.util.HashMap.)] (.put m 1 (take-val c)) (take-val c) (.get m 1))
                 (let [r (reify Runnable (run [_]))] (take-val c) (.run r))
                 (try (take-val c) (catch java.io.IOException e (take-val c) (.printStackTrace e)))
                 (let [n (count outer)] (take-val c) (.length outer) (+ n x))
                 (Math/max (long (take-val c)) (+ x (long (take-val c))))]]
    (is (= "" (warnings (list 'fn '[c ^long x ^String outer] (list `block form)))) (pr-str form))))

(deftest types-hold-their-values
  (same [1 (int 2) 3.5 (float 4.5) true \a (short 6) (byte 7)]
        (let [a (long 1) b (int 2) c (double 3.5) d (float 4.5) e (.isEmpty "") f (char \a) g (short 6) h (byte 7)]
          (take-val (later 1))
          [a b c d e f g h]))
  (same :nan (let [x (/ 0.0 0.0)] (take-val (later 1)) (if (== x x) x :nan)))
  (is (= (class 1) (class (join (block (let [i (long 1)] (take-val (later 1)) i)))))))

(deftest unchecked-math-is-the-users
  (is (= Long/MIN_VALUE (binding [*unchecked-math* true]
                          (join ((eval `(fn [^long x#] (block (let [y# (long x#)] (take-val (later 1)) (+ y# 1)))))
                                 Long/MAX_VALUE)))))
  (same ArithmeticException (let [x Long/MAX_VALUE] (take-val (later 1)) (+ x 1))))

;;;; Many slots, many blocks

(deftest more-locals-than-fields
  (let [syms (map #(symbol (str "s" %)) (range 40))
        f (binding [*ns* (the-ns 'skein.impl.go-test)]
            (eval `(fn [] (block (let [~@(mapcat (fn [s i] [s (if (even? i) `(take-val (later ~i)) `(long ~i))]) syms (range))]
                                   (take-val (later 1))
                                   [~@syms])))))]
    (is (= (range 40) (join (f))))))

(deftest two-thousand-parks
  (let [f (binding [*ns* (the-ns 'skein.impl.go-test)]
            (eval (list 'fn '[c] (list `block (list 'let '[n (atom 0)] (cons 'do (repeat 2000 '(swap! n + (take-val c)))) '@n)))))
        c (Channel. nil)
        result (f c)]
    (dotimes [_ 2000] (ThreadWaiter/put c 1))
    (is (= 2000 (join result)))))

(deftest blocks-in-blocks
  (let [nested (reduce (fn [inner i] `(inc (take-val (block (let [x# ~i] (take-val (later x#)) ~inner))))) 0 (range 12))]
    (is (= 12 (eval nested))))
  (same 3 (let [x 1] (take-val (block (let [y (take-val (later 2))] (take-val (block (+ x y)))))))))

;;;; Nothing is held

(defn- collected? [^WeakReference ref]
  (loop [i 0]
    (cond (nil? (.get ref)) true
          (< i 50) (do (System/gc) (recur (inc i)))
          :else false)))

(deftest dead-locals-are-let-go
  (let [gate (Channel. nil)
        refs (promise)
        done (let [a (Object.) b (Object.)]
               (block (let [c (Object.) f (fn [] (hash b))]
                        (deliver refs [(WeakReference. a) (WeakReference. b) (WeakReference. c)])
                        (f)
                        (take-val gate)
                        (if (nil? c) 1 2))))
        [a b c] @refs]
    (is (collected? a))
    (is (collected? b))
    (is (some? (.get ^WeakReference c)))
    (ThreadWaiter/put gate 1)
    (is (= 2 (join done)))))

(deftest a-seq-being-walked-is-let-go
  (let [gate (Channel. nil)
        head (promise)
        done (let [xs (map (fn [i] [i]) (range 100))]
               (deliver head (WeakReference. (first xs)))
               (block (doseq [x xs] (put-val gate x))))]
    (dotimes [_ 50] (ThreadWaiter/take gate))
    (is (collected? @head))
    (dotimes [_ 50] (ThreadWaiter/take gate))
    (is (nil? (join done)))))

;;;; Errors

(deftest a-loop-with-a-try-may-be-a-statement
  ;; Clojure makes a bad class of a function with such a loop, so there is no plain form to compare with.
  (is (= 2 (join (block (take-val (later 1)) (loop [x 0] (if (< x 3) (recur (+ 1 x)) (try x (catch Exception e x)))) 2))))
  (same 2 (do (try (throw (ex-info (take-val (later "x")) {}))
                   (catch Exception _ (loop [x 0] (if (< x 3) (recur (+ 1 x)) (try x (catch Exception _ x))))))
              2)))

(deftest unused-arguments-are-evaluated
  (let [c (Channel. nil)
        result (block (loop [x 0 unused 0]
                        (if (< x 3)
                          (recur (+ 1 x) (loop [y 0] (if (< y 3) (recur (+ 1 y)) (try x (catch Exception e e)))))
                          (take-val c))))]
    (ThreadWaiter/put c :done)
    (is (= :done (join result)))))

(deftest errors-name-the-place
  (is (= {:skein/error :skein/bad-block, :arity 2, :form '(take-val 1 2)}
         (select-keys (failure '(block (take-val 1 2))) [:skein/error :arity :form])))
  (let [{:keys [line column file]} (failure (read-lines "(block\n  (take-val))"))]
    (is (= [2 3] [line column]))
    (is (string? file)))
  (is (= [:skein/bad-block :bad-recur] (kind-of (failure '(block (take-val 1) (recur))))))
  (is (= [:skein/bad-block :bad-recur] (kind-of (failure '(block (loop [i 0] (take-val 1) (try (recur 1) (catch Exception e 1))))))))
  (is (= [:skein/bad-block :bad-recur] (kind-of (failure '(block (loop [i 0] (take-val 1) (recur 1 2)))))))
  (is (= [:skein/bad-block :bad-recur] (kind-of (failure '(block (loop [i 0] (recur 1) (take-val 1)))))))
  (is (= [:skein/bad-block :immutable-local] (kind-of (failure '(block (let [x 1] (set! x 2)))))))
  (is (= [:skein/bad-block :shadowed-this]
         (kind-of (failure '(deftype Shadowed [^:unsynchronized-mutable n]
                              Runnable (run [this] (let [this 1] (block (set! n 2))))))))))

(deftest errors-of-other-code-name-the-place
  (let [form (read-lines "(block\n  (take-val 1)\n  (inc\n    (undefined-thing 2)))")
        e (try (binding [*ns* (the-ns 'skein.impl.go-test)] (eval form)) (catch clojure.lang.Compiler$CompilerException e e))]
    (is (= 4 (:clojure.error/line (ex-data e))))))

(deftest sites-name-the-operations
  (let [form (read-lines "(fn [c]\n  (block\n    (take-val c)\n    (put-val c 1)))")
        f (binding [*ns* (the-ns 'skein.impl.go-test), *file* "some.clj"] (eval form))
        c (Channel. nil)
        result (f c)]
    (ThreadWaiter/put c 1)
    (is (= {:file "some.clj", :sites {1 ['take-val 3 5 "(take-val c)"], 2 ['put-val 4 5 "(put-val c 1)"]}}
           (loop [] (if-let [frame (some-> ^Waiter (first (.waiters c false)) .block)] (.sites (.body ^Frame frame)) (recur)))))
    (ThreadWaiter/take c)
    (is (true? (join result)))))

(deftest emitted-code-survives-ahead-of-time-compilation
  (let [dir (str (java.nio.file.Files/createTempDirectory "skein-aot" (make-array java.nio.file.attribute.FileAttribute 0)))]
    (binding [*compile-path* dir, *compile-files* true]
      (load "/skein/impl/go_aot"))
    (is (seq (file-seq (java.io.File. dir))))))

(deftest an-unknown-class-is-reported-at-its-clause
  (let [e (try (load-string "(skein.async/go\n  (try (skein.async/<! nil)\n    (catch NoSuchClass e 1)))")
               (catch Compiler$CompilerException e e))]
    (is (= 3 (:clojure.error/line (ex-data e))))
    (is (= "Unable to resolve classname: NoSuchClass" (ex-message (ex-cause e))))))
