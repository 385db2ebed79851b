;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.robustness-test
  "One mistake in a user's code must not hurt other blocks."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! <!! >! alts! go]]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.fresh-jvm :as fresh-jvm])
  (:import
   (skein.rt.schedule Scheduler)))

(set! *warn-on-reflection* true)

(defn- with-throwing-handler
  "Calls `f` while the default uncaught-exception handler throws."
  [f]
  (let [before (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler
      (reify Thread$UncaughtExceptionHandler
        (uncaughtException [_ _ _] (throw (IllegalStateException. "the handler throws as well")))))
    (try (f) (finally (Thread/setDefaultUncaughtExceptionHandler before)))))

(defn- on-timers-thread
  "Calls `f` on the thread that closes timeouts."
  [f]
  (let [here (Thread/currentThread)
        too-late (volatile! false)]
    (a/take! (a/timeout 5) (fn [_] (if (identical? here (Thread/currentThread)) (vreset! too-late true) (f))))
    (when @too-late (recur f))))

(deftest a-throwing-uncaught-handler-stops-nothing
  (with-throwing-handler
    (fn []
      (dotimes [_ 50] (is (nil? (await-port (go (throw (ex-info "meant" {})))))))
      (on-timers-thread (fn [] (throw (ex-info "in the timers' thread" {}))))
      (<!! (a/timeout 10))
      (is (= 1 (await-port (go (<! (a/timeout 1)) 1)))))))

(deftest an-interrupt-in-a-timers-callback-ends-there
  (on-timers-thread (fn [] (.interrupt (Thread/currentThread))))
  (<!! (a/timeout 10))
  (let [flag (promise)]
    (on-timers-thread (fn [] (deliver flag (.isInterrupted (Thread/currentThread)))))
    (is (false? (deref flag 10000 :late)))))

(deftest transducer-may-use-another-channel-of-an-alts
  (let [n 20000
        log (a/chan 8)
        data (a/chan 8 (map (fn [x] (a/offer! log x) x)))
        taker (a/thread (loop [k 0] (if (< k n) (let [[_ p] (a/alts!! [data log])] (recur (if (identical? p data) (inc k) k))) k)))]
    (a/thread (dotimes [i n] (a/>!! data i)))
    (is (= n (await-port taker)))))

(def ^:private overflowing
  "A program that first overflows the stack by callbacks nested in each other, and then runs a block."
  '(do
     (require '[skein.async :as a])
     (Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _])))
     (defn nest [c] (a/take! c (fn [_] (nest (a/chan)))) (a/put! c 1))
     (nest (a/chan))
     (println (a/<!! (a/go :ran)))))

(deftest blocks-run-after-callbacks-have-overflowed-the-stack
  (is (= ":ran" (fresh-jvm/output [] ["-e" (pr-str overflowing)]))))

(defn- own-port
  "A port of another kind, which passes everything to a channel of ours."
  [c]
  (reify
    impl/ReadPort (take! [_ handler] (impl/take! c handler))
    impl/WritePort (put! [_ v handler] (impl/put! c v handler))
    impl/Channel (close! [_] (impl/close! c)) (closed? [_] (impl/closed? c))))

(deftest alts-that-meets-itself-beside-a-foreign-port-completes-once
  (dotimes [_ 200]
    (let [c (a/chan) foreign (own-port (a/chan)) times (atom 0)
          [v port] (await-port (go (let [r (alts! [c [c 1] foreign])] (swap! times inc) (<! (a/timeout 0)) r)))]
      (is (contains? #{1 true} v))
      (is (identical? c port))
      (is (= 1 @times)))))

(deftest throwing-port-leaves-no-other-operation-queued
  (let [c (a/chan)
        throwing (reify impl/ReadPort (take! [_ _] (throw (ex-info "no port" {}))))]
    (is (= "no port" (await-port (go (try (alts! [c throwing] :priority true)
                                          (catch Exception e (ex-message e)))))))
    (is (nil? (a/offer! c 1)) "nobody waits there")))

(deftest work-left-by-a-worker-that-blocks-is-run-by-another
  (dotimes [_ 20]
    (let [gate (promise)
          parent (go (let [a (go :ran)
                           s (go @gate)]
                       ((fn [] [(<! a) s]))))]
      (is (= :ran (first (await-port parent))))
      (deliver gate 1))))

(deftest every-workers-queue-is-served-when-all-is-done
  (within-deadline (while (not (re-find #"inbox 0" (Scheduler/describe))) (Thread/onSpinWait)))
  (is (not (re-find #"queued [1-9]\d*, vacant" (Scheduler/describe)))))
