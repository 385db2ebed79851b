;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.problems-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.blocks :as blocks]
   [skein.console.views.overview :as overview]
   [skein.console.views.problems :as problems]
   [skein.console.views.samples :refer [block look now]]))

(set! *warn-on-reflection* true)

(deftest a-thread-that-waits-for-ever-leads-to-its-block
  (let [l (look {:threads [{:name "w" :tid 7 :block 4 :stuck? true :waits [{:op :take :channel 3}]}]})]
    (is (= [["proven" [4]]] (map (juxt :rank :blocks) (:findings (problems/problems l [] (constantly nil))))))))

(deftest surest-problems-are-first
  (let [stuck {:blocks [{:id 4 :site {:file "a.clj" :line 4} :since-ms 1 :op :put}] :count 1}
        l (look {:collected stuck
                 :blocks [(block 1 {:state :new :age-ms 6000 :waits []})]
                 :failures [{:at-ms now :thread "t" :exception "java.lang.Error" :site nil}]})
        data (problems/problems l [{:site {:file "g.clj"} :from 1 :to 500 :says "Grows."}] (constantly nil))]
    (is (= ["proven" "error" "error" "warn"] (map :rank (:findings data))))
    (is (= "lost-value" (:kind (first (:findings data)))))
    (is (= [4] (:blocks (first (:findings data)))))
    (is (= 1 (:count (first (:leaks data)))))
    (is (= ["collected" "proven"] ((juxt :state (comp :rank :report)) (blocks/block l 4 (constantly nil)))))
    (is (= "One wait can never end." (:headline (overview/overview l [] (constantly nil)))))))
