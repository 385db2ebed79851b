;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format-test
  "Formats of every kind: the fields of a line of each, and its detection."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.wf.analysis :as analysis]
   [skein.wf.format :as format]
   [skein.wf.format.detection :as detection])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- with-log [text f]
  (let [file (File/createTempFile "skein-format" ".log")]
    (try (spit file text :encoding "ISO-8859-1")
         (f (str file))
         (finally (.delete file)))))

(defn- keys-of
  "Returns the key of each of `names` in a log of one line, and the numbers; or the kinds of its malformed lines."
  [text names options]
  (with-log text
    (fn [path]
      (let [tallies (mapv (fn [by] {:name by, :title by, :by [by], :rank (if (= by "duration") "time" "hits")}) names)
            {:keys [malformed-kinds tallies]} (analysis/analyse [path] {:tallies tallies} options)]
        (if (seq malformed-kinds)
          malformed-kinds
          (into {} (for [{:keys [name rows]} tallies] [name (ffirst (map :key rows))])))))))

(def ^:private clf "[30/Mar/2006:10:00:00 -0700]")

(deftest formats-are-detected
  (doseq [[expected line]
          {"common" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5")
           "combined" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"")
           "vhost" (str "example.org:80 h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"")
           "vhost-without-port" (str "example.org h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"")
           "vhost-common" (str "example.org h - - " clf " \"GET /a HTTP/1.0\" 200 5")
           "nginx-main" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" \"1.2.3.4, 5.6.7.8\"")
           "vhost-seconds" (str "example.org h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" 0.123")
           "vhost-and-more" (str "example.org:443 h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" a b")
           "vhost-without-port-and-more" (str "example.org h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" what=ever -")
           "combinedio" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" 700 800")
           "combined-seconds" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" 0.123")
           "combined-forwarded-seconds" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" \"-\" 0.123")
           "combined-and-more" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" what=ever -")
           "common-and-more" (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 what=ever")
           "json" "{\"remote_addr\": \"h\", \"status\": 200}"}
          :let [head (fn [lines] (.getBytes ^String (str/join "\n" lines) "UTF-8"))]]
    (is (= expected (:name (:format (detection/detect "x" [(head [line])])))) line)
    (is (= expected (:name (:format (detection/detect "x" [(head (concat ["" "junk"] (repeat 20 line) ["h - - [3"]))])))) line)))

(defn- detected [line]
  (:name (:format (detection/detect "x" [(.getBytes (str line "\n") "UTF-8")]))))

(def ^:private request (str clf " \"GET /a HTTP/1.0\" 200 5"))

(deftest lighttpd-has-an-address-before-its-host
  (doseq [[expected start] {"lighttpd" ["203.0.113.1 www.example.com - " "2001:db8::7 www.example.com:8080 ann " "::1 localhost - "
                                        "::ffff:10.0.0.1 1.example.com - "]
                            "combined" ["www.example.com 203.0.113.1 - " "10.0.0.1 203.0.113.1 - " "localhost 10.0.0.1 - " "2001:db8::7 10.0.0.1 ann "]}
          start start
          [wrapper wrapped] {"" "", "syslog:" "Oct 10 13:55:00 web1 proxy[812]: ", "kubernetes:" "2024-10-10T13:55:00.1Z stdout F "}]
    (is (= (str wrapper expected) (detected (str wrapped start request " \"-\" \"x\""))) (str wrapped start))))

(deftest a-virtual-host-without-a-port-has-a-letter
  (doseq [[row plain after] [["vhost-without-port" "combined" " \"-\" \"x\""] ["vhost-seconds" "combined-seconds" " \"-\" \"x\" 0.123"]
                             ["vhost-common" "common" ""] ["vhost-without-port-and-more" "combined-and-more" " \"-\" \"x\" a b"]]
          [expected start] {row ["www.example.com 10.0.0.1 - - " "1.example.com 2001:db8::7 - ann " "localhost h - - " "_ 10.0.0.1 - - "]
                            plain ["203.0.113.1 10.0.0.1 - - "]}
          start start
          [wrapper wrapped] {"" "", "syslog:" "Oct 10 13:55:00 web1 proxy[812]: ", "kubernetes:" "2024-10-10T13:55:00.1Z stdout F "}]
    (is (= (str wrapper expected) (detected (str wrapped start request after))) (str wrapped start))))

(deftest whole-numbers-at-the-end-are-no-seconds
  (let [line (str "h - - " clf " \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\" 12345\n")]
    (is (= "combined-and-more" (:name (:format (detection/detect "x" [(.getBytes ^String line "UTF-8")]))))
        "they may be microseconds: the format must be given")))

(deftest lines-are-split-by-their-format
  (doseq [[log-format line expected]
          [["%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\""
            (str "example.org:443 ::1 - ann " clf " \"GET /a?b HTTP/2.0\" 404 5 \"r\" \"u\"")
            {"host" "example.org", "port" "443", "client" "::1", "user" "ann", "method" "GET", "url" "/a?b", "protocol" "HTTP/2.0"
             "status" "404", "referrer" "r", "agent" "u", "path" "/a"}]
           ["LogFormat \"%h %{X-Forwarded-For}i %{%Y-%m-%d %H:%M:%S}t %m %U%q %s %D\" mine"
            "h 1.2.3.4 2006-03-30 10:20:30 GET /a?b 200 1500" {"client" "h", "x-forwarded-for" "1.2.3.4", "url" "/a?b", "minute" "2006-03-30 10:20"}]
           ["log_format main '$remote_addr [$time_iso8601] '\n  '\"$request\" $status $bytes_sent ${upstream_addr}|$http_x_id|';"
            "h [2006-03-30T10:20:30+02:00] \"GET /a HTTP/1.1\" 200 5 10.0.0.1:80, 10.0.0.2:80|7|"
            {"client" "h", "url" "/a", "upstream_addr" "10.0.0.1:80, 10.0.0.2:80", "x-id" "7", "minute" "2006-03-30 10:20"}]
           ["$msec $remote_addr $request_method $request_uri $status" "1143713430.123 h PUT /x 201" {"minute" "2006-03-30 10:10", "method" "PUT", "url" "/x"}]
           ["%a %{begin:sec}t %s" "h 1143713430 200" {"client" "h", "minute" "2006-03-30 10:10"}]
           ["%h %s %>s %U" "h 302 200 /a" {"status" "200", "other-status" "302"}]
           ["%h %>s %<s %U" "h 200 302 /a" {"status" "200", "other-status" "302"}]
           ["%h \\\"%r\\\" %>s" "h \"-\" 408" {"url" "-", "status" "408", "method" nil}]
           ["json" (str "{\"time\":\"2006-03-30T10:20:30.5Z\",\"remote_addr\":\"h\",\"request\":\"GET \\/a\\u00e9\\ud83d\\ude00?x HTTP\\/1.1\","
                        "\"status\":\"200\",\"body_bytes_sent\":5,\"n\":{\"status\":[1,{\"a\":null}]},\"http_user_agent\":\"a\\\"b\\\\\"}")
            {"client" "h", "url" "/a\u00C3\u00A9\u00F0\u009F\u0098\u0080?x", "status" "200", "agent" "a\"b\\", "minute" "2006-03-30 10:20"}]
           ["json" (str "{\"ts\":1143713430.25,\"request\":{\"remote_ip\":\"h\",\"method\":\"GET\",\"uri\":\"/a\",\"host\":\"e.org\","
                        "\"headers\":{\"User-Agent\":[\"u\",\"v\"]}},\"status\":200,\"size\":12,\"duration\":0.25}")
            {"client" "h", "method" "GET", "url" "/a", "host" "e.org", "agent" "u", "minute" "2006-03-30 10:10"}]
           ["json:client=peer.ip,url=p,upstream=up" "{\"peer\":{\"ip\":\"h\"},\"p\":\"/a\",\"up\":\"10.0.0.1\",\"uri\":\"/wrong\"}"
            {"client" "h", "url" "/a", "upstream" "10.0.0.1"}]]]
    (is (= expected (keys-of (str line "\n") (keys expected) {:log-format log-format})) line)))

(deftest only-a-url-that-begins-with-a-scheme-says-a-host
  (doseq [[url host path] [["/login?next=https://evil.org/x" nil "/login?next=https://evil.org/x"]
                           ["//a/go?u=http://evil.org/y" nil "//a/go?u=http://evil.org/y"]
                           ["?next=http://evil.org/y" nil "?next=http://evil.org/y"]
                           ["login?next=http://evil.org/y" nil "login?next=http://evil.org/y"]
                           ["://evil.org/y" nil "://evil.org/y"]
                           ["http:/a" nil "http:/a"]
                           ["https://example.org:443/a?u=http://evil.org/y" "example.org" "/a?u=http://evil.org/y"]
                           ["svn+ssh://example.org/a" "example.org" "/a"]
                           ["http://[::1]:80/a" "[::1]" "/a"]
                           ["http://example.org?u=http://evil.org/y" "example.org" "?u=http://evil.org/y"]
                           ["http://example.org:80#a/b" "example.org" "#a/b"]]]
    (is (= {"host" host, "url" path}
           (keys-of (str "{\"properties\":{\"requestUri\":\"" url "\"}}\n") ["host" "url"] {:log-format "json"}))))
  (let [line (fn line [url] (str "h - - " clf " \"GET " url " HTTP/1.1\" 200 5 \"-\" \"x\"\n"))
        urls ["http://a.org/1" "http://a.org/2" "http://a.org/3" "/go?u=http://evil.org/y" "/go?u=http://evil.org/y"]]
    (is (= {"host" "a.org", "url" "/go?u=http://evil.org/y"}
           (keys-of (str/join (map line urls)) ["host" "url"] {:format-of "varnish"})))))

(deftest a-time-that-several-directives-write-is-one
  (let [log (fn log [log-format line]
              (with-log line
                (fn [path]
                  (let [{:keys [counted tallies]} (analysis/analyse [path]
                                                                    {:tallies [{:name "m" :title "m" :by ["minute"]}]
                                                                     :where [[:from "2025-03-01T05:00:00Z"] [:to "2025-03-01T05:00:00Z"]]}
                                                                    {:log-format log-format})]
                    [counted (ffirst (map :key (:rows (first tallies))))]))))]
    (is (= [1 "2025-03-01 10:00"]
           (log "[%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t] %h %>s %b" "[01/Mar/2025 10:00:00.123 +0500] h 200 5\n")))
    (is (= [1 "2025-03-01 10:00"] (log "%{%d/%b/%Y}t at %{%T}t%%%{%z}t %h" "01/Mar/2025 at 10:00:00%+0500 h\n")))
    (is (= [1 "2025-03-01 05:00"] (log "%{sec}t.%{usec_frac}t %h" "1740805200.123456 h\n")))
    (is (= [1 "2025-03-01 05:00"] (log "%{begin:sec}t %{end:sec}t %h" "1740805200 1740805203 h\n")) "a second time is another one"))
  (is (= :skein/bad-log-format
         (try (format/parse "%{%d/%b/%Y}t %h %{%T}t %>s") (catch ExceptionInfo e (:skein/error (ex-data e)))))))

(deftest the-address-of-the-host-is-no-client
  (is (= {"client" nil, "url" "/a"}
         (keys-of "{\"host\":{\"ip\":\"10.0.0.1\"},\"url\":\"/a\"}\n" ["client" "url"] {:log-format "json"}))
      "of ECS, host.ip is the server's own"))

(deftest invalid-json-is-malformed
  (doseq [line ["{" "{}}" "{\"status\":}" "{\"a\":1,}" "[1]" "x" "{\"a\" 1}" "{\"a\":\"b}" "{\"a\":tru}" "{\"a\":1 2}" "{\"status\":1e}x" "{a:1}"]]
    (is (= {"json" 1} (keys-of (str line "\n") ["url"] {:log-format "json"})) line))
  (is (= {"status" 1} (keys-of "{\"status\":\"x\"}\n" ["url"] {:log-format "json"})))
  (is (= {"time" 1} (keys-of "{\"time\":\"x\"}\n" ["url"] {:log-format "json"})))
  (is (= {"no request" 1} (keys-of " { } \n" ["url"] {:log-format "json"}))))

(deftest the-question-does-not-decide-which-json-is-a-request
  (with-log "{\"p\":\"/a\",\"level\":\"info\"}\n{\"level\":\"warn\",\"msg\":\"GC pause\"}\n{\"msg\":\"start\"}\n"
    (fn [path]
      (doseq [by ["url" "level"]]
        (is (= [2 1] ((juxt :counted :malformed) (analysis/analyse [path] {:tallies [{:name by :title by :by [by]}]}
                                                                   {:log-format "json:url=p,level=level"})))
            by)))))

(defn- numbers-of
  "Returns the status, the bytes and the microseconds of one JSON line; or the kinds of its malformed lines."
  [line]
  (with-log (str line "\n")
    (fn [path]
      (let [{:keys [malformed-kinds bytes tallies]} (analysis/analyse [path] {:tallies [{:name "s" :title "s" :by ["status"] :rank "time"}]}
                                                                      {:log-format "json"})
            {[status] :key, [_ _ micros] :numbers} (first (:rows (first tallies)))]
        (if (seq malformed-kinds) malformed-kinds [status bytes micros])))))

(deftest json-may-spell-numbers-as-it-likes
  (doseq [[line expected]
          {"{\"status\":200.0,\"bytes\":1.5e3,\"duration\":1.5}" ["200" 1500 1500000]
           "{\"status\":2e2,\"bytes\":12.0,\"duration\":\"1.5ms\"}" ["200" 12 1500]
           "{\"status\":\"\\u0032\\u0030\\u0030\",\"bytes\":\"\\u0031\",\"duration_ms\":\"\\u0031\"}" ["200" 1 1000]
           "{\"status\":404,\"bytes\":-1,\"duration\":-0.001}" ["404" 0 0]
           "{\"status\":404,\"bytes\":1.5,\"duration\":\"-\"}" ["404" 0 0]
           "{\"status\":404,\"bytes\":true,\"duration\":false}" ["404" 0 0]
           "{\"status\":404,\"bytes\":999999999999999}" ["404" 999999999999999 0]
           "{\"status\":404,\"bytes\":1000000000000000}" {"bytes" 1}
           "{\"status\":404,\"bytes\":1e15}" {"bytes" 1}
           "{\"status\":404,\"bytes\":1-2}" {"bytes" 1}
           "{\"status\":404,\"duration\":1e300}" {"duration" 1}
           "{\"status\":404,\"duration\":\"1m2.5s\"}" ["404" 0 62500000]
           "{\"status\":404,\"duration\":\"1h2m\"}" ["404" 0 3720000000]
           "{\"status\":404,\"duration\":\"1e9h\"}" {"duration" 1}
           "{\"status\":404,\"duration\":\"1m2\"}" ["404" 0 0]
           "{\"status\":404,\"duration\":\"soon\"}" ["404" 0 0]
           "{\"status\":404,\"duration\":\"NaN\"}" ["404" 0 0]
           "{\"status\":200.5}" {"status" 1}
           "{\"status\":1e3}" {"status" 1}}]
    (is (= expected (numbers-of line)) line)))

(deftest json-may-escape-anything
  (is (= {"minute" "2025-03-01 10:00", "url" "/a"}
         (keys-of "{\"time\":\"01\\/Mar\\/2025:10:00:00 +0000\",\"u\\u0072l\":\"\\/a\"}\n" ["minute" "url"] {:log-format "json"})))
  (is (= {"url" "/a"} (keys-of "{\"r\\u0065q\":{\"\\u0075rl\":\"/a\"}}\n" ["url"] {:log-format "json"}))))

(deftest true-and-false-are-values-of-fields
  (is (= {"url" nil, "cached" "true"}
         (keys-of "{\"url\":true,\"cached\":true}\n" ["url" "cached"] {:log-format "json:cached=cached"}))))

(deftest absurd-sizes-are-malformed-and-counting-continues
  (let [line (fn line [size] (str "h - - " clf " \"GET /a HTTP/1.0\" 200 " size "\n"))]
    (is (= {"bytes" 1} (keys-of (line "1000000000000000") ["url"] {:log-format "common"})))
    (is (= {"bytes" 12} (keys-of (apply str (repeat 12 (line "999999999999999999"))) ["url"] {:log-format "common"})))
    (is (= {"url" "/a"} (keys-of (apply str (repeat 12 (line "999999999999999"))) ["url"] {:log-format "common"})))
    (is (= {"duration" 12} (keys-of (apply str (repeat 12 "999999999999999 /a\n")) ["url"] {:log-format "%T %U"})))))

(defn- json-text [value]
  (cond
    (string? value) (str "\"" (str/join (map (fn [c] (case c \" "\\\"" \\ "\\\\" \newline "\\n" (if (< (int c) 32) (clojure.core/format "\\u%04x" (int c)) c)))
                                             value)) "\"")
    (map? value) (str "{" (str/join "," (map (fn [[k v]] (str (json-text k) ": " (json-text v))) value)) "}")
    (coll? value) (str "[" (str/join " , " (map json-text value)) "]")
    (nil? value) "null"
    :else (str value)))

(deftest any-json-object-gives-its-url
  (let [gen-text (gen/fmap str/join (gen/vector (gen/elements ["a" "/" "\\" "\"" "{" "}" "," ":" "\n" "?" " " "[" "\u0001" "é"]) 0 8))
        gen-value (gen/recursive-gen (fn [inner] (gen/one-of [(gen/vector inner 0 3) (gen/map gen-text inner {:max-elements 3})]))
                                     (gen/one-of [gen-text gen/small-integer gen/boolean (gen/return nil)]))
        property (prop/for-all [url (gen/such-that seq gen-text), before (gen/map (gen/fmap #(str "k" %) gen-text) gen-value {:max-elements 4})]
                   (let [line (str (json-text (merge before {"url" url, "z" before})) "\n")]
                     (= {"url" (String. (.getBytes ^String url "UTF-8") "ISO-8859-1")}
                        (keys-of (String. (.getBytes line "UTF-8") "ISO-8859-1") ["url"] {:log-format "json"}))))
        {:keys [pass? shrunk]} (check/quick-check 300 property)]
    (is pass? (pr-str (:smallest shrunk)))))

(deftest bad-formats-are-refused
  (doseq [text ["" "nonsense" "%h%u" "%{%Q}t %h" "json:" "json:=x" "a%h\nb"
                "%h %{msec}T" "%h %{MS}T" "$remote_addr ${took:msec}" "json:duration=took:msec" "ltsv:duration=reqtime:xx" "json:durtion=took:ms"]]
    (is (= :skein/bad-log-format (try (format/parse text) :accepted (catch ExceptionInfo e (:skein/error (ex-data e))))) (pr-str text))))

(defn- refusal [text]
  (try (format/parse text) nil (catch ExceptionInfo e (ex-message e))))

(deftest unknown-units-are-refused-by-name
  (is (= "the format \"%h %{msec}T\" has a duration in msec; its unit must be s, ms, us or ns [:skein/bad-log-format]" (refusal "%h %{msec}T")))
  (is (= "the format \"json:duration=took:foo\" has a duration in foo; its unit must be s, ms, us or ns [:skein/bad-log-format]" (refusal "json:duration=took:foo")))
  (is (= "the format \"json:durtion=took:ms\" has a unit for durtion; only duration has one [:skein/bad-log-format]" (refusal "json:durtion=took:ms")))
  (is (nil? (refusal "json:duration=a:b:ms")) "a path may have a colon if a unit follows"))
