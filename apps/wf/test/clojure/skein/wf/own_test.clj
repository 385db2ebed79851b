;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.own-test
  "Tallies that users write, compared with Clojure's counts of the same records."
  (:require
   [clojure.java.io :as io]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.analysis :as analysis]
   [skein.wf.own :as own]
   [skein.wf.units :as units])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(def ^:private line-format "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %D")

(defn- log-file
  "Returns a file of `n` lines, of three clients, and sizes and durations that grow."
  [n]
  (let [file (doto (File/createTempFile "skein-own" ".log") .deleteOnExit)]
    (with-open [out (io/writer file :encoding "UTF-8")]
      (dotimes [i n]
        (.write out (str "10.0.0." (mod i 3) " - - [30/Mar/2006:1" (mod i 10) ":00:00 -0700] \"GET /café/" (mod i 7) " HTTP/1.1\" 200 " i
                         " \"-\" \"x\" " (* 10 i) "\n"))))
    (str file)))

(defn- answer [path source]
  (let [{:keys [sinks add-to]} (own/tallies source)]
    (:tallies (add-to (analysis/analyse [path] {:tallies []} {:sinks sinks, :log-format line-format, :slice-bytes 300, :workers 3})))))

(defn- rows [tally]
  (mapv (fn [{[k] :key, [n] :numbers}] [k n]) (:rows tally)))

(deftest functions-count-and-add-up
  (let [path (log-file 1000)]
    (is (= [["10.0.0.0" 334] ["10.0.0.1" 333] ["10.0.0.2" 333]] (rows (first (answer path {:form ":client"})))))
    (is (= [["even" (reduce + (range 0 1000 2))]]
           (rows (first (answer path {:form "{:name \"evens\" :key (fn [r] (when (even? (:bytes r)) \"even\")) :value :bytes}"})))))
    (testing "a vector is several fields, and the limit applies to rows"
      (let [[urls hours :as both] (answer path {:form "[:url (fn [{:keys [^java.time.LocalDateTime time]}] (.getHour time))]", :top 2})]
        (is (= ["own-1" "own-2"] (map :name both)))
        (is (= [7 10] (map :distinct both)))
        (is (= [["/cafÃ©/0" 143] ["/cafÃ©/1" 143]] (rows urls)) "bytes as characters, as all keys are")
        (is (= [["10" 100] ["11" 100]] (rows hours)))))))

(deftest the-line-of-a-record-is-as-it-was
  (let [file (doto (File/createTempFile "skein-own" ".json") .deleteOnExit)
        line "{\"uri\": \"\\/a\\u0062\", \"status\": 2e2, \"agent\": \"\\\"x\\\"\"}"
        plain "{\"uri\": \"/plain\"}"
        {:keys [sinks add-to]} (own/tallies {:form "[:line :url :status]"})]
    (spit file (str line "\n" plain "\n" line "\n"))
    (is (= [[[line 2] [plain 1]] [["/ab" 2] ["/plain" 1]] [["200" 2]]]
           (map rows (:tallies (add-to (analysis/analyse [(str file)] {:tallies []} {:sinks sinks, :log-format "json"}))))))))

(deftest a-record-has-the-fields-of-its-line
  (is (= [[(pr-str ["10.0.0.1" "-" "GET" 7 "HTTP/1.1" 200 4 40 "-" "x" "2006-03-30T14:00"]) 1]]
         (rows (first (answer (log-file 5) {:form "(fn [{:keys [client user method url protocol status bytes micros referrer agent time]}]
                                                     (when (= 4 bytes)
                                                       [client user method (count url) protocol status bytes micros referrer agent (str time)]))"}))))))

(deftest sums-may-be-any-number
  (let [path (log-file 3)]
    (is (= [["10.0.0.2" 1] ["10.0.0.1" 1/2] ["10.0.0.0" 0]]
           (rows (first (answer path {:form "{:key :client :value (fn [r] (/ (:bytes r) 2))}"})))))
    (is (= ["1" "0.50" "0"] (map #(units/shown "count" %) [1 1/2 0])))))

(deftest malformed-tallies-are-refused
  (let [path (log-file 1)]
    (doseq [form ["" ":url :status" "42" ":nope" "{:key :url :value :nope}" "{:key :url :val :bytes}" "(fn [" "(throw (Exception. \"x\"))"]]
      (is (= :skein/bad-argument (try (answer path {:form form}) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e))))) form))))

(deftest nil-as-the-value-adds-nothing
  (is (= [["10.0.0.0" 0]] (rows (first (answer (log-file 1) {:form "{:key :client :value (constantly nil)}"}))))))

(deftest a-file-may-hold-tallies
  (let [file (doto (File/createTempFile "skein-own" ".clj") .deleteOnExit)]
    (spit file "(defn shape [{:keys [url]}] (count url))\n{:name \"length\" :key shape}")
    (is (= [["length" [["7" 100]]]] (map (juxt :name rows) (answer (log-file 100) {:file (str file)}))))))

(defn- failure-of [path source]
  (try (answer path source) nil
       (catch ExceptionInfo e (select-keys (ex-data e) [:skein/error :tally]))))

(deftest failing-tallies-are-refused
  (let [path (log-file 10)]
    (doseq [source [{:form "42"} {:form "(fn"} {:form "{:key nil}"} {:form "no-such-var"} {:form "[inc 7]"} {:file "no-such-file.clj"}]]
      (is (= :skein/bad-argument (:skein/error (failure-of path source))) (pr-str source)))
    (testing "an exception is reported with the name of its tally"
      (is (= {:skein/error :skein/bad-argument, :tally "own-1"} (failure-of path {:form "(fn [r] (throw (Exception. \"no\")))"})))
      (is (= {:skein/error :skein/bad-argument, :tally "t"} (failure-of path {:form "{:name \"t\" :key :url :value :url}"}))))))

(deftest a-sum-is-called-a-sum
  (is (= [["sum" ["sum"]] ["count" ["count"]]]
         (map (juxt :rank :columns)
              (answer (log-file 9) {:form "[{:name \"b\" :key :url :value :bytes} :url]"})))))
