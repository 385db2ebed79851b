;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.wf2-result-test
  "The report of Wide Finder 2, as the general writers write it."
  (:require
   [clojure.data.json :as json]
   [clojure.edn :as edn]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.wf.data :as data]
   [skein.wf.text :as text]
   [skein.wf.wf2 :as wf2]))

(set! *warn-on-reflection* true)

(defn- tally [& top]
  {:distinct 1234, :total 5678, :checksum "c0ffee", :top (vec top)})

(def ^:private all-bytes (apply str (map char (range 256))))

(def ^:private report
  {:lines 1234567, :malformed 1, :ignored 22, :counted 1234544, :bytes-read 1073741824, :elapsed-ns 500000000, :failures []
   :url-hits (tally ["/a" 1234] ["/b" 5])
   :url-bytes (tally ["/big" 1234567890] ["/half" 524288] ["/none" 0])
   :s404s (tally)
   :clients (tally [(apply str (repeat 60 "k")) 2] [(apply str (repeat 61 "k")) 1])
   :refs (tally [all-bytes 1])})

(def ^:private lines (str/split-lines (text/text (wf2/text-result report) false)))

(deftest text-shows-the-number-of-keys
  (is (= "Articles by hits  2 of 1,234" (nth lines 2)))
  (is (str/starts-with? (first lines) "1,234,567 lines: 1,234,544 counted, 22 ignored, 1 malformed")))

(deftest text-cuts-keys-and-shows-megabytes
  (is (some #(re-matches #"\s+1,177\.4  \S+\s+/big" %) lines))
  (is (some #(str/ends-with? % (str " " (apply str (repeat 60 "k")))) lines))
  (is (some #(str/ends-with? % (str " " (apply str (repeat 60 "k")) "...")) lines))
  (is (not-any? #(str/includes? % (apply str (repeat 61 "k"))) lines)))

(deftest text-has-no-control-characters
  (is (not-any? #(< (int %) 32) (str/join lines))))

(deftest edn-reads-back
  (is (= (wf2/for-programs report) (edn/read-string (data/edn-text (wf2/for-programs report))))))

(deftest json-is-ascii-with-bytes-as-code-points
  (let [json (data/json-text (wf2/for-programs report))]
    (is (every? #(or (<= 32 (int %) 126) (= % \newline)) json))
    (doseq [part ["\"lines\": 1234567" "\"malformed\": 1" "\"ignored\": 22" "\"counted\": 1234544" "\"bytes_read\": 1073741824"
                  "\"\\u0000\\u0001" " !\\\"#" "[\\\\]" "\\u00ff\","]]
      (is (str/includes? json part) part))
    (is (= {"checksum" "c0ffee", "distinct" 1234, "top" [["/a" 1234] ["/b" 5]], "total" 5678}
           (get (json/read-str json) "url_hits")))
    (is (< (str/index-of json "\"checksum\"") (str/index-of json "\"distinct\"") (str/index-of json "\"total\"")))))

(deftest summary-is-one-line
  (is (= "1,234,567 lines: 1,234,544 counted, 22 ignored, 1 malformed; 1,073,741,824 bytes read in 0.500 s, 2.0 GB/s"
         (text/summary (wf2/result report)))))
