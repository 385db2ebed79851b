;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.partial-lines-test
  "Lines that a container's runtime has cut are joined again, wherever slices end."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.analysis :as analysis]
   [skein.wf.never-wrong-test :refer [request with-log]]))

(set! *warn-on-reflection* true)

(defn- part [stream tag text] (str "2024-10-10T13:55:00.1Z " stream " " tag " " text))

(def ^:private whole (part "stdout" "F" request))
(def ^:private cut [(part "stdout" "P" (subs request 0 20)) (part "stdout" "P" (subs request 20 50)) (part "stdout" "F" (subs request 50))])

(defn- counted
  "Returns [lines counted malformed clients] of a log."
  [lines options]
  (with-log (str (str/join "\n" lines) "\n")
    (fn [path]
      (let [{:keys [lines counted malformed tallies]} (analysis/analyse [path] {:tallies [{:name "c" :title "c" :by ["client"]}]} options)]
        [lines counted malformed (mapv #(first (:key %)) (:rows (first tallies)))]))))

(deftest parts-are-joined
  (doseq [options [{} {:slice-bytes 1} {:slice-bytes 100, :workers 2}]]
    (testing (pr-str options)
      (is (= [3 3 0 ["203.0.113.7"]] (counted (concat [whole] cut [whole]) options)))
      (testing "those of two streams each with its own"
        (let [[a b c] cut
              [d e f] (map #(str/replace % "stdout" "stderr") cut)]
          (is (= [2 2 0 ["203.0.113.7"]] (counted [a d b e f c] options)))))
      (testing "lines without their end are malformed"
        (is (= [2 1 1 ["203.0.113.7"]] (counted [whole (first cut) (second cut)] options))))
      (testing "an end without its beginning is malformed"
        (is (= [2 1 1 ["203.0.113.7"]] (counted [whole (peek cut)] options)))))))

(deftest parts-of-one-file-are-not-joined-with-another
  (with-log (str (first cut) "\n")
    (fn [one]
      (with-log (str (peek cut) "\n" whole "\n")
        (fn [two]
          (let [{:keys [counted malformed]} (analysis/analyse [one two] {:tallies [{:name "c" :title "c" :by ["client"]}]} {:log-format "kubernetes:combined"})]
            (is (= [1 2] [counted malformed]))))))))
