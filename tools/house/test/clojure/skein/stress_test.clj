;; SPDX-License-Identifier: Apache-2.0
(ns skein.stress-test
  "The tests of `./skein stress` compile. They run for minutes, so no other test runs them."
  (:require
   [clojure.java.io :as io]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]))

(set! *warn-on-reflection* true)

(defn- classes
  "Returns the names of the classes in the folder `root` of Java sources."
  [^String root]
  (for [^java.io.File file (file-seq (io/file root)), :when (str/ends-with? (.getName file) ".java")]
    (-> (subs (.getPath file) (inc (count root))) (str/replace ".java" "") (str/replace "/" "."))))

(deftest stress-tests-compile
  (let [{:keys [exit out err]} (sh "./skein" "stress" "-l")
        names (classes "tools/stress/java")]
    (is (= 0 exit) err)
    (is (seq names))
    (doseq [name names]
      (is (str/includes? out (str name ".")) "it is listed"))))
