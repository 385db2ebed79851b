;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.timers-test
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.rt.schedule TimersCheck)))

(set! *warn-on-reflection* true)

(deftest the-heap-is-in-order
  ;; Checks H1 and H2.
  (is (nil? (some #(TimersCheck/fault %) (range 10)))))

(deftest timeouts-fire-in-order
  (is (every? #(TimersCheck/fireInOrder %) (range 5))))

(deftest the-thread-wakes-for-the-first-deadline
  ;; Checks H3.
  (is (every? (fn [_] (TimersCheck/wakesForTheFirst)) (range 20))))
