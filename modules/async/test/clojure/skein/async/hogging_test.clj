;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.hogging-test
  "Blocks that keep their threads, because they compute, spin or are pinned, stop no other."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! go]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (java.util.concurrent CountDownLatch TimeUnit)
   (java.util.concurrent.atomic AtomicBoolean)
   (skein.rt.schedule Pinned Scheduler)))

(set! *warn-on-reflection* true)

(defn- spin-until [^AtomicBoolean stop]
  (while (not (.get stop)) (Thread/onSpinWait)))

(defn- yield-until [^AtomicBoolean stop]
  (while (not (.get stop)) (Thread/yield)))

(deftest computing-blocks-do-not-stop-the-others
  (let [stop (AtomicBoolean.)
        hogs (vec (repeatedly (* 2 (Scheduler/workers)) #(go (spin-until stop) :stopped)))
        answers (vec (repeatedly 10 #(go (<! (a/timeout 1)) :answer)))]
    (is (= (repeat 10 :answer) (map await-port answers)) "while all workers compute")
    (.set stop true)
    (is (every? #{:stopped} (map await-port hogs)))))

(deftest blocks-that-wait-for-a-later-block-by-spinning
  (doseq [[how spin] {"spins" spin-until, "yields" yield-until}
          :let [stop (AtomicBoolean.)]]
    (testing how
      (let [spinners (vec (repeatedly (+ 18 (Scheduler/workers)) #(go (spin stop) :stopped)))]
        (try (is (= :set (await-port (go (.set stop true) :set))))
             (finally (.set stop true)))
        (is (every? #{:stopped} (map await-port spinners)))))))

(deftest pinned-blocks-do-not-stop-the-others
  (let [n 40
        all-in (CountDownLatch. n)
        release (CountDownLatch. 1)
        pinned (vec (repeatedly n #(go (Pinned/run (fn [] (.countDown all-in) (.await release))) :released)))]
    (try (is (true? (within-deadline (.await all-in 30 TimeUnit/SECONDS))) "all of them run")
         (is (= :on-time (await-port (go (<! (a/timeout 1)) :on-time))))
         (finally (.countDown release)))
    (is (every? #{:released} (map await-port pinned)))
    (is (= :virtual (await-port (go (<! (a/timeout 200))
                                    (if (.isVirtual (Thread/currentThread)) :virtual :platform))))
        "workers go back to virtual threads")))

(deftest timers-fire-while-workers-and-carriers-spin
  (let [stop (AtomicBoolean.)
        spinners (vec (repeatedly 4 #(Thread/startVirtualThread (fn [] (spin-until stop)))))
        hogs (vec (repeatedly 4 #(go (spin-until stop))))
        fired (promise)]
    (a/take! (a/timeout 20) (fn [_] (deliver fired :fired)))
    (is (= :fired (deref fired 20000 :late)))
    (.set stop true)
    (run! #(.join ^Thread %) spinners)
    (run! await-port hogs)))
