;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.wf-test
  "The command wf on a cluster prints what it prints without one."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli]
   [skein.spark.bed :as bed]
   [skein.wf.filter :as filter]
   [skein.wf.sample-log :as sample-log])
  (:import
   (com.github.luben.zstd ZstdOutputStream)
   (java.io ByteArrayOutputStream File OutputStream PrintStream)
   (java.util.zip GZIPOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private folder (delay (doto ^File (bed/temp-dir "skein-wf") .deleteOnExit)))

(defn file-of
  "Returns the path of a new file called `name` with these bytes, packed by `packer`."
  [name packer ^bytes bytes]
  (let [file (io/file @folder name)]
    (with-open [^OutputStream out (packer (io/output-stream file))] (.write out bytes))
    (str file)))

(defn zstd [^OutputStream out] (ZstdOutputStream. out))

(defn log-bytes
  "Returns a made-up log."
  ^bytes [size seed]
  (let [out (ByteArrayOutputStream.)]
    (sample-log/write! out {:size-bytes size, :seed seed, :odd? true, :final-newline? (odd? (long seed))})
    (.toByteArray out)))

(def ^:private logs
  "Paths of logs: plain ones, of which one ends within a line, and compressed ones."
  (delay [(file-of "a.log" identity (log-bytes 3000000 1))
          (file-of "b.log" identity (log-bytes 500000 2))
          (file-of "c.log.gz" #(GZIPOutputStream. %) (log-bytes 1000000 3))
          (file-of "d.log.zst" zstd (log-bytes 1000000 4))]))

(defn- wf
  "Returns what the command prints, {:exit :out :err}."
  [& args]
  (let [out (ByteArrayOutputStream.), err (ByteArrayOutputStream.)]
    {:exit (cli/run (into ["wf"] args) {:out out, :err (PrintStream. err true)})
     :out (.toString out "ISO-8859-1")
     :err (str err)}))

(defn- there [& args]
  (bed/close!)
  (apply wf "--spark" "local[2]" args))

(defn same?
  "Asserts that the command prints the same on a cluster, and prints something. Returns what it prints."
  [& args]
  (let [args (flatten args)
        here (apply wf args), far (apply there args)]
    (is (= (:exit here) (:exit far)) (str (:err here) (:err far)))
    (is (seq (:out here)))
    (is (= (:out here) (:out far)))
    (:out here)))

(deftest reports-are-the-same-byte-for-byte
  (testing "of Wide Finder 2, with checksums of all keys"
    (same? "--format" "json" @logs))
  (testing "the general report"
    (same? "--preset" "site" "--format" "edn" @logs)
    (same? "--preset" "site" "--top" "50" @logs))
  (testing "with distinct values, percentiles and several fields"
    (same? "--by" "method+day,status" "--every" "1h" "--distinct" "client" "--percentiles" "bytes" "--rank" "p95-bytes" "--format" "csv" @logs)))

(deftest filters-and-own-tallies-are-the-same
  (let [tallies (file-of "tallies.clj" identity (.getBytes "(defn size [{:keys [url]}] (count url))\n[{:name \"sizes\", :key size, :value :bytes} :status]"))]
    (same? "--status" "404,2xx" "--path" "\\.png" "--from" "2007-01-01" "--format" "json" @logs)
    (same? "--anonymize" "--by" "client,browser,site" "--format" "json" @logs)
    (same? "-e" "(fn [{:keys [url]}] [(count url) (first url)])" "--format" "json" @logs)
    (same? "--tallies" tallies "--format" "json" @logs)))

(deftest a-time-ago-is-the-same-everywhere
  (is (= [:status "404"] (filter/settled [:status "404"])))
  (is (= [:from "2025-03-30"] (filter/settled [:from "2025-03-30"])))
  (doseq [kind [:from :to]]
    (is (re-matches #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ" (second (filter/settled [kind "7d"]))))))

(deftest addresses-are-located-the-same
  (load-file "apps/wf/test/clojure/skein/wf/mmdb.clj")
  (let [write! (resolve 'skein.wf.mmdb/write!)
        countries (write! "Test-Country" {["10.0.0.0" 8] {"country" {"iso_code" "IS", "names" {"en" "Iceland"}}}})
        networks (write! "Test-ASN" {["10.1.0.0" 16] {"autonomous_system_number" 64500, "autonomous_system_organization" "Example Ltd"}})
        path (file-of "located.log" identity
                      (.getBytes (str/join (for [n (range 5000)]
                                             (str "10." (mod n 3) ".0." (mod n 250) " - - [30/Mar/2025:10:00:00 +0000] \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"\n")))))]
    (doseq [args [["--by" "country,network"] ["--preset" "site"]]]
      (is (str/includes? (same? "--geo" countries "--geo" networks args "--format" "json" path) "Example Ltd")))))

(deftest directive-lines-are-read-in-order
  (let [part (fn [fields rows] (str "#Version: 1.0\n#Fields: " fields "\n" (str/join "\n" rows) "\n"))
        log (str (part "date time c-ip cs-method cs-uri-stem sc-status" (repeat 4000 "2025-03-30 10:00:00 10.0.0.1 GET /a 200"))
                 (part "date time cs-method cs-uri-stem c-ip sc-status" (repeat 4000 "2025-03-30 11:00:00 GET /b 10.0.0.2 404")))
        path (file-of "iis.log" identity (.getBytes log))]
    (same? "--by" "client,url,status" "--format" "json" path path)))

(deftest unreadable-files-are-reported
  (let [cut (let [bytes (ByteArrayOutputStream.)]
              (with-open [out (GZIPOutputStream. bytes)] (.write out ^bytes (log-bytes 1000000 5)))
              (file-of "cut.log.gz" identity (java.util.Arrays/copyOf (.toByteArray bytes) 100000)))
        missing (str (io/file @folder "missing.log"))
        [a b] @logs]
    (is (= 2 (:exit (there a missing))))
    (is (str/includes? (:err (there a missing)) missing))
    (let [far (there cut a)]
      (is (= 2 (:exit far)))
      (is (str/includes? (:err far) (str cut " is cut off"))))
    (same? "--keep-going" "--format" "json" a missing cut b)))

(deftest options-a-cluster-lacks-are-refused
  (let [[a] @logs
        refused (fn [says & args]
                  (let [{:keys [exit err out]} (apply wf args)]
                    (is (= [2 ""] [exit out]))
                    (is (str/includes? err says) err)))]
    (refused "--follow" "--spark" "local[2]" "--follow" a)
    (refused "--malformed" "--spark" "local[2]" "--malformed" (str (io/file @folder "bad.log")) a)
    (refused "--workers" "--spark" "local[2]" "--workers" "2" a)
    (refused "standard input" "--spark" "local[2]" "-")
    (bed/close!)
    (refused "device" "--spark" "local[2]" "/dev/null")
    (refused "nonsense" "--spark" "nonsense" a)
    (refused "No Spark master answers" "--spark" "spark://127.0.0.1:1" a)))

(deftest executors-of-their-own-count-the-same
  (bed/close!)
  (let [settings (bed/conf)]
    (doseq [[k v] settings] (System/setProperty k (str v)))
    (try
      (doseq [args [["--format" "json"] ["--preset" "site" "--distinct" "client" "--by" "url" "--format" "json"]]
              :let [here (apply wf (into args @logs))
                    far (apply wf "--spark" (bed/address) (into args @logs))]]
        (is (= [0 (:out here)] [(:exit far) (:out far)]) (:err far)))
      (finally (doseq [[k] settings] (System/clearProperty k))))))
