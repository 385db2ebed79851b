;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.timeline-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.timeline :as timeline]))

(set! *warn-on-reflection* true)

(deftest missing-timeline-is-explained
  (let [throwing (fn throwing [text] {:timeline (fn fail [_] (throw (ex-info text {:skein/error :skein/not-inspectable})))})]
    (is (= {:off "A file has no timeline."} (timeline/drawn {} 1000)))
    (is (= {:off "The steps of blocks are not recorded."}
           (timeline/drawn (throwing "Process 7 can't be inspected: The steps of blocks are not recorded. Call (start!) first.") 1000)))
    (is (= {:off "Process 7 has ended."} (timeline/drawn (throwing "Process 7 has ended.") 1000)))))

(deftest the-longest-slices-come-in-order
  (let [slices (map (fn slice [i] {:at-us i :us (mod (* 7 (long i)) 7001) :kind :run :block i :site {:file "a.clj" :line 3}}) (range 7000))
        {:keys [slices total]} (timeline/drawn {:timeline (fn timeline [_] {:slices slices})} 1000)]
    (is (= [7000 6000] [total (count slices)]))
    (is (apply < (map :at-us slices)))
    (is (= "a.clj:3" (:place (first slices))))
    (is (<= 1000 (long (apply min (map :us slices)))))))
