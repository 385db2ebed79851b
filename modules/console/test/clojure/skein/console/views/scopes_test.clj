;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.scopes-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.samples :refer [look]]
   [skein.console.views.scopes :as scopes]))

(set! *warn-on-reflection* true)

(deftest a-child-that-no-code-can-reach-has-not-ended
  (let [children (fn children [snapshot]
                   (map (juxt :name :state :place)
                        (:children (first (:rows (scopes/scopes (look (merge {:scopes [{:id 9 :children [{:block 5}]}]} snapshot))))))))]
    (is (= [["go-5" "stuck" "a.clj:3"]]
           (children {:heap "x.hprof" :collected {:count 1 :blocks [{:id 5 :op :take :site {:file "a.clj" :line 3}}]}})))
    (is (= [["go-5" "done" ""]] (children {})))))

(deftest scopes-are-a-tree
  (let [l (look {:scopes [{:id 2 :parent 1 :body {:thread "t" :tid 5} :children [{:begun? false}] :cancelled? false :failures 0}
                          {:id 1 :body {:block 9} :children [] :cancelled? true :cancelled-ms 7 :failures 1}]
                 :threads [{:tid 5 :name "t" :site {:file "a.clj" :line 3} :waits [{:op :take :channel 4}]}]})]
    (is (= [[1 0 "go-9"] [2 1 "thread t"]] (map (juxt :id :depth (comp :name :body)) (:rows (scopes/scopes l)))))
    (is (= {:name "thread t" :tid 5 :place "a.clj:3" :waits "for chan-4"} (:body (second (:rows (scopes/scopes l))))))))
