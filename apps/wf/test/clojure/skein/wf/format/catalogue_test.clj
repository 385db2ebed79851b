;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.catalogue-test
  "The logs of each known server: their detection, their names, and their values, key by key."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli]
   [skein.wf.analysis :as analysis]
   [skein.wf.format.catalogue :as catalogue]
   [skein.wf.format.samples :refer [samples]])
  (:import
   (java.io ByteArrayOutputStream File PrintStream)))

(set! *warn-on-reflection* true)

(defn- with-log [lines f]
  (let [file (File/createTempFile "skein-format" ".log")]
    (try (spit file (str (str/join "\n" lines) "\n"))
         (f (str file))
         (finally (.delete file)))))

(defn- tally [by timed?]
  {:name by, :title by, :by [by], :top 100, :rank (if timed? "time" "hits")})

(defn- counted
  "Returns what is known of a log: its :format, :counts by the names in `sample`, :bytes and :micros."
  [{:keys [lines counts micros]} options]
  (with-log lines
    (fn [path]
      (let [names (keys counts)
            {:keys [formats malformed-kinds bytes tallies filtered]}
            (analysis/analyse [path] {:tallies (mapv #(tally % (some? micros)) names)} options)]
        {:format (:name (first formats))
         :malformed malformed-kinds
         :comments filtered
         :counts (into {} (for [{:keys [name rows]} tallies]
                            [name (into {} (for [{:keys [key numbers]} rows :when (pos? (long (first numbers)))] [(first key) (first numbers)]))]))
         :bytes bytes
         :micros (when micros (reduce + (map #(nth (:numbers %) 2) (:rows (first tallies)))))}))))

(defn- expected [{:keys [format lines counts bytes micros]}]
  {:format format, :malformed {}, :comments (count (filter #(str/starts-with? % "#") lines)), :counts counts, :bytes bytes, :micros micros})

(deftest each-format-is-detected
  (doseq [{:keys [format of] :as sample} samples]
    (testing (str format " of " (first of))
      (is (= (expected sample) (counted sample {})))
      (is (= (expected sample) (counted sample {:workers 2, :slice-bytes 1}))))))

(deftest each-format-is-found-by-name
  (doseq [{:keys [of] :as sample} samples, server of]
    (testing server
      (is (= (expected sample) (counted sample {:format-of server}))))))

(deftest each-server-has-a-sample
  (is (= #{} (reduce disj (set catalogue/servers) (concat ["json"] (mapcat :of samples))))))

(deftest wrapped-formats-are-detected
  (doseq [{:keys [format lines] :as sample} samples
          :when (not-any? #(str/starts-with? % "#") lines)
          [wrapper wrap] {"syslog" #(str "Oct 10 13:55:00 web1 proxy[812]: " %), "kubernetes" #(str "2024-10-10T13:55:00.1Z stdout F " %)
                          "docker" #(str "{\"log\":\"" (str/escape % {\" "\\\"", \\ "\\\\", \tab "\\t"}) "\\n\",\"stream\":\"stdout\",\"time\":\"x\"}")}]
    (testing (str wrapper ":" format)
      (is (= (update (expected sample) :format #(str wrapper ":" %)) (counted (update sample :lines #(map wrap %)) {}))))))

(defn- run [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run arguments {:out out, :err (PrintStream. err true "UTF-8")})]
    {:code code, :out (.toString out "UTF-8"), :err (.toString err "UTF-8")}))

(deftest names-are-listed
  (let [{:keys [out]} (run "wf" "--help")]
    (doseq [server catalogue/servers] (is (re-find (re-pattern (str "\\b" server "\\b")) out))))
  (with-log (:lines (first samples))
    (fn [path]
      (let [{:keys [code err]} (run "wf" "--format-of" "squit" path)]
        (is (= 2 code))
        (is (str/includes? err "squid")))
      (testing "a log of another server"
        (is (= 2 (:code (run "wf" "--format-of" "envoy" path))))))))

(deftest format-strings-have-padding-tabs-and-units
  (doseq [[log-format line micros] [["%h %6{ms}T %>s" "203.0.113.7     12 200" 12000]
                                    ["%-20h|%10D %>s" "203.0.113.7         |      1500 200" 1500]
                                    ["$remote_addr\\t${took:ms}\\t$status" "203.0.113.7\t12\t200" 12000]
                                    ["%h\\t%{us}T\\t%>s" "203.0.113.7\t12\t200" 12]
                                    ["$remote_addr:$remote_port ${took:ns} $status" "203.0.113.7:5555 5000 200" 5]
                                    ["$remote_addr [$time] ${took:us}us $status" "203.0.113.7 [06/Feb/2009:12:14:14.655] 7us 200" 7]
                                    ["ltsv:client=peer,duration=took:ms" "peer:203.0.113.7\ttook:3\tstatus:200" 3000]]
          :let [sample {:lines [line], :counts {"client" {"203.0.113.7" 1}, "status" {"200" 1}}, :micros micros}]]
    (is (= (assoc sample :format log-format, :bytes 0, :malformed {}, :comments 0)
           (assoc (counted sample {:log-format log-format}) :lines [line])))))
