;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.primitives.scopes-test
  "Scopes and windows, under many schedules."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! <!! >! >!! chan close!]]
   [skein.async.streams :as st]
   [skein.scope :as scope :refer [scope]]
   [skein.sim :as sim]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent CancellationException)))

(set! *warn-on-reflection* true)

(def ^:private o {:schedules 100 :max-steps 5000 :leaks :all})

(defmacro ^:private thrown
  "Returns the exception of the body, or nil."
  [& body]
  `(try ~@body nil (catch Throwable t# t#)))

;;;; Scopes

(deftest no-child-outlives-its-scope
  (sim/check o
    (let [ended (atom 0), c (chan)]
      (is (= :value
             (scope [s]
               (scope/go s (<! c) (swap! ended inc))
               (scope/fork s (virtual/sleep 5) (>!! c 1) (swap! ended inc))
               (scope/fork s (scope/go s (<! (a/timeout 10)) (swap! ended inc)))
               :value)))
      (is (= 3 @ended)))))

(deftest the-first-failure-cancels-the-others
  (sim/check o
    (let [cleaned (atom 0), fails (fn [] (throw (ex-info "fails" {})))
          t (thrown (scope [s]
                      (scope/go s (try (<! (chan)) (finally (swap! cleaned inc))))
                      (scope/fork s (try (<!! (chan)) (finally (swap! cleaned inc))))
                      (scope/go s (<! (a/timeout 5)) (fails))
                      (<!! (chan))))]
      (is (= "fails" (ex-message t)))
      (is (= [] (vec (.getSuppressed ^Throwable t))))
      (is (= 2 @cleaned)))))

(deftest two-failures-are-reported-together
  (sim/check o
    (let [t (thrown (scope [s]
                      (scope/shield
                        (scope/fork s (scope/shield (virtual/sleep 5)) (throw (ex-info "a" {})))
                        (scope/go s (scope/shield (<! (a/timeout 5))) (throw (ex-info "b" {}))))))]
      (is (= #{"a" "b"} (into #{(ex-message t)} (map ex-message) (.getSuppressed ^Throwable t)))))))

(deftest a-body-that-throws-cancels-its-children
  (sim/check o
    (let [cleaned (atom 0)
          t (thrown (scope [s]
                      (scope/fork s (try (<!! (chan)) (finally (swap! cleaned inc))))
                      (virtual/sleep 1)
                      (throw (ex-info "body" {}))))]
      (is (= "body" (ex-message t)))
      (is (= 1 @cleaned)))))

(deftest cancelled-children-end-and-none-begins
  (sim/check o
    (let [begun (atom 0), ended (atom 0), late (atom 0)]
      (is (= :value
             (scope [s]
               (scope/go s (swap! begun inc) (try (<! (chan)) (finally (swap! ended inc))))
               (scope/fork s (swap! begun inc) (try (<!! (chan)) (finally (swap! ended inc))))
               (scope/cancel! s)
               (scope/fork s (swap! late inc))
               (scope/go s (swap! late inc))
               :value)))
      (is (= @begun @ended))
      (is (= 0 @late)))))

(deftest children-are-cancelled-in-order
  ;; The same run twice: an order by hashes of regions would differ.
  (sim/check {:schedules 10}
    (let [ended (atom [])]
      (scope [s]
        (dotimes [i 12] (scope/go s (try (<! (chan)) (finally (swap! ended conj i)))))
        (sim/settle)
        (scope/cancel! s))
      (is (= (range 12) (sort @ended))))))

(deftest an-observed-failure-is-reported-once
  (sim/check o
    (let [t (thrown (scope [s] @(scope/fork s (throw (ex-info "fork" {})))))]
      (is (= ["fork" []] [(ex-message t) (vec (.getSuppressed ^Throwable t))])))))

(deftest a-deadline-ends-all
  (sim/check o
    (let [cleaned (atom 0), inner (atom nil)
          t (thrown (scope [s {:timeout-ms 20}]
                      (scope/go s (try (<! (chan)) (finally (swap! cleaned inc))))
                      (scope [_ {:timeout-ms 100}]
                        (reset! inner (scope/remaining-ms))
                        (<!! (chan)))))]
      (is (= :skein/timeout (:skein/error (ex-data t))))
      (is (= [20 20 1] [(sim/now-ms) @inner @cleaned])))))

(deftest a-value-after-the-deadline-is-not-returned
  (sim/check {:time :slow :seed 1}
    (let [t (thrown (scope [s {:timeout-ms 100}] (scope/go s (<! (a/timeout 1000)))))]
      (is (= :skein/timeout (:skein/error (ex-data t)))))))

(deftest zero-and-unused-deadlines-take-no-time
  (sim/check o
    (is (= :skein/timeout
           (:skein/error (ex-data (thrown (scope [s {:timeout-ms 0}] (scope/go s (<! (chan)))))))))
    (is (= 1 (scope [_ {:timeout-ms 5}] 1)))
    (sim/settle)
    (is (= 0 (sim/now-ms)))))

(deftest outcomes-are-in-order
  (sim/check o
    (is (= [{:value 1} {:error "no"} {:cancelled true} {:value 4}]
           (scope [s {:on-error :collect}]
             (scope/go s (<! (a/timeout 5)) 1)
             (scope/fork s (throw (ex-info "no" {})))
             (future-cancel (scope/fork s (<!! (chan))))
             (scope/go s 4)
             (mapv (fn [outcome] (if (:error outcome) (update outcome :error ex-message) outcome)) (scope/outcomes s)))))))

(deftest a-shield-keeps-a-cancellation-until-its-end
  (sim/check o
    (let [steps (atom []), begun (chan)]
      (scope [s]
        (scope/go s
          (scope/shield
            (close! begun)
            (<! (a/timeout 5))
            (swap! steps conj :shielded))
          (<! (a/timeout 5))
          (swap! steps conj :never))
        (<!! begun)
        (scope/cancel! s))
      (is (= [:shielded] @steps)))))

(deftest a-fork-can-be-cancelled-alone
  (sim/check o
    (let [ended (atom [])]
      (is (= 1 (scope [s]
                 (let [f (scope/fork s (try (<!! (chan)) (finally (swap! ended conj :f)))), g (scope/fork s (virtual/sleep 5) 1)]
                   (future-cancel f)
                   (is (instance? CancellationException (thrown @f)))
                   @g))))
      (is (contains? #{[] [:f]} @ended)))))

(deftest scopes-in-scopes-are-cancelled-with-them
  (sim/check o
    (let [cleaned (atom [])]
      (scope [s]
        (scope/go s
          (try
            (scope [inner]
              (scope/go inner (try (<! (chan)) (finally (swap! cleaned conj :inner))))
              (<! (a/timeout 100)))
            (finally (swap! cleaned conj :outer))))
        (virtual/sleep 10)
        (scope/cancel! s))
      (is (= [:inner :outer] @cleaned))
      (is (= 10 (sim/now-ms))))))

(deftest a-scope-that-has-ended-has-no-more-children
  (sim/check o
    (let [left (scope [s] (when (sim/pick [false true]) (scope/fork s (virtual/sleep 5))) s)]
      (is (= :skein/scope-closed (:skein/error (ex-data (thrown (scope/fork left 1))))))
      (is (= :skein/scope-closed (:skein/error (ex-data (thrown (scope/go left 1)))))))))

(deftest an-interrupted-wait-cancels-and-waits-on
  (sim/check o
    (let [cleaned (atom 0), waiter (atom nil), ready (chan)
          t (Thread/startVirtualThread
              (fn []
                (reset! waiter
                        [(instance? CancellationException (thrown (scope [s]
                                                                    (scope/go s (try (<! (chan)) (finally (<! (a/timeout 5)) (swap! cleaned inc))))
                                                                    (close! ready))))
                         @cleaned (Thread/interrupted)])))]
      (<!! ready)
      (sim/settle)
      (.interrupt t)
      (.join t)
      (is (= [true 1 true] @waiter)))))

;;;; Scopes without a body

(deftest a-close-that-is-interrupted-at-any-point-still-ends-all-children
  (sim/everywhere {:leaks :all}
    (let [ended (atom 0)
          s (scope/open-scope {:grace-ms 50})]
      (dotimes [_ 2]
        (scope/go s (try (<! (chan)) (finally (<! (a/timeout 5)) (swap! ended inc)))))
      (sim/settle)
      (let [closing (virtual/future (.close s))]
        (sim/target closing)
        (thrown @closing)
        (is (nil? (.close s)) "a second call waits for the first")
        (is (= 2 @ended))
        (is (= :skein/scope-closed (:skein/error (ex-data (thrown (scope/fork s 1))))))))))

(deftest a-scope-waits-for-no-daemon
  (sim/check o
    (let [ended (atom [])]
      (scope [s]
        (scope/go [s {:daemon? true}] (try (<! (chan)) (finally (swap! ended conj :daemon))))
        (scope/go s (<! (a/timeout 5)) (swap! ended conj :child)))
      (is (= :child (first @ended)))
      (is (contains? #{[:child] [:child :daemon]} @ended) "a daemon that had not begun never does"))))

;;;; Windows

(defn- counted
  "Returns a function that calls `f` and keeps [running calls, their maximum] in `running`."
  [running f]
  (fn [x]
    (swap! running (fn [[n most]] [(inc (long n)) (max (long most) (inc (long n)))]))
    (try (f x) (finally (swap! running update 0 dec)))))

(defn- slow
  "Sleeps so long that later items are done first; returns `x`."
  [x]
  (virtual/sleep (- 20 (long x)))
  x)

(deftest a-window-keeps-the-order-and-the-limit
  (sim/check o
    (let [running (atom [0 0])]
      (is (= (range 8) (virtual/pmap 3 (counted running slow) (range 8))))
      (is (= [0 3] @running)))))

(deftest a-window-in-a-transduction-keeps-both-too
  (sim/check o
    (let [running (atom [0 0])]
      (is (= (range 8) (into [] (virtual/pmap 3 (counted running slow)) (range 8))))
      (is (= [0 3] @running)))))

(deftest a-window-for-effect-keeps-the-limit
  (sim/check o
    (let [running (atom [0 0]), done (atom #{})]
      (is (nil? (virtual/prun! 3 (counted running (fn [x] (slow x) (swap! done conj x))) (range 8))))
      (is (= [[0 3] (set (range 8))] [@running @done])))))

(deftest a-failed-call-ends-the-window-when-all-have-ended
  (sim/check o
    (let [running (atom [0 0]), begun (atom 0)
          f (fn [x] (swap! begun inc) (if (= 2 x) (throw (ex-info "two" {})) (slow x)))
          t (thrown (dorun (virtual/pmap 3 (counted running f) (range 100))))]
      (is (= "two" (ex-message t)))
      (is (= 0 (first @running)))
      (is (< (long @begun) 20)))))

(deftest a-window-ends-with-its-reader
  (sim/check o
    (let [running (atom [0 0])]
      (is (= [0 1] (into [] (comp (virtual/pmap 3 (counted running slow)) (take 2)) (range 100))))
      (is (= 0 (first @running))))))

(deftest calls-for-the-values-of-a-channel
  (sim/check o
    (let [from (chan), running (atom [0 0]), out (st/pmap {:n 3 :ahead 12} (counted running slow) from)]
      (a/onto-chan! from (range 8))
      (is (= (range 8) (<!! (a/into [] out))))
      (is (= [0 3] @running)))))

(deftest calls-may-drop-the-order
  (sim/check o
    (let [from (chan), out (st/pmap {:n 3 :ordered? false} slow from)]
      (a/onto-chan! from (range 8))
      (let [got (<!! (a/into [] out))]
        (is (= (range 8) (sort got)))
        (is (not= (range 8) got))))))

(deftest calls-end-when-one-fails
  (sim/check o
    (let [from (chan 10), running (atom [0 0])
          f (fn [x] (case (long x) 0 (<!! (chan)) 2 (throw (ex-info "two" {})) (slow x)))
          out (st/pmap {:n 2 :ordered? false} (counted running f) from)]
      (a/onto-chan! from [0 1 2 3 4])
      (is (= "two" (ex-message (thrown (a/<?? (a/into [] out))))))
      (is (= 0 (first @running))))))

(deftest calls-end-when-their-output-is-closed
  (sim/check o
    (let [from (chan 10), interrupted (atom 0)
          f (fn [x]
              (case (long x)
                0 x
                1 (slow x)
                (try (<!! (chan)) (catch InterruptedException e (swap! interrupted inc) (throw e)))))
          out (st/pmap {:n 2 :ordered? false} f from)]
      (dotimes [i 6] (>!! from i))
      (is (= 0 (<!! out)))
      (close! out)
      (virtual/sleep 1000)
      (is (pos? (long @interrupted))))))
