;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.text-test
  "The two formats of lines: Skein's own, and the one that tools.trace prints."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is testing use-fixtures]]
   [clojure.tools.trace :as old]
   [skein.trace :as trace]
   [skein.trace.event :as event]
   [skein.trace.text :as text]))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn clean [run]
                      (trace/set-format! :tools.trace)
                      (try (run)
                           (finally (trace/untrace-all) (trace/set-format! :skein)))))

;;;; As tools.trace prints it

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
                     (do (trace/trace-vars ~@vars)
                         (try (printed (fn [] body#)) (finally (trace/untrace-vars ~@vars)))))
       ~@bodies)))

(deftest calls-are-printed-as-by-tools-trace
  (same-text [od? ev?] (ev? 7) (od? 0) (map ev? [1 2]) (do (ev? 0) (ev? 1)))
  (same-text [fib] (fib 3) (mapv fib [1 2]))
  (same-text [inner outer] (outer 0) (outer 2) (try (outer 0) (catch ArithmeticException _ (inner 1))))
  (same-text [nothing strange] (nothing) (strange) (strange nil) (strange "a\"b" \c :k 'sym 1.5 2/3 [1 {:a #{2}}] '(1 2)))
  (is (= "TRACE t0: (skein.trace.text-test/ev? 1)\nTRACE t1: | (skein.trace.text-test/od? 0)\nTRACE t1: | => false\nTRACE t0: => false\n"
         (do (trace/trace-vars od? ev?) (printed (fn [] (ev? 1)))))))

(deftest values-are-printed-as-by-tools-trace
  (are [args] (= (with-out-str (apply old/trace args)) (with-out-str (apply trace/trace args)))
    [6] [nil] ["tag" 6] [:tag [1 "x"]] ['tag {:a nil}] ["text"])
  (is (= "TRACE tag: 6\n" (with-out-str (trace/trace "tag" (* 2 3)))))
  (is (= 6 (binding [*out* (java.io.StringWriter.)] (trace/trace (* 2 3))))))

(deftest other-ways-to-trace-print-as-by-tools-trace
  (testing "a rebound var"
    (is (= (printed (fn [] (old/dotrace [*rebound*] (*rebound* 4))))
           (str/replace (printed (fn [] (trace/dotrace [*rebound*] (*rebound* 4)))) "skein.trace.text-test/" ""))
        "tools.trace leaves out the namespace of what it rebinds"))
  (testing "a function by name"
    (is (= (printed (fn [] (old/trace-fn-call 'f + [1 2]))) (printed (fn [] (trace/trace-fn-call 'f + [1 2]))))))
  (testing "a namespace"
    (trace/trace-ns {:match #"^(ev|od)\?$"} skein.trace.text-test)
    (is (= 4 (count (str/split-lines (printed (fn [] (ev? 1))))))))
  (testing "one var"
    (trace/untrace-all)
    (trace/trace-var* #'inner)
    (is (str/includes? (printed (fn [] (outer 1))) "/inner 1)"))
    (trace/untrace-var* 'skein.trace.text-test 'inner)
    (is (= "" (printed (fn [] (outer 1)))))))

(old/deftrace old-sum "Sums." [a b] (+ a b))
(trace/deftrace new-sum "Sums." [a b] (+ a b))

(deftest deftrace-prints-as-in-tools-trace
  (trace/trace-vars new-sum)
  (is (= (str/replace (printed (fn [] (old-sum 1 2))) "old-sum" "new-sum")
         (printed (fn [] (new-sum 1 2))))))

(defn- old-message [form]
  (try (eval (list `old/trace-forms form)) (catch Throwable t (ex-message t))))

(defn- new-text [form]
  (with-out-str (try (eval (list `trace/trace-forms form)) (catch Throwable _ nil))))

(deftest failed-forms-are-printed-as-by-tools-trace
  (are [form] (= (old-message form) (new-text form))
    '(let [a 0 b (/ 9 a)] b)
    '(if (zero? (/ 1 0)) 1 2)
    '(let [x 1] (inc (/ x 0)))
    '(Integer/parseInt "x")
    '(nth [] (+ 1 2))))

;;;; Skein's own

(defn- line [phase fields]
  (let [text (text/line (event/about phase (merge {:thread "main" :block nil} fields)) :skein 400)
        [time-text more] [(subs text 0 12) (subs text 13)]]
    (is (re-matches #"\d\d:\d\d:\d\d\.\d{3}" time-text))
    more))

(deftest each-phase-has-a-line
  (are [expected phase fields] (= expected (line phase fields))
    "main       #7  (demo/f 1 \"x\")" :call {:id 7, :depth 0, :name 'demo/f, :args ["1" "\"x\""]}
    "main       #8  │ (demo/g)" :call {:id 8, :parent 7, :depth 1, :name 'demo/g, :args []}
    "go-3/w-1   #9<8  │ │ (demo/h)" :call {:id 9, :parent 8, :depth 2, :name 'demo/h, :args [], :away? true, :block 3, :thread "w-1"}
    "main       #8  │ => 2   12.0µs" :return {:id 8, :depth 1, :value "2", :elapsed-ns 12000}
    "main       #8  │ ! ArithmeticException Divide by zero   1.5ms" :throw
    {:id 8, :depth 1, :error (ArithmeticException. "Divide by zero"), :elapsed-ns 1500000}
    "main       #8  │ ! NullPointerException   2.0s" :throw {:id 8, :depth 1, :error (NullPointerException.), :elapsed-ns 2000000000}
    "main       #7  ⇒ 3   100.0µs after call" :async-return {:id 7, :depth 0, :value "3", :elapsed-ns 100000}
    "main       #7  ⇒ ! Exception e   10.0ms after call" :async-throw {:id 7, :depth 0, :error (Exception. "e"), :elapsed-ns 10000000}
    "main       => 5" :value {:value "5"}
    "main       #7  │ :sum => 5" :value {:id 7, :depth 1, :name :sum, :value "5"}
    "main       note: n" :note {:value "n"}
    "main       a.clj:3:9 (/ 9 a) failed: Exception e   args [9 0]   in (inc (/ 9 a))" :form
    {:file "demo/a.clj", :line 3, :column 9, :form "(/ 9 a)", :within "(inc (/ 9 a))", :args ["9" "0"], :error (Exception. "e")})
  (is (= "a.clj:3 said" (text/line (event/about :verbose {:file "src/a.clj", :line 3, :value "said"}) :skein 400))))

(deftest lines-are-bounded-and-single
  (let [long-text (apply str (repeat 1000 "x"))]
    (is (= 400 (count (text/line (event/about :call {:id 1 :depth 0 :name 'f :args [long-text]}) :skein 400))))
    (is (= 50 (count (text/line (event/about :call {:id 1 :depth 0 :name 'f :args [long-text]}) :skein 50))))
    (is (not (str/includes? (line :throw {:id 1 :depth 0 :elapsed-ns 1 :error (Exception. "two\nlines")}) "\n")))
    (is (str/starts-with? (line :throw {:id 1 :depth 0 :elapsed-ns 1 :error (proxy [Exception] [] (getMessage [] (throw (Error.))))})
                          "main       #1  ! "))))
