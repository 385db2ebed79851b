;; SPDX-License-Identifier: Apache-2.0
(ns skein.run-tests-test
  "`./skein test` in a copy of the project, on tests of every outcome."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.sandbox :refer [copy! project! skein! with-sandbox write!]]))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(defn- project-with-tests! []
  (let [project (project!)]
    (doseq [file ["run_tests.clj" "skip.clj"]]
      (copy! (io/file "tools/testing/skein" file) (io/file project "tools/testing/skein" file)))
    (write! (io/file project "apps/wf/test/clojure/skein/outcomes_test.clj")
            "(ns skein.outcomes-test (:require [clojure.test :refer [deftest is]] [skein.skip :refer [skip!]]))"
            "(deftest passes (is true))"
            "(deftest passes-too (is true))"
            "(deftest is-skipped (skip! \"there is no Moon\"))"
            "(deftest is-skipped-on-a-thread (is true) @(future (skip! \"there is no Moon\")) (skip! \"there is no Moon\"))"
            "(deftest is-skipped-for-two-reasons (skip! \"there is no Moon\") (skip! \"there is no Sun\"))"
            "(deftest fails-in-part (skip! \"there is no Sun\") (is false))"
            "(deftest throws (throw (Exception. \"x\")))"
            "(deftest asserts-nothing)")
    (write! (io/file project "tools/house/test/clojure/skein/other_test.clj")
            "(ns skein.other-test (:require [clojure.test :refer [deftest is]] [skein.skip :refer [skip!]]))"
            "(deftest is-skipped (skip! \"there is no Moon\"))")
    project))

(defn- end-of [printed n] (take-last n (str/split-lines printed)))

(deftest skipped-tests-are-counted-by-their-reasons
  (let [project (project-with-tests!)]
    (testing "a test that left something out is not passed, and one that asserted nothing has failed"
      (let [{:keys [exit out]} (skein! project "test" "wf" "house")]
        (is (= 1 exit))
        (is (re-find #"(?m)^skein\.outcomes-test +8 tests, 3 failed, 3 skipped, " out))
        (is (str/includes? out "\napps/wf: 2 passed, 3 failed, 3 skipped\n"))
        (is (str/includes? out "FAIL: no assertion was made in #'skein.outcomes-test/asserts-nothing"))
        (testing "and each reason is printed once, over all modules"
          (is (= ["2 skipped: there is no Sun" "4 skipped: there is no Moon"] (sort (butlast (end-of out 3)))))
          (is (= ["2 passed, 3 failed, 4 skipped"] (end-of out 1))))))
    (testing "a run in which nothing passed has tested nothing"
      (let [{:keys [exit out]} (skein! project "test" "house")]
        (is (= [1 ["tools/house: 0 passed, 0 failed, 1 skipped" "1 skipped: there is no Moon" "0 passed, 0 failed, 1 skipped"]]
               [exit (end-of out 3)]))))))
