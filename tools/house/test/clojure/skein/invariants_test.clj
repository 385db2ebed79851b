;; SPDX-License-Identifier: Apache-2.0
(ns skein.invariants-test
  "The invariants that Java classes name, in all packages of all modules. A class declares one in a
  comment line of its own, that begins with a name of one or two capitals and a digit, as in
  \"<li>Q1 What was pushed is polled once\". No other class uses its capitals. A test of its module
  says in a comment that it checks the invariant: \"Checks Q1\", or \"Checks Q1 to Q3\"."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private declaration #"^\s*\*\s+(?:<li>)?([A-Z]{1,2})([1-9]):?\s")

(defn- invariants
  "Returns what the Java `file` declares: maps of :name :letters :path :line."
  [{:keys [path] :as file}]
  (for [[n text] (project/lines file)
        :let [[_ letters digit] (re-find declaration text)]
        :when letters]
    {:name (str letters digit), :letters letters, :path path, :line n}))

(defn- checked
  "Returns the names of the invariants that the tests in `files` say they check."
  [files]
  (set (for [{:keys [text]} files
             [_ names] (re-seq #"Checks ((?:[A-Z]{1,2}[1-9](?:, and |, | and | to )?)+)" text)
             [_ letters from _ to] (re-seq #"([A-Z]{1,2})([1-9])( to [A-Z]{1,2}([1-9]))?" names)
             i (range (parse-long from) (inc (long (parse-long (or to from)))))]
         (str letters i))))

(defn- at [{:keys [path line name]}]
  (str path ":" line ": " name))

(defn- faults
  "Returns what is wrong with the invariants that the Java files `sources` declare, given the `tests` of their module."
  [sources tests]
  (let [declared (mapcat invariants sources)
        checked? (checked tests)]
    (for [i declared :when (not (checked? (:name i)))]
      (str (at i) " is checked by no test of its module: add one, and say \"Checks " (:name i) "\" there"))))

(defn- clashes
  "Returns which invariants of `sources` have the letters of another class."
  [sources]
  (for [[letters found] (group-by :letters (mapcat invariants sources))
        :let [first-path (:path (first found))]
        i found :when (not= first-path (:path i))]
    (str (at i) " has a letter of " first-path ": choose letters of its own")))

(deftest every-invariant-has-a-test-in-its-module
  (doseq [module project/modules]
    (is (= [] (faults (project/files [(str module "/src/java")] [".java"])
                      (project/files [(str module "/test")] [".java" ".clj"]))))))

(deftest invariants-have-names-of-their-own
  (is (= [] (clashes (project/main-java)))))

(deftest a-fault-is-reported
  (let [source {:path "A.java" :text "/*\n *   Q1  One.\n * <li>Q2: two\n */ // Q3 no\n"}]
    (is (= ["A.java:3: Q2 is checked by no test of its module: add one, and say \"Checks Q2\" there"]
           (faults [source] [{:text ";; Checks Q1."}])))
    (is (= [] (faults [source] [{:text "// Checks Q1 to Q2"}]) (faults [source] [{:text "// Checks P1, Q1 and Q2."}])))
    (is (= ["B.java:1: Q9 has a letter of A.java: choose letters of its own"]
           (clashes [source {:path "B.java" :text " * Q9 Nine."}])))))
