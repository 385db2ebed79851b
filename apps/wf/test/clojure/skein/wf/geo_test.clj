;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.geo-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.cli :as cli]
   [skein.wf.geo :as geo]
   [skein.wf.mmdb :as mmdb])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io ByteArrayOutputStream File PrintStream RandomAccessFile)))

(set! *warn-on-reflection* true)

(def ^:private iceland {"country" {"iso_code" "IS", "names" {"en" "Iceland", "de" "Island"}}})

(defn- countries []
  (mmdb/write! "Test-Country" {["192.0.2.0" 24] iceland
                               ["198.51.100.128" 25] {"registered_country" {"iso_code" "PE"}}
                               ["2001:db8::" 32] iceland}))

(defn- networks []
  (mmdb/write! "Test-ASN" {["192.0.2.64" 26] {"autonomous_system_number" 64500, "autonomous_system_organization" "Example Ltd"}
                           ["198.51.100.0" 24] {"autonomous_system_number" 64501}}))

(deftest addresses-are-looked-up
  (let [{:strs [country network]} (geo/open [(networks) (countries)])]
    (is (= ["Iceland" "Iceland" "PE" "unknown" "unknown" "unknown" "unknown"]
           (map country ["192.0.2.9" "2001:db8:1::7" "198.51.100.200" "198.51.100.1" "203.0.113.1" "www.example.com" "-"])))
    (is (= ["AS64500 Example Ltd" "unknown" "AS64501"] (map network ["192.0.2.66" "192.0.2.9" "198.51.100.1"])))))

(deftest other-databases-are-refused
  (let [odd (File/createTempFile "odd" ".mmdb")]
    (doseq [[path message] {"/no/such.mmdb" #"can't be read", (str odd) #"not a database in MaxMind's format"
                            (mmdb/write! "Test-Anonymous-IP" {["192.0.2.0" 24] {}}) #"must be one of countries, cities or networks"}]
      (is (thrown-with-msg? ExceptionInfo message (geo/open [path]))))))

(defn- report [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run (into ["wf" "--quiet" "--format" "csv"] arguments) {:out (PrintStream. out true "UTF-8"), :err (PrintStream. err true "UTF-8")})]
    [code (str/split-lines (.toString (if (zero? (long code)) out err) "UTF-8"))]))

(deftest the-command-counts-by-country-and-network
  (let [log (File/createTempFile "geo" ".log")
        path (str log)]
    (spit log (str/join (for [client ["192.0.2.66" "192.0.2.66" "192.0.2.1" "198.51.100.200" "203.0.113.1"]]
                          (str client " - - [30/Mar/2025:10:00:00 +0000] \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"\n"))))
    (is (= [0 ["tally,key,hits,bytes" "country,Iceland,3,15" "country,PE,1,5" "country,unknown,1,5"]]
           (report "--geo" (countries) "--by" "country" path)))
    (is (= [0 ["country,Iceland,3,15" "country,PE,1,5" "country,unknown,1,5" "network,AS64500 Example Ltd,2,10" "network,AS64501,1,5"
               "network,unknown,2,10"]]
           (update (report "--geo" (countries) "--geo" (networks) "--by" "country,network" path) 1
                   (fn [lines] (sort (filter #(re-find #"^(?:country|network),.*\d" %) lines))))))
    (is (= 1 (count (filter #(str/starts-with? % "country,Iceland,3") (second (report "--geo" (countries) path))))) "in the general report")
    (let [[code [message]] (report "--by" "country" path)]
      (is (= 2 code))
      (is (str/includes? message "--by country needs --geo FILE")))
    (io/delete-file log)))

(deftest a-damaged-database-is-named
  (let [path (countries)
        log (File/createTempFile "geo" ".log")]
    (with-open [file (RandomAccessFile. ^String path "rw")]
      (.write file (byte-array 60 (byte -1)))) ; the first nodes of the tree
    (spit log "192.0.2.1 - - [30/Mar/2025:10:00:00 +0000] \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"\n")
    (let [[code [message]] (report "--geo" path "--by" "country" (str log))]
      (is (= 2 code))
      (is (str/starts-with? message (str "skein wf: --geo " path " is damaged: ")) message))
    (io/delete-file log)))
