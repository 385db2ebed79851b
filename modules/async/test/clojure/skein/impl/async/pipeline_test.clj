;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pipeline-test
  "pipeline, pipeline-blocking, pipeline-async."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin]])
  (:import
   (java.util.concurrent CountDownLatch)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(deftwin values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(deftwin through "The values of `coll` after `pipeline`." [pipeline n f coll]
  (let [out (a/chan)]
    (pipeline n out f (a/to-chan! coll))
    (values-of out)))

(deftwin doubling "Puts a value twice." [v ch]
  (a/go (a/>! ch v) (a/>! ch v) (a/close! ch)))

;;;; What all three do

(deftest results-come-in-order
  (both= [(mapv inc (range 100)) [0 0 1 0 1 2] [] (vec (range 20))]
         [(through a/pipeline 4 (map inc) (range 100))
          (through a/pipeline 2 (mapcat range) [1 2 3])
          (through a/pipeline 1 (map inc) [])
          (through a/pipeline-blocking 30 (map identity) (range 20))])
  (both= [[1 1 2 2] [] (vec (mapcat (fn [i] [i i]) (range 50)))]
         [(through a/pipeline-async 2 doubling [1 2])
          (through a/pipeline-async 3 doubling [])
          (through a/pipeline-async 1 doubling (range 50))]))

(deftest results-come-in-order-even-if-work-is-slow
  (let [property
        (prop/for-all [n (gen/choose 1 5)
                       jobs (gen/vector (gen/tuple (gen/choose 0 3) (gen/choose 0 3)) 0 20)]
          (let [jobs (map-indexed vector jobs)
                expected (mapcat (fn [[i [_ results]]] (repeat results i)) jobs)
                work (mapcat (fn [[i [ms results]]] (Thread/sleep (long ms)) (repeat results i)))
                start (fn [[i [ms results]] ch]
                        (a/go (a/<! (a/timeout ms))
                              (dotimes [_ results] (a/>! ch i))
                              (a/close! ch)))]
            (within-deadline
              (= expected
                 (through a/pipeline n work jobs)
                 (through a/pipeline-blocking n work jobs)
                 (through a/pipeline-async n start jobs)))))
        result (check/quick-check 30 property)]
    (is (:pass? result) (pr-str (:shrunk result)))))

(deftest the-output-closes-unless-told-otherwise
  (both= [[1 :open] [1 :open] [1 :open] [1 nil]]
         (letfn [(run-it [pipeline f close?]
                   (let [out (a/chan 1)]
                     (pipeline 2 out f (a/to-chan! [1]) close?)
                     [(a/<!! out) (if close? (a/<!! out) (when (a/>!! out :x) :open))]))]
           [(run-it a/pipeline (map identity) false)
            (run-it a/pipeline-blocking (map identity) nil)
            (run-it a/pipeline-async (fn [v ch] (a/put! ch v) (a/close! ch)) false)
            (run-it a/pipeline (map identity) true)])))

(deftest a-pipeline-reports-its-end
  (let [out (a/chan 10)]
    (is (nil? (await-port (a/pipeline 2 out (map inc) (a/to-chan! [1 2]) false))))
    (is (= [2 3] [(a/poll! out) (a/poll! out)]))
    (is (nil? (await-port (a/pipeline-async 2 out (fn [_ ch] (a/close! ch)) (a/to-chan! [1 2])))))))

(deftest a-pipeline-runs-at-least-one-at-a-time
  (both= [:refused :refused :refused]
         (mapv (fn [pipeline] (try (pipeline 0 (a/chan) (map inc) (a/chan)) (catch AssertionError _ :refused)))
               [a/pipeline a/pipeline-blocking a/pipeline-async])))

(defn- left-over
  "Runs a pipeline from 1, 2, ... to a channel that is closed after the first result; how
  many of 200 values are left when it has ended."
  [pipeline f]
  (let [from (a/chan 200) out (a/chan)]
    (dotimes [i 200] (a/>!! from i))
    (let [ended (pipeline 2 out f from)]
      (is (= 0 (await-port out)))
      (a/close! out)
      (a/take! out identity) ; a result that was offered before it closed
      (await-port ended)
      (count (take-while some? (repeatedly #(a/poll! from)))))))

(deftest a-pipeline-stops-taking-when-its-output-closes
  (is (< 180 (long (left-over a/pipeline (map identity)))))
  (is (< 180 (long (left-over a/pipeline-blocking (map identity)))))
  (is (< 180 (long (left-over a/pipeline-async (fn [v ch] (a/put! ch v) (a/close! ch))))))
  (testing "also when there would be no results to put"
    (let [from (a/chan 200) out (doto (a/chan) a/close!)]
      (dotimes [i 200] (a/>!! from i))
      (await-port (a/pipeline 2 (doto out a/close!) (filter neg?) (doto from a/close!)))
      (is (< 150 (count (take-while some? (repeatedly #(a/poll! from)))))))))

;;;; At most n

(defn- gauge
  "Counts who is inside: [enter! leave! most]."
  []
  (let [inside (AtomicInteger.) most (AtomicInteger.)]
    [(fn enter [] (let [n (.incrementAndGet inside)] (.accumulateAndGet most n (fn [x y] (max (int x) (int y))))))
     (fn leave [] (.decrementAndGet inside))
     (fn most-inside [] (.get most))]))

(deftest at-most-n-work-at-a-time
  (doseq [pipeline [a/pipeline a/pipeline-blocking], n [1 2 4]]
    (let [[enter leave most] (gauge)
          work (map (fn [v] (enter) (Thread/sleep 2) (leave) v))]
      (is (= (range 20) (within-deadline (through pipeline n work (range 20)))))
      (is (= n (most)) "and n do, when there is enough to do"))))

(deftest n-may-exceed-the-limit-of-waiters
  (let [n 1500
        all (CountDownLatch. n)
        work (map (fn [v] (.countDown all) (.await all) v))]
    (is (= (range n) (within-deadline (through a/pipeline n work (range n)))))))

(deftest at-most-n-async-operations-are-under-way
  (doseq [n [1 2 4]]
    (let [[enter leave most] (gauge)
          out (a/chan)
          started (a/chan 100)
          start (fn [v ch] (enter) (a/>!! started [v ch]))]
      (a/pipeline-async n out start (a/to-chan! (range 20)))
      ;; They end in the worst order: the last one under way first.
      (let [results (a/into [] out)]
        (within-deadline
          (loop [done 0]
            (when (< done 20)
              (let [batch (vec (repeatedly (min n (- 20 done)) #(a/<!! started)))]
                (is (nil? (a/poll! started)) "no more are started")
                (doseq [[v ch] (rseq batch)]
                  (a/>!! ch v)
                  (leave)
                  (a/close! ch))
                (recur (+ done (count batch)))))))
        (is (= (range 20) (await-port results)))
        (is (= n (most)))))))

(deftest a-bounded-number-of-values-is-taken-ahead
  (doseq [n [1 2 4]]
    (let [from (a/chan 100) out (a/chan)]
      (dotimes [i 100] (a/>!! from i))
      (a/pipeline n out (map identity) from)
      (is (= 0 (await-port out)))
      ;; One value has left, and at most n + 2 are inside.
      (is (<= (- 100 n 3) (count (take-while some? (repeatedly #(a/poll! from)))))))))

;;;; Errors

(deftest the-exception-handler-may-answer
  (both= [[1 :failed 3] [1 3]]
         (let [work (map (fn [v] (if (= 2 v) (throw (ex-info "two" {})) v)))
               run-it (fn [handler] (let [out (a/chan)]
                                      (a/pipeline 2 out work (a/to-chan! [1 2 3]) true handler)
                                      (values-of out)))]
           [(run-it (fn [_] :failed)) (run-it (fn [_] nil))])))

(deftest without-a-handler-the-value-is-skipped-and-reported
  (let [boom (ex-info "boom" {})]
    (doseq [pipeline [a/pipeline a/pipeline-blocking]]
      (is (= [[1 3] boom]
             (await-uncaught #(identical? boom %)
                             #(within-deadline
                                (through pipeline 2 (map (fn [v] (if (= 2 v) (throw boom) v))) [1 2 3]))))))
    (is (= [[1 3] boom]
           (await-uncaught #(identical? boom %)
                           #(within-deadline
                              (through a/pipeline-async 2
                                       (fn [v ch] (when (= 2 v) (throw boom)) (a/put! ch v) (a/close! ch))
                                       [1 2 3]))))
        "what an asynchronous operation throws, too")))

(deftest a-transducer-that-can-not-be-made-throws-at-the-call
  (let [boom (ex-info "boom" {})]
    (is (identical? boom (try (a/pipeline 2 (a/chan) (fn [_] (throw boom)) (a/chan)) (catch Exception e e))))))

;;;; Where it runs

(def ^:dynamic *who* :root)

(deftest blocking-work-runs-on-its-own-threads
  (let [names (fn [pipeline]
                (let [out (a/chan)
                      work (map (fn [_] (Thread/sleep 3) (.getName (Thread/currentThread))))]
                  (pipeline 1 out work (a/to-chan! (range 5)))
                  (within-deadline (values-of out))))]
    (is (re-matches #"async-compute-\d+" (peek (names a/pipeline))))
    (is (re-matches #"async-mixed-\d+" (peek (names a/pipeline-blocking))))))

(deftest work-sees-the-callers-bindings
  (is (= #{:caller}
         (binding [*who* :caller]
           (set (within-deadline (through a/pipeline 2 (map (fn [_] (Thread/sleep 2) *who*)) (range 6))))))))

(deftest work-may-wait-for-other-work
  (let [n 8
        all-there (CountDownLatch. n)
        work (map (fn [v] (.countDown all-there) (.await all-there) v))]
    (is (= (range n) (within-deadline (through a/pipeline-blocking n work (range n)))))))
