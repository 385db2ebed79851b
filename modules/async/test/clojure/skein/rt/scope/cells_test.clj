;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.scope.cells-test
  "The items of a window: each is begun once, and its result is read once, in the promised order."
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.rt.scope CellsCheck)))

(set! *warn-on-reflection* true)

(deftest cells-agree-with-three-lists
  ;; Checks V3, as far as it concerns the items.
  (is (nil? (some #(CellsCheck/fault %) (range 2000)))))
