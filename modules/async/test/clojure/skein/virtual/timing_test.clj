;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.timing-test
  "Timeouts and retries."
  (:require
   [clojure.main :as main]
   [clojure.test :refer [are deftest is]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.one-thread :refer [with-prompt-timers]]
   [skein.scope :as s]
   [skein.virtual :as v])
  (:import
   (java.time Duration)
   (java.util.concurrent CountDownLatch TimeoutException)
   (java.util.concurrent.atomic AtomicInteger)
   (skein.rt Channel)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(defmacro ^:private refusal [& body]
  `(:skein/error (ex-data (within-deadline (caught ~@body)))))

;;;; with-timeout

(deftest a-body-that-ends-in-time-returns-its-value
  (let [before (Timeout/outstanding)]
    (is (= 1 (v/with-timeout 60000 1)))
    (is (nil? (v/with-timeout 60000 nil)))
    (is (= "boom" (ex-message (caught (v/with-timeout 60000 (throw (ex-info "boom" {})))))))
    (is (<= (Timeout/outstanding) before) "and leaves no timer")
    (is (false? (Thread/interrupted)) "and no interrupt")))

(deftest a-body-that-is-late-is-interrupted
  (are [body] (= :skein/timeout (refusal (v/with-timeout 1 body)))
    (Thread/sleep 60000)
    @(promise)
    (a/<!! (a/chan))
    (v/with-timeout 60000 (Thread/sleep 60000)))
  (is (= :skein/timeout (refusal (v/with-timeout 60000 (v/with-timeout 1 (Thread/sleep 60000))))))
  (is (= :value (within-deadline (v/with-timeout 1 (try (Thread/sleep 60000) (catch InterruptedException _ :value)))))
      "a body that catches the interrupt returns its value"))

(deftest a-late-body-may-have-a-default
  (is (= [:late nil] (within-deadline [(v/with-timeout {:timeout-ms 1 :default :late} (Thread/sleep 60000))
                                       (v/with-timeout {:timeout-ms 1 :default nil} (Thread/sleep 60000))])))
  (is (= :in-time (v/with-timeout {:timeout-ms 60000 :default :late} :in-time)))
  (is (= "boom" (ex-message (caught (v/with-timeout {:timeout-ms 60000 :default :late} (throw (ex-info "boom" {})))))))
  (is (= :late (await-port (a/go (v/with-timeout {:timeout-ms 1 :default :late} (a/<! (a/chan))))))))

(deftest the-interrupt-is-suppressed-in-the-timeout
  (let [late (within-deadline (caught (v/with-timeout 1 (Thread/sleep 60000))))]
    (is (instance? TimeoutException late))
    (is (= {:skein/error :skein/timeout :what :with-timeout :ms 1} (ex-data late)))
    (is (= "The body took longer than 1 ms. Give it more time, or less to do. [:skein/timeout]" (:clojure.error/cause (main/ex-triage (Throwable->map late))))
        "a REPL prints the message of the last cause")
    (is (= [InterruptedException] (map class (Throwable/.getSuppressed late))))))

(deftest the-interrupt-does-not-outlive-the-body
  (within-deadline
    (dotimes [_ 300]
      (v/with-timeout 0 (dotimes [_ 100] (Thread/onSpinWait)))
      (is (false? (.isInterrupted (Thread/currentThread)))))))

(deftest a-block-may-park-under-a-timeout
  (let [^Channel c (a/chan)]
    (is (= [:skein/timeout 5]
           (await-port (a/go [(try (v/with-timeout 1 (a/<! c))
                                   (catch TimeoutException e (:skein/error (ex-data e))))
                              (v/with-timeout 60000 (a/<! (a/timeout 1)) 5)]))))
    (is (= 0 (.takerCount c)) "and leaves nothing there")))

(deftest a-timeout-inside-a-child-lets-its-scope-cancel-it
  (let [begun (CountDownLatch. 2) timed-out (AtomicInteger.)]
    (within-deadline
      (s/scope [s]
        (s/fork s (try (v/with-timeout 60000 (.countDown begun) (Thread/sleep 60000))
                       (catch TimeoutException _ (.incrementAndGet timed-out))))
        (s/go s (try (v/with-timeout 60000 (.countDown begun) (a/<! (a/chan)))
                     (catch TimeoutException _ (.incrementAndGet timed-out))))
        (.await begun)
        (s/cancel! s)))
    (is (= 0 (.get timed-out)) "which is not a timeout")))

(deftest a-scope-inside-a-timeout-ends-with-it
  (let [ended (AtomicInteger.)]
    (is (= :skein/timeout
           (refusal (v/with-timeout 20
                      (s/scope [s]
                        (s/fork s (try (Thread/sleep 60000) (finally (.incrementAndGet ended))))
                        (a/<!! (a/chan)))))))
    (is (= 1 (.get ended)))))

;;;; retry

(defn- failing
  "[f calls]: `f` throws `n` times and then returns :done."
  [n]
  (let [calls (AtomicInteger.)]
    [(fn [] (if (<= (.incrementAndGet calls) (long n)) (throw (ex-info (str (.get calls)) {})) :done)) calls]))

(deftest retry-tries-until-it-succeeds
  (let [[f ^AtomicInteger calls] (failing 3)]
    (is (= :done (v/retry {:attempts 4 :backoff-ms 0} f)))
    (is (= 4 (.get calls))))
  (is (= :done (v/retry (constantly :done))))
  (is (nil? (v/retry {} (constantly nil)))))

(deftest the-last-exception-is-thrown-with-the-others
  (let [[f] (failing 9) thrown (caught (v/retry {:attempts 3 :backoff-ms 0} f))]
    (is (= "3" (ex-message thrown)))
    (is (= ["1" "2"] (map ex-message (.getSuppressed ^Throwable thrown))))))

(deftest some-exceptions-are-final
  (let [[f ^AtomicInteger calls] (failing 9)]
    (is (= "1" (ex-message (caught (v/retry {:retry? (fn [t] (not= "1" (ex-message t)))} f)))))
    (is (= 1 (.get calls))))
  (is (instance? Error (caught (v/retry {:backoff-ms 0} #(throw (Error.))))))
  (let [calls (AtomicInteger.)]
    (is (instance? InterruptedException
                   (caught (v/retry {:backoff-ms 0} #(do (.incrementAndGet calls) (throw (InterruptedException.)))))))
    (is (= 1 (.get calls)))))

(deftest a-timeout-interrupts-an-attempt
  (let [thrown (within-deadline (caught (v/retry {:timeout-ms 5 :attempts 100} #(Thread/sleep 60000))))]
    (is (instance? TimeoutException thrown))
    (is (= {:skein/error :skein/timeout :what :retry :ms 5 :attempts 1} (ex-data thrown)))))

(deftest a-pause-beyond-the-timeout-is-not-begun
  (let [thrown (within-deadline (caught (v/retry {:timeout-ms 5000 :backoff-ms 600000 :max-backoff-ms 600000}
                                                 #(throw (ex-info "no" {})))))]
    (is (= :skein/timeout (:skein/error (ex-data thrown))))
    (is (= "no" (ex-message (ex-cause thrown))))))

;;;; Bad input

(deftest bad-arguments-are-refused
  (are [error form] (= error (refusal form))
    :skein/bad-argument (v/with-timeout nil 1)
    :skein/bad-argument (v/with-timeout "1" 1)
    :skein/bad-argument (v/with-timeout {:default 1} 1)
    :skein/bad-argument (v/with-timeout {:timeout-ms 1 :else 1} 1)
    :skein/bad-argument (v/retry {:attempts 0} #(do 1))
    :skein/bad-argument (v/retry {:times 3} #(do 1))
    :skein/bad-argument (v/retry {:jitter 2} #(do 1))
    :skein/bad-argument (v/retry 3 #(do 1))
    :skein/bad-argument (v/retry [:attempts 3] #(do 1))
    :skein/bad-argument (v/retry {} 1)))

(deftest refusals-name-the-call
  (are [message form] (= message (ex-message (caught form)))
    "The first argument of with-timeout must be a number of milliseconds or a java.time.Duration, or a map of options, but is nil. [:skein/bad-argument]"
    (v/with-timeout nil 1)
    "ms of sleep must be a number of milliseconds or a java.time.Duration, but is nil. [:skein/bad-argument]" (v/sleep nil)))

(deftest the-longest-time-limit-never-ends
  (is (= 1 (v/with-timeout Long/MAX_VALUE 1)))
  (is (= 1 (v/retry {:timeout-ms Long/MAX_VALUE :max-backoff-ms Long/MAX_VALUE} (fn [] 1)))))

(deftest the-time-may-be-up-before-the-body-begins
  (is (= :skein/timeout
         (:skein/error (ex-data (caught (with-prompt-timers (v/with-timeout 60000 (deref (promise) 5000 nil)))))))))

(deftest retrying-for-long-keeps-the-latest-exceptions
  (let [calls (atom 0)
        thrown (caught (v/retry {:attempts 1000 :backoff-ms 0} #(throw (ex-info (str (swap! calls inc)) {}))))]
    (is (= "1000" (ex-message thrown)))
    (is (= (map str (range 968 1000)) (map ex-message (.getSuppressed ^Throwable thrown))))))

(deftest a-time-may-be-a-duration
  (let [short (Duration/ofMillis 1)]
    (is (nil? (v/sleep short)))
    (is (= 1 (:ms (ex-data (within-deadline (caught (v/with-timeout short (Thread/sleep 60000))))))))
    (is (= 1 (:ms (ex-data (within-deadline (caught (v/retry {:timeout-ms short} #(Thread/sleep 60000))))))))
    (is (= "no" (ex-message (caught (v/retry {:attempts 2 :backoff-ms short :max-backoff-ms short} #(throw (ex-info "no" {})))))))))

(deftest a-time-of-0-or-below-is-over-at-once
  (doseq [ms [0 -1.5 Long/MIN_VALUE]]
    (is (nil? (v/sleep ms)))
    (is (= :skein/timeout (refusal (v/with-timeout ms (Thread/sleep 60000)))))
    (is (= :skein/timeout (refusal (v/retry {:timeout-ms ms} #(Thread/sleep 60000)))))
    (is (= "no" (ex-message (caught (v/retry {:attempts 2 :backoff-ms ms :max-backoff-ms ms} #(throw (ex-info "no" {})))))))
    (is (= :skein/timeout (refusal (s/scope [s {:timeout-ms ms}] (s/fork s (Thread/sleep 60000))))))
    (is (= :skein/timeout (refusal (s/scope [_ {:timeout-ms ms}] 1))))))
