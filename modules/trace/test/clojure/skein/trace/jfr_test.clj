;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.jfr-test
  "Calls as the JVM times them: those that go past the var too. On a JVM that can't, it says so."
  (:require [clojure.string :as str]
            [clojure.test :refer [deftest is testing use-fixtures]]
            [skein.deadline :refer [within-deadline]]
            [skein.trace :as trace]
            [skein.trace.text :as text])
  (:import (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:private can? (<= 25 (.feature (Runtime/version))))
(def ^:private events (atom []))
(defn- keep! [event] (swap! events conj event))

(use-fixtures :each (fn clean [run]
                      (reset! events [])
                      (try (run) (finally (trace/untrace-all)))))

(defn- refusal [f]
  (try (f) (catch ExceptionInfo e ((juxt :skein/error (comp str :reason)) (ex-data e)))))

(defn- calls
  "The names of the calls that are told, when tracing has ended."
  []
  (within-deadline (trace/untrace-all))
  (mapv (comp symbol name :name) @events))

(defn leaf [x] (inc (long x)))
(defn branch [x] (+ (long (leaf x)) (long (leaf 1))))
(defn descend [n] (when (pos? (long n)) (descend (dec (long n)))))
(defn twice ^long [^long x] (* 2 x))
(defn fail [x] (throw (ex-info "failed" {:x x})))
(defn gather ([x] [x]) ([x & more] [x more]))
(def adder (let [n (count (str *ns*))] (fn add ([x] (+ n (long x))) ([x & more] [n x more]))))
(defmulti area :shape)
(defn renewed [] 1)

(defn- direct-linked
  "Vars of a function and of one whose call of it is linked directly."
  []
  (binding [*compiler-options* {:direct-linking true}, *ns* (the-ns 'skein.trace.jfr-test)]
    (eval '(do (defn linked-callee [x] x) (defn linked-caller [x] (linked-callee x)))))
  (map (partial ns-resolve 'skein.trace.jfr-test) '[linked-callee linked-caller]))

(defn- redefine! [n]
  (binding [*ns* (the-ns 'skein.trace.jfr-test)]
    (eval (list 'defn 'renewed [] n))))

(when can?
  (deftest calls-are-timed-with-their-callers
    (is (= [#'branch #'leaf] (trace/trace-vars {:via :jfr, :sink keep!} branch leaf)))
    (is (= [#'branch #'leaf] (trace/traced)))
    (is (trace/traced? #'leaf))
    (is (= 4 (branch 1)))
    (is (= '[leaf leaf branch] (calls)))
    (is (= [] (trace/traced)))
    (is (every? (fn [{:keys [phase thread t elapsed-ns args]}]
                  (and (= :timed phase) (= (.getName (Thread/currentThread)) thread) (pos-int? t) (nat-int? elapsed-ns) (nil? args)))
                @events))
    (is (= `branch (:name (first (:callers (first @events)))))))

  (deftest a-recursive-call-is-called-by-the-function-itself
    (trace/trace-vars {:via :jfr, :sink keep!} descend)
    (descend 1)
    (is (= '[descend descend] (calls)))
    (is (= [[`descend] []] (map (fn own [e] (filter #{`descend} (map :name (:callers e)))) @events))))

  (deftest functions-of-all-kinds-are-timed-once-a-call
    (trace/trace-vars {:via :jfr, :sink keep!} twice fail gather adder clojure.core/max-key)
    (is (= [6 [1] [1 [2 3]] [1 2]] [(twice 3) (gather 1) (gather 1 2 3) (max-key count [1 2] [2])]))
    (is (= '[(2) nil] [(last (adder 1 2)) (next [(adder 1)])]))
    (is (thrown? ExceptionInfo (fail 1)))
    (is (= '[twice gather gather max-key adder adder fail] (calls))))

  (deftest a-redefined-function-stays-timed
    (trace/trace-vars {:via :jfr, :sink keep!} renewed leaf)
    (renewed)
    (redefine! 2)
    (is (= 2 (renewed)))
    (trace/untrace-vars leaf)
    (leaf 1)
    (is (= [#'renewed] (trace/traced)))
    (renewed)
    (is (= '[renewed renewed renewed] (calls))))

  (deftest a-sink-may-call-what-is-timed-and-end-it
    (let [told (promise)]
      (trace/trace-vars {:via :jfr, :sink (fn sink [e] (leaf 1) (trace/untrace-all) (deliver told (:name e)))} leaf)
      (leaf 2)
      (is (= `leaf (within-deadline @told)))
      (is (= [] (trace/traced)))))

  (deftest both-ways-at-once
    (trace/trace-vars {:sink keep!} leaf)
    (trace/trace-vars {:via :jfr, :sink keep!} leaf)
    (leaf 1)
    (is (= [#'leaf] (trace/traced)))
    (within-deadline (trace/untrace-all))
    (is (= [:call :return :timed] (map :phase @events)))
    (is (str/includes? (text/line (peek @events) :skein 400) "(skein.trace.jfr-test/leaf …)"))))

(deftest calls-that-go-past-the-var-are-timed
  (let [[callee caller] (direct-linked)
        trace! (fn trace! [via] (trace/trace-vars* 'skein.trace.jfr-test {:via via, :sink keep!} [callee]))]
    (trace! :var)
    (caller 1)
    (is (= [] (filter (comp #{:call} :phase) @events)) "the wrapper sees nothing")
    (trace/untrace-all)
    (reset! events [])
    (when can?
      (trace! :jfr)
      (caller 1)
      (is (= '[linked-callee] (calls))))))

(deftest what-the-jvm-can't-time-is-refused
  (let [trace! (fn trace! [v] (fn [] (trace/trace-vars* 'user {:via :jfr} [v])))]
    (is (= [:skein/not-traceable "the JVM times the calls of plain functions alone"] (refusal (trace! #'area))))
    (is (= [:skein/not-traceable "it holds no function but false"] (refusal (trace! (intern *ns* 'no-function false)))))
    (when-not can?
      (is (str/includes? (second (refusal (trace! #'leaf))) "can't trace methods"))))
  (is (= [:skein/bad-option ""] (refusal (fn [] (trace/trace-vars {:via :magic} leaf)))))
  (is (= [:skein/bad-option ""] (refusal (fn [] (trace/with-traced {:via :jfr} [leaf] 1))))))
