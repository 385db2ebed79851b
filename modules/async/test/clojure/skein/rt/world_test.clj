;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.world-test
  "A simulation takes over from workers and timers: one thread, one order, its own clock."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! alts! go go-loop]]
   [skein.one-thread :refer [simulated]])
  (:import
   (java.util.concurrent LinkedBlockingQueue)))

(set! *warn-on-reflection* true)

(defn- race
  "Two blocks put on one channel; the order of what was taken, for `seed`."
  [seed]
  (let [c (a/chan) taken (atom [])]
    (simulated seed (fn []
                      (doseq [who [:a :b]] (go (dotimes [i 5] (>! c [who i]))))
                      (go (dotimes [_ 10] (swap! taken conj (<! c))))))
    @taken))

(deftest a-seed-fixes-the-order-of-events
  (is (= (race 7) (race 7)))
  (is (< 1 (count (set (map race (range 20))))) "other seeds, other orders")
  (doseq [order (map race (range 20)) who [:a :b]]
    (is (= (range 5) (map second (filter #(= who (first %)) order))))))

(deftest a-day-passes-at-once
  (let [ticks (atom 0) thread (Thread/currentThread) threads (atom #{})
        passed (simulated 1 #(go-loop [n 0]
                               (when (< n 1440)
                                 (<! (a/timeout 60000))
                                 (swap! threads conj (Thread/currentThread))
                                 (swap! ticks inc)
                                 (recur (inc n)))))]
    (is (= 1440 @ticks))
    (is (= (* 24 3600 1000000000) passed))
    (is (= #{thread} @threads))))

(deftest timeouts-fire-in-the-order-of-their-deadlines
  (let [fired (atom [])]
    (simulated 3 (fn []
                   (doseq [ms [30 10 20]] (go (<! (a/timeout ms)) (swap! fired conj ms)))
                   (go (let [slow (a/timeout 50) [_ port] (alts! [slow (a/chan)])]
                         (swap! fired conj (if (identical? port slow) 50 :other))))))
    (is (= [10 20 30 50] @fired))))

(deftest the-workers-are-back-afterwards
  (simulated 1 #(go 1))
  (let [answers (LinkedBlockingQueue.)]
    (a/take! (go (Thread/currentThread)) #(.add answers %))
    (is (not= (Thread/currentThread) (.poll answers 30 java.util.concurrent.TimeUnit/SECONDS)))))
