;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope.in-scope-test
  "Work that skein.async starts inside `in-scope` belongs to the scope, which waits for it and reports its failures."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.deadline :refer [within-deadline]]
   [skein.scope :as s]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (java.util.concurrent ConcurrentHashMap CountDownLatch)
   (skein.rt.block Frame Hooks Observer)))

(set! *warn-on-reflection* true)

(defn- error-of [f]
  (try (f) (catch Throwable e (:skein/error (ex-data e)))))

(defn- with-census
  "Returns [value n left] of `f`: its value, how many blocks began as children meanwhile, and which of them have not ended."
  [f]
  (let [began (ConcurrentHashMap.), live (ConcurrentHashMap.)
        census (reify Observer
                 (spawned [_ frame] (when (.cancellable ^Frame frame) (.put began frame true) (.put live frame true)))
                 (ended [_ frame _ _] (.remove live frame)))]
    (Hooks/add census)
    (try
      (let [value (f)] [value (count began) (vec (keys live))])
      (finally (Hooks/remove census)))))

;; Each starts work on `source` that ends when the source closes, or not at all.
(def ^:private plumbing
  {"go" (fn [source] (a/go (a/<! source)))
   "go-loop" (fn [source] (a/go-loop [] (when (a/<! source) (recur))))
   "async" (fn [source] (a/async (a/<! source)))
   "a block's block" (fn [source] (a/go (a/go (a/<! source))))
   "a block of a future" (fn [source] @(future (a/go (a/<! source))))
   "pipe" (fn [source] (a/pipe source (a/chan)))
   "pipeline" (fn [source] (a/pipeline 3 (a/chan) (map inc) source))
   "pipeline-blocking" (fn [source] (a/pipeline-blocking 3 (a/chan) (map inc) source))
   "pipeline-async" (fn [source] (a/pipeline-async 3 (a/chan) (fn [_ c] (a/close! c)) source))
   "mult" (fn [source] (a/tap (a/mult source) (a/chan)))
   "pub" (fn [source] (a/sub (a/pub source identity) 1 (a/chan)))
   "mix" (fn [source] (a/admix (a/mix (a/chan)) source))
   "into" (fn [source] (a/into [] source))
   "map" (fn [source] (a/map + [source source]))
   "merge" (fn [source] (a/merge [source]))
   "split" (fn [source] (a/split odd? source))
   "onto-chan!" (fn [_] (a/onto-chan! (a/chan) [1 2 3]))
   "batch" (fn [source] (st/batch 2 source))
   "pmap" (fn [source] (st/pmap 2 inc source))
   "pmap, unordered" (fn [source] (st/pmap {:n 2 :ordered? false} inc source))
   "thread" (fn [source] (a/thread (a/<!! source)))
   "io-thread" (fn [source] (a/io-thread (a/<!! source)))})

(deftest started-work-ends-with-the-scope
  (doseq [[what start] plumbing
          [how run] {"its deadline" (fn [source] (s/scope [sc {:timeout-ms 1}] (s/in-scope sc (start source)) nil))
                     "a failure" (fn [source] (s/scope [sc] (s/in-scope sc (start source)) (throw (ex-info "no" {:skein/error :no}))))
                     "cancel!" (fn [source] (s/scope [sc] (s/in-scope sc (start source)) (s/cancel! sc)))}]
    (testing (str what ", by " how)
      (let [[error n left] (within-deadline (with-census (fn [] (error-of (fn [] (run (a/chan)))))))]
        (is (= ({"its deadline" :skein/timeout, "a failure" :no} how) error))
        (when (= "cancel!" how) ; a deadline may pass before anything has begun
          (is (or (#{"thread" "io-thread"} what) (pos? (long n)))))
        (is (= [] left))))))

(deftest the-scope-waits-for-started-work
  (let [done (atom #{}), body-over (CountDownLatch. 1)]
    (within-deadline
      (s/scope [sc]
        (s/in-scope sc
          (a/go (a/<! (a/timeout 5)) (swap! done conj :go))
          (a/thread (.await body-over) (swap! done conj :thread))
          (a/pipeline 2 (a/chan 9) (map (fn [x] (swap! done conj x) x)) (a/to-chan! [1 2])))
        (.countDown body-over)))
    (is (= #{:go :thread 1 2} @done))))

(deftest exceptions-reach-the-scope
  (doseq [[what start] {"go" (fn [boom] (a/go (throw boom))), "a block that parks" (fn [boom] (a/go (a/<! (a/timeout 1)) (throw boom)))
                        "thread" (fn [boom] (a/thread (throw boom))), "io-thread" (fn [boom] (a/io-thread (throw boom)))
                        "onto-chan!" (fn [boom] (a/onto-chan! (a/chan 9) (map (fn [_] (throw boom)) [1])))}
          :let [boom (ex-info what {})
                told (atom [])]]
    (testing what
      (let [handler (Thread/getDefaultUncaughtExceptionHandler)]
        (Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ t] (swap! told conj t))))
        (try
          (is (identical? boom (try (within-deadline (s/scope [sc] (s/in-scope sc (start boom)) (a/<!! (a/chan)))) (catch Exception e e))))
          (finally (Thread/setDefaultUncaughtExceptionHandler handler))))
      (is (not-any? #{boom} @told) "and told nobody else"))))

(deftest work-started-outside-is-no-child
  (let [go-on (a/chan)
        port (s/scope [sc] (s/in-scope sc (a/go 1)) (a/go (a/<! go-on) :outlived))]
    (a/put! go-on true)
    (is (= :outlived (within-deadline (a/<!! port))))))

(deftest a-body-may-park-and-keeps-its-children
  (let [[value n left]
        (within-deadline
          (with-census
            (fn []
              (a/<?? (a/go (s/scope [sc]
                             (s/in-scope sc
                               (a/<! (a/timeout 1))
                               (let [x (a/<! (a/go (a/<! (a/timeout 1)) 1))]
                                 (a/go (a/<! (a/chan)))
                                 (s/cancel! sc)
                                 x))))))))]
    (is (= [1 2 []] [value n left]))))

(deftest nothing-begins-when-the-scope-has-ended
  (let [begin (promise)]
    (is (= :skein/scope-closed
           (error-of (fn []
                       (let [f (s/scope [sc] (s/in-scope sc (future (deref begin) (a/go 1))))]
                         (deliver begin true)
                         (try (within-deadline @f) (catch java.util.concurrent.ExecutionException e (throw (ex-cause e)))))))))
    (is (= :skein/bad-argument (error-of (fn [] (s/in-scope 5 1)))))))

(deftest a-slow-step-of-a-pipeline-ends-quietly
  (let [running (atom 0), begun (CountDownLatch. 2)
        slow (fn [x]
               (swap! running inc)
               (.countDown begun)
               (try (Thread/sleep (if (< 1 (long x)) 60000 5)) x (finally (swap! running dec))))
        [_ told] (await-uncaught (constantly true)
                   (fn []
                     (within-deadline
                       (s/scope [sc]
                         (s/in-scope sc (a/pipeline-blocking 2 (a/chan) (map slow) (a/to-chan! (range 100))))
                         (.await begun)
                         (s/cancel! sc)))
                     (is (= 0 @running))
                     (a/go (throw (ex-info "the only one" {})))))]
    (is (= "the only one" (ex-message told)))))

(deftest a-pooled-thread-forgets-its-child
  (dotimes [_ 20]
    (within-deadline (s/scope [sc] (s/in-scope sc (a/thread (a/<!! (a/chan)))) (s/cancel! sc))))
  (is (= (repeat 20 :skein/timeout)
         (within-deadline
           (mapv a/<!! (vec (repeatedly 20 #(a/thread (error-of (fn [] (s/scope [_ {:timeout-ms 5}] (a/<!! (a/chan)))))))))))))

(deftest a-block-cancelled-before-its-start-closes-its-port
  (doseq [[what start] {"go" #(a/go 1)
                        "thread" #(a/thread 1)
                        "io-thread" #(a/io-thread 1)
                        "pmap" #(st/pmap 2 inc (a/chan))}
          :let [port (promise)]]
    (is (nil? (within-deadline
                (s/scope [sc]
                  (s/cancel! sc)
                  (s/in-scope sc (deliver port (start))))
                (a/<!! @port)))
        what)))

(deftest outcomes-have-the-values-of-threads
  (is (= [{:value 42} {:value 43} {:value 44}]
         (within-deadline
           (s/scope [sc {:on-error :collect}]
             (s/in-scope sc (a/<!! (a/thread 42)) (a/<!! (a/go 43)) (a/<!! (a/io-thread 44)))
             (s/outcomes sc))))))

(deftest a-callback-of-others-starts-no-child
  (let [c (a/chan)
        go-on (a/chan)
        block (promise)]
    (a/take! c (fn [v] (deliver block (a/async (a/<! go-on) v))))
    (within-deadline
      (s/scope [sc] (s/in-scope sc (a/>!! c 1)) (s/cancel! sc))
      (a/close! go-on)
      (is (= 1 (a/<?? @block))))))
