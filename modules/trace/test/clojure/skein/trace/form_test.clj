;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.form-test
  "Traced forms do what they do untraced, and tell which of them failed. The rows are those on
  which tools.trace breaks."
  (:require
   [clojure.core.async :as upstream]
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [await-port]]
   [skein.errors :as errors]
   [skein.kind :refer [kind-of]]
   [skein.trace :as trace]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (java.io StringReader StringWriter)
   (java.sql SQLException)))

(set! *warn-on-reflection* true)

(def ^:dynamic *reports* nil)

(defn report! [event] (swap! *reports* conj event))

(defn- outcome [form]
  (binding [*ns* (the-ns 'skein.trace.form-test)
            *warn-on-reflection* false]
    (try [:value (eval form)]
         (catch Throwable t
           (let [t (if (instance? clojure.lang.Compiler$CompilerException t) (ex-cause t) t)]
             [:thrown (class t) (ex-message t) (ex-data t)])))))

(defn- traced
  "[outcome reports] of a form in trace-forms."
  ([form] (traced {} form))
  ([options form]
   (binding [*reports* (atom [])]
     [(outcome (list `trace/trace-forms (assoc options :sink `report!) form)) @*reports*])))

(defn- failed
  "The form that tracing names, as text."
  [form]
  (:form (first (second (traced form)))))

(defmacro ^:private transparent
  "Checks that each form gives the same value, or the same kind of exception, traced and not."
  [& forms]
  `(are [form#] (= (outcome form#) (first (traced form#))) ~@(map (fn q [f] (list 'quote f)) forms)))

;; For the rows: a macro that recurs, a type with a mutable field, helpers.
(defmacro again [& args] (list* 'recur args))
(definterface Cell (put [v]) (get []))
(deftype Holder [^:unsynchronized-mutable x]
  Cell
  (put [_ v] (trace/trace-forms (set! x v)) x)
  (get [_] x))
(defrecord R [a])
(defn boom! [e] (throw e))

;;;; F1-F24

(deftest instance-calls-are-left-alone
  (transparent (.substring "abc" 1) (. "abc" length) (.. "abc" toUpperCase length)
               (vec (doto (java.util.ArrayList.) (.add 1))) (-> "a" .length inc)))

(deftest static-calls-are-left-alone
  (transparent (Math/abs -3) (Long/parseLong "12") Math/PI (String/valueOf true) (map Math/abs [-1])))

(deftest comprehensions-are-left-alone
  (transparent (for [x [1 2] y [3 4] :when (odd? x)] [x y])
               (let [n (atom 0)] (doseq [i (range 5)] (swap! n + i)) @n)))

(deftest case-is-left-alone
  (transparent (case 1 1 :a :b) (case "x" ("x" "y") :s) (case :k :j 1) (case \a \a 1 2)
               (let [x 3] (case x 1 :one 2 :two (inc x)))))

(deftest letfn-is-left-alone
  (transparent (letfn [(f [x] x)] (f 1))
               (letfn [(ev? [n] (if (zero? n) true (od? (dec n)))) (od? [n] (if (zero? n) false (ev? (dec n))))] (ev? 9))))

(deftest reify-is-left-alone
  (transparent (str (reify Object (toString [_] "x")))
               (.compare ^java.util.Comparator (reify java.util.Comparator (compare [_ a b] (- (long a) (long b)))) 3 1)
               (sort (comparator >) [1 3 2])))

(deftest definitions-are-left-alone
  (transparent (do (deftype T1 [a] Object (toString [_] (str a))) (str (->T1 1)))
               (do (defrecord R1 [a]) (:a (->R1 1)))
               (str (proxy [Object] [] (toString [] "p")))
               (do (import 'java.util.BitSet) 1)
               (do (defmulti m1 :k) (defmethod m1 1 [_] :one) (m1 {:k 1}))
               (with-local-vars [x 1] (var-set x 2) @x)
               (do (defn f1 [x] (* 2 x)) (f1 4))
               (do (defmacro twice [x] (list 'do x x)) (twice 1))))

(deftest assignments-are-left-alone
  (transparent (binding [*print-length* 1] (set! *print-length* 10) *print-length*)
               (let [p (java.awt.Point. 1 2)] (set! (.-x p) 5) (.-x p)))
  (is (= 7 (.put (Holder. 1) 7))))

(deftest a-macro-may-recur
  (transparent (loop [i 0] (if (< i 3) (again (inc i)) i))
               ((fn [i] (if (< i 3) (again (inc i)) i)) 0)
               (#(if (pos? (count %)) (recur (rest %)) :done) [1 2 3])
               ((fn [x & more] (if more (recur x (next more)) x)) 1 2 3)))

(deftest a-failure-beside-a-recur-is-named
  (is (= "(/ i 0)" (failed '(loop [i 0] (if (< i 3) (recur (inc i)) (/ i 0)))))))

(deftest any-exception-is-named
  (is (= "(throw (ex-info \"boom\" {:a 1}))" (failed '(throw (ex-info "boom" {:a 1})))))
  (is (= "(boom! (ex-info \"boom\" {:a 1}))" (failed '(boom! (ex-info "boom" {:a 1})))))
  (is (= "((fn [x] x))" (failed '((fn [x] x)))))
  (is (= "(.length s)" (failed '(let [^String s nil] (.length s))))))

(defn- same-exception?
  "Returns whether `t`, thrown in trace-forms, comes out as it is, and is reported."
  [^Throwable t]
  (let [cause (.getCause t), suppressed (vec (.getSuppressed t)), message (.getMessage t)
        reports (atom [])
        out (try (trace/trace-forms {:sink (fn keep [e] (swap! reports conj e))} (inc (boom! t)))
                 (catch Throwable e e))]
    (and (identical? t out) (identical? cause (.getCause t)) (= suppressed (vec (.getSuppressed t)))
         (= message (.getMessage t)) (identical? t (:error (first @reports))))))

(deftest exceptions-stay-the-same-objects
  (testing "cause and suppressed"
    (is (same-exception? (doto (RuntimeException. "b" (Exception. "cause")) (.addSuppressed (Exception. "s"))))))
  (testing "fields of its own"
    (let [e (SQLException. "m" "42000" 99)]
      (is (same-exception? e))
      (is (= ["42000" 99] [(.getSQLState e) (.getErrorCode e)])))
    (let [e (java.nio.file.NoSuchFileException. "some/path")]
      (is (same-exception? e))
      (is (= "some/path" (.getFile e)))))
  (testing "no stack trace"
    (let [e (proxy [RuntimeException] ["fast" nil false false])]
      (is (same-exception? e))
      (is (zero? (alength (.getStackTrace ^Throwable e)))))))

(deftest programs-that-look-at-messages-see-the-same
  (is (= "retry" (try (trace/trace-forms {:sink []} (+ 1 (throw (IllegalStateException. "retry"))))
                      (catch IllegalStateException e (ex-message e))))))

(deftest monitors-are-left-alone
  (transparent (let [o (Object.)] (monitor-enter o) (try (inc 1) (finally (monitor-exit o))))
               (let [o (Object.)] (monitor-enter o) (let [x (inc 1)] (monitor-exit o) x))
               (locking (Object.) (inc 1))))

(deftest duplicate-keys-are-found
  (transparent (let [a 1 b 1] #{a b}) (let [a 1 b 1] {a 1 b 2}) (let [a 1] #{(inc a) (+ a 1)}))
  (is (= "{a 1, b 2}" (failed '(let [a 1 b 1] {a 1 b 2})))))

(deftest literals-keep-what-they-are
  (transparent (meta ^{:x 1} [1 2]) (meta ^{:x (inc 1)} {:a (inc 1)})
               [(inc 1) {:a (inc 2)} #{(inc 3)} '(a b) ()] {(inc 1) (inc 2), :a :b})
  ;; As text, because the reader needs the record's class, but this file is also read where there is no such class.
  (let [record "#skein.trace.form_test.R{:a 1}"]
    (binding [*ns* (the-ns 'skein.trace.form-test)]
      (eval (read-string (str "(transparent " record " (class " record "))"))))))

(deftest bodies-of-special-forms-are-traced
  (are [form] (= "(/ 1 0)" (failed form))
    '(try (/ 1 0) (finally (str 1)))
    '(try (/ 1 0) (catch Exception e (str e) (throw e)))
    '(binding [*print-length* 1] (/ 1 0))
    '(with-open [r (StringReader. "x")] (/ 1 0))
    '(with-redefs [boom! inc] (/ 1 0))
    '(locking (Object.) (/ 1 0))
    '(assert (/ 1 0))
    '(do (defn f2 [] (/ 1 0)) (f2))
    '(str (reify Object (toString [_] (str (/ 1 0)))))
    '(case (inc 0) 1 (/ 1 0))
    '(letfn [(f [] (/ 1 0))] (f))
    '(new String (str (/ 1 0)))
    '{:a (/ 1 0)}
    '(mapv (fn [x] (/ x 0)) [(/ 1 0)])))

(deftest deftype-methods-report-to-the-default-sinks
  (let [reports (atom [])]
    (trace/add-sink! ::kept (fn keep [e] (swap! reports conj e)))
    (try
      (let [out (java.io.StringWriter.)]
        (binding [*out* out]
          (traced '(do (deftype T2 [] Object (toString [_] (str (/ 1 0)))) (str (->T2))))))
      (is (= ["(/ 1 0)"] (map :form @reports)))
      (finally (trace/remove-sink! ::kept)))))

(defn- nested [n] (nth (iterate (fn [form] (list `inc form)) 1) n))

(deftest the-limit-of-nesting-is-reported
  (is (= [:value 201] (first (traced (nested 200)))))
  (let [[_ _ _ data] (first (traced (nested 1000)))]
    (is (= :skein/block-too-large (kind-of data)))))

(deftest a-failing-form-deep-inside-is-reported-briefly
  (let [[_ [report]] (traced (nth (iterate (fn [form] (list `inc form)) '(/ 1 0)) 150))]
    (is (= "(/ 1 0)" (:form report)))
    (is (every? (fn [text] (<= (count text) 160)) (:chain report)))))

(deftest primitives-stay-primitive
  (transparent (loop [i 0 acc 0] (if (< i 1000) (recur (inc i) (+ acc i)) acc))
               (loop [x 1.5 n 0] (if (< n 10) (recur (* x 1.1) (unchecked-inc n)) x))
               ((fn ^long [^long x] (if (pos? x) (recur (dec x)) x)) 10)
               (let [a (long-array 3)] (dotimes [i 3] (aset a i (* i i))) (vec a)))
  (testing "loop locals are not boxed, which Clojure would warn of"
    (let [warnings (StringWriter.)]
      (binding [*err* warnings, *warn-on-reflection* true, *unchecked-math* :warn-on-boxed
                *ns* (the-ns 'skein.trace.form-test)]
        (eval '(skein.trace/trace-forms
                 (loop [i 0 acc 0] (if (< i 10) (recur (inc i) (+ acc (bit-and i 3))) acc))
                 (fn [^String s ^long n] (.substring s (.length (str s)) (+ n (.length s)))))))
      (is (= "" (str warnings))))))

(deftest lazy-sequences-stay-lazy-and-their-failures-are-named
  (let [n (atom 0)
        reports (atom [])
        xs (trace/trace-forms {:sink (fn keep [e] (swap! reports conj e))}
             (map (fn [x] (swap! n inc) (/ 1 x)) (list 1 0)))]
    (is (= 0 @n))
    (is (= 1 (first xs)))
    (is (empty? @reports))
    (is (thrown? ArithmeticException (doall xs)))
    (is (= ["(/ 1 x)"] (map :form @reports)))))

(deftest programs-for-tools-trace-work
  (transparent (let [x 1] (if (odd? x) (do x) (fn [] x)))
               (let [n (atom 0)] (dotimes [_ 3] (swap! n inc)) (while (< @n 9) (swap! n inc)) @n)
               (loop [xs [1 2 3] n 0] (if-let [x (first xs)] (recur (next xs) (+ n x)) n))
               (loop [i 0 out []] (if (< i 2) (recur (inc i) (loop [j 0 o out] (if (< j 2) (recur (inc j) (conj o [i j])) o))) out))
               (map #(* 2 %) [1 2]) `(a ~(inc 1)) @(delay (inc 1)) @(future (inc 1))
               ((fn [x] {:pre [(pos? x)]} x) -1)))

;;;; In and around blocks

(deftest blocks-are-traced-across-parks
  (let [reports (atom [])
        sink (fn keep [e] (swap! reports conj e))]
    (testing "trace-forms in a go block"
      (is (= 6 (await-port (a/go (trace/trace-forms {:sink sink}
                                   (loop [i 0 sum 0]
                                     (if (< i 4) (recur (inc i) (+ sum (a/<! (a/go i)))) sum)))))))
      (let [c (a/chan 1), d (a/chan 1)]
        (is (= [1 true] (await-port (a/go (trace/trace-forms {:sink sink}
                                            (let [sent (a/>! c 1)
                                                  [v _] (a/alts! [c d])]
                                              [v sent]))))))))
    (testing "a failure after a park"
      (is (= :failed (await-port (a/go (try (trace/trace-forms {:sink sink}
                                              (let [x (a/<! (a/go 0))] (/ 1 x)))
                                            (catch ArithmeticException _ :failed))))))
      (is (= ["(/ 1 x)"] (map :form @reports))))
    (testing "go blocks in trace-forms"
      (reset! reports [])
      (is (= :failed (await-port (trace/trace-forms {:sink sink}
                                   (let [in (a/go 5)]
                                     (a/go (try (/ (a/<! in) (- (a/<! (a/go 1)) 1))
                                                (catch ArithmeticException _ :failed))))))))
      (is (thrown? ArithmeticException (a/<?? (trace/trace-forms {:sink sink} (a/async (/ (a/<! (a/go 1)) 0))))))
      (is (= ["(/ (a/<! (a/go 1)) 0)"] (map :form @reports))))))

(deftest other-go-macros-work
  (is (= 3 (upstream/<!! (trace/trace-forms (upstream/go (+ 1 (upstream/<! (upstream/go 2)))))))))

;;;; Reports

(defn- load-traced [& lines]
  (binding [*reports* (atom []), *ns* (the-ns 'skein.trace.form-test)]
    (try (Compiler/load (StringReader. (str/join "\n" lines)) "demo/orders.clj" "orders.clj")
         (catch Throwable t (errors/async-trace t)))
    (first @*reports*)))

(deftest a-report-has-place-form-and-arguments
  (let [report (load-traced "(defn ratio [n d]"
                            "  (trace/trace-forms {:sink report! :args? true}"
                            "    (let [m (inc n)]"
                            "      (* 2 (/ m d)))))"
                            "(ratio 8 0)")]
    (is (= {:file "demo/orders.clj", :line 4, :column 12, :form "(/ m d)", :within "(* 2 (/ m d))", :args ["9" "0"]}
           (select-keys report [:file :line :column :form :within :args])))
    (is (= ["(/ m d)" "(* 2 (/ m d))" "(let* [m (inc n)] (* 2 (/ m d)))" "(let [m (inc n)] (* 2 (/ m d)))"]
           (:chain report)))))

(deftest the-failed-form-tops-the-stack-trace
  (let [e (try (trace/trace-forms {:sink []} (/ 1 0)) (catch ArithmeticException e e))
        ^StackTraceElement top (first (.getStackTrace ^Throwable e))]
    (is (= "(/ 1 0)" (.getMethodName top)))
    (is (= "form_test.clj" (.getFileName top)))))

(deftest the-form-that-failed-is-in-reports-of-exceptions
  (let [[_ e] (await-uncaught (fn mine? [e] (instance? ArithmeticException e))
                (fn [] (a/go (trace/trace-forms {:sink []} (let [x (a/<! (a/go 0))] (/ 6 x))))))]
    (is (= "(/ 6 x)" (:form (:form (last (filter (comp #{e} :error) (errors/exceptions)))))))
    (is (str/includes? (with-out-str (binding [*err* *out*] (errors/pst e))) "(/ 6 x) failed"))))

(deftest one-failure-is-reported-once
  (let [reports (second (traced '(let [f (fn [x] (/ x 0))] (trace/trace-forms (mapv f [1])))))]
    (is (= ["(/ x 0)"] (map :form reports)))))

(def ^:private bare
  "An exception without a stack trace, as the JVM throws it from code that has thrown often."
  (proxy [RuntimeException] ["bare" nil false false]))

(deftest an-exception-that-is-thrown-again-and-again-is-reported-each-time
  (let [reports (atom [])
        sink (fn keep [e] (swap! reports conj (:form e)))
        outer (trace/trace-forms {:sink sink} (fn outer [] (let [inner (fn inner [] (boom! bare))] (mapv (fn [_] (inner)) [1]))))
        try-it (fn try-it [f] (try (f) (catch RuntimeException e (identical? bare e))))]
    (testing "once for each failure, although three functions see it"
      (is (= [true true] (repeatedly 2 #(try-it outer))))
      (is (= ["(boom! bare)" "(boom! bare)"] @reports)))
    (testing "at the place of the last throw"
      (reset! reports [])
      (is (true? (try-it (fn [] (trace/trace-forms {:sink sink}
                                  (try (boom! bare) (catch RuntimeException _ nil))
                                  (inc (do (boom! bare) 1)))))))
      (is (= ["(boom! bare)"] @reports))
      (reset! reports [])
      (is (true? (try-it (fn [] (trace/trace-forms {:sink sink}
                                  (try (boom! bare) (catch RuntimeException _ nil))
                                  (run! boom! [bare]))))))
      (is (= ["(run! boom! [bare])"] @reports))
      (reset! reports [])
      (is (true? (try-it (fn [] (trace/trace-forms {:sink sink}
                                  (try (boom! bare) (catch RuntimeException e (throw e))))))))
      (is (= ["(boom! bare)"] @reports)))
    (testing "but pst leaves out the form"
      (is (str/blank? (let [err (StringWriter.)]
                        (binding [*err* err] (errors/pst bare))
                        (second (str/split-lines (str err)))))))))

(deftest a-caught-exception-is-not-reported
  (is (= [[:value :ok] []] (traced '(try (/ 1 0) (catch ArithmeticException _ :ok))))))

(deftest arguments-are-reported-with-their-call
  (are [args form] (= args (:args (first (second (traced {:args? true} form)))))
    ["1" "0"] '(/ 1 0)
    ["\"x\""] '(Long/parseLong "x")
    ["\"abc\"" "9"] '(.substring "abc" (+ 4 5))
    ["[1 2]" "5"] '(nth (vector 1 2) (inc 4))))

(deftest a-recur-to-something-outside-is-refused
  (let [[_ _ _ data] (outcome '(loop [i 0] (trace/trace-forms (if (< i 3) (recur (inc i)) i))))]
    (is (= [:skein/bad-block :bad-recur] (kind-of data)))))

(deftest options-that-a-form-gives-are-not-ignored
  (let [options {:args? true}]
    (doseq [f [(fn named [] (trace/trace-forms options (inc 1)))
               (fn made [] (trace/trace-forms (merge {:sink []} options) (inc 1)))]]
      (with-out-str
        (is (thrown-with-msg? clojure.lang.ExceptionInfo #"The first form in the body of trace-forms gives the options .*, which would be ignored"
                              (f)))))
    (is (= 2 (trace/trace-forms (assoc {} :a 1) (inc 1))))
    (is (= options (trace/trace-forms (merge options))))))

(deftest an-options-map-alone-is-a-value
  (is (= {:args? true} (trace/trace-forms {:args? true})))
  (is (= {:a 1} (trace/trace-forms {:a 1})) "a map alone is the body")
  (is (= :skein/bad-argument (try (macroexpand '(skein.trace/trace-forms {:a 1} 1))
                               (catch Exception e (some (comp kind-of ex-data) (take-while some? (iterate ex-cause e)))))))
  (is (nil? (trace/trace-forms))))
