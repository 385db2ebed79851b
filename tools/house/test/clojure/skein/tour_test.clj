;; SPDX-License-Identifier: Apache-2.0
(ns skein.tour-test
  "`./skein tour`, run through."
  (:require
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]))

(set! *warn-on-reflection* true)

(defn- tour [& arguments]
  (within-deadline
    ;; In a test a simulation reports its failure to clojure.test; elsewhere it throws.
    (binding [test/*testing-vars* nil, *command-line-args* arguments, *in* (java.io.StringReader. "")]
      (with-out-str (load-file "tools/tour/run.clj")))))

(deftest each-step-shows-its-code-and-its-result
  (let [text (tour "--go")
        begins (map #(str/index-of text (str "\n" % "/7  ")) (range 1 8))]
    (is (every? some? begins))
    (is (apply < begins))
    (doseq [part ["    (<!! (go (sum-of [(go 1) (go (<! (timeout 20)) 2) (go 3)])))\n\n;=> 6\n"
                  "ExceptionInfo no such page\n\texamples.tour/page (tour.clj:"
                  ";=> {:id -2}"
                  "Deadlock after "
                  "  go-1  waits in >! chan-1 "
                  "The body throws ExceptionInfo, \"a withdrawal is lost\", at tour.clj:"
                  ";=> [:again \"a withdrawal is lost\"]"
                  ";=> {:lines 92800, :longest 4181}"
                  ";=> [\"the third fails\" :ended #{1 2}]"]]
      (is (str/includes? text part)))))

(deftest what-it-explains-fits-a-terminal
  (is (= [] (filter #(< 80 (count %))
                    (for [line (rest (drop-while #(not (str/starts-with? % ";;; ")) (str/split-lines (slurp "examples/tour.clj"))))]
                      (if (str/starts-with? line ";") (str/replace line #"^;+ " "") (str "    " line)))))))

(deftest help-says-how-to-use-it
  (is (str/includes? (tour "--help") "usage: skein tour [--go]")))
