;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.detection-test
  "A format is detected whatever a log's lines look like: spaced out, long, with a few faults, with hosts that are addresses."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.wf.never-wrong-test :refer [counts csv-of request run with-log]]))

(set! *warn-on-reflection* true)

(deftest json-may-have-spaces-around-its-times
  (doseq [line ["{\"time\": \"2024-10-10T13:55:00Z\", \"remote_addr\": \"203.0.113.7\", \"uri\": \"/\", \"status\": 200}"
                "{\"msg\": \"Oct 10 13:55:00 web1 a: b\", \"remote_addr\": \"203.0.113.7\", \"uri\": \"/\", \"status\": 200}"]
          :let [[code rows err] (csv-of (str line "\n" line "\n") "client")]]
    (is (= [0 [["203.0.113.7" 2]]] [code rows]))
    (is (str/includes? err "format json:") "and is not taken for lines that syslog has wrapped")))

(defn- long-request [n] (str/replace request "/a" (str "/" (str/join (repeat n "x")))))

(deftest formats-of-long-lines-are-detected
  (testing "one that is longer than what is read first"
    (is (= [["203.0.113.7" 1]] (counts (long-request 300000) "client")))
    (is (= [["203.0.113.7" 2]] (counts (str (long-request 300000) "\n" request) "client"))))
  (testing "one without a place where a pattern could begin: patterns must not take quadratic time"
    (is (= [["203.0.113.7" 50]] (counts (str/join "\n" (repeat 50 (long-request 8000))) "client")))))

(deftest a-few-lines-with-faults-do-not-change-the-format
  (let [torn (str/replace request "\"UA\"" "\"UA")]
    (with-log (str/join "\n" (concat (repeat 4 request) [torn]))
      (fn [path]
        (let [{:keys [code err]} (run "wf" "--by" "agent" path)]
          (is (= 0 code))
          (is (str/includes? err "format combined:"))
          (is (str/includes? err "1 malformed line")))))))

(deftest virtual-hosts-may-be-addresses
  (let [line (fn line [host] (str host " " request "\n"))]
    (is (= [["e.org" 4] ["2001:db8::1" 1] ["[2001:db8::1]" 1]]
           (counts (str/join (map line (concat (repeat 4 "e.org:443") ["2001:db8::1:443" "[2001:db8::1]:80"]))) "host")))
    (is (= [["[2001:db8::1]" 2] ["e.org" 1]]
           (counts (str/join (map line ["[2001:db8::1]" "[2001:db8::1]" "e.org"])) "host")))))

(deftest a-log-with-few-lines-that-fit-is-refused
  (with-log (str/join "\n" (concat (repeat 10 request) (map #(str "no request " %) (range 300))))
    (fn [path]
      (doseq [options [[] ["--format-of" "apache"]]
              :let [{:keys [code err]} (apply run "wf" "--by" "status" path options)]]
        (is (= 2 code))
        (is (str/includes? err "only 10 of the 200 lines that were tried are in the format that fits best, combined. If that is the log's format, give --log-format combined;"))
        (is (str/includes? err "The first line that does not fit: \"no request 0\"\n")))
      (testing "and the option that the message names works"
        (let [{:keys [code err]} (run "wf" "--by" "status" "--log-format" "combined" path)]
          (is (= 1 code))
          (is (str/includes? err "300 malformed lines")))))))

(defn- among
  "Returns a log of `line` twenty times, after the lines of `others`."
  [others line]
  (str/join "\n" (concat others (repeat 20 line))))

(deftest lines-of-another-program-do-not-change-the-format
  (doseq [[what others] {"before the requests" (for [n (range 60)] (str "2024/10/10 10:00:00 [error] 12#12: *" n " connect() failed, client: 10.0.0.1"))
                         "as many as requests" (for [n (range 20)] (str "foo " n " bar"))
                         "more than requests" (repeat 25 "garbage")
                         "with a number at their end" (repeat 20 "it took 0.5")}]
    (testing what
      (is (= [["203.0.113.7" "e.org" "-" 20]] (counts (among others (str "e.org " request " 0.5")) "client+host+user")))
      (is (= [["203.0.113.7" "e.org" "-" 20]] (counts (among others (str "e.org " request)) "client+host+user")))
      (is (= [["203.0.113.7" "/a" 20]] (counts (among others (str "Oct 10 13:55:00 web1 nginx: " request)) "client+url")))
      (is (= [["203.0.113.7" "/a" "7" 20]]
             (counts (among others "client:203.0.113.7\turi:/a\tstatus:200\tshard:7") "client+url+shard"))))))

(deftest seconds-are-found-in-lines-that-docker-has-wrapped
  (let [line (str "{\"log\":\"" (str/replace (str request " 0.5") "\"" "\\\"") "\\n\",\"stream\":\"stdout\",\"time\":\"2024-10-10T13:55:00Z\"}")
        [_ rows err] (csv-of (str line "\n" line "\n") "client+agent")]
    (is (= [["203.0.113.7" "UA" 2]] rows))
    (is (str/includes? err "format docker:combined-seconds:"))))

(deftest a-whole-number-at-the-end-is-no-duration-whatever-other-lines-end-with
  (let [[_ _ err] (csv-of (among ["it took 0.5"] (str request " 5")) "client")]
    (is (str/includes? err "format combined-and-more:"))))

(deftest a-log-may-begin-with-many-lines-of-another-program
  (is (= [["203.0.113.7" 300]]
         (counts (str/join "\n" (concat (map #(str "starting worker " %) (range 300)) (repeat 300 (long-request 200)))) "client"))))

(deftest keys-of-unknown-json-are-named-by-their-paths
  (with-log (str "{\"at\": 1, \"in\": {\"ip\": \"::1\", \"say \\\"q\\\": {\": [1, {\"x\": 2}], \"http\": {\"what\": \"{\"}}, \"took\" : 0.5, \"note\": \""
                 (str/join (repeat 100000 "\\\"")) "\"}\n")
    (fn [path]
      (is (str/includes? (:err (run "wf" "--by" "client" path)) "The keys of the first line: at, in.ip, in.say \\\"q\\\": {, in.http.what, took, note\n")))))

(deftest fields-of-a-later-line-or-file-are-counted
  (doseq [[line own] [[(fn line [status more] (str "host:203.0.113.7\tstatus:" status more)) "\tto.shard:7"]
                      [(fn line [status more] (str "{\"ip\":\"203.0.113.7\",\"status\":" status more "}")) ",\"to\":{\"shard\":\"7\",\"x\":[{\"y\":1}]}"]]
          :let [plain (line 200 ""), with-own (line 200 own), late (str/join "\n" (concat (repeat 20 plain) [with-own]))]]
    (is (= [["7" 1]] (counts late "to.shard")))
    (with-log (str/join "\n" (concat (repeat 300 plain) [with-own (line 404 own)]))
      (fn [first-path]
        (with-log with-own
          (fn [path]
            (let [{:keys [code out err]} (run "wf" "--by" "to.shard" "--where" "to.shard=7" "--format" "csv" first-path path)]
              (is (= [0 "tally,key,hits,bytes\r\nto.shard,7,3,0\r\n"] [code out]) err)
              (is (= 1 (count (re-seq #"format " err))) "both have one format")))))))
  (let [docker "{\"log\":\"{\\\"ip\\\":\\\"203.0.113.7\\\",\\\"status\\\":200,\\\"a\\\":{\\\"b\\\":\\\"c\\\"}}\\n\",\"stream\":\"stdout\",\"time\":\"2024-10-10T13:55:00Z\"}"]
    (is (= [["c" 1]] (counts docker "a.b"))))
  (is (= [["r" 1]] (counts (str "Oct 10 13:55:00 web1 nginx: {\"ip\":\"203.0.113.7\",\"status\":200,\"to\":\"r\"}") "to"))))

(deftest fields-that-a-later-header-names-are-counted
  (let [header (fn header [more] (str "#Fields: date time c-ip sc-status cs(Date)" more "\n"))
        line (fn line [more] (str "2024-10-10 13:55:00 203.0.113.7 200 x" more "\n"))
        with-own (str (header " sc-substatus cs(Cookie)") (line " 7 c"))]
    (with-log (str (header "") (str/join (repeat 300 (line ""))) with-own (header " cs(cookie)") (line " c"))
      (fn [first-path]
        (with-log with-own
          (fn [path]
            (doseq [paths [[first-path path] [path first-path]]
                    :let [{:keys [code out err]} (apply run "wf" "--by" "sc-substatus,cookie,day" "--format" "csv" paths), n (count paths)]]
              (is (= [0 (format "sc-substatus,7,%d,0\r\ncookie,c,%d,0\r\nday,2024-10-10,%d,0\r\n" n (inc n) (+ 301 n))]
                     [code (str/replace-first out "tally,key,hits,bytes\r\n" "")]) err))))))))

(deftest a-quoted-field-does-not-take-in-the-fields-after-it
  (doseq [more ["rt=0.250 uct=\"0.001\" urt=\"0.249\"" "0.123 \"9.9.9.9\"" "0.5 \"-\" \"b\"" "pid=7 \"x\"" "\"9.9.9.9\" 0.5 \"b\""]
          log [(str request " " more) (str/join "\n" (cons request (repeat 20 (str request " " more))))]
          :let [[_ rows err] (csv-of log "agent")]]
    (is (= ["UA"] (map first rows)) more)
    (is (str/includes? err "format combined-and-more:") err))
  (testing "but a few agents may have quotation marks"
    (let [quoted (str/replace request "UA" "say \"x\" y")
          [_ rows err] (csv-of (among (repeat 2 quoted) request) "agent")]
      (is (= #{["UA" 20] ["\"say \"\"x\"\" y\"" 2]} (set rows)))
      (is (str/includes? err "format combined:"))))
  (testing "and so may all agents of a log"
    (is (= [["\"say \"\"x\"\" y\"" 1]] (counts (str/replace request "UA" "say \"x\" y") "agent")))))

(deftest a-user-does-not-take-in-the-client
  (doseq [before ["shop.example.com 443 " "web1 nginx: " "web-1 | " "- " "a b c "], user ["-" "bob"]
          client ["203.0.113.7" "2001:db8::1" "203.0.113.7:5555"]
          :let [line (-> request (str/replace "203.0.113.7 - -" (str client " - " user)) (as-> it (str before it)))
                [code _ err] (csv-of (str line "\n" line) "client")]]
    (is (= 2 code) line)
    (is (str/includes? err "none of the formats") line))
  (testing "but users may have spaces"
    (doseq [user ["Ann Lee" "Ann B Lee" "EXAMPLE\\\\Ann Lee"]]
      (is (= [["203.0.113.7" 1]] (counts (str/replace request "- -" (str "- " user)) "client")) user))))
