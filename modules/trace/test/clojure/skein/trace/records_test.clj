;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.records-test
  "The records and trees that are made from events."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.async :as a]
   [skein.deadline :refer [await-port]]
   [skein.trace :as trace]
   [skein.trace.records :as records]))

(set! *warn-on-reflection* true)

(use-fixtures :each (fn clean [run]
                      (trace/clear!)
                      (try (run) (finally (trace/untrace-all) (trace/clear!)))))

(defn factorial [n] (if (= 1 n) 1 (* n (factorial (dec n)))))
(defn fails [_] (throw (ex-info "no" {})))
(defn both [x] (try (fails x) (catch Exception _ (factorial 1))))
(defn later [x] (a/go (factorial x)))

(deftest a-record-is-a-call-from-its-beginning-to-its-end
  (trace/trace-vars {:sink :ring} factorial fails)
  (factorial 2)
  (try (fails 1) (catch Exception _ nil))
  (let [[outer inner failed :as all] (trace/records)]
    (is (= 3 (count all)))
    (is (= {:name `factorial, :args ["2"], :value "2", :outcome :returned, :depth 0, :parent nil}
           (select-keys outer [:name :args :value :outcome :depth :parent])))
    (is (= [(:id outer) 1] [(:parent inner) (:depth inner)]))
    (is (= [:threw "no"] [(:outcome failed) (ex-message (:error failed))]))
    (is (every? (comp nat-int? :elapsed-ns) all))
    (is (every? (comp #{"records_test.clj"} last #(str/split % #"/") :file) all))
    (is (every? (comp pos-int? :line) all))
    (is (= [(.getName (Thread/currentThread))] (distinct (map :thread all))))))

(deftest the-tree-has-each-call-below-its-caller
  (trace/trace-vars {:sink :ring} factorial fails both later)
  (both 1)
  (await-port (later 2))
  (let [shape (fn shape [{:keys [name children]}] (into [(symbol (clojure.core/name name))] (map shape) children))]
    (is (= '[[both [fails] [factorial]] [later [factorial [factorial]]]] (map shape (trace/records {:nested? true})))))
  (is (= [false false false false true true] (map (comp some? :block) (trace/records)))
      "calls in a block have its number"))

(deftest running-calls-and-calls-before-the-ring-differ
  (let [call (fn call [id parent] {:phase :call, :id id, :parent parent, :depth 0, :name 'f, :args []})
        rs (records/records [{:phase :return, :id 1, :value "x", :elapsed-ns 1} (call 2 1) (call 3 2)
                             {:phase :return, :id 3, :value "3", :elapsed-ns 2500}
                             {:phase :async-return, :id 3, :value "4", :elapsed-ns 9000}
                             {:phase :value, :id 2, :value "5"}])]
    (is (= [[2 :running] [3 :returned]] (map (juxt :id :outcome) rs)))
    (is (= {:outcome :returned, :value "4", :elapsed-ns 9000} (:async (second rs))))
    (is (= ["(f) …" "│ (f) => 3   2.5µs"] (records/lines (records/tree rs))) "2 has no parent among these")))

(deftest the-tree-is-printed-a-line-a-call
  (trace/trace-vars {:sink :ring} factorial fails)
  (factorial 3)
  (try (fails 1) (catch Exception _ nil))
  (let [lines (str/split-lines (with-out-str (trace/print-tree)))]
    (is (= ["(skein.trace.records-test/factorial 3) => 6"
            "│ (skein.trace.records-test/factorial 2) => 2"
            "│ │ (skein.trace.records-test/factorial 1) => 1"
            "(skein.trace.records-test/fails 1) ! ExceptionInfo no"]
           (map (fn bare [line] (str/replace line #"   \S+s$" "")) lines))))
  (is (= ["… 1 earlier calls" "(skein.trace.records-test/fails 1)"]
         (map (fn head [line] (str/replace line #" !.*" "")) (str/split-lines (with-out-str (trace/print-tree 1)))))))

(deftest the-ring-keeps-the-newest
  (trace/trace-vars {:sink :ring} fails)
  (let [n 20000]
    (dotimes [i n] (try (fails i) (catch Exception _ nil)))
    (let [events (trace/events)]
      (is (= 16384 (count events)))
      (is (= (sort (map :id events)) (map :id events)))
      (is (= [(str (dec n))] (:args (last (filter (comp #{:call} :phase) events)))))))
  (trace/clear!)
  (is (= [[] [] []] [(trace/events) (trace/records) (trace/records {:nested? true})])))
