;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.doc-test
  "The failure reports in doc/simulation.md and README.md are what the programs of the corpus print."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test]))

(set! *warn-on-reflection* true)

(def shown
  "The files, and the programs whose reports each shows."
  {"doc/simulation.md" ["lost update across a park" "full pipeline that feeds itself" "reply after the timeout"]
   "README.md" ["lost update across a park" "full pipeline that feeds itself"]})

(defn report
  "Returns what the check of the program called `name` prints."
  [name]
  (let [{:keys [options buggy]} (first (filter #(= name (:name %)) corpus-test/programs))]
    (binding [test/*testing-vars* nil]
      (try
        (sim/check* (assoc options :seed 1) buggy {})
        (catch clojure.lang.ExceptionInfo e (ex-message e))))))

(deftest reports-are-shown-as-they-are-printed
  (doseq [[file names] shown
          :let [text (slurp (io/file file))]
          name names]
    (is (str/includes? text (str "```text\n" (report name) "\n```")) [file name])))
