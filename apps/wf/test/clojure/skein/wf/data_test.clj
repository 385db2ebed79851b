;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.data-test
  "Results for programs: JSON, EDN and CSV of all that a key may hold."
  (:require
   [clojure.data.json :as json]
   [clojure.edn :as edn]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.data :as data]))

(set! *warn-on-reflection* true)

(def ^:private every-byte (apply str (map char (range 256))))

(def ^:private result
  {:preset nil, :lines 3, :counted 2, :filtered 0, :malformed 1, :malformed-kinds {"empty" 1}, :bytes 7, :bytes-read 99, :elapsed-ns 5
   :seconds [0 86399], :formats [{:name "common", :inputs ["a.log"], :lines 3, :matches 2}]
   :tallies [{:name "url", :title "URLs", :by ["url"], :rank "hits", :columns ["hits" "p50-bytes"], :distinct 2
              :rows [{:key [every-byte], :numbers [1 nil]} {:key ["a,b\""], :numbers [1 6], :error 2}]}
             {:name "n", :title "N", :by ["n"], :rank "count", :columns ["count"], :distinct 1, :rows [{:key [""], :numbers [3/2]}]}]})

(deftest edn-reads-back
  (is (= {:preset nil, :lines 3, :counted 2, :filtered 0, :malformed 1, :malformed-kinds {"empty" 1}, :bytes 7, :bytes-read 99
          :from "1970-01-01 00:00:00", :to "1970-01-01 23:59:59", :formats [{:name "common", :inputs ["a.log"]}]
          :tallies [{:name "url", :by ["url"], :rank "hits", :distinct 2
                     :rows [{:key [every-byte], :hits 1, :p50-bytes nil} {:key ["a,b\""], :hits 1, :p50-bytes 6, :error 2}]}
                    {:name "n", :by ["n"], :rank "count", :distinct 1, :rows [{:key [""], :count 3/2}]}]}
         (edn/read-string (data/edn result)))))

(deftest json-is-ascii-and-escaped
  (let [json (data/json (assoc-in result [:tallies 1 :rows] [{:key ["\u0000\"\\\n\u00FF"], :numbers [1]}]))]
    (is (every? #(< 31 (int %) 127) (remove #{\newline} json)))
    (is (str/includes? json "\"\\u0000\\\"\\\\\\n\\u00ff\""))
    (is (str/includes? json "\"p50_bytes\": null"))
    (is (= {"empty" 1} (get (json/read-str json) "malformed_kinds")))))

(deftest json-has-no-ratios-and-no-infinities
  (let [json (fn [n] (data/json (assoc-in result [:tallies 1 :rows] [{:key ["k"], :numbers [n]}])))]
    (is (str/includes? (json 3/2) "\"count\": 1.5,"))
    (is (str/includes? (json 2.5) "\"count\": 2.5,"))
    (is (str/includes? (json 12345678901234567890N) "\"count\": 12345678901234567890,"))
    (is (str/includes? (json ##Inf) "\"count\": null,"))))

(defn- parsed-csv
  "Returns the cells of RFC 4180 text."
  [text]
  (->> (re-seq #"(?s)(?:\"((?:[^\"]|\"\")*)\"|([^,\r\n]*))(,|\r\n)" text)
       (reduce (fn step [[rows row] [_ quoted plain end]]
                 (let [row (conj row (if quoted (str/replace quoted "\"\"" "\"") plain))]
                   (if (= end ",") [rows row] [(conj rows row) []])))
               [[] []])
       first))

(deftest csv-reads-back
  (is (= [["tally" "key" "hits" "p50-bytes"] ["url" (str/replace every-byte #"[\x00-\x1f\x7f]" #(format "\\x%02x" (int (first %)))) "1" ""] ["url" "a,b\"" "1" "6"]
          ["tally" "key" "count"] ["n" "" "3/2"]]
         (parsed-csv (data/csv result)))))

(deftest csv-has-a-column-for-each-part-of-a-key
  (let [tally (fn [by & rows] {:name (str/join "+" by), :by by, :columns ["hits"], :rows (mapv (fn [key] {:key key, :numbers [1]}) rows)})
        csv (fn [& tallies] (parsed-csv (data/csv {:tallies tallies})))
        a-b (tally ["a" "b"] ["x/y" ""])]
    (is (= [["tally" "a" "b" "hits"] ["a+b" "x/y" "" "1"]] (csv a-b)))
    (is (= [["tally" "key" "hits"] ["a" "x" "1"] ["b" "y" "1"] ["tally" "a" "b" "hits"] ["a+b" "x/y" "" "1"]]
           (csv (tally ["a"] ["x"]) (tally ["b"] ["y"]) a-b)))
    (testing "the tally of all lines has an empty key"
      (is (= [["tally" "key" "hits"] ["" "" "1"]] (csv (tally [] [])))))))
