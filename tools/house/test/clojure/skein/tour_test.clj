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

(def ^:private whole (delay (tour "--go")))

(deftest each-step-shows-its-code-and-its-result
  (let [text @whole
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

(defn- rows
  "Returns how many rows of a terminal of 80 columns lines take."
  [lines]
  (reduce + (map #(max 1 (quot (+ 79 (count %)) 80)) lines)))

(deftest each-page-fits-a-terminal
  (let [[_ & steps] (str/split @whole #"(?m)^(?=\d/7  )")
        question ["" "[Enter: the next step, q: the end] "]]
    (is (= 7 (count steps)))
    (doseq [step steps
            :let [[title & lines] (str/split-lines step)
                  [said code-and-result] (split-with #(not (str/starts-with? % "    ")) lines)
                  [code result] (split-with #(or (str/blank? %) (str/starts-with? % "    ")) code-and-result)]]
      (is (>= 24 (rows (concat [title] said (butlast code) question))) (str title ", code"))
      (is (>= 23 (rows (concat result question))) (str title ", result")))))

(deftest help-says-how-to-use-it
  (is (str/includes? (tour "--help") "usage: skein tour [--go]")))
