;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.monitor-test
  (:require
   [clojure.test :refer [deftest is]])
  (:import
   (skein.rt.schedule MonitorCheck)))

(set! *warn-on-reflection* true)

(deftest tasks-run-beside-tasks-that-block
  (is (MonitorCheck/runsBesideBlocked 100)))

(deftest tasks-run-beside-tasks-that-compute
  (is (MonitorCheck/runsBesideComputing 8)))

(deftest tasks-run-while-no-carrier-is-free
  (is (MonitorCheck/seesHeldCarriers)))
