;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.overview-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.overview :as overview]
   [skein.console.views.rows :as rows]
   [skein.console.views.samples :refer [look ten]]))

(set! *warn-on-reflection* true)

(deftest thread-without-a-place-has-no-empty-words
  (let [waiting {:name "worker" :tid 7 :since-ms 2000 :waits [{:op :take :latch "a latch"}]}]
    (is (= ["thread worker, has waited 2.0 s for a latch."]
           (map :says (:oldest (overview/overview (look {:threads [waiting]}) [] (constantly nil))))))))

(deftest heap-has-the-counts-that-ps-prints
  (let [l (look {:heap "x.hprof"
                 :blocks [{:id 1 :state :parked} {:id 2 :state :running :stuck? true :waits [{:op :take :channel 4}]}]
                 :collected {:count 1 :blocks [{:id 3}]}})]
    (is (= {:blocks 3 :states {"parked" 1 "stuck" 2} :collected 0} (select-keys (overview/counts l []) [:blocks :states :collected])))
    (is (= "stuck" (:state (rows/row (:index l) (first (filter :stuck? (:blocks (:snapshot l))))))))))

(deftest overview-without-findings
  (is (= "No problem found." (:headline (overview/overview @ten [] (constantly nil)))))
  (is (= "The inspector sees no blocks." (:headline (overview/overview (look {}) [] (constantly nil)))))
  (is (= "No problem found in what is seen so far." (:headline (overview/overview (look {:was-off? true :blocks [{:id 1 :state :running}]}) [] (constantly nil)))))
  (is (= "No problem found. 2 threads wait, the longest for 1 min 28 s."
         (:headline (overview/overview (look {:threads [{:name "a" :tid 1 :since-ms 88000} {:name "b" :tid 2}]}) [] (constantly nil)))))
  (is (= "Nothing is known to be wrong; see the note."
         (:headline (overview/overview (look {:blocks [{:id 1 :state :running :since-ms 2000 :on {:name "w" :tid 7 :state :waiting}}]}) [] (constantly nil)))))
  (is (re-find #"was off until this console started" (:unproven (overview/overview (look {:was-off? true}) [] (constantly nil)))))
  (is (= [10 9 8] (map :block (:oldest (overview/overview @ten [] (constantly nil)))))))
