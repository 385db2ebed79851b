;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.limit-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.limit :as limit]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.one-thread :refer [simulated]])
  (:import
   (java.util.concurrent CountDownLatch)
   (java.util.concurrent.atomic AtomicLong)))

(set! *warn-on-reflection* true)

(defn- error-of [f]
  (try (f) (catch Exception e (:skein/error (ex-data e)))))

;;;; A clock that jumps to the next timer, so that rates are exact to the nanosecond

(defn- simulate
  "Calls `start`, which returns a port, with blocks and timers on this thread and a clock
  that begins at 0. Returns [value nanoseconds]."
  [start]
  (let [port (volatile! nil), value (volatile! nil)
        nanos (simulated 1 #(vreset! port (start)) #(some? (vreset! value (a/poll! @port))))]
    [@value nanos]))

(deftest rates-are-exact
  (doseq [rate [40 140 150 950 1500 2.5]]
    (testing rate
      (let [n (long (* 10 (double rate)))
            [_ nanos] (simulate (fn [] (let [limiter (limit/rate-limiter {:rate rate :burst 1})]
                                         (a/go (dotimes [_ (inc n)] (a/<! limiter)) :done))))]
        (is (< 9999999900 (long nanos) 10000000001) "so many intervals after the first permit")))))

(deftest new-rate-limiter-has-its-first-permit
  (is (= [true nil]
         (first (simulate (fn [] (let [limiter (limit/rate-limiter 1)
                                       polled [(a/poll! limiter) (a/poll! limiter)]]
                                   (a/go polled))))))))

(deftest work-between-permits-does-not-slow-the-rate
  (let [[_ nanos] (simulate (fn [] (let [limiter (limit/rate-limiter 100)]
                                     (a/go (dotimes [_ 101] (a/<! limiter) (a/<! (a/timeout 9))) :done))))]
    (is (<= 1000000000 (long nanos) 1010000000))))

(deftest a-late-taker-does-not-lower-the-rate
  (let [[_ nanos] (simulate (fn [] (let [limiter (limit/rate-limiter 1000)]
                                     (a/go (dotimes [i 1001]
                                             (a/<! limiter)
                                             (when (zero? (rem (long i) 10)) (a/<! (a/timeout 5))))
                                           :done))))]
    (is (<= 1000000000 (long nanos) 1006000000))))

(deftest unused-permits-gather-into-a-burst
  (doseq [burst [1 2 5]]
    (let [[ready] (simulate (fn [] (let [limiter (limit/rate-limiter {:rate 10 :burst burst})]
                                     (a/go (a/<! limiter)
                                           (a/<! (a/timeout 60000))
                                           (loop [n 0]
                                             (let [[v _] (a/alts! [limiter (a/timeout 1)] :priority true)]
                                               (if v (recur (inc n)) n)))))))]
      (is (<= (long burst) (long ready) (inc (long burst)))))))

(deftest permits-are-served-in-order
  (let [limiter (limit/rate-limiter 20000)
        served (atom [])
        done (mapv (fn [i]
                     (let [p (a/promise-chan)]
                       (a/take! limiter (fn [_] (swap! served conj i) (a/put! p true)))
                       p))
                   (range 100))]
    (run! await-port done)
    (is (= (range 100) @served))))

(deftest any-number-may-wait
  (let [limiter (limit/concurrency-limiter 1)
        permit (a/<!! limiter)
        waiting (mapv (fn [i] (a/go (limit/with-permit limiter i))) (range 10000))]
    (within-deadline (while (< (long (:waiting (limit/status limiter))) 10000) (Thread/onSpinWait)))
    (is (= {:name nil :n 1 :in-use 1 :waiting 10000} (limit/status limiter)))
    (limit/release! permit)
    (is (= (range 10000) (map await-port waiting)))
    (is (= {:name nil :n 1 :in-use 0 :waiting 0} (limit/status limiter)))))

(deftest the-slowest-and-the-fastest-rate
  (is (= [true nil] (within-deadline (let [limiter (limit/rate-limiter {:rate 1e-9 :burst 2147483647})]
                                       [(a/<!! limiter) (limit/release! true)]))))
  (is (every? true? (within-deadline (let [limiter (limit/rate-limiter 1e300)]
                                       (mapv (fn [_] (a/<!! limiter)) (range 1000)))))))

(deftest only-a-limiter-has-a-status
  (is (= (repeat 4 :skein/bad-argument)
         (mapv (fn [x] (error-of #(limit/status x))) [nil 1 (a/chan) (a/go 1)]))))

;;;; Concurrency

(deftest a-limiter-may-have-any-number-of-permits
  (let [limiter (limit/concurrency-limiter Integer/MAX_VALUE)
        permits (mapv (fn [_] (a/<!! limiter)) (range 3))]
    (is (= 3 (:in-use (limit/status limiter))))
    (is (apply distinct? permits))
    (run! limit/release! permits)
    (is (= 0 (:in-use (limit/status limiter))))))

(deftest no-more-than-n-at-once
  (let [limiter (limit/concurrency-limiter {:n 3 :name "three"})
        inside (AtomicLong.)
        most (AtomicLong.)
        work (fn [] (limit/with-permit limiter
                      (let [n (.incrementAndGet inside)]
                        (.accumulateAndGet most n (reify java.util.function.LongBinaryOperator
                                                    (applyAsLong [_ x y] (max x y))))
                        (Thread/yield)
                        (.decrementAndGet inside))))
        blocks (mapv (fn [_] (a/go (dotimes [_ 50] (work)) :done)) (range 10))
        threads (mapv (fn [_] (a/thread (dotimes [_ 50] (work)) :done)) (range 4))]
    (is (every? #{:done} (map await-port (into blocks threads))))
    (is (<= 1 (.get most) 3))
    (is (= {:name "three" :n 3 :in-use 0 :waiting 0} (limit/status limiter)))))

(deftest all-permits-can-be-in-use-together
  (let [limiter (limit/concurrency-limiter 5)
        together (CountDownLatch. 5)]
    (is (= (repeat 5 :met)
           (map await-port (mapv (fn [_] (a/go (limit/with-permit limiter
                                                 (.countDown together)
                                                 (.await together)
                                                 :met)))
                                 (range 5)))))))

(deftest a-permit-comes-back-from-a-body-that-throws
  (let [limiter (limit/concurrency-limiter 1)
        boom (ex-info "boom" {})]
    (is (identical? boom (try (limit/with-permit limiter (throw boom)) (catch Throwable t t))))
    (is (identical? boom (within-deadline
                           (try (a/<?? (a/async (limit/with-permit limiter (a/<! (a/timeout 1)) (throw boom))))
                                (catch Throwable t t)))))
    (is (= 0 (:in-use (limit/status limiter))))))

(deftest an-interrupted-wait-takes-no-permit
  (let [limiter (limit/concurrency-limiter 1)
        permit (a/<!! limiter)
        seen (promise)
        t (Thread/startVirtualThread
            (fn [] (deliver seen (try (limit/with-permit limiter :passed) (catch InterruptedException _ :interrupted)))))]
    (within-deadline (while (zero? (long (:waiting (limit/status limiter)))) (Thread/onSpinWait)))
    (.interrupt t)
    (is (= :interrupted (deref seen 30000 :late)))
    (limit/release! permit)
    (is (= {:name nil :n 1 :in-use 0 :waiting 0} (limit/status limiter)))))

(deftest a-permit-is-released-once
  (let [limiter (limit/concurrency-limiter 1)
        permit (a/<!! limiter)]
    (limit/release! permit)
    (is (= :skein/released (error-of #(limit/release! permit))))
    (testing "what is no permit"
      (is (= :skein/bad-argument (error-of #(limit/release! nil)) (error-of #(limit/release! limiter)))))
    (is (some? (a/poll! limiter)))
    (is (nil? (a/poll! limiter)) "no permit was made up")
    (is (nil? (limit/release! true)) "the permit of a rate limiter")))

(deftest a-closed-limiter-gives-no-permits
  (let [limiter (limit/concurrency-limiter 1)
        _ (a/<!! limiter)
        waiting (a/go (try (limit/with-permit limiter :passed) (catch Exception e (:skein/error (ex-data e)))))]
    (within-deadline (while (zero? (long (:waiting (limit/status limiter)))) (Thread/onSpinWait)))
    (a/close! limiter)
    (is (= [:skein/limiter-closed :skein/limiter-closed]
           [(await-port waiting) (error-of #(limit/with-permit limiter 1))]))))

(deftest non-limiters-are-refused
  (is (= [:skein/bad-argument "limiter of with-permit must be a channel to take from, but is 5. [:skein/bad-argument]"]
         (try (limit/with-permit 5 1) (catch clojure.lang.ExceptionInfo e [(:skein/error (ex-data e)) (ex-message e)])))))

(deftest a-limiter-without-permits-is-refused
  (is (= (repeat 12 :skein/bad-argument)
         (mapv error-of [#(limit/rate-limiter 1e-300) #(limit/rate-limiter ##Inf) #(limit/rate-limiter ##NaN)
                         #(limit/rate-limiter {:rate 1 :burst ##Inf}) #(limit/rate-limiter {:rate 1 :burst 1e300})
                         #(limit/concurrency-limiter 2147483648)
                         #(limit/rate-limiter 0) #(limit/rate-limiter -1) #(limit/rate-limiter nil)
                         #(limit/rate-limiter {:rate 1 :burst 0}) #(limit/concurrency-limiter 0)
                         #(limit/concurrency-limiter 1.5)])))
  (is (= [:skein/bad-argument :skein/bad-argument]
         (mapv error-of [#(limit/rate-limiter {:rate 1 :other 1}) #(limit/concurrency-limiter {:n 1 :other 1})]))))

;;;; Waiting takes

(deftest a-full-queue-refuses
  (let [limiter (limit/concurrency-limiter {:n 1 :queue 1 :name "one"})
        permit (a/<!! limiter), work (fn [] (a/go (try (limit/with-permit limiter :done) (catch Exception e (:skein/error (ex-data e))))))
        waiting (work)]
    (within-deadline (while (zero? (long (:waiting (limit/status limiter)))) (Thread/onSpinWait)))
    (is (= :skein/overloaded (await-port (work)) (error-of #(limit/with-permit limiter 1))))
    (is (= [nil nil] [(a/<!! limiter) (a/poll! limiter)]))
    (limit/release! permit)
    (is (= :done (await-port waiting)))
    (is (= {:name "one" :n 1 :in-use 0 :waiting 0} (limit/status limiter)))
    (a/close! limiter)
    (is (= 1 (limit/with-permit limiter 1)) "the permit that is still there")
    (is (= :skein/limiter-closed (error-of #(limit/with-permit limiter 1))))))
