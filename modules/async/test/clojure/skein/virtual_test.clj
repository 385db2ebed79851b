;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual-test
  "Futures. The other functions have tests of their own in skein.virtual.*."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CancellationException CompletableFuture ExecutionException)
   (java.util.function Function)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(deftest realized?-works-on-futures-and-forks
  (let [go-on (promise), f (v/future @go-on), cancelled (v/future @(promise))]
    (is (false? (realized? f)))
    (deliver go-on 1)
    (is (= 1 @f))
    (is (true? (realized? f)))
    (future-cancel cancelled)
    (is (true? (realized? cancelled)))))

(deftest a-future-has-the-value-of-its-body
  (let [f (v/future (+ 1 2))]
    (is (future? f))
    (is (= 3 @f))
    (is (= 3 @f) "as often as one asks"))
  (is (nil? @(v/future nil)))
  (is (false? @(v/future false)))
  (is (true? @(v/future (.isVirtual (Thread/currentThread))))))

(deftest a-future-that-fails-throws-its-cause
  (doseq [thrown [(ex-info "boom" {}) (AssertionError. "boom")]]
    (let [e (caught @(v/future (throw thrown)))]
      (is (instance? ExecutionException e))
      (is (identical? thrown (ex-cause e))))))

(deftest a-future-that-is-late-gives-the-default
  (let [gate (promise) f (v/future @gate)]
    (is (= :late (deref f 1 :late)))
    (deliver gate :value)
    (is (= :value (within-deadline @f)))))

(deftest cancelling-a-future-interrupts-its-thread
  (let [begun (promise) seen (promise)
        f (v/future (deliver begun true)
                    (try (Thread/sleep 60000) (catch InterruptedException e (deliver seen e))))]
    (within-deadline @begun)
    (is (true? (future-cancel f)))
    (is (instance? InterruptedException (within-deadline @seen)))
    (is (future-cancelled? f))
    (is (instance? CancellationException (caught @f)))))

(deftest a-future-is-a-stage
  (let [^CompletableFuture f (v/future 20)]
    (is (= 21 (within-deadline @(.thenApply f (reify Function (apply [_ x] (inc (long x))))))))))

(deftest an-unobserved-failure-is-reported
  (let [boom (ex-info "nobody asks" {})
        stop (volatile! false)
        collector (Thread/startVirtualThread (fn [] (while (not @stop) (System/gc) (Thread/sleep 5))))
        [_ seen] (await-uncaught #(identical? boom %)
                                 (fn [] (v/future (throw boom)) nil))]
    (vreset! stop true)
    (.join collector)
    (is (identical? boom seen))))

(deftest an-observed-failure-is-not-reported
  (let [asked (ex-info "asked for" {}) ignored (ex-info "ignored" {})
        reports (atom [])
        stop (volatile! false)
        collector (Thread/startVirtualThread (fn [] (while (not @stop) (System/gc) (Thread/sleep 5))))
        [_ seen] (await-uncaught
                   (fn [thrown] (swap! reports conj thrown) (identical? ignored thrown))
                   (fn []
                     (dotimes [_ 20] (caught @(v/future (throw asked))))
                     (dotimes [_ 2000] ; a stage may be added before, while or after the future fails
                       (.handle ^CompletableFuture (v/future (throw asked)) (reify java.util.function.BiFunction (apply [_ _ _]))))
                     (v/future (throw ignored))
                     nil))]
    (vreset! stop true)
    (.join collector)
    (is (identical? ignored seen))
    (is (not-any? #(identical? asked %) @reports))))

(deftest the-bindings-of-a-future-are-those-of-its-maker
  (is (= :caller @(binding [*who* :caller] (v/future *who*)))))
