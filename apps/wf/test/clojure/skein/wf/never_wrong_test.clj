;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.never-wrong-test
  "A log is counted in its format, or refused with a reason. It is never counted wrongly without a warning."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli])
  (:import
   (java.io ByteArrayOutputStream File FileOutputStream PrintStream)
   (java.util.zip GZIPOutputStream ZipEntry ZipOutputStream)))

(set! *warn-on-reflection* true)

(defn run
  "Returns {:code :out :err} of a command."
  [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run arguments {:out out, :err (PrintStream. err true "UTF-8")})]
    {:code code, :out (.toString out "UTF-8"), :err (.toString err "UTF-8")}))

(defn with-log
  "Calls `f` with the path of a file of `content`, a string or bytes."
  [content f]
  (let [file (File/createTempFile "skein-never" ".log")]
    (try
      (with-open [out (FileOutputStream. file)]
        (.write out (if (string? content) (.getBytes ^String content "UTF-8") ^bytes content)))
      (f (str file))
      (finally (.delete file)))))

(def request "A line in the combined format." "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"UA\"")

(defn csv-of
  "Returns `[code rows err]` of the log's tally by `by`. A row has the parts of its key, and the hits."
  [content by & options]
  (with-log content
    (fn [path]
      (let [{:keys [code out err]} (apply run "wf" (concat options ["--by" by "--format" "csv" path]))]
        [code
         (mapv (fn [line] (let [[key [hits]] (split-at (count (str/split by #"\+")) (rest (str/split line #",")))]
                            (conj (vec key) (parse-long hits))))
               (rest (str/split-lines out)))
         err]))))

(defn counts
  "Returns the rows of the log's tally by `by`, as [key hits]."
  [content by & options]
  (second (apply csv-of content by options)))

(deftest wrapped-lines-are-unwrapped
  (doseq [[wrapper line] {"syslog" (str "Oct 10 13:55:00 web1 nginx[812]: " request)
                          "syslog " (str "Oct  9 13:55:00 web1 nginx: " request)
                          "syslog  " (str "<190>Oct 10 13:55:00 web1 nginx: " request)
                          "syslog   " (str "2024-10-10T13:55:00.123456+00:00 web1 nginx[812]: " request)
                          "syslog    " (str "<190>1 2024-10-10T13:55:00.123Z web1 nginx 812 - [a b=\"] c\"] " request)
                          "kubernetes" (str "2024-10-10T13:55:00.123456789Z stdout F " request)
                          "docker" (str "{\"log\":\"" (str/replace request "\"" "\\\"") "\\n\",\"stream\":\"stdout\",\"time\":\"2024-10-10T13:55:00Z\"}")}
          :let [[code rows err] (csv-of (str/join "\n" (repeat 4 line)) "client+url")]]
    (testing wrapper
      (is (= 0 code))
      (is (= [["203.0.113.7" "/a" 4]] rows))
      (is (str/includes? err (str "format " (str/trim wrapper) ":combined"))))))

(deftest json-within-lines-is-unwrapped
  (let [json "{\\\"remote_addr\\\":\\\"203.0.113.7\\\",\\\"request_uri\\\":\\\"/caf\\u00e9 \\\\\\\"x\\\\\\\"\\\",\\\"status\\\":200}"
        line (str "{\"log\":\"" json "\\n\",\"stream\":\"stdout\",\"time\":\"2024-10-10T13:55:00Z\"}")]
    (is (= [["203.0.113.7" 2]] (counts (str line "\n" line "\n") "client")))
    (is (= [["200" 2]] (counts (str line "\n" line "\n") "status" "--log-format" "docker:json")))))

(deftest a-line-is-given-as-the-log-has-it
  (let [json "{\\\"remote_addr\\\":\\\"203.0.113.7\\\",\\\"uri\\\":\\\"/caf\\\\u00e9\\\",\\\"status\\\":200}"
        line (fn line [json] (str "{\"log\":\"" json "\\n\",\"stream\":\"stdout\",\"time\":\"2024-10-10T13:55:00Z\"}"))
        lines [(line json) (line (str/replace json "200" "x")) (line (str/replace json "caf\\\\u00e9" "b"))]]
    (with-log (str/join "\n" lines)
      (fn [path]
        (is (= (sort [(first lines) (peek lines)])
               (sort (map #(first (:key %)) (:rows (first (:tallies (edn/read-string (:out (run "wf" "-e" ":line" "--format" "edn" path))))))))))))))

(deftest a-client-looks-like-an-address-or-a-host
  (testing "a format must match more than the shape of lines"
    (doseq [line ["2024-10-10T13:55:00.1Z stdout - [10/Oct/2024:13:55:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"UA\" \"-\""
                  "12345 - - [10/Oct/2024:13:55:00 +0000] \"GET / HTTP/1.1\" 200 5"
                  "a@b - - [10/Oct/2024:13:55:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"UA\""]
            :let [[code _ err] (csv-of line "client")]]
      (is (= 2 code) line)
      (is (str/includes? err "none of the formats") line)))
  (testing "addresses and names"
    (doseq [client ["203.0.113.7" "2001:db8::1" "::ffff:1.2.3.4" "localhost" "web-1.example.org" "unix:" "-"]]
      (is (= [[client 1]] (counts (str/replace request "203.0.113.7" client) "client")) client))
    (testing "with ports and in brackets"
      (doseq [[text client] {"10.0.0.1:5555" "10.0.0.1", "[2001:db8::1]:5555" "2001:db8::1", "[::1]" "::1", "fe80::1%eth0" "fe80::1%eth0"}]
        (is (= [[client 1]] (counts (str/replace request "203.0.113.7" text) "client")) text)))))

(deftest an-empty-field-is-a-field
  (is (= [["200" 2]] (counts "1.1.1.1\t\t200\n1.1.1.1\tx\t200\n" "status" "--log-format" "$remote_addr\t$x\t$status")))
  (testing "the format of ingress-nginx"
    (let [fmt (str "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" "
                   "$request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr "
                   "$upstream_response_length $upstream_response_time $upstream_status $req_id")
          line (str request " 402 0.012 [default-web-80] [] 10.1.0.5:80 5 0.011 200 8f0c\n")]
      (is (= [["200" 1]] (counts line "status" "--log-format" fmt)))
      (is (= 0 (first (csv-of line "proxy_upstream_name" "--log-format" fmt)))))))

(deftest json-without-a-known-key-is-an-unknown-format
  (let [[code _ err] (csv-of "{\"EdgeColo\":1,\"Ray\":{\"id\":\"x\"}}\n" "client")]
    (is (= 2 code))
    (is (str/includes? err "EdgeColo, Ray.id")))
  (testing "one with a value that can't be read has known keys"
    (let [[code _ err] (csv-of "{\"uri\":\"/a\",\"status\":200,\"time\":\"soon\"}\n" "client")]
      (is (= 2 code))
      (is (str/includes? err "have a value that can't be read"))))
  (testing "some vendors' own keys are known"
    (is (= [["203.0.113.7" 1]]
           (counts "{\"ClientIP\":\"203.0.113.7\",\"ClientRequestURI\":\"/a\",\"EdgeResponseStatus\":200}" "client")))
    (is (= [["::1" 1]] (counts (str "{\"level\":30,\"time\":1728568500000,\"pid\":7,\"hostname\":\"web1\",\"req\":{\"method\":\"GET\",\"url\":\"/a\","
                                    "\"remoteAddress\":\"::1\"},\"res\":{\"statusCode\":200},\"responseTime\":12}")
                               "client")))
    (is (= [["203.0.113.7" 1]]
           (counts (str "{\"timeStamp\":\"2024-10-10T13:55:00Z\",\"properties\":{\"clientIP\":\"203.0.113.7\",\"requestUri\":\"/a\","
                        "\"httpMethod\":\"GET\",\"httpStatus\":200}}")
                   "client")))))

(deftest durations-have-units
  (doseq [[unit shown] {"" "12000000" ":ms" "12000" ":us" "12"}]
    (with-log "{\"url\":\"/a\",\"status\":200,\"took\":12}\n"
      (fn [path]
        (let [{:keys [out]} (run "wf" "--log-format" (str "json:duration=took" unit) "--by" "url" "--rank" "slowest" "--format" "csv" path)]
          (is (str/includes? out shown)))))))

(deftest mostly-malformed-is-a-failure
  (let [log (str/join "\n" (concat (repeat 100 request) (repeat 200 "not a line of a log")))
        [code rows err] (csv-of log "status" "--log-format" "combined")]
    (is (= 1 code))
    (is (= [["200" 100]] rows))
    (is (str/includes? err "more than half of the lines are malformed")))
  (is (= 0 (first (csv-of (str/join "\n" (concat (repeat 200 request) (repeat 199 "x"))) "status")))))

(deftest formats-are-checked-in-the-middle-and-at-the-end
  (let [common (subs request 0 (str/index-of request " \"-\" \"UA\""))
        [code rows] (csv-of (str/join "\n" (concat (repeat 900 common) (repeat 9000 request))) "status")]
    (is (= [0 [["200" 9900]]] [code rows]))))

(defn- zipped [^String text]
  (let [out (ByteArrayOutputStream.)]
    (with-open [zip (ZipOutputStream. out)]
      (.putNextEntry zip (ZipEntry. "a.log"))
      (.write zip (.getBytes text)))
    (.toByteArray out)))

(defn- gzipped ^bytes [^bytes content]
  (let [out (ByteArrayOutputStream.)]
    (with-open [gzip (GZIPOutputStream. out)] (.write gzip content))
    (.toByteArray out)))

(defn- tar ^bytes [^String text]
  (let [header (byte-array 512)]
    (System/arraycopy (.getBytes "a.log") 0 header 0 5)
    (System/arraycopy (.getBytes "ustar") 0 header 257 5)
    (byte-array (concat header (.getBytes text)))))

(deftest archives-are-named
  (doseq [[kind content] {"zip" (zipped request), "tar" (tar request), "tar " (gzipped (tar request))
                          "gzip" (gzipped (gzipped (.getBytes ^String request))), "7z" (byte-array [55 122 -68 -81 39 28 0 4])}
          options [[] ["--preset" "wf2"]]]
    (with-log content
      (fn [path]
        (let [{:keys [code err]} (apply run "wf" (concat options [path]))]
          (is (= 2 code) kind)
          (is (str/includes? err (str "is a " (str/trim kind) " ")) kind))))))

(deftest options-may-be-given-again
  (with-log request
    (fn [path]
      (let [{:keys [out]} (run "wf" "--by" "status" "--by" "method" "--format" "csv" path)]
        (is (str/includes? out "status,200"))
        (is (str/includes? out "method,GET")))
      (is (= 0 (:code (run "wf" "--status" "404" "--status" "200" "--path" "a" "--path" "/" "--by" "url" path))))
      (let [{:keys [code err]} (run "wf" "--top" "3" "--top" "4" path)]
        (is (= 2 code))
        (is (str/includes? err "--top is given twice"))))))

(deftest help-and-version-have-their-usual-names
  (is (= (run "wf" "--help") (run "wf" "-h")))
  (is (= (run "--version") (run "wf" "--version"))))

(deftest outputs-are-checked-before-anything-is-read
  (with-log request
    (fn [path]
      (doseq [option ["--html" "--malformed"], output ["/no/such/x.html" (System/getProperty "java.io.tmpdir")]
              :let [{:keys [code out err]} (run "wf" option output path)]]
        (is (= [1 ""] [code out]))
        (is (str/includes? err (str output ": can't be written")))))))

(deftest csv-is-safe-in-spreadsheets
  (let [line (str/replace request "/a " "=cmd|calc\u001b ")]
    (with-log line
      (fn [path]
        (let [{:keys [out]} (run "wf" "--by" "url" "--format" "csv" path)]
          (is (str/includes? out "url,'=cmd|calc\\x1b,1")))))))

(deftest invalid-utf-8-does-not-hide-valid-bytes
  (let [bytes (.getBytes (str/replace request "UA" "é") "UTF-8")
        latin-1 (.getBytes (str/replace request "UA" "\u00fc") "ISO-8859-1")]
    (with-log (byte-array (concat bytes [10] latin-1))
      (fn [path]
        (let [{:keys [out]} (run "wf" "--by" "agent" path)]
          (is (str/includes? out " é\n"))
          (is (str/includes? out " \\xfc\n")))))))

;;;; Other oddities of logs

(deftest marks-and-zeros-before-a-line-are-skipped
  (doseq [head ["\ufeff" "\u0000\u0000\u0000" "\u0000\ufeff"]]
    (is (= [["203.0.113.7" 3]] (counts (str head request "\n" request "\n" head request "\n") "client")))
    (is (= [["203.0.113.7" 1]] (counts (str head "{\"remote_addr\":\"203.0.113.7\",\"uri\":\"/\",\"status\":200}\n") "client")))
    (is (= [["203.0.113.7" 1]] (counts (str head "#Fields: c-ip sc-status\n203.0.113.7 200\n") "client"))))
  (is (= [["203.0.113.7" 2]] (counts (str/join "\n" (repeat 2 (str "<134>1 2024-10-10T13:55:00Z web1 nginx - - - \ufeff" request))) "client"))))

(deftest json-without-a-request-is-malformed
  (let [log (str "{\"time\":1728568500000,\"msg\":\"listening\"}\n{\"time\":1728568500000,\"req\":{\"method\":\"GET\",\"url\":\"/a\"}}\n"
                 "{\"time\":1728568500000,\"res\":{\"statusCode\":200}}\n")
        [code rows err] (csv-of log "day")]
    (is (= [0 [["2024-10-10" 2]]] [code rows]))
    (is (str/includes? err "no request 1")))
  (testing "unless the user says what it is about"
    (is (= [["a" 1]] (counts "{\"time\":1728568500000,\"who\":\"a\"}\n" "client" "--log-format" "json:client=who")))))

(deftest caddys-times-are-read-in-all-its-formats
  (doseq [time ["1728568500.123" "1728568500123" "\"2024/10/10 13:55:00\"" "\"2024/10/10 13:55:00.123\"" "\"2024/10/10 13:55:00.123456789\""
                "\"10/Oct/2024:13:55:00 +0000\"" "\"2024-10-10T13:55:00.000Z\"" "\"2024-10-10T13:55:00.000+0000\"" "\"2024-10-10T13:55:00+00:00\""]]
    (is (= [["13" 1]] (filterv (comp pos? second) (counts (str "{\"ts\":" time ",\"request\":{\"uri\":\"/\"},\"status\":200}\n") "hour"))) time)))

(deftest clients-in-json-have-no-port
  (doseq [[text client] {"203.0.113.7:5000" "203.0.113.7", "[2001:db8::1]:5000" "2001:db8::1", "2001:db8::1" "2001:db8::1", "web:" "web:"
                         "203.0.113.7, 10.0.0.1" "203.0.113.7"}]
    (is (= [[client 1]] (counts (str "{\"remote_addr\":\"" text "\",\"uri\":\"/\",\"status\":200}\n") "client")))))

(deftest a-whole-number-without-a-unit-is-no-duration
  (doseq [[value shown] {"1234567" "0,,", "1.5" "1500000", "\"0.25\"" "250000", "\"3s\"" "3000000", "\"12ms\"" "12000"}]
    (with-log (str "{\"url\":\"/a\",\"status\":200,\"duration\":" value "}\n")
      (fn [path]
        (is (str/includes? (:out (run "wf" "--by" "url" "--rank" "slowest" "--format" "csv" path)) shown) value)))))

(deftest ltsv-taken-is-seconds-only-with-a-decimal-point
  (doseq [[log-format value shown] [["ltsv" "1.5" ",1500000,"] ["ltsv" "1500" ",0,,"] ["ltsv:duration=taken:us" "1500" ",1500,"]]]
    (with-log (str "time:2024-10-10T13:55:00Z\turi:/a\tstatus:200\ttaken:" value "\n")
      (fn [path]
        (is (str/includes? (:out (run "wf" "--log-format" log-format "--by" "url" "--rank" "time" "--format" "csv" path)) shown) value)))))

(deftest a-long-line-in-a-message-ends-in-three-points
  (let [[_ _ err] (csv-of (str/join (repeat 100 "x")) "client")]
    (is (str/ends-with? (str/trim err) "xxx..."))))

(deftest haproxy-numbers-with-a-plus-are-counted
  (let [line "203.0.113.7:1 [06/Feb/2009:12:14:15.655] fe be/s 10/0/30/69/+109 200 +2750 - - ---- 1/1/1/1/+3 0/0 \"GET /a HTTP/1.1\""]
    (is (= [["203.0.113.7" 2]] (counts (str line "\n" line) "client")))
    (with-log line
      (fn [path]
        (is (str/includes? (:out (run "wf" "--by" "url" "--rank" "time" "--format" "csv" path)) "url,/a,1,2750,109000"))))))

(deftest a-virtual-host-is-no-client
  (let [line (fn line [host] (str host " 203.0.113.7 - - [10/Oct/2024:13:55:00 +0200] \"GET / HTTP/1.1\" 200 5 \"-\" \"UA\""))]
    (is (= [["203.0.113.7" 3]] (counts (str/join "\n" (map line ["e.org:443" "[2001:db8::1]:443" "a.org:80"])) "client")))))

(deftest absolute-urls-are-split-even-with-a-host-field
  (let [log "{\"properties\":{\"requestUri\":\"https://www.e.org:443/a?b\",\"hostName\":\"shop.e.org\",\"httpStatusCode\":\"200\"}}\n"]
    (is (= [["/a?b" 1]] (counts log "url")))
    (is (= [["shop.e.org" 1]] (counts log "host")))))

(deftest lost-quotation-mark-makes-a-request-malformed
  (let [[_ rows err] (csv-of (str request "\n" (subs request 0 60) request "\n" request "\n") "url")]
    (testing "a line that begins within another one"
      (is (= [["/a" 2]] rows))
      (is (str/includes? err "1 malformed line"))))
  (testing "a log of Amazon's balancer, which has more fields after the request"
    (let [line (str "https 2024-10-10T13:55:00.186641Z app/web/50dc 203.0.113.7:2817 10.0.0.66:9000 0.000 0.001 0.000 200 200 0 10 "
                    "\"GET https://shop.example.org:443/a HTTP/1.1\" \"UA\" ECDHE TLSv1.2 arn:x \"Root=1\" \"shop.example.org\" \"arn:x\" 1\n")]
      (is (= [["/a" 2]] (counts (str line (str/replace line "1.1\"" "1.1") line) "url")))
      (is (= [["/a" 2]] (counts (str line (str/replace line "1.1\" " "1.1 ") line) "url")))))
  (testing "a format that the user gives"
    (is (= [["\"/a\"\"b\"" 1]] (counts "1.1.1.1 \"/a 200 \"x\"\n1.1.1.1 \"/a\"b\" 200 \"x\"\n" "url" "--log-format" "$remote_addr \"$request_uri\" $status \"$http_referer\""))))
  (testing "a text in the middle of a line has pairs of marks"
    (let [line "203.0.113.7 - - [10/Oct/2024:13:55:00 +0000] \"GET /a HTTP/1.1\" 200 10 \"-\" \"UA\" 1 \"web\" \"http://10.1.0.5:80\" 10ms\n"]
      (is (= [["UA" 3] ["\"U \"\"q\"\" A\"" 1]]
             (counts (str line line line (str/replace line "UA" "U \"q\" A") (str/replace line "\"UA\"" "\"UA")) "agent" "--format-of" "traefik")))))
  (testing "a mark in a URL without spaces is a part of the URL"
    (is (= [["\"/a?q=\"\"x\"\"\"" 1]] (counts (str (str/replace request "/a" "/a?q=\"x\"") "\n") "url")))))

(deftest refused-condition-names-the-field-to-use
  (with-log request
    (fn [path]
      (let [{:keys [code err]} (run "wf" "--where" "browser!=x" path)]
        (is (= 2 code))
        (is (str/includes? err "a condition can't use browser, which is made after counting; use the field that it is made from, agent")))
      (is (= 0 (:code (run "wf" "--where" "site!=x" path))))
      (is (= 2 (:code (run "wf" "--where" "every-0=x" path)))))))

(deftest conditions-on-fields-of-the-log-with-the-name-of-a-group-or-key
  (let [log "1.1.1.1 DE gold 200\n1.1.1.2 FR gold 404\n", own ["--log-format" "$remote_addr $country $class $status"]]
    (is (= [["1.1.1.1" 1]] (apply counts log "client" "--where" "country=DE" own)))
    (with-log log
      (fn [path]
        (let [{:keys [code err]} (apply run "wf" "--where" "class=gold" path own)]
          (is (= 2 code))
          (is (str/includes? err "class is a field of this log, and also what is made from status")))))))

(deftest separators-of-a-format-are-no-part-of-a-list
  (is (= [["9.9.9.9" 1]]
         (counts "1.1.1.1, 2.2.2.2 : 9.9.9.9 200\n" "client" "--log-format" "$http_x_forwarded_for : $remote_addr $status")))
  (is (= [["203.0.113.7" 1]] (counts (str (str/replace request #"^\S+ " "203.0.113.7, ") "\n") "client")) "a comma at the end of a list"))

(deftest top-limits-a-tally-over-time
  (let [at (fn at [hour n] (str/join (repeat n (str (str/replace request "13:55" (str hour ":55")) "\n"))))
        log (str (at "03" 2) (at "07" 1) (at "13" 3))]
    (is (= [["13" 3] ["03" 2]] (counts log "hour" "--top" "2")) "the hours with most hits")
    (is (= 24 (count (counts log "hour"))) "all hours, in order")
    (is (= [["2024-10-10 13:55" 3]] (counts log "minute" "--top" "1")) "without the minutes between")))

(deftest a-method-may-have-hyphens-and-underscores
  (doseq [method ["PROPFIND" "VERSION-CONTROL" "M-SEARCH" "RPC_IN_DATA" "get"]]
    (is (= [[method "/a" 1]] (counts (str/replace request "GET" method) "method+url")) method))
  (is (= [["'- - -" 1]] (counts (str/replace request "GET /a HTTP/1.1" "- - -") "url"))))

(deftest the-first-of-several-clients-counts
  (testing "in the place of the client, as behind a proxy"
    (let [list (fn list [clients] (str (str/replace request "203.0.113.7" clients) "\n"))]
      (is (= [["203.0.113.7" 2] ["unknown" 1]]
             (counts (str (list "203.0.113.7, 10.0.0.1") (list "203.0.113.7") (list "unknown, 10.0.0.1, 10.0.0.2")) "client")))
      (testing "and an empty one does not"
        (is (= [["10.0.0.1" 1] ["10.0.0.2" 1] ["10.0.0.3" 1]]
               (counts (str (list ", 10.0.0.1") (list ",10.0.0.2") (list ", , 10.0.0.3, 10.0.0.4")) "client"))))
      (is (= [["-" 1]] (counts (list "203.0.113.7, 10.0.0.1") "user")))))
  (testing "an address may end with colons"
    (is (= [["2001:db8::" 2]] (counts (str request " \"2001:db8::\"\n" request " \"2001:db8::\"\n") "x-forwarded-for")))
    (is (= [["2001:db8::" 1]] (counts "2001:db8:: ::1 200\n" "x-forwarded-for" "--log-format" "%{X-Forwarded-For}i %h %>s"))))
  (testing "a header is shown whole"
    (doseq [fmt ["%{X-Forwarded-For}i %l %u %t \"%r\" %>s %b" "$http_x_forwarded_for - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"]]
      (with-log (str "1.1.1.1, 2001:db8::1 - - [10/Oct/2024:13:55:00 +0000] \"GET /a HTTP/1.1\" 200 5\n"
                     "- - - [10/Oct/2024:13:55:00 +0000] \"GET /a HTTP/1.1\" 200 5\n")
        (fn [path]
          (let [{:keys [out]} (run "wf" "--log-format" fmt "--by" "x-forwarded-for" "--format" "csv" path)]
            (is (= ["x-forwarded-for,-,1,5" "x-forwarded-for,\"1.1.1.1, 2001:db8::1\",1,5"] (rest (str/split-lines out))) fmt)))))))

(deftest json-of-aws-api-gateway-is-read
  (with-log (str "{ \"requestId\":\"a\", \"ip\": \"203.0.113.7\", \"caller\":\"-\", \"user\":\"-\",\"requestTime\":\"10/Oct/2024:13:55:01 +0000\", "
                 "\"httpMethod\":\"GET\",\"resourcePath\":\"/a\", \"status\":\"200\",\"protocol\":\"HTTP/1.1\", \"responseLength\":\"12\" }\n")
    (fn [path]
      (is (str/includes? (:out (run "wf" "--by" "client+method+url+protocol+status+every-1" "--format" "csv" path))
                         ",203.0.113.7,GET,/a,HTTP/1.1,200,2024-10-10 13:55:01,1,12")))))

(deftest a-log-in-utf-16-is-refused-by-name
  (doseq [encoding ["UTF-16LE" "UTF-16BE"], mark ["\ufeff" ""]
          :let [named (if (= "" mark) encoding "UTF-16")]] ; iconv looks for the mark in UTF-16, and guesses the order without one
    (with-log (.getBytes (str mark request "\r\n") ^String encoding)
      (fn [path]
        (let [{:keys [code err]} (run "wf" path)]
          (is (= 2 code))
          (is (str/includes? err (str " is a text in UTF-16. Convert it first, as in iconv -f " named " -t UTF-8 " path " | skein wf -"))
              [encoding mark]))))))
