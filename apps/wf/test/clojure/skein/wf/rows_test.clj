;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.rows-test
  "Filters, tallies and listings read from a batch what a scanner has put there."
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.wf RowsCheck)))

(set! *warn-on-reflection* true)

(deftest rows-hold-their-values
  (is (nil? (some #(RowsCheck/fault %) (range 500)))))

(deftest unfilled-columns-are-empty
  (is (nil? (RowsCheck/faultOfEmpty))))
