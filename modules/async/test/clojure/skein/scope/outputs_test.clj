;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope.outputs-test
  "When a scope ends the operations that were started in it, each closes its output with the cause. A taker
  outside of the scope gets what had been delivered, and then that cause. It never waits for ever, and never
  takes the cut for the end."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.limit :as limit]
   [skein.async.reactive :as reactive]
   [skein.async.streams :as st]
   [skein.deadline :refer [within-deadline]]
   [skein.scope :as s]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CancellationException CountDownLatch Flow$Subscriber)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

;;;; The operations

(defn- given
  "Returns a channel for an operation that puts on a channel of its caller."
  []
  (a/chan 5))

(defn- reading
  "Returns the values of `in` as a lazy seq, which waits for each."
  [in]
  (lazy-seq (when-some [v (a/<!! in)] (cons v (reading in)))))

(defn- doubling [v result]
  (a/go (a/>! result (* 2 (long v))) (a/close! result)))

(defn- onto
  "Returns a function that begins an operation on a channel, by `(f to in)`, and returns its output."
  [f]
  (fn start [in]
    (let [to (given)]
      (f to in)
      [to])))

(defn- increased [vs]
  [(map inc vs)])

(defn- by-oddness [vs]
  [(filter odd? vs) (remove odd? vs)])

(def ^:private operations
  "Operation -> [start expected]. `start` begins it on a channel, and returns its outputs. `expected` returns the
  values that each of them gets; by default those of the channel."
  {"pipe" [(onto (fn [to in] (a/pipe in to)))]
   "pipeline" [(onto (fn [to in] (a/pipeline 2 to (map inc) in))) increased]
   "pipeline-blocking" [(onto (fn [to in] (a/pipeline-blocking 2 to (map inc) in))) increased]
   "pipeline-async" [(onto (fn [to in] (a/pipeline-async 2 to doubling in))) (fn [vs] [(map #(* 2 (long %)) vs)])]
   "the port of pipeline" [(fn [in] [(a/pipeline 2 (given) (map inc) in)]) (fn [_] [[]])]
   "merge" [(fn [in] [(a/merge [in (a/chan)] 5)])]
   "map" [(fn [in] [(a/map + [in (a/to-chan! (repeat 1))] 5)]) increased]
   "take" [(fn [in] [(a/take 10 in 5)])]
   "split" [(fn [in] (a/split odd? in 5 5)) by-oddness]
   "mult" [(fn [in] (let [m (a/mult in)] [(a/tap m (given)) (a/tap m (given))])) (fn [vs] [vs vs])]
   "gate" [(onto (fn [to in] (a/tap (a/mult in) (st/gate :drop to))))]
   "pub" [(fn [in] (let [p (a/pub in odd?)] [(a/sub p true (given)) (a/sub p false (given))])) by-oddness]
   "batch" [(fn [in] [(st/batch 1 in)]) (fn [vs] [(map vector vs)])]
   "pmap" [(fn [in] [(st/pmap 2 inc in)]) increased]
   "pmap, unordered" [(fn [in] [(st/pmap {:n 1 :ordered? false} inc in)]) increased]
   "rate-limiter" [(fn [_] [(limit/rate-limiter 1e-9)]) (fn [_] [[true]])]
   "onto-chan!" [(onto (fn [to in] (a/onto-chan! to (reading in))))]
   "onto-chan!!" [(onto (fn [to in] (a/onto-chan!! to (reading in))))]
   "to-chan!" [(fn [in] [(a/to-chan! (concat (repeat 101 0) (reading in)))]) ; which counts up to 100 itself
               (fn [vs] [(concat (repeat 101 0) vs)])]
   "into" [(fn [in] [(a/into [] in)]) (fn [_] [[]])]
   "go" [(fn [in] [(a/go-loop [] (when (a/<! in) (recur)))]) (fn [_] [[]])]
   "io-thread" [(fn [in] [(a/io-thread (while (a/<!! in)))]) (fn [_] [[]])]
   "a chain" [(fn [in] [(->> [(a/map inc [in])] a/merge (st/batch 1) (a/take 10))])
              (fn [vs] [(map (comp vector inc) vs)])]})

;;;; How they end

(def ^:private boom (ex-info "db down" {}))

(defn- scoped
  "Calls `begin` in a scope, then `ready` outside of `in-scope`, and ends the scope in this way."
  [how begin ready]
  (try
    (case how
      "cancel!" (s/scope [sc] (s/in-scope sc (begin)) (ready) (s/cancel! sc))
      "a failure" (s/scope [sc] (s/in-scope sc (begin)) (ready) (s/fork sc (throw boom)) (a/<!! (a/chan)))
      "its deadline" (s/scope [sc {:timeout-ms 20}] (s/in-scope sc (begin)) (ready) (a/<!! (a/chan)))
      "cancel! before the start" (s/scope [sc] (s/cancel! sc) (s/in-scope sc (begin))))
    (catch Exception _)))

(defn- cause? [how thrown]
  (if (= "a failure" how) (identical? boom thrown) (instance? CancellationException thrown)))

(defn- take-all
  "Takes from `out` until it ends, and calls `taken` after each value. Returns [values cause]; the cause is nil at
  a normal end."
  [out taken]
  (loop [values []]
    (let [[v thrown] (try [(a/<?? out) nil] (catch Throwable t [nil t]))]
      (if (some? v)
        (do (taken) (recur (conj values v)))
        [values thrown]))))

(defn- held
  "Returns [how many values `out` keeps for its takers, how many it can keep]."
  [^Channel out]
  (if-some [b (.buffer out)] [(count b) (.capacity b)] [0 0]))

(deftest outputs-close-with-the-cause
  (doseq [[operation [start expected]] operations
          how ["cancel!" "a failure" "its deadline" "cancel! before the start"]
          n (if (= "cancel! before the start" how) [0] [0 2])]
    (testing (str operation ", by " how ", after " n " values")
      (let [in (a/chan 5)
            vs (range 1 (inc (long n)))
            expected (mapv vec ((or expected vector) vs))
            left (CountDownLatch. (count (apply concat expected)))
            taker (fn taker [out] (v/future (take-all out (fn taken [] (.countDown left)))))
            takers (promise)
            results (within-deadline
                      (scoped how
                        (fn begin [] (deliver takers (mapv taker (start in))))
                        (fn ready []
                          (run! (fn [v] (a/>!! in v)) vs)
                          (.await left)))
                      (mapv deref @takers))]
        (doseq [[[values cause] expected] (map vector results expected)]
          (is (cause? how cause))
          (is (if (#{"cancel!" "a failure"} how)
                (= expected values)
                (= values (take (count values) expected)))))))))

(deftest delivered-values-come-before-the-cause
  (doseq [[operation [start expected]] operations, how ["cancel!" "a failure"]]
    (testing (str operation ", by " how)
      (let [in (a/chan 5)
            expected ((or expected vector) [1 2])
            outs (promise)
            kept (fn kept [] (map (fn [out vs] (take (second (held out)) vs)) @outs expected))]
        (within-deadline
          (scoped how
            (fn begin [] (deliver outs (start in)))
            (fn ready []
              (run! (fn [v] (a/>!! in v)) [1 2])
              (while (not= (map count (kept)) (map (comp first held) @outs)) (Thread/onSpinWait))))
          (doseq [[out values] (map vector @outs (kept))
                  :let [[taken cause] (take-all out (fn taken []))]]
            (is (= values taken))
            (is (cause? how cause))))))))

(deftest a-swallowed-cancellation-is-no-end
  (let [to (a/chan), begun (promise)
        af (fn [_ result]
             (deliver begun true)
             (try (a/<!! (a/chan)) (catch InterruptedException _))
             (a/close! result))]
    (within-deadline
      (s/scope [sc]
        (s/in-scope sc (a/pipeline-async 2 to af (a/to-chan! (range))))
        @begun
        (s/cancel! sc))
      (is (cause? "cancel!" (second (take-all to (fn taken []))))))))

(deftest outputs-of-others-stay-open
  (doseq [[operation start] {"pipe" (fn [in to] (a/pipe in to false))
                             "pipeline" (fn [in to] (a/pipeline 2 to (map inc) in false))
                             "pipeline-blocking" (fn [in to] (a/pipeline-blocking 2 to (map inc) in false))
                             "pipeline-async" (fn [in to] (a/pipeline-async 2 to doubling in false))
                             "mult" (fn [in to] (a/tap (a/mult in) to false))
                             "pub" (fn [in to] (a/sub (a/pub in any?) true to false))
                             "mix" (fn [in to] (a/admix (a/mix to) in))
                             "onto-chan!" (fn [in to] (a/onto-chan! to (reading in) false))
                             "onto-chan!!" (fn [in to] (a/onto-chan!! to (reading in) false))}
          how ["cancel!" "a failure" "its deadline" "cancel! before the start"]]
    (testing (str operation ", by " how)
      (let [to (given)]
        (within-deadline (scoped how (fn begin [] (start (a/chan) to)) (fn ready [])))
        (is (not (a/closed? to)))))))

(deftest later-taps-and-subscriptions-close-with-the-cause
  (doseq [[operation start later] [["mult" (fn [in] (doto (a/mult in) (a/tap (given)))) #(a/tap % (given))]
                                   ["pub" (fn [in] (a/pub in any?)) #(a/sub % true (given))]]
          how ["cancel!" "a failure" "its deadline" "cancel! before the start"]]
    (testing (str operation ", by " how)
      (let [hub (promise)]
        (within-deadline
          (scoped how (fn begin [] (deliver hub (start (a/chan)))) (fn ready []))
          (is (cause? how (second (take-all (later @hub) (fn taken []))))))))))

(deftest a-subscriber-gets-the-cause
  (doseq [how ["cancel!" "a failure" "its deadline" "cancel! before the start"]]
    (testing how
      (let [told (promise)
            subscriber (reify Flow$Subscriber
                         (onSubscribe [_ s] (.request s 1))
                         (onNext [_ _])
                         (onComplete [_] (deliver told :complete))
                         (onError [_ thrown] (deliver told thrown)))]
        (within-deadline
          (scoped how (fn begin [] (.subscribe (reactive/publisher (a/chan)) subscriber)) (fn ready []))
          (is (cause? how @told)))))))

(deftest a-subscriber-that-throws-gets-no-more-signals
  (let [told (atom [])
        subscriber (reify Flow$Subscriber
                     (onSubscribe [_ s] (.request s 1))
                     (onNext [_ v] (swap! told conj v) (throw boom))
                     (onComplete [_] (swap! told conj :complete))
                     (onError [_ thrown] (swap! told conj thrown)))]
    (is (identical? boom (try
                           (within-deadline
                             (s/scope [sc]
                               (s/in-scope sc (.subscribe (reactive/publisher (a/to-chan! [1 2])) subscriber))
                               (a/<!! (a/chan))))
                           (catch Exception e e))))
    (is (= [1] @told))))
