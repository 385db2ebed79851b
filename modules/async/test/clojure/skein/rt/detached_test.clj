;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.detached-test
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.rt.schedule DetachedCheck)))

(set! *warn-on-reflection* true)

(deftest detached-work-needs-no-carrier
  (is (DetachedCheck/runsWithoutCarrier)))
