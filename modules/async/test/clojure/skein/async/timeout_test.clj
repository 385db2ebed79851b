;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.timeout-test
  "Timeouts never fire early, belong to one caller each, and cost nothing once cancelled.
  Checks H1, H2 and H3."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (java.util.concurrent CountDownLatch TimeUnit)
   (skein.rt Channel)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

(deftest a-timeout-never-closes-early
  (doseq [ms [0 1 7 30]]
    (let [start (System/nanoTime)]
      (is (nil? (await-port (a/timeout ms))))
      (is (<= (* ms 1000000) (- (System/nanoTime) start))))))

(deftest a-negative-delay-closes-at-once
  (is (nil? (await-port (a/timeout -5)))))

(defn- fired-in-order?
  "Returns whether those `timers` that are left after `cancel` have fired in order of deadlines."
  [timers cancelled]
  (let [fired (a/chan (count timers))
        kept (remove (set cancelled) timers)]
    (doseq [t kept] (a/take! t (fn [_] (a/put! fired t))))
    (run! a/close! cancelled)
    (= (sort-by #(.deadlineNanos ^Timeout (.role ^Channel %)) kept)
       (vec (repeatedly (count kept) #(await-port fired))))))

(deftest timeouts-fire-in-order-of-their-deadlines
  (is (fired-in-order? (mapv a/timeout [60 20 40 1]) [])))

(deftest closing-a-timeout-leaves-the-others-open
  (let [one (a/timeout 20) other (a/timeout 20)
        start (System/nanoTime)]
    (a/close! one)
    (is (nil? (await-port one)))
    (is (nil? (a/poll! other)))
    (await-port other)
    (is (<= 20000000 (- (System/nanoTime) start)))))

(deftest five-thousand-takers-on-equal-deadlines
  (let [latch (CountDownLatch. 5000)]
    (dotimes [_ 5000] (a/take! (a/timeout 30) (fn [_] (.countDown latch))))
    (is (= :done (within-deadline (.await latch) :done)))))

(deftest cancelled-timers-leave-at-once
  (let [before (Timeout/outstanding)
        timers (vec (repeatedly 100000 #(a/timeout (+ 600000 (long (rand-int 1000000))))))]
    (is (= (+ before 100000) (Timeout/outstanding)))
    (run! a/close! (shuffle timers))
    (is (= before (Timeout/outstanding)))))

(deftest a-million-timers-are-possible
  (let [before (Timeout/outstanding)
        timers (vec (repeatedly 1000000 #(a/timeout (+ 600000 (long (rand-int 1000000))))))]
    (is (nil? (await-port (a/timeout 5))) "an earlier one still fires")
    (run! a/close! timers)
    (is (= before (Timeout/outstanding)))))

(deftest order-is-kept-when-timers-are-cancelled-from-the-middle
  (let [timers (mapv #(a/timeout (+ 50 (long %))) (shuffle (range 200)))]
    (is (fired-in-order? timers (take-nth 3 timers)))))

(deftest a-deadline-that-passes-while-it-is-set-still-fires
  ;; No other timer may be outstanding, so the deadline of this test is a latch's.
  (let [latch (CountDownLatch. 4)]
    (dotimes [_ 4]
      (.start (Thread/ofPlatform)
              (fn [] (dotimes [_ 5000] (a/<!! (a/timeout 0))) (.countDown latch))))
    (is (.await latch 20 TimeUnit/SECONDS))))
