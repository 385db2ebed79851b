;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.lab-test
  "multiplex and broadcast."
  (:require
   [clojure.core.async :as a]
   [clojure.core.async.lab :as lab]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [await-port within-deadline]]))

(set! *warn-on-reflection* true)

(deftest a-multiplexed-take-takes-from-any-port
  (let [c (a/chan) d (a/chan) m (lab/multiplex c d)]
    (a/thread (run! #(a/>!! c %) (range 0 100 2)) (a/close! c))
    (a/thread (run! #(a/>!! d %) (range 1 100 2)) (a/close! d))
    (is (= (set (range 100)) (set (repeatedly 100 #(await-port m)))))
    (is (nil? (await-port m)) "all are closed")))

(deftest a-multiplexed-take-waits-and-polls
  (let [c (a/chan) m (lab/multiplex c (doto (a/chan) a/close!)) taker (a/thread (a/<!! m))]
    (within-deadline (a/>!! c 1))
    (is (= 1 (await-port taker)))
    (is (nil? (a/poll! m)))
    (is (nil? (a/offer! c 2)) "nothing has stayed behind")
    (is (nil? (await-port (lab/multiplex))))))

(deftest a-value-for-a-take-that-lost-is-kept
  (within-deadline
    (dotimes [_ 300]
      (let [c (a/chan) other (a/chan)
            m (lab/multiplex c)
            chosen (a/thread (a/alts!! [m other]))
            putter (a/thread (a/>!! c :c))]
        (a/offer! other :other)
        (let [[v] (a/<!! chosen)]
          (when (= :other v) (is (= :c (a/<!! m)))))
        (is (true? (a/<!! putter)))))))

(deftest a-broadcast-reaches-all-and-waits-for-all
  (let [c (a/chan) d (a/chan) e (a/chan 1)
        b (lab/broadcast c d e)
        putter (a/thread (a/>!! b 1))]
    (is (= [1 1] [(await-port d) (await-port e)]))
    (is (nil? (a/poll! putter)))
    (is (= 1 (await-port c)))
    (is (true? (await-port putter)))))

(deftest a-broadcast-passes-over-closed-ports
  (let [c (a/chan 1) closed (doto (a/chan) a/close!)]
    (is (true? (within-deadline (a/>!! (lab/broadcast c closed) 1))))
    (is (= 1 (a/poll! c)))
    (is (false? (within-deadline (a/>!! (lab/broadcast closed closed) 1))))
    (is (thrown? IllegalArgumentException (a/put! (lab/broadcast c) nil)))))

(deftest blocks-use-them-too
  (let [c (a/chan 1) d (a/chan 1)]
    (is (= [:v :v] (await-port (a/go (a/>! (lab/broadcast c d) :v)
                                     (let [m (lab/multiplex c d)] [(a/<! m) (a/<! m)])))))))
