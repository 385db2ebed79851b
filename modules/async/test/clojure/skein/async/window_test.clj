;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.window-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.async :as a]
   [skein.async.window :as window]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.impl.protocols :as impl]
   [skein.uncaught :refer [await-unread]])
  (:import
   (java.lang.ref WeakReference)
   (java.util.concurrent CountDownLatch CyclicBarrier)
   (java.util.concurrent.atomic AtomicInteger)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(defn- channel-of [xs]
  (let [c (a/chan)]
    (a/go (loop [[x & more] xs] (when (and x (a/>! c x)) (recur more))) (a/close! c))
    c))

(defn- all-of [c]
  (loop [xs []] (if-some [x (a/<!! c)] (recur (conj xs x)) xs)))

(deftest results-come-in-order-and-the-channel-closes
  (let [to (a/chan)
        port (window/wmap 3 (fn [x] (Thread/yield) (* 2 (long x))) (channel-of (range 1 500)) to)]
    (is (= (map #(* 2 %) (range 1 500)) (within-deadline (all-of to))))
    (is (= 499 (await-port port)))))

(deftest unordered-results-come-as-calls-end
  (let [to (a/chan) gate (promise)]
    (window/wmap {:n 2 :ordered? false} (fn [x] (when (= 1 x) @gate) x) (channel-of [1 2 3 4]) to)
    (is (= [2 3 4] (within-deadline [(a/<!! to) (a/<!! to) (a/<!! to)])))
    (deliver gate true)
    (is (= [1 nil] (within-deadline [(a/<!! to) (a/<!! to)])))))

(deftest at-most-n-calls-run-at-a-time
  (let [barrier (CyclicBarrier. 4) to (a/chan) now (AtomicInteger.) worst (AtomicInteger.)]
    (window/wmap 4 (fn [x]
                     (.accumulateAndGet worst (.incrementAndGet now) (fn [a b] (max a b)))
                     (.await barrier)
                     (.decrementAndGet now)
                     x)
                 (channel-of (range 1 41)) to)
    (is (= (range 1 41) (within-deadline (all-of to))))
    (is (<= (.get worst) 4))))

(deftest the-first-exception-ends-the-window
  (let [boom (ex-info "boom" {}) begun (CountDownLatch. 2) interrupted (AtomicInteger.) to (a/chan)
        port (window/wmap 2 (fn [x]
                              (.countDown begun)
                              (if (= 2 x)
                                (do (.await begun) (throw boom))
                                (try (Thread/sleep 60000) (finally (.incrementAndGet interrupted)))))
                          (channel-of (range 1 100)) to)]
    (is (identical? boom (within-deadline (caught (a/<?? port)))))
    (is (= 1 (.get interrupted)))
    (is (identical? boom (within-deadline (caught (a/<?? to)))) "and `to` is closed with it")))

(deftest an-exception-taken-from-the-target-is-not-reported
  (let [boom (ex-info "boom" {}) later (ex-info "later" {})
        drop-port (fn []
                    (let [to (a/chan)
                          port (WeakReference. (window/wmap 1 (fn [_] (throw boom)) (channel-of [1]) to))]
                      (is (identical? boom (within-deadline (caught (a/<?? to)))))
                      (within-deadline (while (.get port) (System/gc)))
                      (a/async (throw later))
                      nil))]
    (is (identical? later (second (await-unread #{boom later} drop-port))))))

(deftest a-cause-goes-from-channel-to-channel
  (let [boom (ex-info "boom" {}) ^Channel from (a/chan 2) to (a/chan 2)]
    (a/>!! from 1)
    (.close from ^Throwable boom)
    (let [port (window/wmap 2 inc from to)]
      (is (= 2 (within-deadline (a/<?? to))) "after the results")
      (is (identical? boom (within-deadline (caught (a/<?? port)))))
      (is (identical? boom (within-deadline (caught (a/<?? to))))))))

(deftest exceptions-can-be-collected
  (let [boom (ex-info "boom" {}) to (a/chan)]
    (window/wmap {:n 2 :on-error :collect} (fn [x] (if (= 2 x) (throw boom) x)) (channel-of [1 2 3]) to)
    (is (= [{:value 1} {:error boom} {:value 3}] (within-deadline (all-of to))))))

(deftest it-stops-taking-when-the-target-is-closed
  (let [^Channel from (a/chan) to (a/chan)
        port (window/wmap 2 identity from to)]
    (a/close! to)
    (within-deadline (a/>!! from 1))
    (is (= 0 (await-port port)))
    (is (= 0 (.takerCount from)) "nobody waits for a value")))

(deftest nil-is-left-out-and-the-target-may-stay-open
  (let [to (a/chan 5)]
    (is (= 1 (await-port (window/wmap {:n 2 :close? false} (fn [x] (when (= 2 x) x)) (channel-of [1 2 3]) to))))
    (is (true? (a/offer! to :more)))))

(deftest a-target-that-can-not-be-closed-ends-the-port
  (let [boom (ex-info "boom" {}) c (a/chan 5)
        to (reify
             impl/WritePort (put! [_ v handler] (impl/put! c v handler))
             impl/Channel (close! [_] (throw boom)) (closed? [_] (impl/closed? c)))
        port (window/wmap 2 inc (channel-of [1 2 3]) to)]
    (is (identical? boom (within-deadline (caught (a/<?? port)))))
    (is (= [2 3 4] (within-deadline [(a/<!! c) (a/<!! c) (a/<!! c)])))))

(deftest bad-input-is-refused-at-the-call
  (let [c (a/chan)]
    (are [error form] (= error (:skein/error (ex-data (caught form))))
      :skein/bad-number (window/wmap 0 inc c c)
      :skein/not-a-function (window/wmap 1 nil c c)
      :skein/not-a-port (window/wmap 1 inc nil c)
      :skein/not-a-port (window/wmap 1 inc c [])
      :skein/bad-option (window/wmap {:n 1 :ordered 1} inc c c)
      :skein/bad-option (window/wmap {:n 1 :on-error :skip} inc c c)
      :skein/bad-number (window/wmap :collect inc c c))))
