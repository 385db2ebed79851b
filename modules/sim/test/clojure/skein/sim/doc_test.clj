;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.doc-test
  "The failure reports in doc/simulation.md are what the programs of the corpus print, those in README.md what its code prints."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test])
  (:import
   (clojure.lang Compiler)
   (java.io StringReader)))

(set! *warn-on-reflection* true)

(defn report
  "Returns what the check of the program called `name` prints."
  [name]
  (let [{:keys [options buggy]} (first (filter #(= name (:name %)) corpus-test/programs))]
    (binding [test/*testing-vars* nil]
      (try
        (sim/check* (assoc options :seed 1) buggy {})
        (catch clojure.lang.ExceptionInfo e (ex-message e))))))

(deftest reports-are-shown-as-they-are-printed
  (let [text (slurp (io/file "doc/simulation.md"))]
    (doseq [name ["lost update across a park" "full pipeline that feeds itself" "reply after the timeout"]]
      (is (str/includes? text (str "```text\n" (report name) "\n```")) name))))

(defn- printed
  "Returns what `code` prints as a file `name`, in a namespace of its own."
  [code name]
  (let [n (create-ns (gensym "skein.sim.doc-test.taste"))]
    (try
      (binding [*ns* n, test/*testing-vars* nil]
        (refer-clojure)
        (with-out-str (Compiler/load (StringReader. code) name name)))
      (finally (remove-ns (ns-name n))))))

(deftest readme-shows-what-its-code-prints
  (let [blocks (re-seq #"(?s)```(clojure|text)\n(.*?)```" (slurp (io/file "README.md")))
        tastes (for [[[_ before code] [_ after text]] (partition 2 1 blocks)
                     :when (= ["clojure" "text"] [before after])]
                 [code text])]
    (is (= 2 (count tastes)))
    (doseq [[[code text] file] (map vector tastes ["bank.clj" "jobs.clj"])]
      (is (= text (printed code file))))))
