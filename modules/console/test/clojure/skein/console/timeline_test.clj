;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.timeline-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.console.timeline :as timeline]))

(set! *warn-on-reflection* true)

(deftest missing-timeline-is-explained
  (let [throwing (fn throwing [text] {:timeline (fn fail [_] (throw (ex-info text {:skein/error :skein/not-inspectable})))})]
    (is (= {:off "A file has no timeline."} (timeline/drawn {} 1000)))
    (is (= {:off "The steps of blocks are not recorded."}
           (timeline/drawn (throwing "Process 7 can't be inspected: The steps of blocks are not recorded. Call (start!) first.") 1000)))
    (is (= {:off "Process 7 has ended."} (timeline/drawn (throwing "Process 7 has ended.") 1000)))))

(defn- drawn [slices]
  (timeline/drawn {:timeline (fn timeline [_] {:slices slices})} 1000))

(deftest the-longest-slices-come-in-order
  (let [slices (map (fn slice [i] {:at-us i :us (mod (* 7 (long i)) 7001) :kind :run :block 1 :site {:file "a.clj" :line 3}}) (range 7000))]
    (doseq [{:keys [slices total]} (vals (select-keys (drawn slices) [:threads :blocks]))]
      (is (= [7000 6000] [total (count slices)]))
      (is (apply < (map :at-us slices)))
      (is (= "a.clj:3" (:place (first slices))))
      (is (<= 1000 (long (apply min (map :us slices))))))))

(deftest each-view-has-the-slices-that-it-draws
  (let [waits (for [i (range 7000)] {:at-us 0 :us 9000 :kind :wait :block i})
        steps (for [i (range 100), block [7001 7002]] {:at-us (* 10 (long i)) :us 5 :kind :run :block block :thread "worker" :tid 1})
        {:keys [threads blocks]} (drawn (concat waits steps))]
    (testing "threads: the steps, however many waits are longer"
      (is (= [200 200 #{:run}] [(:total threads) (count (:slices threads)) (set (map :kind (:slices threads)))])))
    (testing "blocks: those with the most steps and waits"
      (is (= [7002 60 60] [(:of blocks) (:shown blocks) (count (set (map :block (:slices blocks))))]))
      (is (= {7001 100, 7002 100} (select-keys (frequencies (map :block (:slices blocks))) [7001 7002])))
      (is (= 258 (:total blocks))))))
