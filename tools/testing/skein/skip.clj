;; SPDX-License-Identifier: Apache-2.0
(ns skein.skip
  "Tests that this machine can't run, or not wholly."
  (:require
   [clojure.test :as test]))

(set! *warn-on-reflection* true)

(defn skip!
  "Says that a part of the test that runs now, or all of it, is left out because of `reason`, such as \"there is no Node\". The test
  then counts as skipped, unless it fails. The same reason is counted together if it is the same text. Returns nil."
  [reason]
  (test/do-report {:type :skip, :reason reason})
  nil)
