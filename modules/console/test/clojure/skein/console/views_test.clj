;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.console.looks :as looks]
   [skein.console.views :as views])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(def ^:private now 1790000000000)

(defn- block [id more]
  (merge {:id id :state :parked :site {:file "a.clj" :line (mod id 2) :form "(<! c)"} :waits [{:op :take :channel 7 :place 1}]
          :since-ms (* 1000 (long id)) :age-ms (* 2000 (long id)) :runs (long (- 100 (long id)))}
         more))

(defn- look [snapshot]
  (let [whole (merge {:skein/snapshot 1 :at-ms now :blocks [] :threads [] :channels [] :scopes [] :failures [] :timers 0 :locks []
                      :collected {:count 0 :blocks []}}
                     snapshot)]
    (:look (looks/latest (looks/looks {:live? true :look (constantly whole)})))))

(def ^:private ten
  (delay (look {:blocks (mapv #(block % (when (= 3 %) {:parent 2 :state :running :waits []})) (range 1 11))
                :channels [{:id 7 :kind :chan :label "orders" :closed? false :takes (mapv (fn [i] {:block i}) (range 1 11)) :puts []
                            :buffer {:type 'FixedBuffer :count 0 :capacity 4}}
                           {:id 8 :kind :timeout :takes [] :puts [] :remaining-ms 5}]})))

(defn- ids [data] (map :id (:rows data)))

(deftest rows-come-in-windows
  (is (= [10 9 8] (ids (views/blocks @ten {:n 3}))))
  (is (= {:total 10 :from 8} (select-keys (views/blocks @ten {:from 8}) [:total :from])))
  (is (= [2 1] (ids (views/blocks @ten {:from 8}))))
  (is (= [] (ids (views/blocks @ten {:from 1000}))))
  (is (= 10 (count (ids (views/blocks @ten {:from -5})))))
  (testing "in an order"
    (is (= [1 2] (ids (views/blocks @ten {:sort "runs" :n 2})) (ids (views/blocks @ten {:sort "id" :n 2}))))
    (is (= [10 8] (ids (views/blocks @ten {:sort "site" :n 2}))))
    (is (= :skein/bad-filter (try (views/blocks @ten {:sort "colour"}) (catch ExceptionInfo e (:skein/error (ex-data e)))))))
  (testing "of those that the filter chooses"
    (is (= [3] (ids (views/blocks @ten {:q "state:running"}))))
    (is (= 9 (:total (views/blocks @ten {:q "chan:orders"}))))))

(deftest blocks-of-a-place-are-one-row
  (let [{:keys [rows total]} (views/sites @ten {{:file "a.clj" :line 1 :form "(<! c)"} 2} {})]
    (is (= 2 total))
    (is (= [[5 10 10000 5] [5 9 9000 3]] (map (juxt :count :id :since :grew) rows)))
    (is (= {"parked" 4 "running" 1} (:states (second rows))))
    (is (= "for orders (0/4)" (:waits (first rows))))))

(deftest a-block-tells-why-it-waits
  (let [b (views/block @ten 10 (fn [site] [{:n (:line site) :text "x" :here? true}]))]
    (is (= "go-10, a.clj (<! c), has waited 10.0 s for orders (0/4). No block is seen that could end that: somebody else must." (:says b)))
    (is (= [["orders" "take" 1]] (map (juxt :name :op :in-queue) (:waits-in b))))
    (is (= [{:n 0 :text "x" :here? true}] (:source b))))
  (is (= [3] (map :id (:made (views/block @ten 2 (constantly nil))))))
  (is (= [2] (map :id (:spawned-by (views/block @ten 3 (constantly nil))))))
  (is (nil? (views/block @ten 99 (constantly nil)))))

(deftest channels-and-their-waiters
  (let [{:keys [rows]} (views/channels @ten {})]
    (is (= [["orders" 10 0] ["timeout-8" 0 0]] (map (juxt :name :takes :puts) rows))))
  (is (= ["timeout-8"] (map :name (:rows (views/channels @ten {:q "TIME"})))))
  (is (= "go-1" (:name (first (:taking (views/channel @ten 7))))))
  (is (nil? (views/channel @ten 9))))

(deftest problems-are-sorted-by-how-sure-they-are
  (let [stuck {:blocks [{:id 4 :site {:file "a.clj" :line 4} :since-ms 1 :op :put}] :count 1}
        l (look {:collected stuck
                 :blocks [(block 1 {:state :new :age-ms 6000 :waits []})]
                 :failures [{:at-ms now :thread "t" :exception "java.lang.Error" :site nil}]})
        data (views/problems l [{:site {:file "g.clj"} :from 1 :to 500 :says "Grows."}] (constantly nil))]
    (is (= ["proven" "error" "error" "warn"] (map :rank (:findings data))))
    (is (= "lost-value" (:kind (first (:findings data)))))
    (is (= [4] (:blocks (first (:findings data)))))
    (is (= 1 (:count (first (:leaks data)))))
    (is (= ["collected" "proven"] ((juxt :state (comp :rank :report)) (views/block l 4 (constantly nil)))))
    (is (= "One wait can never end." (:headline (views/overview l [] (constantly nil)))))))

(deftest nothing-wrong-is-said
  (is (= "Nothing looks wrong." (:headline (views/overview @ten [] (constantly nil)))))
  (is (= "No blocks are seen." (:headline (views/overview (look {}) [] (constantly nil)))))
  (is (re-find #"was off until you came" (:unproven (views/overview (look {:was-off? true}) [] (constantly nil)))))
  (is (= [10 9 8] (map :block (:oldest (views/overview @ten [] (constantly nil)))))))

(deftest scopes-are-a-tree
  (let [l (look {:scopes [{:id 2 :parent 1 :body {:thread "t" :tid 5} :children [{:begun? false}] :cancelled? false :failures 0}
                          {:id 1 :body {:block 9} :children [] :cancelled? true :cancelled-ms 7 :failures 1}]})]
    (is (= [[1 0 "go-9"] [2 1 "thread t"]] (map (juxt :id :depth (comp :name :body)) (:rows (views/scopes l)))))))
