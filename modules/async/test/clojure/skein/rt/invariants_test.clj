;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.invariants-test
  "The named invariants of the runtime that no other test checks."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! >! go]]
   [skein.async.spi :as spi]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.scope :as s])
  (:import
   (java.util.concurrent CancellationException CountDownLatch)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(deftest at-most-1024-operations-wait
  ;; Checks I6.
  (let [c (a/chan)]
    (dotimes [i 1024] (a/put! c i))
    (is (thrown? AssertionError (a/put! c 1024)))
    (is (= (range 1024) (repeatedly 1024 #(a/poll! c))) "and the refused one is not there"))
  (let [c (a/chan)]
    (dotimes [_ 1024] (a/take! c identity))
    (is (thrown? AssertionError (a/take! c identity)))
    (is (nil? (impl/take! c (spi/fn-handler identity false))) "a handler that does not wait is not refused")
    (testing "a refused block in a scope goes on, and can be cancelled"
      (is (thrown? CancellationException
            (within-deadline
              (s/scope [s]
                (let [block (s/go s (try (<! c) (catch AssertionError _ (<! (a/chan)))))]
                  (s/cancel! s)
                  (a/<?? block)))))))))

(deftest a-frame-has-one-holder
  ;; Checks F1 and F2, and W3: a block that many threads wake is never on two of them.
  (let [n 20000 c (a/chan) inside (AtomicInteger.) worst (AtomicInteger.)
        block (go (loop [i 0]
                    (when (< i n)
                      (.accumulateAndGet worst (.incrementAndGet inside) (fn [x y] (max x y)))
                      (.decrementAndGet inside)
                      (<! c)
                      (recur (inc i))))
                  :done)]
    (dotimes [_ 4] (a/thread (dotimes [i (quot n 4)] (a/>!! c i))))
    (is (= :done (await-port block)))
    (is (= 1 (.get worst)))))

(def ^:dynamic *mine* nil)

(deftest a-block-runs-with-its-own-bindings
  ;; Checks F3: blocks with different bindings share the workers.
  (let [blocks (vec (for [i (range 200)]
                      (binding [*mine* i]
                        (go (loop [n 0]
                              (if (and (= i *mine*) (< n 50))
                                (do (<! (a/timeout 0)) (recur (inc n)))
                                [n *mine*]))))))]
    (is (= (map #(vector 50 %) (range 200)) (map await-port blocks)))
    (is (nil? *mine*))))

(deftest binding-in-an-argument-ends-before-the-park
  (dotimes [i 500]
    (let [c (if (even? i) (a/chan 2) (a/chan))]
      (when (odd? i) (a/take! c identity) (a/io-thread (a/<!! c)))
      (is (nil? (await-port (go (>! c (binding [*mine* (if (>! c 1) :inside :closed)] *mine*))
                                *mine*)))))))

(deftest the-next-slot-causes-no-starvation
  ;; Checks Q3: two blocks hand over to each other for ever, on one worker; others still run.
  (let [there (a/chan) back (a/chan) stop (CountDownLatch. 1)
        playing (go (loop [] (when (pos? (.getCount stop)) (>! there 1) (<! back) (recur))) (a/close! there))]
    (go (loop [] (when (<! there) (>! back 1) (recur))))
    (is (= (range 100) (map await-port (mapv (fn [i] (go i)) (range 100)))))
    (.countDown stop)
    (await-port playing)))

(deftest work-submitted-as-a-worker-leaves-is-run
  ;; Checks W1 and W2: single blocks, each submitted about when the workers give up looking.
  (within-deadline
    (dotimes [i 3000]
      (let [until (+ (System/nanoTime) (* 100 (rem i 600)))]
        (while (< (System/nanoTime) until) (Thread/onSpinWait)))
      (is (= i (a/<!! (go i)))))))

(deftest an-interrupt-stays-with-its-block
  (let [blocks (vec (for [i (range 100)]
                      (go (if (even? i)
                            (.interrupt (Thread/currentThread))
                            (.isInterrupted (Thread/currentThread))))))]
    (is (every? false? (keep await-port blocks)))))
