;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.abandoned-test
  "Blocks that can never continue are garbage, and finished operations hold nothing."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! <!! >! alts! go]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (java.lang.ref WeakReference)
   (java.util.concurrent CountDownLatch)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(def ^:dynamic *context* nil)

(defn- all-cleared? [refs]
  (loop [tries 8]
    (or (every? (fn [^WeakReference r] (nil? (.get r))) refs)
        (when (pos? tries)
          (System/gc)
          (recur (dec tries))))))

(defn- started
  "Waits until all blocks that count `latch` down are about to park."
  [^CountDownLatch latch]
  (.await latch))

(deftest blocks-parked-for-ever-are-collected
  (let [n 10000
        latch (CountDownLatch. n)
        refs (vec (for [_ (range n)]
                    (let [ballast (byte-array 100000)]
                      (binding [*context* ballast]
                        (go (.countDown latch)
                            (<! (a/chan))
                            (alength ballast)))
                      (WeakReference. ballast))))]
    (started latch)
    (is (all-cleared? refs))))

(deftest a-parked-block-holds-no-thread
  (let [c (a/chan)
        ended (promise)
        block (go (deliver ended (WeakReference. (Thread/currentThread))) (<! c))]
    ;; The worker's thread ends soon, as there is no work. Its end has no event; collecting shows it.
    (is (true? (within-deadline (loop [] (or (all-cleared? [@ended]) (recur))))))
    (a/>!! c :on)
    (is (= :on (await-port block)))))

(deftest losers-of-an-alts-hold-nothing
  (let [stop (a/chan) slow (a/timeout 600000) c (a/chan)
        refs (vec (for [i (range 100)]
                    (let [ballast (byte-array 100000)
                          done (go (let [[v _] (alts! [stop slow c])] [v (alength ballast)]))]
                      (a/>!! c i)
                      (await-port done)
                      (WeakReference. ballast))))]
    (is (= [0 0] [(.takerCount ^Channel stop) (.takerCount ^Channel slow)]))
    (is (all-cleared? refs))
    (is (false? (.isClosed ^Channel slow)) "the timer is still there")
    (a/close! slow)))

(deftest a-block-does-not-hold-unused-values
  (let [gate (a/chan)
        ref (let [ballast (byte-array 100000)]
              (go (let [n (alength ballast)]
                    (<! gate)
                    n))
              (WeakReference. ballast))]
    (while (zero? (.takerCount ^Channel gate)) (Thread/onSpinWait))
    (is (all-cleared? [ref]))
    (a/close! gate)))

(deftest a-block-does-not-hold-the-head-of-a-sequence
  (let [c (a/chan)
        refs (atom [])
        element (fn [_] (let [x (Object.)] (swap! refs conj (WeakReference. x)) x))]
    (go (doseq [x (map element (range 200))] (>! c x)))
    (within-deadline (dotimes [_ 100] (<!! c)))
    (is (all-cleared? (take 64 @refs)) "but for the chunk of 32 in which it stands")
    (a/close! c)))
