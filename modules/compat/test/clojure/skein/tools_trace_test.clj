;; SPDX-License-Identifier: Apache-2.0
(ns skein.tools-trace-test
  "The functions of tools.trace print what that library prints."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing use-fixtures]]
   [clojure.tools.trace :as old]
   [skein.tools-trace :as tools]
   [skein.trace :as trace])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn clean [run]
                      (trace/add-sink! {:format :tools.trace} :out :out)
                      (try (run)
                           (finally (trace/untrace-all) (trace/add-sink! :out)))))

(declare ev?)
(defn od? [n] (if (zero? n) false (ev? (dec n))))
(defn ev? [n] (if (zero? n) true (od? (dec n))))
(defn inner [n] (/ 1 n))
(defn outer [n] (inner n))
(defn fib [n] (if (< n 2) n (+ (fib (dec n)) (fib (- n 2)))))
(defn nothing [])
(defn strange [& xs] (first xs))
(def ^:dynamic *rebound* (fn rebound [x] (* 2 x)))

(defn- normalised
  "Text with the numbers of calls counted from 0."
  [s]
  (let [ids (distinct (re-seq #"TRACE t\d+" s))
        id->n (zipmap ids (range))]
    (str/replace s #"TRACE t\d+" (fn number [id] (str "TRACE t" (id->n id))))))

(defn- printed [f]
  (normalised (with-out-str (try (f) (catch Throwable _ nil)))))

(defmacro ^:private same-text
  "Checks that each body prints the same with these functions traced by tools.trace and by Skein."
  [vars & bodies]
  (let [vars (map (fn as-var [v] (list 'var v)) vars)]
    `(are [body#] (= (do (old/trace-vars ~@vars)
                         (try (printed (fn [] body#)) (finally (old/untrace-vars ~@vars))))
                     (do (tools/trace-vars ~@vars)
                         (try (printed (fn [] body#)) (finally (tools/untrace-vars ~@vars)))))
       ~@bodies)))

(deftest calls-are-printed-as-by-tools-trace
  (same-text [od? ev?] (ev? 7) (od? 0) (map ev? [1 2]) (do (ev? 0) (ev? 1)))
  (same-text [fib] (fib 3) (mapv fib [1 2]))
  (same-text [inner outer] (outer 0) (outer 2) (try (outer 0) (catch ArithmeticException _ (inner 1))))
  (same-text [nothing strange] (nothing) (strange) (strange nil) (strange "a\"b" \c :k 'sym 1.5 2/3 [1 {:a #{2}}] '(1 2)))
  (is (= "TRACE t0: (skein.tools-trace-test/ev? 1)\nTRACE t1: | (skein.tools-trace-test/od? 0)\nTRACE t1: | => false\nTRACE t0: => false\n"
         (do (tools/trace-vars od? ev?) (printed (fn [] (ev? 1)))))))

(deftest values-are-printed-as-by-tools-trace
  (are [args] (= (with-out-str (apply old/trace args)) (with-out-str (apply tools/trace args)))
    [6] [nil] ["tag" 6] [:tag [1 "x"]] ['tag {:a nil}] ["text"])
  (is (= "TRACE tag: 6\n" (with-out-str (tools/trace "tag" (* 2 3)))))
  (is (= 6 (binding [*out* (java.io.StringWriter.)] (tools/trace (* 2 3))))))

(deftest other-ways-to-trace-print-as-by-tools-trace
  (testing "a rebound var"
    (is (= (printed (fn [] (old/dotrace [*rebound*] (*rebound* 4))))
           (str/replace (printed (fn [] (tools/dotrace [*rebound*] (*rebound* 4)))) "skein.tools-trace-test/" ""))
        "tools.trace leaves out the namespace of what it rebinds"))
  (testing "a function by name"
    (is (= (printed (fn [] (old/trace-fn-call 'f + [1 2]))) (printed (fn [] (tools/trace-fn-call 'f + [1 2]))))))
  (testing "one var"
    (tools/trace-var* #'inner)
    (is (tools/traced? #'inner))
    (is (str/includes? (printed (fn [] (outer 1))) "/inner 1)"))
    (tools/untrace-var* 'skein.tools-trace-test 'inner)
    (is (not (tools/traced? 'skein.tools-trace-test/inner)))
    (is (= "" (printed (fn [] (outer 1)))))))

(create-ns 'skein.tools-trace-test.demo)
(intern 'skein.tools-trace-test.demo 'double-it (fn [x] (* 2 x)))
(def ^:private demo 'skein.tools-trace-test.demo)
(defn- call-demo [] ((ns-resolve demo 'double-it) 4))

(deftest namespaces-are-traced-as-by-tools-trace
  (let [expected (do (old/trace-ns skein.tools-trace-test.demo)
                     (try (printed call-demo) (finally (old/untrace-ns skein.tools-trace-test.demo))))]
    (are [on off] (= [expected ""] (do on [(printed call-demo) (do off (printed call-demo))]))
      (tools/trace-ns skein.tools-trace-test.demo) (tools/untrace-ns skein.tools-trace-test.demo)
      (tools/trace-ns 'skein.tools-trace-test.demo) (tools/untrace-ns 'skein.tools-trace-test.demo)
      (tools/trace-ns demo) (tools/untrace-ns demo)
      (tools/trace-ns* demo) (tools/untrace-ns* (the-ns demo)))))

(old/deftrace old-sum "Sums." [a b] (+ a b))
(tools/deftrace new-sum "Sums." [a b] (+ a b))

(tools/deftrace with-attributes
  "Doc."
  {:added "1.0"}
  ([x] x)
  ([x y] [x y]))

(deftest deftrace-defines-as-defn-does
  (is (= {:doc "Doc." :added "1.0" :arglists '([x] [x y])}
         (select-keys (meta #'with-attributes) [:doc :added :arglists])))
  (tools/trace-vars with-attributes)
  (is (= "TRACE t0: (with-attributes 1 2)\nTRACE t0: => [1 2]\n" (printed (fn [] (with-attributes 1 2))))))

(deftest deftrace-prints-as-in-tools-trace
  (tools/trace-vars new-sum)
  (is (= (str/replace (printed (fn [] (old-sum 1 2))) "old-sum" "new-sum")
         (printed (fn [] (new-sum 1 2))))))

(defn- old-message [form]
  (try (eval (list `old/trace-forms form)) (catch Throwable t (ex-message t))))

(defn- new-text [form]
  (with-out-str (try (eval (list `tools/trace-forms form)) (catch Throwable _ nil))))

(deftest failed-forms-are-printed-as-by-tools-trace
  (are [form] (= (old-message form) (new-text form))
    '(let [a 0 b (/ 9 a)] b)
    '(if (zero? (/ 1 0)) 1 2)
    '(let [x 1] (inc (/ x 0)))
    '(Integer/parseInt "x")
    '(nth [] (+ 1 2))))

(deftest forms-are-a-body
  (is (nil? (tools/trace-forms)))
  (is (= 1 (tools/trace-forms {:a 1} 1)) "a map is no options"))

(deftest bad-arguments-are-refused
  (are [error f] (= error (try (f) (catch ExceptionInfo e (:skein/error (ex-data e)))))
    :skein/bad-argument #(tools/traced? 5)
    :skein/bad-argument #(tools/trace-var* 5)
    :skein/bad-argument #(tools/trace-ns* 'no.such.namespace)
    :skein/bad-argument #(tools/trace-fn-call 'x 5 [1])
    :skein/bad-argument #(tools/trace-fn-call 'x inc 5))
  (is (not (tools/traceable? #'clojure.core/when)))
  (is (= :skein/bad-argument
         (try (eval `(tools/deftrace 5)) (catch Exception e (:skein/error (ex-data (ex-cause e))))))))

(deftest the-names-are-those-of-tools-trace
  (is (= 15 (count (ns-publics 'skein.tools-trace))))
  (is (every? (ns-publics 'clojure.tools.trace) (keys (ns-publics 'skein.tools-trace)))))
