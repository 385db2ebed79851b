;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.label-test
  "Names that a program gives to its channels and other objects. skein.inspect and skein.sim test where they show."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.async.limit :as limit]
   [skein.scope :as scope])
  (:import
   (java.lang.ref WeakReference)
   (skein.rt Labels)))

(set! *warn-on-reflection* true)

(defn- error-of [f]
  (try (f) nil (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))

(deftest a-channel-prints-its-name
  (let [c (a/chan 2)]
    (is (identical? c (a/label! c "orders")))
    (is (re-find #"^#<chan orders 0/2 " (pr-str c)))
    (a/label! c nil)
    (is (re-find #"^#<chan 0/2 " (pr-str c)))))

(deftest whatever-waits-or-is-waited-for-can-have-a-name
  (doseq [x [(a/go 1) (a/timeout 1000) (limit/concurrency-limiter 1) (atom nil) (promise)]]
    (is (= "it" (Labels/of (a/label! x "it")))))
  (scope/scope [s]
    (is (= "it" (Labels/of (a/label! s "it")))))
  (doseq [hub [a/mult a/mix (fn [c] (a/pub c identity))]]
    (let [c (a/chan), h (hub c)]
      (is (identical? h (a/label! h "it")))
      (is (= "it" (Labels/of c)) "a hub is known by its channel"))))

(deftest a-name-keeps-nothing-alive
  (let [gone (WeakReference. (a/label! (a/chan) "gone"))]
    (while (.get gone) (System/gc))
    (is (not-any? #(= "gone" (Labels/of %)) (Labels/labelled)))))

(deftest wrong-arguments-are-refused
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
         (map error-of [#(a/label! 1 "one") #(a/label! nil "none") #(a/label! "orders" (a/chan))
                        #(a/label! (a/chan) :orders) #(a/label! (a/chan) 1)]))))
