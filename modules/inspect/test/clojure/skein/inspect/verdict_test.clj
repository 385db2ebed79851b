;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.verdict-test
  "Reports on snapshots of heap files."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.inspect.verdict :as verdict]))

(set! *warn-on-reflection* true)

(defn- stuck-on
  "Returns what is said of thread 1, which waits for ever in `channel`."
  [channel]
  (map :says (verdict/deadlocks {:threads [{:name "hung" :tid 1 :stuck? true :waits [{:op :take :channel (:id channel)}]}]
                                 :channels [channel]})))

(deftest verdict-mentions-a-block-collected-before
  (let [[says & others] (stuck-on {:id 7 :kind :result})]
    (is (nil? others))
    (is (re-find #"waits for result-7\. No running code can reach that, so it waits for ever\. The block .* was collected before" says))
    (is (re-find #"skein\.inspect/start!" says) "and what to do"))
  (testing "a block that blocks its thread waits in no channel"
    (doseq [[name channel] {"chan" {:kind :chan}, "result" {:kind :result :running? true}}]
      (is (re-find (re-pattern (str "waits for " name "-7\\. No running code can reach that, so it waits for ever\\.$"))
                   (first (stuck-on (assoc channel :id 7))))))))
