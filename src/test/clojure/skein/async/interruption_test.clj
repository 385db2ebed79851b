;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interruption-test
  "An interrupted thread withdraws its operation: nothing is lost, nothing comes twice."
  (:require [clojure.test :refer [deftest is]]
            [skein.async :as a]
            [skein.deadline :refer [await-port within-deadline]])
  (:import [java.util Random]
           [java.util.concurrent CountDownLatch]
           [java.util.concurrent.atomic AtomicLong]
           [skein.rt Channel]))

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

(defn- interrupter
  "Interrupts random threads until `done` is down."
  [^CountDownLatch done threads seed]
  (let [random (Random. seed)]
    (Thread/startVirtualThread
     (fn []
       (while (pos? (.getCount done))
         (.interrupt ^Thread (nth threads (.nextInt random (count threads))))
         (dotimes [_ 200] (Thread/onSpinWait)))))))

(defn- producer
  "Puts 0, 1, 2 ... n times; a put that was interrupted is tried again. Adds what was accepted."
  [ports n ^AtomicLong accepted ^CountDownLatch done]
  (.unstarted (Thread/ofPlatform)
              (fn []
                (let [random (Random. n)]
                  (loop [i 1]
                    (when (<= i (long n))
                      (if (try
                            (let [port (nth ports (.nextInt random (count ports)))]
                              (if (even? i)
                                (a/>!! port i)
                                (nth (a/alts!! (mapv #(vector % i) ports)) 0)))
                            (catch InterruptedException _ nil))
                        (do (.addAndGet accepted i) (recur (inc i)))
                        (recur i))))
                  (.countDown done)))))

(defn- consumer
  "Takes until all channels are closed and empty; adds what it got."
  [ports ^AtomicLong received ^CountDownLatch done]
  (.unstarted (Thread/ofPlatform)
              (fn []
                (loop [open (vec ports)]
                  (when (seq open)
                    (let [[v port] (try (a/alts!! open) (catch InterruptedException _ [:again nil]))]
                      (cond
                        (= :again v) (recur open)
                        (nil? v) (recur (filterv #(not (identical? port %)) open))
                        :else (do (.addAndGet received (long v)) (recur open))))))
                (.countDown done))))

(deftest what-was-accepted-is-received-once
  (let [n 20000
        ports [(a/chan) (a/chan 1) (a/chan 3)]
        accepted (AtomicLong.) received (AtomicLong.)
        producers-done (CountDownLatch. 4) consumers-done (CountDownLatch. 4)
        producers (vec (repeatedly 4 #(producer ports n accepted producers-done)))
        consumers (vec (repeatedly 4 #(consumer ports received consumers-done)))]
    (doseq [^Thread t (concat consumers producers)] (.start t))
    (interrupter consumers-done (into producers consumers) 42)
    (within-deadline
     (.await producers-done)
     (run! a/close! ports)
     (.await consumers-done))
    (is (= (* 4 (quot (* n (inc n)) 2)) (.get accepted)))
    (is (= (.get accepted) (.get received)))))
