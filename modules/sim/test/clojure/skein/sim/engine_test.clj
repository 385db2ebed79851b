;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.engine-test
  "The engine of simulations: one task runs at a time, each is in one state, and time moves when all wait."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! chan go timeout]]
   [skein.deadline :refer [await-port]]
   [skein.sim :as sim]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent LinkedBlockingQueue)
   (java.util.concurrent.atomic AtomicInteger)
   (skein.sim.rt TasksCheck)))

(set! *warn-on-reflection* true)

(defn- work
  "Blocks and threads that hand values over, wait for time, and call `step` in between."
  [step]
  (let [c (chan), q (LinkedBlockingQueue.)
        blocks (vec (for [i (range 4)]
                      (go (dotimes [_ 5] (step) (if (even? (long i)) (>! c i) (<! c)) (step) (<! (timeout 1)) (step)))))
        threads (vec (for [i (range 4)]
                       (virtual/future (dotimes [_ 5] (step) (if (even? (long i)) (.put q i) (.take q)) (step) (Thread/yield)))))]
    (run! a/<!! blocks)
    (run! deref threads)
    :done))

(deftest one-task-runs-at-a-time
  ;; Checks X1.
  (dotimes [seed 10]
    (let [inside (AtomicInteger.), worst (AtomicInteger.)
          step (fn []
                 (.accumulateAndGet worst (.incrementAndGet inside) (fn [x y] (max x y)))
                 (dotimes [_ 200] (Thread/onSpinWait))
                 (.decrementAndGet inside))]
      (is (= [:done 1] [(:value (sim/run {:seed seed} (work step))) (.get worst)])))))

(deftest a-task-is-in-one-state
  ;; Checks X2.
  (is (nil? (some #(TasksCheck/fault %) (range 1000))))
  (dotimes [seed 10]
    (let [faults (atom [])]
      (is (= :done (:value (sim/run {:seed seed}
                                    (sim/always (fn [] (when-some [fault (TasksCheck/faultOfStates)]
                                                         (swap! faults conj fault))
                                                  true)
                                                "states")
                                    (work (fn []))))))
      (is (= [] @faults)))))

(deftest time-moves-when-all-wait
  ;; Checks X3.
  (let [times (fn [options]
                (:value (sim/run options
                                 (let [early (timeout 1)
                                       blocks (vec (for [_ (range 5)]
                                                     (go (dotimes [_ 20] (<! (go 1))) [(sim/now-ms) (a/poll! early)])))]
                                   [(mapv a/<!! blocks) (do (a/<!! early) (sim/now-ms))]))))]
    (dotimes [seed 20]
      (is (= [(repeat 5 [0 nil]) 1] (times {:seed seed}))))
    (is (some (fn [seed] (pos? (long (ffirst (first (times {:seed seed :time :slow})))))) (range 50)) "steps may take time")))

(deftest a-choice-of-one-is-not-recorded
  ;; Checks X4: the token lists what was chosen.
  (dotimes [seed 10]
    (let [token (fn [more] (:token (sim/run {:seed seed} (let [c (chan 1)] (more) (go (>! c 1)) (go (>! c 2)) [(a/<!! (go 1)) (sim/pick [1 2 3])]))))]
      (is (= (token (fn [])) (token (fn [] (dotimes [_ 10] (sim/pick [:one])))))))))

(deftest no-task-runs-after-a-run
  ;; Checks X5.
  (dotimes [seed 10]
    (let [ran (atom 0), c (chan 1), q (LinkedBlockingQueue.)]
      (sim/run {:seed seed :leaks :none}
               (dotimes [_ 3] (go (<! c) (swap! ran inc)))
               (virtual/future (.take q) (swap! ran inc))
               nil)
      (.put q 1)
      (a/close! c)
      (is (= (range 20) (map await-port (mapv (fn [i] (go i)) (range 20)))))
      (is (= 0 @ran)))))
