;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.scope.cancellable-test
  "A thread that can be cancelled, by itself: when it is interrupted, and when not."
  (:require
   [clojure.test :refer [deftest is testing]])
  (:import
   (java.util.concurrent CancellationException CompletableFuture CountDownLatch TimeUnit)
   (java.util.concurrent.atomic AtomicBoolean AtomicInteger)
   (java.util.function BooleanSupplier)
   (skein.rt Cancellable Region)))

(set! *warn-on-reflection* true)

(defn- on-thread
  "Returns what `f` returns on a thread of its own, which has no regions yet."
  [f]
  (let [result (CompletableFuture.)]
    (.start (Thread. (fn [] (try (.complete result (f)) (catch Throwable t (.completeExceptionally result t))))))
    (.get result 60 TimeUnit/SECONDS)))

(defn- enter ^Region [] (Region/enter nil))

(defn- interrupted? [] (.isInterrupted (Thread/currentThread)))

(deftest work-cancelled-before-its-start-is-not-run
  ;; Checks S4.
  (is (= [false false true]
         (on-thread (fn []
                      (let [cancelled (Region/child nil), other (Region/child nil)]
                        (.cancel cancelled)
                        (let [runs (.enter (.cancellable cancelled))]
                          (.exit (.cancellable cancelled))
                          [runs (interrupted?) (.enter (.cancellable other))])))))))

(deftest an-interrupt-ends-with-its-region-or-step
  ;; Checks S3.
  (testing "of a region"
    (is (= [true false]
           (on-thread (fn [] (let [r (enter)] (.cancel r) (let [inside (interrupted?)] (.leave r) [inside (interrupted?)])))))))
  (testing "of a step"
    (is (= [true false]
           (on-thread (fn []
                        (let [r (Region/child nil), c (.cancellable r)]
                          (.enter c)
                          (.cancel r)
                          (let [inside (interrupted?)] (.exit c) [inside (interrupted?)])))))))
  (testing "none comes once the step has ended"
    (is (= [false true]
           (on-thread (fn []
                        (let [r (Region/child nil), c (.cancellable r)]
                          (.enter c)
                          (.exit c)
                          (.cancel r)
                          (let [between (interrupted?)] (.enter c) [between (interrupted?)]))))))))

(deftest a-cancellation-is-delivered-once
  ;; Checks S2.
  (testing "by an interrupt, once"
    (is (= [true false false]
           (on-thread (fn []
                        (let [r (enter), c (Cancellable/current)]
                          (.cancel r)
                          [(Thread/interrupted)
                           (do (.cancel r) (interrupted?))
                           (do (.shield c) (.unshield c) (interrupted?))]))))))
  (testing "or by an exception when the thread checks"
    (is (= [:cancelled nil]
           (on-thread (fn []
                        (let [r (enter), c (Cancellable/current)]
                          (.cancel r)
                          [(try (.check c) (catch CancellationException _ :cancelled)) (.check c)])))))))

(deftest a-shield-blocks-a-cancellation
  (is (= [false true]
         (on-thread (fn []
                      (let [r (enter), c (Cancellable/current)]
                        (.shield c)
                        (.cancel r)
                        (let [behind (interrupted?)] (.unshield c) [behind (interrupted?)]))))))
  (testing "also from regions entered after it"
    (is (= [true false false]
           (on-thread (fn []
                        (let [outer (enter), c (Cancellable/current)]
                          (.shield c)
                          (let [inner (enter)]
                            (.cancel outer)
                            [(.isCancelled outer) (.isCancelled inner) (interrupted?)])))))))
  (testing "but not their own cancellation"
    (is (= [true true]
           (on-thread (fn []
                        (enter)
                        (.shield (Cancellable/current))
                        (let [inner (enter)] (.cancel inner) [(.isCancelled inner) (interrupted?)]))))))
  (testing "and clears an interrupt that was not noticed"
    (is (= [true false true]
           (on-thread (fn []
                        (let [r (enter), c (Cancellable/current)]
                          (.cancel r)
                          (let [before (interrupted?)]
                            (.shield c)
                            (let [behind (interrupted?)] (.unshield c) [before behind (interrupted?)])))))))))

(deftest region-entered-before-delivery-is-cancelled-too
  (is (= [true true]
         (on-thread (fn [] (let [outer (enter)] (.cancel outer) (let [inner (enter)] [(.isCancelled inner) (interrupted?)]))))))
  (is (= [false false]
         (on-thread (fn []
                      (let [outer (enter)]
                        (.cancel outer)
                        (Thread/interrupted)
                        (let [inner (enter)] [(.isCancelled inner) (interrupted?)])))))))

(deftest the-outer-region-is-notified-when-the-inner-one-closes
  (is (= [true true]
         (on-thread (fn []
                      (let [outer (enter), inner (enter)]
                        (.cancel outer)
                        (let [noticed (Thread/interrupted)] (.leave inner) [noticed (interrupted?)]))))))
  (testing "unless an exception reports it"
    (is (= [true false]
           (on-thread (fn []
                        (let [outer (enter), inner (enter)]
                          (.cancel outer)
                          (let [noticed (Thread/interrupted)] (.leave inner (InterruptedException.)) [noticed (interrupted?)]))))))))

(deftest a-wait-is-withdrawn-or-completed
  ;; Checks S1: of many that withdraw and one that completes, one wins.
  (dotimes [_ 200]
    (let [c (.cancellable (Region/child nil))
          over (AtomicBoolean.), withdrawn (AtomicInteger.), completed (AtomicInteger.)
          claim (fn [] (.compareAndSet over false true))
          start (CountDownLatch. 1)
          ended (CountDownLatch. 3)
          race (fn [f] (Thread/startVirtualThread (fn [] (.await start) (f) (.countDown ended))))]
      (.parks c (reify BooleanSupplier (getAsBoolean [_] (boolean (claim)))))
      (dotimes [_ 2] (race (fn [] (when (.withdraw c) (.incrementAndGet withdrawn)))))
      (race (fn [] (when (claim) (.incrementAndGet completed))))
      (.countDown start)
      (is (.await ended 60 TimeUnit/SECONDS))
      (is (= 1 (+ (.get withdrawn) (.get completed)))))))
