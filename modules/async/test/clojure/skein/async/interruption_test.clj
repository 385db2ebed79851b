;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interruption-test
  "An interrupted thread withdraws its operation: nothing is lost, nothing comes twice."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]])
  (:import
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defn- await-true [f]
  (while (not (f)) (Thread/onSpinWait)))

(defn- interrupted-in
  "Starts `f` on a thread, interrupts it once `waiting?`, and returns what `f` gave:
  :interrupted or its value."
  [f waiting?]
  (within-deadline
    (let [result (promise)
          t (Thread/startVirtualThread
              (fn [] (deliver result (try (f) (catch InterruptedException _ :interrupted)))))]
      (await-true waiting?)
      (.interrupt t)
      @result)))

(deftest interrupted-take-leaves-nothing-behind
  (let [^Channel c (a/chan)]
    (is (= :interrupted (interrupted-in #(a/<!! c) #(= 1 (.takerCount c)))))
    (is (= 0 (.takerCount c)))
    (is (nil? (a/offer! c 1)) "a later put finds no taker")))

(deftest interrupted-put-is-not-delivered
  (let [^Channel c (a/chan)]
    (is (= :interrupted (interrupted-in #(a/>!! c 1) #(= 1 (.putterCount c)))))
    (is (= 0 (.putterCount c)))
    (is (nil? (a/poll! c)))))

(deftest interrupted-alts-leaves-all-its-channels
  (let [^Channel c (a/chan) ^Channel d (a/chan)]
    (is (= :interrupted (interrupted-in #(a/alts!! [c [d 1]]) #(= 1 (.putterCount d)))))
    (is (= [0 0] [(.takerCount c) (.putterCount d)]))))

(deftest withdrawn-takes-do-not-count-towards-the-limit
  (let [^Channel c (a/chan)]
    (dotimes [_ 1030]
      (interrupted-in #(a/<!! c) #(= 1 (.takerCount c))))
    (is (nil? (a/take! c identity)))))
