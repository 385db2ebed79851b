;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.crew-test
  "The engine's own threads between folds; skein.fold-test sees them at work."
  (:require [clojure.test :refer [deftest is]])
  (:import (skein.fold.rt CrewCheck)))

(set! *warn-on-reflection* true)

(deftest idle-threads-go-and-others-come
  (is (CrewCheck/idleThreadsGo)))

(deftest idle-threads-stay-for-a-while
  (is (CrewCheck/idleThreadsStayForAWhile)))

(deftest an-interrupt-of-one-fold-reaches-no-other
  (is (CrewCheck/interruptsEndWithTheirRun)))

(deftest threads-inherit-nothing
  (is (CrewCheck/threadsInheritNothing)))

(deftest a-fold-that-is-over-is-forgotten
  (is (CrewCheck/runsAreForgotten)))
