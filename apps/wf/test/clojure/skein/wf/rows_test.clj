;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.rows-test
  "The columns of a batch: what a scanner puts in is what filters, tallies and listings read."
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.wf RowsCheck)))

(set! *warn-on-reflection* true)

(deftest rows-hold-their-values
  (is (nil? (some #(RowsCheck/fault %) (range 500)))))

(deftest unfilled-columns-are-empty
  (is (nil? (RowsCheck/faultOfEmpty))))
