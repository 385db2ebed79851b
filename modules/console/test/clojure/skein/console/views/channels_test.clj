;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.channels-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.channels :as channels]
   [skein.console.views.samples :refer [look ten]]))

(set! *warn-on-reflection* true)

(deftest channels-and-their-waiters
  (let [{:keys [rows]} (channels/channels @ten {})]
    (is (= [["orders" 10 0] ["timeout-8" 0 0]] (map (juxt :name :takes :puts) rows))))
  (is (= ["timeout-8"] (map :name (:rows (channels/channels @ten {:q "TIME"})))))
  (is (= "go-1" (:name (first (:taking (channels/channel @ten 7))))))
  (is (nil? (channels/channel @ten 9))))

(deftest wait-in-a-heap-file-has-no-time
  (let [oldest (fn oldest [block]
                 (map :oldest (:rows (channels/channels (look {:blocks [(merge {:id 1 :state :parked :waits [{:op :take :channel 4}]} block)]
                                                               :channels [{:id 4 :kind :chan :takes [{:block 1}] :puts []}]})
                                       {}))))]
    (is (= [nil] (oldest {})))
    (is (= [7] (oldest {:since-ms 7})))))

(deftest a-thread-that-waits-has-its-place
  (let [l (look {:threads [{:tid 5 :name "t" :site {:file "a.clj" :line 3} :since-ms 7 :waits [{:op :take :channel 4}]}]
                 :channels [{:id 4 :kind :chan :closed? false :takes [{:thread "t" :tid 5}] :puts []}]})]
    (is (= [{:name "thread t" :block nil :since 7 :place "a.clj:3"}] (:taking (channels/channel l 4))))))
