;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.here-test
  "Forms sent as text, to a second Clojure in this process."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.codec :as codec]
   [skein.spark.folds :as folds :refer [bucket]]
   [skein.spark.here :as here])
  (:import
   (clojure.lang ExceptionInfo)
   (java.time Month)))

(set! *warn-on-reflection* true)

(defn- sent [x] (codec/decode (codec/encode x 1000000)))

(deftest a-function-over-locals-travels
  (let [limit 3
        names {:kim 1}
        small (spark/here (filter (fn [n] (< n limit))))]
    (is (= 3 (fold/fold (fold/through small fold/count) (range 10))))
    (is (= 3 (fold/fold (sent (fold/through small fold/count)) (range 10))))
    (is (= 1 ((sent (spark/here (fn [k] (names k)))) :kim)))
    (is (nil? (spark/problem (fold/through small fold/count) (range 10))))))

(deftest a-fold-over-locals-travels
  (let [n 2
        f (spark/here (fold/through (map #(+ n (bucket %))) (fold/into [Month/MAY])))]
    (is (= [Month/MAY 2 3] (fold/fold f [0 1])))
    (is (= [Month/MAY 2 3] (fold/fold (sent f) [0 1])))
    (is (nil? (spark/problem f [0 1])))))

(deftest aliases-and-referred-vars-are-kept
  (is (= {:aliases '{str clojure.string}, :refers '{bucket skein.spark.folds/bucket}, :imports ["java.time.Month"]}
         (here/context (the-ns 'skein.spark.here-test) '(str/join [(bucket x) Month]) '#{x}))))

(deftest definitions-at-a-prompt-are-refused
  (let [message (binding [*ns* (create-ns 'prompt.here), *file* "NO_SOURCE_PATH"]
                  (refer-clojure)
                  (eval '(defn helper [x] x))
                  (try (here/context *ns* '(map helper) #{}) (catch ExceptionInfo e (ex-message e))))]
    (is (str/includes? message "prompt.here/helper"))))

(deftest a-local-that-cannot-be-sent-is-named
  (let [thread (Thread/currentThread)
        f (spark/here (fn [x] [x (some? thread)]))
        problem (spark/problem (fold/through (map f) fold/count))]
    (is (= :skein/cannot-travel (:skein/error problem)))))

(deftest a-form-is-compiled-once
  (let [f (fn [n] (here/make {:aliases {}, :refers {}, :imports []} "(fn [x] (+ x n))" ["n"] [n]))]
    (is (= [3 4] [((f 1) 2) ((f 2) 2)]))
    (is (identical? (class (f 1)) (class (f 2))))))
