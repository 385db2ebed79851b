;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.ops-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.go-programs :as programs :refer [take-val]]
   [skein.impl.go.ops :as ops]))

(set! *warn-on-reflection* true)

(deftest vars-are-found-through-aliases-and-refers
  (binding [*ns* (the-ns 'skein.impl.go.ops-test)]
    (is (= 'take (:method (ops/parking 'take-val))))
    (is (= 'take (:method (ops/parking `programs/take-val))))
    (is (= 'put (:method (ops/parking 'programs/put-val))))
    (is (nil? (ops/parking 'put-val)))
    (is (nil? (ops/parking 'inc)))
    (is (nil? (ops/parking 'String)))
    (is (nil? (ops/parking 'no.such.Thing)))
    (is (fn? take-val))))
