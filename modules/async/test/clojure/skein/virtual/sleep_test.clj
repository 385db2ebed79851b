;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.sleep-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [go]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.one-thread :refer [simulated]]
   [skein.scope :as scope]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CancellationException)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

(deftest a-thread-and-a-block-sleep
  (let [start (System/nanoTime)]
    (is (nil? (v/sleep 5)))
    (is (= :slept (await-port (go (v/sleep 5) :slept))))
    (is (<= 10000000 (- (System/nanoTime) start)))))

(deftest sleep-refuses-bad-times
  (doseq [x [nil :ms "1" ##NaN]]
    (is (= :skein/bad-argument (try (v/sleep x) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e))))))))

(deftest a-cancelled-sleep-leaves-no-timer
  (let [before (Timeout/outstanding)]
    (is (= :cancelled
           (within-deadline
             (scope/scope [s]
               (let [begun (a/chan)
                     b (scope/go s (a/close! begun)
                                 (try (v/sleep 600000) (catch CancellationException _ :cancelled)))]
                 (a/<!! begun)
                 (scope/cancel! s)
                 (a/<!! b))))))
    (is (= before (Timeout/outstanding)))))

(deftest a-block-sleeps-on-the-clock-of-its-simulation
  (is (= 3600000000000 (simulated 1 #(go (v/sleep 3600000))))))
