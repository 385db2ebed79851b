;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.scope.region-test
  "Regions by themselves: which are cancelled together, and how their owners are notified."
  (:require
   [clojure.test :refer [are deftest is]])
  (:import
   (java.io IOException InterruptedIOException)
   (java.net SocketException SocketTimeoutException)
   (java.nio.channels ClosedByInterruptException)
   (java.util Collection)
   (java.util.concurrent CancellationException CompletableFuture TimeUnit)
   (skein.rt Region Region$Owner)))

(set! *warn-on-reflection* true)

(defn- on-thread
  "Returns what `f` returns on a thread of its own, which has no regions yet."
  [f]
  (let [result (CompletableFuture.)]
    (.start (Thread. (fn [] (try (.complete result (f)) (catch Throwable t (.completeExceptionally result t))))))
    (.get result 60 TimeUnit/SECONDS)))

(defn- enter ^Region [] (Region/enter nil))

(defn- cancelled [& regions]
  (mapv (fn [^Region r] (.isCancelled r)) regions))

(deftest inner-regions-are-cancelled-too
  (is (= [[false true true] true [false true true] false]
         (on-thread (fn []
                      (let [outer (enter) middle (enter) inner (enter)]
                        (.cancel middle)
                        (let [at-once (cancelled outer middle inner)
                              told (Thread/interrupted)]
                          (run! (fn [^Region r] (.leave r)) [inner middle outer])
                          (Thread/interrupted)
                          [at-once told (cancelled outer middle inner) (Thread/interrupted)])))))))

(deftest closed-regions-are-not-cancelled
  (is (= [false false]
         (on-thread (fn [] (let [r (enter)] (.leave r) (.cancel r) [(.isCancelled r) (Thread/interrupted)]))))))

(deftest leaving-an-outer-region-leaves-those-inside
  (is (= [false false]
         (on-thread (fn []
                      (let [outer (enter) inner (enter)]
                        (.leave outer)
                        (.cancel inner)
                        [(.isCancelled inner) (Thread/interrupted)]))))))

(defn- child-of
  "A child whose owner counts in `told` and adds `more` to what is cancelled."
  ^Region [told more]
  (Region/child (reify Region$Owner
                  (cancelled [_ _ all]
                    (swap! told inc)
                    (when more (.add ^Collection all more))))))

(deftest owners-are-notified-once-and-add-regions
  (let [told (atom 0)
        last-one (child-of told nil)
        first-one (nth (iterate (fn [r] (child-of told r)) last-one) 100000)]
    (.cancel ^Region first-one)
    (.cancel ^Region first-one)
    (is (= 100001 @told) "however deep the tree is")
    (is (.isCancelled last-one))))

(deftest owners-are-notified-how-a-child-ends
  (let [told (atom [])
        boom (ex-info "boom" {})
        owner (reify Region$Owner
                (failed [_ _ thrown] (swap! told conj [:failed thrown]) false)
                (ended [_ _ value thrown read] (swap! told conj [:ended value thrown]) (some-> ^Runnable read .run)))
        child (Region/child owner)]
    (is (false? (.failed (.cancellable child) boom)) "the owner will not throw it")
    (.ended (.cancellable child) nil boom (fn read [] (swap! told conj :read)))
    (.ended (.cancellable (Region/child owner)) :value nil nil)
    (is (= [[:failed boom] [:ended nil boom] :read [:ended :value nil]] @told))
    (is (true? (.failed (.cancellable (Region/child nil)) boom)) "a child without an owner")
    (.cancel child)
    (is (not (.isCancelled child)))))

(deftest children-are-numbered-in-order
  (let [numbers (mapv (fn [^Region r] (.number r)) (repeatedly 5 #(child-of (atom 0) nil)))]
    (is (apply < 0 numbers)))
  (is (= 0 (on-thread (fn [] (let [r (enter)] (.leave r) (.number r)))))))

(deftest interruptions-have-many-names
  (are [interruption? thrown] (= interruption? (Region/isInterruption thrown))
    true (InterruptedException.)
    true (CancellationException.)
    true (ClosedByInterruptException.)
    true (InterruptedIOException.)
    true (SocketException. "Closed by interrupt")
    true (ex-info "wrapped" {} (RuntimeException. (InterruptedException.)))
    false (SocketTimeoutException.)
    false (SocketException. "Connection reset")
    false (IOException.)
    false (ex-info "boom" {})
    false nil))
