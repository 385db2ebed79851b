;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.argument-test
  "What the operations between channels refuse, at the call and before anything has begun."
  (:require [clojure.test :refer [deftest is]]
            [skein.async :as a]
            [skein.impl.argument :as argument])
  (:import [clojure.lang ExceptionInfo]))

(set! *warn-on-reflection* true)

(defn- refusal
  "The :skein/error of what `f` throws."
  [f]
  (try (f) :accepted (catch ExceptionInfo e (:skein/error (ex-data e)))))

(defmacro ^:private refused-as
  "Asserts that each of the forms throws the error."
  [error & forms]
  `(do ~@(for [form forms]
           `(is (= ~error (refusal (fn [] ~form))) ~(pr-str form)))))

(deftest what-is-no-port-is-refused-by-who-takes
  (let [c (a/chan)]
    (refused-as :skein/not-a-port
                (a/pipe nil c) (a/split odd? 1) (a/take 1 nil) (a/merge [c :no]) (a/map + [c nil])
                (a/reduce + 0 nil) (a/into [] nil) (a/transduce (map inc) + 0 nil)
                (a/pipeline 1 c (map inc) nil) (a/pipeline-blocking 1 c (map inc) nil)
                (a/pipeline-async 1 c (fn [_ _]) nil)
                (a/mult nil) (a/pub nil identity) (a/admix (a/mix c) nil) (a/toggle (a/mix c) {:no {:mute true}}))))

(deftest what-is-no-port-is-refused-by-who-puts
  (let [c (a/chan)]
    (refused-as :skein/not-a-port
                (a/pipe c nil) (a/onto-chan! nil [1]) (a/onto-chan!! nil [1]) (a/mix nil)
                (a/tap (a/mult c) nil) (a/sub (a/pub c identity) 1 nil)
                (a/pipeline 1 nil (map inc) c) (a/pipeline-async 1 nil (fn [_ _]) c))))

(deftest what-is-no-function-is-refused
  (let [c (a/chan)]
    (refused-as :skein/not-a-function
                (a/split "no" c) (a/map 1 [c]) (a/reduce 1 0 c) (a/transduce 1 + 0 c) (a/transduce (map inc) 1 0 c) (a/pub c 1) (a/pub c identity 1)
                (a/pipeline-async 1 c "no" c))))

(deftest what-fits-is-returned
  (let [c (a/chan)]
    (is (= [c c :k 1] [(argument/source c) (argument/target c) (argument/function :k) (argument/whole :n 1)])))
  (let [port (a/map< inc (a/chan))]
    (is (identical? port (argument/source port)))))
