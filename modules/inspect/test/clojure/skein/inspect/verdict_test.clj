;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.verdict-test
  "Reports on snapshots of heap files."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.inspect :as inspect]))

(set! *warn-on-reflection* true)

(defn- deadlocks [snapshot]
  (inspect/deadlocks nil (assoc snapshot :skein/snapshot 1)))

(defn- why [x snapshot]
  (inspect/why x (assoc snapshot :skein/snapshot 1)))

(deftest the-main-thread-may-wait-for-what-it-likes-but-not-for-a-scope
  (let [says (fn says [kind]
               (map :says (deadlocks {:threads [{:name "main" :tid 1 :stuck? true :waits [{:op :take :channel 7}]}]
                                      :channels [{:id 7 :kind kind :takes [] :puts []}]
                                      :scopes (when (= :scope kind) [{:id 7 :body {:thread "main" :tid 1} :children [{:block 2}]}])})))]
    (is (= [] (says :chan)))
    (is (= ["thread main, waits for the end of scope-7. No running code can reach that, so it waits for ever. The scope ends when its children have ended: go-2."]
           (says :scope)))))

;; Perhaps a main thread takes only to keep the program alive. A put has no such use.
(deftest the-main-thread-may-not-wait-for-ever-to-put
  (let [says (fn says [& ops]
               (map :says (deadlocks {:heap "x.hprof"
                                      :threads [{:name "main" :tid 1 :stuck? true :waits (mapv (fn wait [op] {:op op :channel 7}) ops)}]
                                      :channels [{:id 7 :kind :chan :takes [] :puts []}]})))]
    (is (= [] (says :take)))
    (is (= ["thread main, waits to put on chan-7. No running code can reach that, so it waits for ever."] (says :put)))
    (is (= 1 (count (says :take :put))) "alts!! of both")))

(deftest why-follows-a-thread-to-blocks-of-a-heap-that-no-code-can-reach
  (let [result (fn result [id block & takers] {:id id :kind :result :block block :collected? true :takes (vec takers) :puts []})
        stuck (fn stuck [id form channel & holds] {:id id :site {:file "x.clj" :line id :form form} :waits [{:op :take :channel channel}] :holds (vec holds)})
        snapshot {:heap "x.hprof"
                  :threads [{:name "main" :tid 1 :waits [{:op :take :channel 7}]} {:name "both" :tid 2 :waits [{:op :take :channel 8}]}]
                  :channels [(result 7 1 {:thread "main" :tid 1}) (result 8 2 {:thread "both" :tid 2})
                             {:id 9 :kind :chan :takes [{:block 1}] :puts []} {:id 10 :kind :chan :takes [{:block 2}] :puts []}
                             {:id 11 :kind :chan :takes [{:block 3}] :puts []}]
                  :collected {:count 3 :blocks [(stuck 1 "(<! in)" 9) (stuck 2 "(<! x)" 10 11) (stuck 3 "(<! y)" 11 10)]}}
        says (fn says [x] (:says (why x snapshot)))]
    (is (= "thread main, waits for the result of go-1. go-1, x.clj:1 (<! in), waits for chan-9. No running code can reach that, so it waits for ever."
           (says "main")))
    (is (= (str "thread both, waits for the result of go-2. go-2, x.clj:2 (<! x), waits for chan-10. go-3, x.clj:3 (<! y), waits for chan-11. "
                "It seems that they wait for one another. No running code can reach them.")
           (says "both")))
    (is (re-find #"^go-1, x.clj:1 \(<! in\), waits for chan-9, can never continue" (says "go-1")))
    (testing "in a snapshot of a running process they were collected"
      (is (= "thread main, waits for the result of go-1. go-1 was collected before it had ended: it can never continue."
             (:says (why "main" (dissoc snapshot :heap))))))))

(deftest why-knows-that-a-timer-ends-a-wait-in-a-heap
  (let [snapshot {:heap "x.hprof"
                  :threads []
                  :channels [{:id 5 :kind :timeout :takes [{:block 1}] :puts []} {:id 6 :kind :chan :takes [{:block 1}] :puts []}]
                  :blocks [{:id 1 :site {:file "x.clj" :line 1 :form "(alts! ports)"}
                            :waits [{:op :take :channel 5} {:op :take :channel 6}]}]}
        {:keys [says ends]} (why "go-1" snapshot)]
    (is (= :timer ends))
    (is (str/ends-with? says " A timer ends that. A heap does not show when."))))

(deftest a-cycle-through-a-scope-is-suspected
  (let [block (fn block [id channel & {:as more}] (merge {:id id :state :parked :since-ms 9000 :waits [{:op :take :channel channel :place 1}]} more))
        suspects (fn suspects [scope & [more]]
                   (map (juxt :verdict (comp (partial map :id) :blocks))
                        (deadlocks {:blocks [(block 1 9 {:holds [8] :scope 9}) (merge (block 2 8 {:scope 9}) more)]
                                            :channels [{:id 8 :kind :chan :takes [{:block 2}] :puts []} {:id 9 :kind :scope :takes [{:block 1}] :puts []}]
                                            :scopes [(merge {:id 9 :body {:block 1} :children [{:block 2}]} scope)]})))]
    (is (= [[:suspected [1 2]]] (suspects {})) "the body would put after its scope")
    (is (= [] (suspects {:children [{:block 2} {:thread "t" :tid 5}]})) "the thread may cancel the scope")
    (is (= [] (suspects {:children [{:block 2} {:begun? false}]})))
    (is (= [] (suspects {:remaining-ms 4000})) "the deadline ends both")
    (is (= [] (suspects {} {:state :running :waits []})))))

(defn- stuck-on
  "Returns the report on thread 1, which waits for ever in `channel`."
  [channel]
  (map :says (deadlocks {:threads [{:name "hung" :tid 1 :stuck? true :waits [{:op :take :channel (:id channel)}]}]
                         :channels [channel]})))

(deftest verdict-mentions-a-block-collected-before
  (let [[says & others] (stuck-on {:id 7 :kind :result})]
    (is (nil? others))
    (is (re-find #"waits for result-7\. No running code can reach that, so it waits for ever\. The block of that result was collected earlier" says))
    (is (re-find #"skein\.inspect/start!" says) "and what to do")
    (is (= says (:says (why "hung" {:threads [{:name "hung" :tid 1 :stuck? true :waits [{:op :take :channel 7}]}] :channels [{:id 7 :kind :result}]})))
        "why says the same"))
  (testing "a block that blocks its thread waits in no channel"
    (doseq [[name channel] {"chan" {:kind :chan}, "result" {:kind :result :running? true}}]
      (is (re-find (re-pattern (str "waits for " name "-7\\. No running code can reach that, so it waits for ever\\.$"))
                   (first (stuck-on (assoc channel :id 7))))))))
