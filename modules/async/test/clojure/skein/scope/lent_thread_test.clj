;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope.lent-thread-test
  "Code that runs on the thread of other code, such as an async block or a transducer, does not swallow the interrupts that
  were meant for that code."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! <?? >!! async chan go]]
   [skein.deadline :refer [within-deadline]]
   [skein.scope :as s]
   [skein.scope-trees :as trees]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(defn- outcome
  "Returns what `f` returns or, of its exception, the :skein/error or the class; ::interrupted if it leaves its thread interrupted."
  [f]
  (let [result (try (f) (catch Throwable t (or (:skein/error (ex-data t)) (class t))))]
    (if (Thread/interrupted) ::interrupted result)))

(defn- for-ever [] (<!! (chan)))

(def ^:private sleeping "A transducer that blocks." (map (fn [x] (Thread/sleep 600000) x)))

(defn- soon [] (Thread/sleep 50) :soon)

(deftest limits-end-code-whose-async-block-has-blocked
  (doseq [[what expected f]
          [["with-timeout" :skein/timeout #(v/with-timeout 50 (async (for-ever)) (for-ever))]
           ["two blocks" :skein/timeout #(v/with-timeout 50 (async (for-ever)) (async (for-ever)) (for-ever))]
           ["nested blocks" :skein/timeout #(v/with-timeout 50 (async (async (for-ever)) (for-ever)) (for-ever))]
           ["a helper" :skein/timeout #(v/with-timeout 50 (async (run! (fn [_] (for-ever)) [1])) (for-ever))]
           ["in a go block" :skein/timeout #(<?? (go (v/with-timeout 50 (async (for-ever)) (<! (chan)))))]
           ["the deadline of a scope" :skein/timeout #(s/scope [_ {:timeout-ms 50}] (async (for-ever)) (for-ever))]
           ["of a scope, in its block" :skein/timeout #(s/scope [sc {:timeout-ms 50}] (s/go sc (async (for-ever)) (<! (chan))))]
           ["cancel!" :done #(s/scope [sc] (s/fork sc (async (for-ever)) (for-ever)) (soon) (s/cancel! sc) :done)]
           ["race" :soon #(v/race soon (fn [] (async (for-ever)) (for-ever)))]
           ["race, with a child of a scope that collects" :soon
            #(v/race soon (fn [] (s/scope [sc {:on-error :collect}] (s/async sc (for-ever)) (for-ever))))]
           ["all" ::meant
            #(v/all (fn [] (soon) (throw (ex-info "meant" {:skein/error ::meant}))) (fn [] (async (for-ever)) (for-ever)))]
           ["retry" :skein/timeout #(v/retry {:attempts 1 :timeout-ms 50} (fn [] (async (for-ever)) (for-ever)))]
           ["a transducer, >!!" :skein/timeout #(v/with-timeout 50 (>!! (chan 1 sleeping) 1) (for-ever))]
           ["a transducer, offer!" :skein/timeout #(v/with-timeout 50 (a/offer! (chan 1 sleeping) 1) (for-ever))]
           ["a transducer, in a block" :skein/timeout
            #(s/scope [sc {:timeout-ms 50}] (s/go sc (>!! (chan 1 sleeping) 1) (for-ever)))]
           ["a callback on the caller" :skein/timeout
            #(v/with-timeout 50 (let [c (chan)] (a/take! c (fn [_] (for-ever))) (>!! c 1) (for-ever)))]]]
    (testing what
      (is (= expected (within-deadline (outcome f)))))))

(deftest a-thread-gets-its-interrupt-after-its-async-block
  (doseq [[what interrupt!] {"a thread" (fn [f] (let [t (Thread/startVirtualThread f)] #(.interrupt t)))
                             "a future" (fn [f] (let [future (v/future (f))] #(future-cancel future)))}]
    (testing what
      (let [blocks (CountDownLatch. 1)
            then (promise)
            stop! (interrupt! (fn []
                                (async (.countDown blocks) (for-ever))
                                (deliver then (outcome for-ever))))]
        (is (= InterruptedException (within-deadline (.await blocks) (stop!) @then)))))))

(deftest every-cancellation-arrives-once-in-random-trees
  (doseq [seed (range 20)]
    (is (= [] (vec (within-deadline (trees/faults (trees/with-errands (trees/tree seed 100) seed) 100)))) (str "seed " seed))))
