;; SPDX-License-Identifier: Apache-2.0
(ns skein.widefinder.report-test
  (:require [clojure.edn :as edn]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [skein.widefinder.report :as report]))

(set! *warn-on-reflection* true)

(defn- tally [& top]
  {:distinct 1234, :total 5678, :checksum "c0ffee", :top (vec top)})

(def ^:private all-bytes (apply str (map char (range 256))))

(def ^:private data
  {:lines 1234567, :malformed 1, :ignored 22, :counted 1234544, :bytes-read 1073741824, :elapsed-ns 500000000, :failures []
   :url-hits (tally ["/a" 1234] ["/b" 5])
   :url-bytes (tally ["/big" 1234567890] ["/half" 524288] ["/none" 0])
   :s404s (tally)
   :clients (tally [(apply str (repeat 60 "k")) 2] [(apply str (repeat 61 "k")) 1])
   :refs (tally [all-bytes 1])})

(deftest text-is-aligned-and-cut
  (is (= (str "Distinct: 1,234 URIs by hit, 1,234 URIs by bytes, 1,234 404s, 1,234 client addresses, 1,234 referrers\n\n"
              "Top 2 URIs by hit\n     1,234  /a\n         5  /b\n\n"
              "Top 3 URIs by bytes, in MB\n   1,177.4  /big\n       0.5  /half\n       0.0  /none\n\n"
              "Top 0 404s\n      none\n\n"
              "Top 2 client addresses\n         2  " (apply str (repeat 60 "k")) "\n         1  " (apply str (repeat 60 "k")) "...\n\n"
              "Top 1 referrers\n         1  ")
         (first (str/split (report/text data) #"\\x00")))))

(deftest text-has-no-control-characters
  (let [shown (report/text (assoc data :refs (tally ["\u001B[31mred" 3] ["caf\u00C3\u00A9" 2] ["caf\u00E9" 1] ["\u00C2\u009B" 1])))]
    (is (str/includes? shown "  \\x1b[31mred\n"))
    (is (str/includes? shown "  café\n"))
    (is (str/includes? shown "  caf\\xe9\n"))
    (is (str/includes? shown "  \\x9b\n"))
    (is (not-any? #(and (< (int %) 32) (not= % \newline)) shown))))

(deftest edn-reads-back
  (is (= (dissoc data :elapsed-ns :failures) (edn/read-string (report/edn data)))))

(deftest json-is-ascii-with-bytes-as-code-points
  (let [text (report/json data)]
    (is (every? #(or (<= 32 (int %) 126) (= % \newline)) text))
    (is (str/starts-with? text "{\"lines\": 1234567,\n \"malformed\": 1,\n \"ignored\": 22,\n \"counted\": 1234544,\n \"bytes_read\": 1073741824,\n"))
    (is (str/includes? text (str " \"url_hits\": {\"distinct\": 1234, \"total\": 5678, \"checksum\": \"c0ffee\",\n"
                                 "   \"top\": [[\"/a\", 1234], [\"/b\", 5]]}")))
    (is (str/includes? text "[\"\\u0000\\u0001"))
    (is (str/includes? text " !\\\"#"))
    (is (str/includes? text "[\\\\]"))
    (is (str/includes? text "\\u00ff\", 1]]}}\n"))))

(deftest summary-is-one-line
  (is (= "1,234,567 lines: 1,234,544 counted, 22 ignored, 1 malformed; 1,073,741,824 bytes in 0.500 s, 2.15 GB/s"
         (report/summary data))))

(deftest numbers-are-grouped-and-rounded
  (is (= ["0" "12" "123" "1,234" "12,345" "123,456" "1,234,567" "-1,234" "-123" "9,223,372,036,854,775,807"]
         (map report/grouped [0 12 123 1234 12345 123456 1234567 -1234 -123 Long/MAX_VALUE])))
  (is (= ["0.0" "0.1" "1.0" "0.7"] (map #(report/decimal % 1048576 1) [52428 52429 1048575 707789]))))
