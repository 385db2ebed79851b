;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.text-test
  "Events as lines. The format of tools.trace is compared with that library where its names are, in skein.tools-trace-test."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [are deftest is]]
   [skein.trace.event :as event]
   [skein.trace.text :as text]))

(set! *warn-on-reflection* true)

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
