;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.blocks-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.console.views.blocks :as blocks]
   [skein.console.views.samples :refer [look ten]])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(defn- ids [data] (map :id (:rows data)))

(deftest rows-come-in-windows
  (is (= [10 9 8] (ids (blocks/blocks @ten {:n 3}))))
  (is (= {:total 10 :from 8} (select-keys (blocks/blocks @ten {:from 8}) [:total :from])))
  (is (= [2 1] (ids (blocks/blocks @ten {:from 8}))))
  (is (= [] (ids (blocks/blocks @ten {:from 1000}))))
  (is (= 10 (count (ids (blocks/blocks @ten {:from -5})))))
  (testing "sorted"
    (is (= [1 2] (ids (blocks/blocks @ten {:sort "runs" :n 2})) (ids (blocks/blocks @ten {:sort "id" :n 2}))))
    (is (= [10 8] (ids (blocks/blocks @ten {:sort "site" :n 2}))))
    (is (= :skein/bad-argument (try (blocks/blocks @ten {:sort "colour"}) (catch ExceptionInfo e (:skein/error (ex-data e)))))))
  (testing "filtered"
    (is (= [3] (ids (blocks/blocks @ten {:q "state:running"}))))
    (is (= 9 (:total (blocks/blocks @ten {:q "chan:orders"}))))))

(deftest blocks-of-one-place-are-one-row
  (let [{:keys [rows total]} (blocks/sites @ten {{:file "a.clj" :line 1 :form "(<! c)"} 2} {})]
    (is (= 2 total))
    (is (= [[5 10 10000 5] [5 9 9000 3]] (map (juxt :count :id :since :grew) rows)))
    (is (= {"parked" 4 "running" 1} (:states (second rows))))
    (is (= "for orders (0/4)" (:waits (first rows))))))

(deftest a-block-says-why-it-waits
  (let [b (blocks/block @ten 10 (fn [site] [{:n (:line site) :text "x" :here? true}]))]
    (is (re-find #"^go-10, a.clj \(<! c\), has waited 10\.0 s for orders \(0/4\)\. Judging by their locals, no parked block could end that\. 1 other block runs" (:says b)))
    (is (= [["orders" "take" 1]] (map (juxt :name :op :in-queue) (:waits-in b))))
    (is (= [{:n 0 :text "x" :here? true}] (:source b))))
  (is (= [3] (map :id (:made (blocks/block @ten 2 (constantly nil))))))
  (is (= [2] (map :id (:spawned-by (blocks/block @ten 3 (constantly nil))))))
  (is (nil? (blocks/block @ten 99 (constantly nil))))
  (testing "a block that no code can reach"
    (doseq [[state more] {"collected" {}, "stuck" {:heap "x.hprof"}}]
      (is (= state (:state (blocks/block (look (merge {:collected {:count 1 :blocks [{:id 5 :op :take}]}} more)) 5 (constantly nil))))))))
