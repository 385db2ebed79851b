;; SPDX-License-Identifier: Apache-2.0
(ns skein.run-tests-test
  "`./skein test` in a copy of the project, on tests of every outcome."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.sandbox :refer [copy! project! refused? skein! with-sandbox write!]]))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(deftest outcomes-are-counted-and-skipped-tests-have-reasons
  (let [project (project!)]
    (doseq [file ["run_tests.clj" "test_process.clj" "skip.clj"]]
      (copy! (io/file "tools/testing/skein" file) (io/file project "tools/testing/skein" file)))
    (write! (io/file project "apps/wf/test/clojure/skein/outcomes_test.clj")
            "(ns skein.outcomes-test (:require [clojure.test :refer [deftest is]] [skein.skip :refer [skip!]]))"
            "(deftest passes (is true))"
            "(deftest is-skipped-in-part (is true) @(future (skip! \"there is no Moon\")) (skip! \"there is no Moon\"))"
            "(deftest fails-in-part (skip! \"there is no Sun\") (is false))"
            "(deftest throws (throw (Exception. \"x\")))"
            "(deftest asserts-nothing)")
    (write! (io/file project "tools/house/test/clojure/skein/other_test.clj")
            "(ns skein.other-test (:require [clojure.test :refer [deftest is]] [skein.skip :refer [skip!]]))"
            "(deftest is-skipped (skip! \"there is no Moon\"))")
    (let [{:keys [exit out]} (skein! project "test")]
      (is (= [1 ["2 skipped: there is no Moon" "1 skipped: there is no Sun" "1 passed, 3 failed, 2 skipped"]]
             [exit (take-last 3 (str/split-lines out))])))
    (let [{:keys [exit out]} (skein! project "test" "house")]
      (is (= [1 "0 passed, 0 failed, 1 skipped"] [exit (last (str/split-lines out))]) "a run in which nothing passed has tested nothing"))
    (is (refused? 2 ["no module and no test namespace 'nothing'" "the modules are "] (skein! project "test" "nothing")))))
