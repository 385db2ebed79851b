;; SPDX-License-Identifier: Apache-2.0
(ns skein.programs-test
  "Programs of the checkout that no other test runs still run."
  (:require
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]))

(set! *warn-on-reflection* true)

(defn- printed
  "Returns what a program prints, or throws what it throws."
  [path & arguments]
  ;; In a test a simulation reports its failure to clojure.test; elsewhere it throws.
  (binding [test/*testing-vars* nil, *command-line-args* arguments, *in* (java.io.StringReader. "")]
    (with-out-str (load-file path))))

(deftest the-tour-shows-the-results-of-its-steps
  (is (= 7 (count (re-seq #"(?m)^;=> " (printed "tools/tour/run.clj" "--go"))))))

(deftest slow-downloads-get-all-files
  (let [small {:file-bytes 4000 :bytes-per-s 1000000 :max-connections 60 :few 10 :many 60 :window 8}
        table (printed "examples/slow_downloads.clj" (pr-str small))]
    (is (= (concat (repeat 5 ["10" "0"]) (repeat 6 ["60" "0"])) ; files and resets
           (map rest (re-seq #"(?m)^.{30} +(\d+) +(\d+) +\d+\.\d+ " table))))))

(deftest the-stress-tests-compile
  (let [{:keys [exit out err]} (sh "./skein" "stress" "-l")]
    (is (= 0 exit) err)
    (is (str/includes? out "LockStress") "it is listed")))
