;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.channels-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.channels :as channels]
   [skein.console.views.samples :refer [ten]]))

(set! *warn-on-reflection* true)

(deftest channels-and-their-waiters
  (let [{:keys [rows]} (channels/channels @ten {})]
    (is (= [["orders" 10 0] ["timeout-8" 0 0]] (map (juxt :name :takes :puts) rows))))
  (is (= ["timeout-8"] (map :name (:rows (channels/channels @ten {:q "TIME"})))))
  (is (= "go-1" (:name (first (:taking (channels/channel @ten 7))))))
  (is (nil? (channels/channel @ten 9))))
