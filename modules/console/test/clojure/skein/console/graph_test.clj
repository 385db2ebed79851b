;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.graph-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.graph :as graph]
   [skein.inspect.shape :as shape]))

(set! *warn-on-reflection* true)

(defn- look
  "Returns a look with blocks, given as [id op channel holds], and `reports`."
  [waits reports]
  (let [blocks (for [[id op c holds] waits]
                 {:id id :state :parked :site {:file "a.clj" :line 1 :form (str "(at " c ")")} :waits [{:op op :channel c}] :holds holds})
        snapshot {:skein/snapshot 1 :blocks (vec blocks) :threads [] :collected {:blocks []}
                  :channels (for [[c ws] (group-by (fn channel [w] (nth w 2)) waits)]
                              {:id c :kind :chan :takes (vec (for [[id op] ws :when (= :take op)] {:block id}))
                               :puts (vec (for [[id op] ws :when (= :put op)] {:block id}))})}]
    {:snapshot snapshot :index (shape/index snapshot) :deadlocks reports :cache (atom {})}))

(defn- places [drawn]
  (into {} (map (juxt :key (juxt :layer :at))) (:nodes drawn)))

(deftest waits-are-drawn-in-layers
  (let [l (look [[1 :put 7] [2 :take 7] [3 :take 8]] [])
        drawn (graph/drawn l {:hops 2})]
    (is (= {"block-1" 0 "block-2" 0 "block-3" 0 "channel-7" 1 "channel-8" 1} (update-vals (places drawn) first)))
    (is (= 5 (count (set (vals (places drawn))))) "none lies on another")
    (is (= [["block-1" "channel-7" "put"] ["block-2" "channel-7" "take"] ["block-3" "channel-8" "take"]] (:edges drawn)))
    (is (= drawn (graph/drawn (look [[1 :put 7] [2 :take 7] [3 :take 8]] []) {:hops 2})))))

(deftest reported-nodes-are-drawn-first-and-marked
  (let [l (look [[1 :put 7] [2 :take 7] [3 :take 8]] [{:verdict :suspected :blocks [{:id 3}]}])
        drawn (graph/drawn l {:hops 2})]
    (is (:reported drawn))
    (is (= {"block-3" "suspected" "channel-8" nil} (into {} (map (juxt :key :verdict)) (:nodes drawn))))))

(deftest what-waits-for-a-proven-block-has-a-mark-of-its-own
  (let [whole {:skein/snapshot 1
               :blocks [{:id 2 :state :parked :waits [{:op :take :channel 9}]} {:id 3 :state :parked :waits [{:op :take :channel 9}]}]
               :threads [{:tid 5 :waits [{:op :take :channel 9}]} {:tid 6 :waits [{:op :take :channel 9}] :stuck? true}]
               :channels [{:id 9 :kind :result :block 1 :collected? true :takes [{:block 2} {:block 3} {:thread "a" :tid 5} {:thread "b" :tid 6}] :puts []}]
               :collected {:blocks [{:id 1 :site {:file "a.clj" :line 3}}]}}
        reports [{:verdict :proven :kind :deadlock :block {:id 1}
                  :awaited-by [{:block 2} {:block 3} {:thread "a" :tid 5} {:thread "b" :tid 6}]}
                 {:verdict :suspected :kind :deadlock :blocks [{:id 3}]}]
        l {:snapshot whole :index (shape/index whole) :deadlocks reports :cache (atom {})}]
    (is (= {"block-1" "proven", "channel-9" nil, "block-2" "awaits", "thread-5" "awaits"
            "block-3" "suspected" ; a report of its own counts
            "thread-6" "proven"} ; as a heap shows
           (into {} (map (juxt :key :verdict)) (:nodes (graph/drawn l {:hops 2})))))))

(deftest the-graph-around-a-node
  (let [l (look [[1 :put 7] [2 :take 7] [3 :take 8]] [])
        near (fn near [of hops] (set (keys (places (graph/drawn l {:of of :hops hops})))))]
    (is (= #{"block-1" "channel-7"} (near "block-1" 1)))
    (is (= #{"block-1" "channel-7" "block-2"} (near "block-1" 2)))
    (is (= #{"block-9"} (near "block-9" 2)))
    (is (= 5 (count (near "nonsense" 2))))))

(deftest nodes-of-a-cycle-have-positions
  (let [drawn (graph/drawn (look [[1 :put 7 [8]] [2 :put 8 [7]]] []) {:hops 2})]
    (is (= 4 (count (set (vals (places drawn))))))
    (is (= 4 (count (:edges drawn))))))

(deftest a-result-leads-to-its-block
  (let [whole {:skein/snapshot 1 :blocks [{:id 2 :state :parked :waits [{:op :take :channel 9}]}] :threads [{:tid 5 :waits [{:op :take :channel 9}]}]
               :channels [{:id 9 :kind :result :block 1 :collected? true :takes [{:block 2} {:thread "main" :tid 5}] :puts []}]
               :collected {:blocks [{:id 1 :site {:file "a.clj" :line 3}}]}}
        l {:snapshot whole :index (assoc (shape/index whole) :threads {5 (first (:threads whole))}) :deadlocks [] :cache (atom {})}
        edges #{["block-2" "channel-9" "take"] ["thread-5" "channel-9" "take"] ["channel-9" "block-1" "makes"]}]
    (doseq [of [nil "block-1" "block-2" "thread-5"]]
      (is (= edges (set (:edges (graph/drawn l {:of of :hops 2})))) of))))

(deftest a-scope-leads-to-its-children
  (let [whole {:skein/snapshot 1
               :blocks [{:id 1 :state :parked :waits [{:op :take :channel 9}]} {:id 2 :state :parked :scope 9 :waits [{:op :take :channel 8}]}]
               :threads [{:tid 5 :scope 9 :waits [{:op :take :channel 8}]}]
               :channels [{:id 8 :kind :chan :takes [{:block 2} {:thread "fork" :tid 5}] :puts []} {:id 9 :kind :scope :takes [{:block 1}] :puts []}]
               :scopes [{:id 9 :body {:block 1} :children [{:block 2} {:thread "fork" :tid 5} {:thread "works" :tid 6} {:begun? false}]}]
               :collected {:blocks []}}
        l {:snapshot whole :index (shape/index whole) :deadlocks [] :cache (atom {})}
        edges #{["block-1" "channel-9" "take"] ["channel-9" "block-2" "child"] ["channel-9" "thread-5" "child"]
                ["block-2" "channel-8" "take"] ["thread-5" "channel-8" "take"]}]
    (doseq [of [nil "block-1" "block-2" "thread-5"]]
      (is (= edges (set (:edges (graph/drawn l {:of of :hops 3})))) of))))

(deftest many-blocks-of-one-place-become-one-node
  (let [l (look (for [i (range 1000)] [i :take (if (< i 600) 7 8)]) [])
        drawn (graph/drawn (assoc-in l [:index :channels 7 :label] "jobs") {:hops 2})]
    (is (= 1002 (:total drawn)))
    (is (= #{["a.clj:1" "(at 7)" 600] ["jobs" nil 1] ["a.clj:1" "(at 8)" 400]} (set (map (juxt :name :place :n) (:nodes drawn)))))
    (is (= 1 (count (:edges drawn))))))
