;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.scheduler-test
  (:require-macros
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! >! async chan close! go promise-chan put! timeout]]
   [skein.rt.scheduler :as scheduler]))

(defn- spin [ms]
  (let [start (js/performance.now)]
    (while (< (- (js/performance.now) start) ms))))

(defblock timers-fire-beside-blocks-that-never-rest
  (let [a (chan) b (chan) stop? (volatile! false) fired (promise-chan)]
    (go (loop [] (when-not @stop? (spin 0.1) (>! a 1) (<! b) (recur))))
    (go (loop [] (when-not @stop? (<! a) (>! b 1) (recur))))
    (js/setTimeout (fn [] (put! fired true)) 1)
    (is (true? (<! fired)))
    (vreset! stop? true)))

(defblock timers-fire-beside-a-chain-of-promises
  (let [stop? (volatile! false) fired (promise-chan)]
    (go (loop [] (when-not @stop? (spin 0.1) (<! (js/Promise.resolve 1)) (recur))))
    (js/setTimeout (fn [] (put! fired true)) 1)
    (is (true? (<! fired)))
    (vreset! stop? true)))

(defblock blocks-run-in-the-order-of-their-start
  (let [order #js [] done (chan)]
    (dotimes [i 100] (go (.push order i)))
    (go (close! done))
    (<! done)
    (is (= (range 100) (vec order)))))

(defblock blocks-that-are-joined-at-once-keep-the-order
  (let [order #js [] note (fn [x] (.push order x) x)]
    (<! (timeout 0)) ; nothing else is queued
    (note (<! (go (note :a))))
    (note (<! (go (go (note :started-by-b)) (note :b))))
    (note (<! (go (note (<! (go (note :c) :d))))))
    (async (note :async) (<! (go (note :later))) (note :last))
    (note :caller)
    (<! (timeout 0))
    (is (= [:a :a :b :started-by-b :b :c :d :d :async :caller :later :last] (vec order)))))

(defn- nested
  "Starts a block that joins another, and so on. Their results count the blocks."
  [n]
  (go (if (pos? n) (inc (<! (nested (dec n)))) 0)))

(defblock blocks-joined-within-each-other-need-no-stack
  (<! (timeout 0)) ; nothing else is queued
  (is (= 100000 (<! (nested 100000)))))

(defblock flush-does-not-run-the-block-within-which-it-is-called
  (<! (timeout 0)) ; nothing else is queued
  (let [order #js [], own (volatile! nil), again (promise-chan)
        p (go (go (.push order :other)) (close! @own) (scheduler/flush!) (.push order :end))]
    (vreset! own p)
    (is (nil? (<! p)))
    (put! again :again)
    (is (= :again (<! again)))
    (<! (timeout 0))
    (is (= [:other :end] (vec order)))))

(defblock timers-fire-beside-a-block-that-joins-others
  (let [stop? (volatile! false) fired (promise-chan)]
    (go (loop [] (when-not @stop? (<! (go (spin 0.1))) (recur))))
    (js/setTimeout (fn [] (put! fired true)) 1)
    (is (true? (<! fired)))
    (vreset! stop? true)))
