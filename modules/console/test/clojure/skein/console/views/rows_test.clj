;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.rows-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.console.views.rows :as rows]))

(set! *warn-on-reflection* true)

(deftest a-window-stays-within-the-rows
  (is (= {:total 10 :from 8 :rows [9 10]} (rows/window (vec (range 10)) {:from 8 :n 5} inc)))
  (is (= {:total 0 :from 0 :rows []} (rows/window [] {:from 3} inc)))
  (is (= 200 (count (:rows (rows/window (vec (range 1000)) {:n 1000} inc))))))

(deftest least-agrees-with-sort
  (doseq [n [1 3 50], xs [[] [5] [3 1 2 1 3] (range 40) (reverse (range 40))]]
    (is (= (take n (sort-by - xs)) (rows/least n - xs)) [n xs])))
