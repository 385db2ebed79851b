;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.usual-shape-test
  "The fast path for lines of the usual shape finds what the general scanner finds."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.wf.analysis :as analysis]
   [skein.wf.format :as format]
   [skein.wf.never-wrong-test :refer [with-log]])
  (:import
   (java.util Random)
   (skein.wf CommonPart TextFormat)))

(set! *warn-on-reflection* true)

(def ^:private combined "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"")

(def ^:private general
  "The same format, with a time pattern that the fast path does not know."
  (str/replace combined "%t" "[%{%d/%h/%Y:%T %z}t]"))

(defn- line
  "Returns a line of a log, with the usual parts where none are given."
  [& {:keys [client user time request status size rest]
      :or {client "203.0.113.7", user "- -", time "30/Mar/2006:10:00:00 -0700", request "GET /a?b HTTP/1.1", status "200", size "12", rest " \"-\" \"UA\""}}]
  (str client " " user " [" time "] \"" request "\" " status " " size rest))

(def ^:private odd-lines
  (concat
    (for [client ["::1" "10.0.0.1:80" "[::1]:80" "10.0.0.1,10.0.0.2" "10.0.0.1, 10.0.0.2" "10.0.0.1," ",10.0.0.1" "a" "" "x\ty"]] (line :client client))
    (for [user ["- bob" "id -" "- -" "-  -" "- a b" "- \"\""]] (line :user user))
    (for [time ["30/Mar/2006:10:00:01 -0700" "30/Mar/2006:10:00:60 -0700" "30/Mar/2006:10:00:61 -0700" "30/Mar/2006:10:00:0x -0700" "30/Mar/2006:10:00:59 +0000"
                "30/Mar/2006:10:01:00 +0000" "31/Feb/2006:10:01:00 +0000" "30/mar/2006:10:00:00 -0700" "30/Mar/2006:10:00:00.1 -070" "1/Mar/2006:10:00:00 -07000"]]
      (line :time time))
    (for [request ["POST / HTTP/1.0" "HEAD / HTTP/2.0" "GET  HTTP/1.1" "GET HTTP/1.1" "GET /" "get / HTTP/1.1" "G1T / HTTP/1.1" "-" "" "GET /a b HTTP/1.1" "GET /a\" HTTP/1.1"
                   "GET /\\\" HTTP/1.1" "GET /\" 200 5 HTTP/1.1" "GET /a HTTP/11" "GET /a HTTP/1.10" "GET /a HTTP/9.9" "VERSION-CONTROL /a HTTP/1.1" "GET\t/a HTTP/1.1"
                   "GET /\u00e9 HTTP/1.1" "GET /a HTTP/1.1\\" "GET /a HTTP/1.1 "]]
      (line :request request))
    (for [status ["404" "000" "099" "-" "0" "20" "2000" "+20" "20x"]] (line :status status))
    (for [size ["-" "0" "+5" "-5" "" "12x" "999999999999999" "9999999999999999"]] (line :size size))
    (for [rest ["" " " "x" " \"" " \"-\" \"" " \"-\" \"U\" " " \"a\" b\" \"U\"" " \"\\\" \"U\"" " \"a\\\" \"U\"" " \"\" \"\"" "  \"-\" \"U\""]] (line :rest rest))))

(def ^:private ^String junk " \"[]\\-/:,.09azA\t\u00e9\u0000")

(defn- broken
  "Returns a line of a log with one to three of its bytes changed, taken out or doubled."
  [^Random random]
  (let [digit (fn digit [] (.nextInt random 10))]
    (nth (iterate (fn change [^String text]
                    (let [at (.nextInt random (count text))
                          [before after] [(subs text 0 at) (subs text (inc at))]]
                      (case (.nextInt random 3)
                        0 (str before after)
                        1 (str before (.charAt text at) (.charAt text at) after)
                        (str before (.charAt junk (.nextInt random (count junk))) after))))
                  (line :time (str "30/Mar/2006:10:0" (digit) ":" (digit) (digit) " -0700")))
         (inc (.nextInt random 3)))))

(defn- counted [lines log-format]
  (with-log (str (str/join "\n" lines) "\n")
    (fn [path]
      (let [by ["client" "user" "method" "url" "protocol" "status" "referrer" "agent" "every-1"]
            tallies (for [by (conj (map vector by) ["client" "url" "status" "every-1"])] {:name (str by) :title "" :by by :top Integer/MAX_VALUE})]
        (select-keys (analysis/analyse [path] {:tallies (vec tallies)} {:log-format log-format, :workers 1})
                     [:lines :counted :malformed-kinds :bytes :seconds :tallies])))))

(defn- fields-of [log-format] (CommonPart/find ^TextFormat (format/compiled (format/parse log-format) [])))

(deftest only-formats-with-the-common-part-have-a-fast-path
  (is (= 0 (fields-of combined)))
  (is (= 2 (fields-of "vhost")))
  (is (= -1 (fields-of general)))
  (is (= -1 (fields-of "$remote_addr $status"))))

(deftest the-fast-path-agrees-on-odd-lines
  (doseq [odd odd-lines :let [lines [(line) odd (line)]]]
    (is (= (counted lines general) (counted lines combined)) odd)))

(deftest the-fast-path-agrees-on-broken-lines
  (doseq [seed (range 40) :let [random (Random. seed), lines (vec (repeatedly 100 #(broken random)))]]
    (is (= (counted lines general) (counted lines combined)) (str "seed " seed))))

(deftest a-zone-is-that-of-its-own-line
  (let [time (fn time [text] (line :time text))]
    (with-log (str (str/join "\n" [(time "30/Mar/2006:10:00:00 -0700") (time "31/Feb/2006:10:00:00 +0500") (time "30/Mar/2006:10:00:01 -0700")]) "\n")
      (fn [path]
        (is (= 2 (:counted (analysis/analyse [path] {:tallies [], :where [[:from "2006-03-30T17:00:00Z"]]} {:log-format combined, :workers 1}))))))))

(deftest times-of-filtered-lines-are-there-only-if-no-line-is-counted
  (let [lines (fn lines [day] (repeat 128 (line :time (str day "/Mar/2006:00:00:00 +0000")))) ; one batch
        filtered (fn filtered [path from]
                   (:filtered-seconds (analysis/analyse [path] {:tallies [], :where [[:from from]]} {:log-format combined, :workers 1})))]
    (with-log (str (str/join "\n" (mapcat lines ["30" "31"])) "\n")
      (fn [path]
        (is (= [1143676800 1143763200] (filtered path "2006-04-01")))
        (is (nil? (filtered path "2006-03-31")))))))
