;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-test
  "The tests that run in JavaScript: as they are and optimized, in Node and in a browser."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.cljs.build :as build]))

(set! *warn-on-reflection* true)

(def ^:private tests "modules/cljs/test/clojure/skein/cljs")

(defn- passed? [output]
  (let [{:keys [test pass fail error]} (build/counts output)]
    (and (pos? (or test 0)) (pos? pass) (= 0 fail error))))

(defn- skip
  "Says why nothing is run."
  [missing]
  (println (str "SKIPPED: there is no " missing " on the PATH"))
  (is (string? missing)))

(def ^:private optimized
  (delay (build/compile! tests 'skein.cljs.runner :advanced)))

(deftest the-tests-pass-in-node
  (if (build/node)
    (let [output (build/run-in-node (build/compile! tests 'skein.cljs.runner :none) "--expose-gc")]
      (is (passed? output) output))
    (skip "Node")))

(deftest the-tests-pass-in-node-optimized
  (if (build/node)
    (let [output (build/run-in-node @optimized "--expose-gc")]
      (is (passed? output) output))
    (skip "Node")))

(deftest the-tests-pass-in-a-browser
  (if (build/browser)
    (let [output (build/run-in-browser @optimized)]
      (is (passed? output) output))
    (skip "headless Chromium")))
