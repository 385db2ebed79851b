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
      (testing "parts of two streams are joined separately"
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

(deftest parts-outside-the-samples-are-joined
  (let [many (repeat 2000 whole)]
    (is (= [4001 4001 0 ["203.0.113.7"]] (counted (concat many cut many) {:slice-bytes 100, :workers 4})))))

;;;; Docker

(def ^:private long-request (str/replace request "UA" (str/join (repeat 40000 "x"))))

(defn- record [stream text end]
  (str "{\"log\":\"" (str/escape text {\" "\\\"", \\ "\\\\"}) end "\",\"stream\":\"" stream "\",\"time\":\"2024-10-10T13:55:00.1Z\"}"))

(defn- records
  "Returns the records of a long line, as Docker cuts it: 16 kB each, and a line feed in the last one."
  [stream text]
  (let [parts (mapv #(apply str %) (partition-all 16384 text))]
    (conj (mapv #(record stream % "") (pop parts)) (record stream (peek parts) "\\n"))))

(deftest records-of-docker-are-joined
  (let [one (record "stdout" request "\\n")
        cut (records "stdout" long-request)]
    (is (= 3 (count cut)))
    (doseq [options [{} {:slice-bytes 100, :workers 2}]]
      (testing (pr-str options)
        (is (= [3 3 0 ["203.0.113.7"]] (counted (concat [one] cut [one]) options)))
        (testing "parts of two streams are joined separately"
          (is (= [3 3 0 ["203.0.113.7"]] (counted (cons one (interleave cut (records "stderr" long-request))) options))))
        (testing "parts without their end are malformed"
          (is (= [2 1 1 ["203.0.113.7"]] (counted (cons one (pop cut)) options))))))
    (testing "a short line without a line feed is whole"
      (is (= [2 2 0 ["203.0.113.7"]] (counted [(record "stdout" request "") one] {}))))
    (testing "a part that ends with a backslash and an n is a part"
      (let [text (str (subs long-request 0 16382) "\\n" (subs long-request 16384))]
        (is (= [1 1 0 ["203.0.113.7"]] (counted (records "stdout" text) {})))))))
