;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.spelling-test
  (:require
   [clojure.test :refer [are deftest is]]
   [skein.wf.spelling :as spelling]))

(set! *warn-on-reflection* true)

(deftest the-nearest-name-is-at-most-two-edits-away
  (are [expected given] (= expected (spelling/nearest ["client" "class" "weekday"] given))
    "client" "clients"
    "client" "clent"
    "weekday" "week"
    "weekday" "week-day"
    nil "day"
    nil "cl"
    nil "upstream")
  (is (= "--top" (spelling/nearest ["--to" "--top"] "--tpo")) "two characters changed places")
  (is (= "nginx" (spelling/nearest ["ingress-nginx" "nginx" "pino"] "ngnix")))
  (is (nil? (spelling/nearest ["hour" "time"] "host")) "half of the characters differ")
  (are [names] (nil? (spelling/nearest names "client"))
    []
    ["c"]))
