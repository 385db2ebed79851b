;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.timeline-test
  "Steps of time in which nothing happened."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.wf.timeline :as timeline]))

(set! *warn-on-reflection* true)

(defn- rows [& ks]
  (mapv (fn row [k] {:key [k], :numbers [1]}) ks))

(defn- keys-of [rows]
  (mapv (comp first :key) rows))

(deftest every-step-between-the-first-and-the-last-has-a-row
  (is (= ["2024-02-28" "2024-02-29" "2024-03-01"] (keys-of (timeline/filled (rows "2024-02-28" "2024-03-01") 86400 [0]))))
  (is (= ["2025-03-01 23:59" "2025-03-02 00:00" "2025-03-02 00:01"]
         (keys-of (timeline/filled (rows "2025-03-01 23:59" "2025-03-02 00:01") 60 [0]))))
  (is (= ["2025-03-01 00:00:00" "2025-03-01 00:00:07" "2025-03-01 00:00:14"]
         (keys-of (timeline/filled (rows "2025-03-01 00:00:00" "2025-03-01 00:00:14") 7 [0]))))
  (is (= [[1] [0 nil] [1]] (map :numbers (timeline/filled (rows "2025-03-01" "2025-03-03") 86400 [0 nil])))))

(deftest every-hour-of-the-day-has-a-row
  (let [filled (timeline/hours (rows "07" "23") [0])]
    (is (= (map #(format "%02d" %) (range 24)) (keys-of filled)))
    (is (= {[1] 2, [0] 22} (frequencies (map :numbers filled)))))
  (is (= [] (timeline/hours [] [0]))))

(deftest rows-without-gaps-stay-as-they-are
  (doseq [found [[] (rows "2025-03-01") (rows "2025-03-01" "2025-03-02")]]
    (is (= found (timeline/filled found 86400 [0]))))
  (testing "and so do keys beyond the limit"
    (let [found (rows "2025-03-01 00:00:00" "2025-03-01 04:00:00")]
      (is (= found (timeline/filled found 1 [0]))))))
