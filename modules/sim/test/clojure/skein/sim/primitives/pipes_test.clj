;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.primitives.pipes-test
  "pipeline and merge, under many schedules."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! chan close! go go-loop]]
   [skein.async.streams :as st]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.virtual :as virtual]))

(set! *warn-on-reflection* true)

(def ^:private o {:schedules 100 :max-steps 5000 :leaks :all})

(defn- discard
  "Closes `ch`, and takes what somebody waited to put there."
  [ch]
  (close! ch)
  (while (some? (a/poll! ch))))

(defn- error-of [f]
  (try (f) nil (catch clojure.lang.ExceptionInfo e (ex-message e))))

;;;; pipeline

(deftest results-come-in-order-and-end
  (sim/check o
    (let [from (chan), to (chan)]
      (a/pipeline 2 to (mapcat #(repeat % %)) from)
      (a/onto-chan! from [1 0 2 3])
      (is (= [1 2 2 3 3 3] (<!! (a/into [] to)))))))

(defn- counted
  "Returns a function that calls `f` and keeps [running calls, their maximum] in `running`."
  [running f]
  (fn [x]
    (swap! running (fn [[n most]] [(inc (long n)) (max (long most) (inc (long n)))]))
    (try (f x) (finally (swap! running update 0 dec)))))

(deftest at-most-n-values-are-processed-at-a-time
  (sim/check {:schedules 40 :max-steps 5000 :leaks :all}
    (let [from (chan 10), to (chan), running (atom [0 0])]
      (a/pipeline-blocking 2 to (map (counted running (fn [x] (virtual/sleep 5) x))) from)
      (a/onto-chan! from [1 2 3 4 5])
      (is (= [1 2 3 4 5] (<!! (a/into [] to))))
      (is (= [0 2] @running)))))

(deftest blocking-work-runs-on-threads
  (sim/check {:schedules 40 :max-steps 5000 :leaks :all :time :slow}
    (let [from (chan), to (chan)]
      (a/pipeline 2 to (map inc) from)
      (a/onto-chan! from [1 2 3 4])
      (is (= [2 3 4 5] (<!! (a/into [] to)))))))

(deftest asynchronous-work-is-started-by-functions
  (sim/check o
    (let [from (chan), to (chan), running (atom [0 0])
          af (fn [x result]
               (swap! running (fn [[n most]] [(inc (long n)) (max (long most) (inc (long n)))]))
               (go (<! (a/timeout (- 10 (long x))))
                   (>! result x)
                   (>! result (- (long x)))
                   (swap! running update 0 dec)
                   (close! result)))]
      (a/pipeline-async 2 to af from)
      (a/onto-chan! from [1 2 3 4])
      (is (= [1 -1 2 -2 3 -3 4 -4] (<!! (a/into [] to))))
      (is (= [0 2] @running)))))

(deftest failed-values-are-left-out
  (sim/check o
    (let [from (chan), to (chan), seen (atom [])
          fails (fn [x] (if (= 2 x) (throw (ex-info "two" {})) x))]
      (a/pipeline 2 to (map fails) from true (fn [e] (swap! seen conj (ex-message e)) :failed))
      (a/onto-chan! from [1 2 3])
      (is (= [1 :failed 3] (<!! (a/into [] to))))
      (is (= ["two"] @seen)))))

(deftest no-value-is-taken-without-demand
  (sim/check {:schedules 100 :max-steps 5000 :leaks :none}
    (let [from (chan), to (chan), taken (atom 0)]
      (go-loop [i 0] (when (>! from i) (swap! taken inc) (recur (inc i))))
      (a/pipeline 2 to (map identity) from)
      (is (= [0 1] [(<!! to) (<!! to)]))
      (discard to)
      (sim/settle)
      (is (<= (long @taken) 8)))))

(deftest no-value-is-taken-for-a-closed-output
  (sim/check o
    (let [from (chan 3), to (chan)]
      (dotimes [i 3] (>!! from i))
      (close! to)
      (a/pipeline 2 to (map identity) from)
      (sim/settle)
      (is (= [0 1 2] (take-while some? (repeatedly #(a/poll! from))))))))

(deftest putters-are-released-when-the-output-closes
  (sim/check o
    (let [from (chan 5), to (chan), ended (atom 0)
          af (fn [x result] (go (dotimes [_ 5] (>! result x)) (close! result) (swap! ended inc)))]
      (a/onto-chan! from [1 2 3])
      (a/pipeline-async 2 to af from)
      (is (= 1 (<!! to)))
      (discard to)
      (sim/settle)
      (is (<= 1 (long @ended) 3)))))

(deftest outputs-stay-open-on-request
  (sim/check o
    (let [from (chan), to (chan 5)]
      (a/onto-chan! from [1])
      (<!! (a/pipeline 1 to (map inc) from false))
      (is (true? (a/offer! to :more)))
      (is (= [2 :more] [(<!! to) (<!! to)])))))

(deftest a-cause-is-passed-on
  (sim/check o
    (let [from (chan 1), to (chan)]
      (a/pipeline 2 to (map inc) from)
      (>!! from 1)
      (a/close-with! from (ex-info "cause" {}))
      (is (= 2 (a/<?? to)))
      (is (= "cause" (error-of #(a/<?? to)))))))

(deftest a-cancelled-pipeline-ends
  (sim/check {:schedules 60 :max-steps 5000 :leaks :all}
    (let [from (chan), to (chan)]
      (scope/scope [s]
        (scope/in-scope s
          (a/pipeline 2 to (map inc) from)
          (>!! from 1)
          (is (= 2 (<!! to))))
        (scope/cancel! s)))))

(defn- slow-inc [x]
  (virtual/sleep 1)
  (inc (long x)))

(def ^:private operations-of-slow-inc
  "Operation -> function that begins it on a channel, and returns its output. Each value takes 1 ms of work."
  {"pipeline" (fn [in]
                (let [to (chan)]
                  (a/pipeline 2 to (map slow-inc) in)
                  to))
   "pipeline-async" (fn [in]
                      (let [to (chan)]
                        (a/pipeline-async 2 to (fn [v c] (go (>! c (slow-inc v)) (close! c))) in)
                        to))
   "pmap" (fn [in] (st/pmap {:n 2 :on-error (constantly nil)} slow-inc in))
   "unordered" (fn [in] (st/pmap {:n 1 :ordered? false :on-error (constantly nil)} slow-inc in))
   "map" (fn [in] (a/map slow-inc [in]))
   "merge" (fn [in] (a/merge [(a/map slow-inc [in])]))
   "batch" (fn [in] (st/batch 1 (a/map slow-inc [in])))})

(deftest a-cut-is-no-end
  (doseq [[operation start] operations-of-slow-inc]
    (testing operation
      (sim/check o
        (let [out (chan 1)
              taken (a/thread
                      (let [out (<!! out)]
                        (loop [values []]
                          (let [[v thrown] (try [(a/<?? out)] (catch Throwable t [nil t]))]
                            (if (some? v) (recur (conj values v)) [(flatten values) thrown])))))]
          (scope/scope [s]
            (scope/in-scope s (>!! out (start (a/to-chan! [1 2 3]))))
            (virtual/sleep (sim/pick [0 1 2 3 4]))
            (scope/cancel! s))
          (let [[values thrown] (<!! taken)]
            (is (if thrown
                  (= values (take (count values) [2 3 4]))
                  (= [2 3 4] values)))))))))

;;;; merge

(deftest all-channels-are-merged
  (sim/check o
    (let [c (chan), d (chan 1), got (a/into [] (a/merge [c d]))]
      (a/onto-chan! c [1 2 3])
      (a/onto-chan! d [11 12])
      (let [got (<!! got)]
        (is (= [1 2 3] (filter #(< (long %) 10) got)))
        (is (= [11 12] (filter #(< 10 (long %)) got)))))))

(deftest a-closed-merge-takes-no-more
  (sim/check o
    (let [c (chan 5), out (a/merge [c])]
      (dotimes [i 5] (>!! c i))
      (is (= 0 (<!! out)))
      (discard out)
      (sim/settle)
      (is (<= 2 (count (take-while some? (repeatedly #(a/poll! c)))))))))

(deftest a-merge-fails-as-its-channel
  (sim/check o
    (let [c (chan), d (chan), out (a/merge [c d])]
      (close! c)
      (a/close-with! d (ex-info "cause" {}))
      (is (= "cause" (error-of #(a/<?? out)))))))

(deftest a-merge-of-nothing-is-closed
  (sim/check o (is (nil? (<!! (a/merge []))))))
