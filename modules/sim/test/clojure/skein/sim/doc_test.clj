;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.doc-test
  "The failure reports in doc/simulation.md are what the programs of the corpus print."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test]))

(set! *warn-on-reflection* true)

(def shown
  "The programs whose reports the guide shows."
  ["lost update across a park" "full pipeline that feeds itself" "reply after the timeout"])

(defn report
  "Returns what the check of the program called `name` prints."
  [name]
  (let [{:keys [options buggy]} (first (filter #(= name (:name %)) corpus-test/programs))]
    (binding [test/*testing-vars* nil]
      (try
        (sim/check* (assoc options :seed 1) buggy {})
        (catch clojure.lang.ExceptionInfo e (ex-message e))))))

(deftest the-guide-shows-reports-as-they-are-printed
  (let [guide (slurp (io/file "doc/simulation.md"))]
    (doseq [name shown]
      (is (str/includes? guide (str "```text\n" (report name) "\n```")) name))))
