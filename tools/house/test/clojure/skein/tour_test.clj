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
    (doseq [part ["    (<!! (go (total [(go 900) (go (<! (a/timeout 20)) 1200) (go 50)])))\n\n;=> 2150\n"
                  "ExceptionInfo not sold here\n\tshop/price (walkthrough.md:"
                  ";=> {:item \"cola\"}"
                  ";=> {:supplier :near, :item \"tea\", :cents 1200}"
                  "(= 0 ((clojure.core/deref stock) \\\"coffee\\\"))\", at walkthrough.md:"
                  ";=> {:again \"k1."
                  "Deadlock after "
                  "  go-1  waits in >! chan-1 "
                  ";=> {\"tea\" 5000000, \"coffee\" 2500000, \"milk\" 2500000}"]]
      (is (str/includes? text part)))))

(deftest its-code-fits-a-terminal
  (let [lines (mapcat (comp str/split-lines second) (re-seq #"(?s)```clojure tour\n(.*?)```" (slurp "doc/walkthrough.md")))]
    (is (seq lines))
    (is (= [] (filter #(< 76 (count %)) lines)))))

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
