;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.explore-test
  "How schedules are chosen: all of them, each once. And a schedule always gives the same run."
  (:require
   [clojure.test :as test :refer [deftest is testing]]
   [skein.async :as a :refer [>! chan go]]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test]
   [skein.sim.runs :as runs])
  (:import
   (skein.sim.rt Simulation Trace)))

(set! *warn-on-reflection* true)

(defn- interleavings
  "How many orders there are of `n` tasks with `m` steps each: (nm)! / (m!)^n."
  [n m]
  (let [! (fn [k] (apply *' (range 1 (inc (long k)))))]
    (/ (! (* (long n) (long m))) (apply *' (repeat n (! m))))))

(deftest all-schedules-are-all-interleavings
  (doseq [[n points] [[2 1] [2 2] [2 3] [3 1] [3 2]]]
    (testing [n points]
      (let [summary (sim/check {:strategy :exhaustive :schedules 100000}
                      (let [c (chan 100)]
                        (dotimes [i n] (go (dotimes [_ points] (>! c i))))))]
        (is (:all summary))
        ;; A block with so many operations has one step more: up to the first of them.
        (is (= (interleavings n (inc (long points))) (:schedules summary) (:distinct summary)))))))

(deftest a-search-that-is-cut-short-says-so
  (is (not (:all (sim/check {:strategy :exhaustive :schedules 3}
                   (let [c (chan 100)] (dotimes [_ 3] (go (>! c 1) (>! c 1)))))))))

(deftest a-summary-counts-runs
  (let [summary (fn [options]
                  (let [options (merge {:seed 3} options)]
                    (dissoc (sim/check options (sim/pick [:a :b]) (sim/advance 5)) :steps :longest)))]
    (is (= {:schedules 1 :distinct 1 :virtual-ms 5 :new-chance 1.0 :seed 3} (summary {:schedules 1})))
    (is (= {:schedules 2 :distinct 2 :virtual-ms 5 :new-chance 0.0 :seed 3 :all true} (summary {:strategy :exhaustive})))
    (is (= {:schedules 100 :distinct 2 :virtual-ms 5 :new-chance 0.0 :seed 3} (summary {:strategy :random :schedules 100})))))

(defn- race
  "Two blocks that put three values each. Returns these in the order in which they came."
  []
  (let [c (chan 10)
        puts (fn [name] (go (dotimes [i 3] (>! c [name i]))))
        blocks [(puts :a) (puts :b)]]
    (run! a/<!! blocks)
    (vec (repeatedly 6 #(a/poll! c)))))

(defn- play-race
  "A run of `race` by `strategy`."
  ^Simulation [strategy]
  (let [options (sim/checked {})]
    (runs/play options {:strategy strategy :seed 0} (runs/bound options race))))

(defn- hits
  "How many of `n` runs of `race` by PCT for depth `d`, of `k` choices each, have the first d + 1 of a0, b0, a1, b1, a2 in this order."
  [d k n]
  (let [wanted (take (inc (long d)) [[:a 0] [:b 0] [:a 1] [:b 1] [:a 2]])
        hit? (fn [order] (apply < (map (fn [x] (.indexOf ^java.util.List order x)) wanted)))]
    (count (filter (fn [seed] (hit? (.value (play-race {:kind :pct :seed seed :d d :k k})))) (range n)))))

(deftest pct-finds-bugs-as-often-as-promised
  ;; Of 3 tasks with k choices at least one run in 3 k^(d-1).
  (let [n 1000]
    (runs/supervised (sim/checked {})
      (fn all []
        (let [k (.choices ^Trace (.-trace (play-race {:kind :uniform :seed 1})))]
          (doseq [d [1 2 3 4]]
            (is (<= (/ n 3.0 (Math/pow (double k) (dec (long d)))) (long (hits d k n))) [d k])))))))

(defn hashes
  "[Program, whether with its bug] -> the hashes of its runs by the seeds below `n`."
  [n]
  (into {} (for [{:keys [name options buggy fixed]} corpus-test/programs, bug? [true false]]
             (let [options (sim/checked options)
                   body (runs/bound options (if bug? buggy fixed))
                   hash (fn [seed]
                          (let [schedule {:strategy {:kind :uniform :seed seed} :slow? (= :slow (:time options)) :seed seed}]
                            (.hash (.-trace (runs/play options schedule body)))))]
               [[name bug?] (runs/supervised options (fn all [] (mapv hash (range n))))]))))

(deftest the-same-schedule-gives-the-same-run
  (is (= (hashes 12) (hashes 12))))
