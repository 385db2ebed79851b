;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.analysis-test
  "Queries against the plain model: all tallies in full, on every kind of log, with any number of slices and workers."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.wf.analysis :as analysis]
   [skein.wf.driver :as driver]
   [skein.wf.plain-analysis :as plain]
   [skein.wf.query :as query]
   [skein.wf.sample-log :as sample-log])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io ByteArrayOutputStream File FileOutputStream)
   (java.nio.file Files)))

(set! *warn-on-reflection* true)

(defn- temp-file ^File []
  (doto (File/createTempFile "skein-analysis" ".log") .deleteOnExit))

(defn- spit-bytes! [^File file ^bytes content]
  (with-open [out (FileOutputStream. file)] (.write out content)))

(defn- latin-1 ^bytes [^String text]
  (.getBytes text "ISO-8859-1"))

(defn- full [query]
  (update query :tallies (fn all [tallies] (mapv #(assoc % :top Integer/MAX_VALUE) tallies))))

(defn- analysed [files query options]
  (let [result (analysis/analyse (mapv str files) (full query) options)]
    (assert (= (:lines result) (+ (long (:counted result)) (long (:filtered result)) (long (:malformed result)))))
    result))

(def ^:private every-tally
  (mapv (fn tally [by] {:name (str/join "+" by), :title "", :by by})
        [["url"] ["path"] ["client"] ["user"] ["referrer"] ["site"] ["agent"] ["status"] ["class"] ["method"] ["protocol"]
         ["hour"] ["weekday"] ["day"] ["month"] ["minute"] [] ["client" "url"] ["day" "status" "path"]]))

(def ^:private common-tallies
  (into [] (remove #(some #{"referrer" "site" "agent"} (:by %))) every-tally))

;;;; Real and generated logs

(deftest real-logs-count-as-in-the-model
  (doseq [[file format parser tallies] [["examples/access.log" "combined" plain/combined every-tally]
                                        ["../shared/data/widefinder1-o10k.log" "combined" plain/combined every-tally]
                                        ["../shared/data/elastic-apache-combined.log" "combined" plain/combined every-tally]
                                        ["../shared/data/nasa-aug95-common.log" "common" plain/common common-tallies]]
          :let [file (io/file file)]
          :when (.isFile file) ; other logs are not part of the project
          :let [content (Files/readAllBytes (.toPath file))
                expected (plain/analyse [content] parser {:tallies tallies})
                result (analysed [file] {:tallies tallies} {})]]
    (is (= [format] (map :name (:formats result))) (str file))
    (is (= expected (plain/comparable result)) (str file))
    (is (= expected (plain/comparable (analysed [file] {:tallies tallies} {:slice-bytes 777, :workers 3}))) (str file))))

(deftest tallies-that-share-a-table-agree-with-separate-ones
  (let [file (temp-file)
        lines (for [i (range 3000)
                    :let [url (nth ["/" "/a.css" "/a.css?v=1" "/b.PNG" "/c?x=.css" "/d"] (mod i 6))
                          referrer (nth ["-" "" "https://e.org/1" "https://e.org:81/2" "plain"] (mod i 5))]]
                (str "10.0." (quot i 200) "." (mod i 7) " - - [10/Oct/2024:13:55:00 +0000] \"GET " url (when (even? i) i) " HTTP/1.1\" "
                     (if (zero? (long (mod i 4))) 404 200) " " i " \"" referrer "\" \"UA\" " (mod i 3) ".5\n"))
        _ (spit file (apply str lines))
        tallies (conj query/site {:name "slow", :by ["path"], :rank "mean"} {:name "slow sites", :by ["site"], :rank "slowest"})]
    (is (< 1 (count (filter #(= ["url"] (:by %)) (first (query/counted {:tallies tallies} nil))))) "by all lines, by 404s, and with times")
    (doseq [options [{} {:workers 3, :slice-bytes 4000} {:approx 1000000}]
            :let [together (:tallies (analysed [file] {:tallies tallies} options))]
            tally tallies]
      (is (= (first (:tallies (analysed [file] {:tallies [tally]} options)))
             (some #(when (= (:name tally) (:name %)) %) together))
          (str (:name tally) options)))
    (.delete file)))

(deftest different-values-are-counted-for-any-number-of-keys
  (let [file (temp-file)
        visits (for [i (range 20000)] [(str "/" (rem (* i i) 211)) (str "10.0." (rem i 7) "." (rem (* 7 i) 97))])
        _ (spit file (apply str (for [[url client] visits]
                                  (str client " - - [10/Oct/2024:13:55:00 +0000] \"GET " url " HTTP/1.1\" 200 1\n"))))
        expected (update-vals (group-by first visits) (comp count set))
        query {:tallies [{:name "url", :by ["url"], :distinct "client"}]}]
    (doseq [options [{:workers 1} {:workers 4, :slice-bytes 5000}]
            :let [{[{:keys [rows]}] :tallies} (analysed [file] query options)]]
      (is (= expected (into {} (map (fn [{[url] :key, [_ _ distinct] :numbers}] [url distinct])) rows)) (str options)))
    (.delete file)))

(defn- sample ^bytes [options]
  (let [out (ByteArrayOutputStream.)]
    (sample-log/write! out options)
    (.toByteArray out)))

(deftest a-shared-table-counts-the-same-distinct-values
  (let [file (temp-file)
        line (fn line [i]
               (str (if (zero? (mod i 7)) "-" (str "10.0." (mod i 11) "." (mod (* i i) 250))) " - - [10/Oct/2024:" (format "%02d:%02d" (mod (quot i 60) 2) (mod i 60))
                    ":00 +0000] \"GET / HTTP/1.1\" " (if (zero? (mod i 5)) 404 200) " 1\n"))
        minutes {:name "minute", :title "", :by ["minute"], :distinct "client"} ; more minutes than the 64 keys that have bits in Distributions
        missing (assoc minutes :name "missing" :where [[:status "404"]])
        clients {:name "client", :title "", :by ["client"]}
        rows (fn rows [tallies options] (into {} (map (juxt :name :rows)) (:tallies (analysed [file] {:tallies tallies} options))))]
    (spit file (str/join (map line (range 4000))))
    (let [expected (rows [minutes missing] {})]
      (is (< 64 (count (expected "minute"))))
      (doseq [options [{} {:slice-bytes 500, :workers 3}]]
        (is (= expected (dissoc (rows [clients minutes missing] options) "client")))
        (is (= expected (dissoc (rows [minutes clients missing] options) "client")))
        (testing "two tallies that are the same to the engine"
          (let [same (rows [clients minutes (assoc minutes :name "60 seconds" :by ["every-60"])] options)]
            (is (= (expected "minute") (same "minute") (same "60 seconds")))))))))

(deftest generated-logs-count-as-in-the-model
  (let [file (temp-file)
        contents [(sample {:size-bytes 2000000, :seed 5}) (sample {:size-bytes 300000, :seed 6, :final-newline? false})]
        files (mapv (fn [content] (doto (temp-file) (spit-bytes! content))) contents)
        expected (plain/analyse contents plain/combined {:tallies every-tally})]
    (is (pos? (long (reduce + (vals (:malformed-kinds expected))))))
    (doseq [options [{} {:workers 1} {:workers 5, :slice-bytes 10000}]]
      (is (= expected (plain/comparable (analysed files {:tallies every-tally} (assoc options :log-format "combined"))))
          (str options)))
    (.delete file)))

;;;; Lines by hand

(defn- line [& {:keys [client user time request status size ref agent]
                :or {client "10.0.0.1", user "-", time "30/Mar/2006:10:00:00 -0700", request "GET /a?b HTTP/1.1"
                     status "200", size "123", ref "http://example.com/", agent "Agent/1.0 (x)"}}]
  (str client " - " user " [" time "] \"" request "\" " status " " size " \"" ref "\" \"" agent "\""))

(def ^:private nasty-lines
  (concat
    ["" " " "\r" "\r\r" "\t" "-" "\"" "[]" (line) (str (line) "\r") (str (line) "\r\r") (str " " (line)) (str (line) " ")
     (str (line) " more") (subs (line) 0 40) (str/replace (line) "] " "]") (apply str (repeat 70000 "x"))
     (line :client "") (line :client "2001:db8::1") (line :client "a b") (line :user "frank miller") (line :user "")
     (line :user "a [b") (str "\u0000" (line)) (str (line) (line)) (line :agent (apply str (repeat 70000 "a")))]
    (for [time ["" "-" "31/Feb/2006:10:00:00 -0700" "29/Feb/2004:23:59:59 +0000" "30/Mar/2006:24:00:00 +0000" "30/mar/2006:10:00:00 +0530"
                "30/Foo/2006:10:00:00 +0000" "30/Mar/2006:10:00:00" "30/Mar/2006:10:00:00 0000" "01/Jan/1970:00:00:00 +0000"
                "31/Dec/1969:23:59:59 +0000" "30/Mar/2006:10:61:00 +0000" "30/Mar/2006 10:00:00 +0000"]]
      (line :time time))
    (for [request ["" "-" "GET" "GET " "GET /" "GET / HTTP/1.0" "GET  / HTTP/1.0" "GET /a b HTTP/1.1" "GET / HTTP/1.1 " "G3T / HTTP/1.1"
                   "\\x16\\x03\\x01" "\u0016\u0003" "GET /\\\"q\\\" HTTP/1.0" "GET /\" HTTP/1.0" "GET /a\" 2 HTTP/1.0" "GET /\\\\" "GET /? HTTP/2"
                   "GET /?? HTTP/2.0" "PROPFIND /\u00E9 HTTP/1.1" "GET /\u0000 HTTP/1.1" "get / http/1.1"]]
      (line :request request))
    (for [status ["" "-" "99" "099" "1000" "404" "2xx" "600" "999"]] (line :status status))
    (for [size ["" "-" "0" "-1" "1.5" "007" "999999999999999999" "9999999999999999999" "1a"]] (line :size size))
    (for [ref ["" "-" "\"" "a\"b" "a\" b" "a\\" "a\\\\" "\u00FF"], agent ["" "-" "Googlebot/2.1" "a WebCRAWLER" "\"" "x\" \"y" "z\\\"" "z\\"]] (line :ref ref :agent agent))))

(deftest nasty-lines-count-as-in-the-model
  (let [file (temp-file)]
    (doseq [text nasty-lines]
      (spit-bytes! file (latin-1 text))
      (is (= (plain/analyse [(latin-1 text)] plain/combined {:tallies every-tally})
             (plain/comparable (analysed [file] {:tallies every-tally} {:log-format "combined", :workers 1})))
          (pr-str (subs text 0 (min 300 (count text))))))))

(deftest every-slice-size-gives-the-same-result
  (let [content (latin-1 (str/join "\n" (remove #(> (count %) 10000) (take-nth 3 nasty-lines))))
        query {:tallies (subvec every-tally 0 4)}
        expected (plain/analyse [content] plain/combined query)
        file (doto (temp-file) (spit-bytes! content))]
    (doseq [slice-bytes (concat (range 1 400) [(dec (alength content)) (alength content) (inc (alength content))])]
      (is (= expected (plain/comparable (analysed [file] query {:log-format "combined", :slice-bytes slice-bytes
                                                                :workers (inc (long (mod slice-bytes 3)))})))
          (str "slices of " slice-bytes)))))

;;;; Properties

(def ^:private gen-line
  (gen/fmap (fn [[client time request status size ref ending]]
              (str (line :client client :time time :request request :status status :size size :ref ref) ending))
            (gen/tuple (gen/elements ["10.0.0.1" "10.0.0.2" "10.1.0.1" "192.168.7.9" "h.example.org" "1.2.3"])
                       (gen/elements ["30/Mar/2006:10:00:00 -0700" "30/Mar/2006:11:59:59 +0200" "31/Mar/2006:00:00:00 +0000" "x"])
                       (gen/elements ["GET /a HTTP/1.1" "GET /a?x HTTP/1.1" "HEAD /b HTTP/1.0" "POST /c HTTP/1.1" "-" "\\x16"])
                       (gen/elements ["200" "304" "404" "403" "500" "-" "x"])
                       (gen/elements ["-" "1" "22" "100" "y"])
                       (gen/elements ["-" "r" "" "\"" "http://example.com/"])
                       (gen/elements ["\n" "\r\n" "" " " "\n\n"]))))

(def ^:private gen-piece
  (gen/one-of [(gen/elements [" " "\n" "\r\n" "\"" "-" "\r" "[" "] \"" "\" " "\\" "200" "\u0000"])
               (gen/fmap #(String. (byte-array %) "ISO-8859-1") (gen/vector (gen/choose -128 127) 0 12))]))

(def ^:private gen-log
  (gen/fmap (fn [pieces] (latin-1 (apply str pieces)))
            (gen/such-that #(not (str/starts-with? (apply str %) "\u001F\u008B")) ; which begins a gzip file
                           (gen/vector (gen/frequency [[5 gen-line] [1 gen-piece]]) 0 40))))

(def ^:private gen-where
  (gen/vector (gen/elements [[:status "404"] [:status "4xx,500"] [:status "200-304"] [:method "GET,HEAD"] [:method "POST"]
                             [:client "10.0.0.0/8"] [:client "10.0.0.2,192.168.0.0/17"] [:client "0.0.0.0/0"] [:not-client "10.0.0.2,192.168.0.0/17"] [:no-bots]
                             [:from "2006-03-30T10:00:00"] [:from "2006-03-30T11:00:00"] [:from "2006-03-30T10:00:00Z"]
                             [:match "url" "^/[ab]"] [:no-match "url" "x"] [:match "referrer" "r"] [:no-match "agent" "x"] [:given "referrer"]])
              0 2))

(defn- holds? [trials property]
  (let [{:keys [pass? seed shrunk]} (check/quick-check trials property)]
    (is pass? (str "seed " seed ", smallest: " (some->> shrunk :smallest (mapv #(if (bytes? %) (String. ^bytes % "ISO-8859-1") %)) pr-str)))))

(deftest any-bytes-in-any-slices-count-as-in-the-model
  (let [file (temp-file)]
    (holds? 600 (prop/for-all [content gen-log, slice-bytes (gen/choose 1 400), workers (gen/choose 1 3), where gen-where, inner gen-where]
                  (spit-bytes! file content)
                  (let [query {:where where
                               :tallies (conj every-tally {:name "some", :title "", :by ["url"], :where inner}
                                              {:name "clients", :title "", :by ["day"], :distinct "client"})}]
                    (= (plain/analyse [content] plain/combined query)
                       (plain/comparable (analysed [file] query {:log-format "combined", :slice-bytes slice-bytes, :workers workers}))))))))

(deftest approximate-counts-keep-their-bounds
  (let [file (temp-file)
        gen-keys (gen/vector (gen/fmap (fn [n] (long (Math/sqrt n))) (gen/choose 0 900)) 0 400)]
    (holds? 200 (prop/for-all [ks gen-keys, limit (gen/choose 1 12), workers (gen/choose 1 3), rank (gen/elements ["hits" "bytes"])]
                  (spit-bytes! file (latin-1 (apply str (for [k ks] (str (line :client (str "c" k) :size (str (inc (mod k 7)))) "\n")))))
                  (let [weight (fn [k] (if (= rank "hits") 1 (inc (mod k 7))))
                        truth (reduce (fn [sums k] (update sums (str "c" k) (fnil + 0) (weight k))) {} ks)
                        {[{:keys [rows error]}] :tallies} (analysed [file] {:tallies [{:name "c", :title "", :by ["client"], :rank rank}]}
                                                                    {:log-format "combined", :approx limit, :workers workers, :slice-bytes 500})
                        shown (into {} (map (fn [{[k] :key, [hits bytes] :numbers, e :error}] [k [(if (= rank "hits") hits bytes) (or e 0)]])) rows)
                        error (long (or error 0))]
                    (and (<= (count rows) (* 2 limit))
                         (<= error (/ (reduce + (vals truth)) limit))
                         (every? (fn [[k [n e]]] (<= n (truth k) (+ n e))) shown)
                         (every? (fn [[k n]] (or (contains? shown k) (<= n error))) truth)))))))

;;;; Percentiles and time

(deftest percentiles-are-near
  (let [file (temp-file)
        sizes (shuffle (concat (range 1 101) (map #(* 1000 %) (range 101 201))))]
    (spit-bytes! file (latin-1 (apply str (for [n sizes] (str (line :size (str n)) "\n")))))
    (let [{[{:keys [columns rows]}] :tallies} (analysed [file] {:tallies [{:name "all", :title "", :by [], :percentiles #{"bytes"}}]} {})
          {:strs [p50-bytes p90-bytes p95-bytes p99-bytes]} (zipmap columns (:numbers (first rows)))]
      (is (= 100 p50-bytes))
      (doseq [[shown exact] {p90-bytes 180000, p95-bytes 190000, p99-bytes 198000}]
        (is (< (abs (- (double shown) exact)) (* 0.008 exact)))))))

(deftest durations-are-summed-and-ranked
  (let [file (temp-file)
        lines (for [[url seconds] [["/slow" "2.5"] ["/slow" "1.5"] ["/fast" "0.001"] ["/often" "0.5"] ["/often" "0.25"] ["/none" "-"]]]
                (str (line :request (str "GET " url " HTTP/1.1")) " " seconds "\n"))
        rows (fn [rank options]
               (spit-bytes! file (latin-1 (apply str lines)))
               (-> (analysed [file] {:tallies [{:name "u", :title "", :by ["url"], :rank rank}]} options) :tallies first :rows))
        own {:log-format "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %T"}]
    (is (= [[["/slow"] [2 246 4000000 2000000 2500000]] [["/often"] [2 246 750000 375000 500000]]
            [["/fast"] [1 123 1000 1000 1000]] [["/none"] [1 123 0 nil nil]]]
           (map (juxt :key :numbers) (rows "time" own))
           (map (juxt :key :numbers) (rows "mean" {}))))
    (is (= ["/slow" "/often" "/fast" "/none"] (map (comp first :key) (rows "p95-time" {}))))))

;;;; Limits and failures

(defn- failure-of [f]
  (try (f) nil (catch ExceptionInfo e (:skein/error (ex-data e)))))

(deftest too-many-keys-are-an-error-unless-approximate
  (let [file (temp-file)
        query {:tallies [{:name "c", :title "", :by ["client"]}]}]
    (spit-bytes! file (latin-1 (apply str (for [i (range 60000)] (str (line :client (str "client-" i)) "\n")))))
    (is (= :skein/too-large (failure-of #(analysed [file] query {:memory-bytes 4000000}))))
    (let [{[{:keys [distinct error]}] :tallies} (analysed [file] query {:memory-bytes 4000000, :approx 1000})]
      (is (< 57000 distinct 63000))
      (is (<= error 60)))))

(defn- skewed-lines
  "Returns lines with many rare URLs and some frequent ones. Each URL has its own durations and clients."
  [n]
  (let [random (java.util.Random. 7)]
    (vec (repeatedly n (fn one-line []
                         (let [url (long (/ 30000 (inc (.nextInt random 30000))))]
                           {:url (if (< url 5) (str "/rare/" (.nextInt random 20000)) (str "/often/" (rem url 1000)))
                            :client (str "10.0." (.nextInt random (+ 2 (rem url 90))) "." (.nextInt random 100))
                            :micros (* (inc (rem url 50)) (.nextInt random 10000))}))))))

(defn- nearest-rank [sorted part]
  (nth sorted (max 0 (dec (long (Math/ceil (* (double part) (count sorted))))))))

(defn- near? [expected found part]
  (<= (abs (- (double expected) (double found))) (+ 1.0 (* (double part) (double expected)))))

(defn- explains?
  "Returns whether a row of an approximate tally is right for `lines`, within its errors."
  [{:keys [numbers error]} lines columns]
  (let [{:strs [hits distinct p50-time]} (zipmap columns numbers)
        micros (vec (sort (map :micros lines)))
        clients (count (into #{} (map :client) lines))
        missing (long error)]
    (and (<= (long hits) (count lines) (+ (long hits) missing))
         (if (zero? missing) (near? clients distinct 0.065) (<= (* 0.935 (double distinct)) clients))
         ;; The median of the remaining lines has rank hits / 2 among them. Among all lines its rank is at most `missing` higher.
         (<= (* 0.99 (double (nearest-rank micros (/ (* 0.5 (long hits)) (count lines)))))
             p50-time
             (* 1.01 (double (nearest-rank micros (min 1 (/ (+ missing (* 0.5 (long hits)) 1) (count lines))))))))))

(deftest approximate-tallies-have-percentiles-and-distinct-values
  (let [file (temp-file)
        lines (skewed-lines 60000)
        by-url (group-by :url lines)
        tally {:name "u", :title "", :by ["url"], :distinct "client", :percentiles #{"time"}}
        options {:log-format "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\" %D", :approx 400}]
    (spit-bytes! file (latin-1 (str/join (for [{:keys [url client micros]} lines]
                                           (str (line :client client :request (str "GET " url " HTTP/1.1")) " " micros "\n")))))
    (doseq [[workers slice-bytes rank] [[1 262144 "hits"] [3 7000 "hits"] [2 50000 "distinct"] [2 50000 "p95-time"]]
            :let [{[{:keys [rows columns error distinct-error]}] :tallies}
                  (analysed [file] {:tallies [(assoc tally :rank rank)]} (assoc options :workers workers :slice-bytes slice-bytes))]]
      (testing (pr-str workers slice-bytes rank)
        (is (<= 30 (count rows) 800)) ; at twice the limit the smaller half goes
        (is (<= 1 error (/ 60000 400)))
        (is (< 0.016 distinct-error 0.017))
        (is (= [] (remove (fn ok? [row] (explains? row (by-url (first (:key row))) columns)) rows)))))))

(deftest approximate-distinct-values-are-near-for-any-number
  (let [file (temp-file)
        tally {:name "m", :title "", :by ["method"], :distinct "client"}]
    (spit-bytes! file (latin-1 (str/join (for [n [1 2 3 10 100 1000 10000 40000], i (range n)]
                                           (str (line :client (str "c-" i) :request (str "M" n " / HTTP/1.1")) "\n")))))
    (let [{[{:keys [rows error]}] :tallies} (analysed [file] {:tallies [tally]} {:approx 100})]
      (is (nil? error))
      (is (= [] (remove (fn ok? [{[^String method] :key, [n _ distinct] :numbers}] (near? n distinct 0.05)) rows))))))

(deftest a-pattern-that-exhausts-the-stack-is-an-error
  (let [file (doto (temp-file) (spit-bytes! (latin-1 (str (line :request (str "GET /" (apply str (repeat 300000 "ab")))) "\n"))))]
    (is (= :skein/bad-argument (failure-of #(analysed [file] {:tallies [], :where [[:match "url" "(a|b|[^c])*x$"]]}
                                              {:log-format "combined"}))))))

(deftest bad-tallies-are-refused
  (let [file (doto (temp-file) (spit-bytes! (latin-1 (str (line) "\n"))))
        ask (fn [query options] (failure-of #(analysed [file] query options)))
        tally {:name "x", :title "", :by ["url"]}]
    (is (= :skein/bad-argument (ask {:tallies [(assoc tally :by ["upstream"])]} {})))
    (is (= :skein/bad-argument (ask {:tallies [tally], :where [[:slower "1s"]]} {})))
    (is (= :skein/bad-argument (ask {:tallies [(assoc tally :rank "size")]} {})))
    (testing "fields that are not text, and durations that are not logged"
      (doseq [field ["time" "request" "bytes"]]
        (is (= :skein/bad-argument (ask {:tallies [(assoc tally :by [field])]} {})) field)
        (is (= :skein/bad-argument (ask {:tallies [(assoc tally :distinct field)]} {})) field)
        (is (= :skein/bad-argument (ask {:tallies [tally], :where [[:match field "1"]]} {})) field))
      (doseq [timed [{:rank "slowest"} {:rank "p95-time"} {:percentiles #{"time"}}]]
        (is (= :skein/bad-argument (ask {:tallies [(merge tally timed)]} {})) (pr-str timed))))
    (testing "sizes that are not logged"
      (doseq [sized [{:rank "bytes"} {:rank "p95-bytes"} {:percentiles #{"bytes"}}]]
        (is (= :skein/bad-argument (ask {:tallies [(merge tally sized)]} {:log-format "%h %l %u %t \"%r\" %>s"})) (pr-str sized))))
    (is (= :skein/bad-argument (ask {:tallies [tally], :where [[:from "2025-03-05"] [:to "2025-03-04"]]} {})))
    (is (nil? (ask {:tallies [tally], :where [[:from "2025-03-05"] [:to "2025-03-05"]]} {})))
    (is (nil? (ask {:tallies [tally], :where [[:from "2025-03-05T00:00Z"] [:to "2025-03-04"]]} {})) "on different clocks")
    (doseq [where [[:status "4x"] [:status "500-400"] [:status ","] [:client ""] [:method " , "] [:client "10.0.0.0/33"] [:not-client "10.0.0.0/33"] [:client "example.org"]
                   [:from "yesterday"] [:match "url" "("]]]
      (is (= :skein/bad-argument (ask {:tallies [tally], :where [where]} {})) (pr-str where)))
    (spit-bytes! file (latin-1 "one\ntwo\nthree\n"))
    (is (= :skein/bad-log-format (ask {:tallies [tally]} {})))
    (testing "but not an empty log"
      (spit-bytes! file (latin-1 ""))
      (is (nil? (ask {:tallies [tally]} {}))))))

(deftest a-file-that-became-shorter-is-an-error
  (let [file (temp-file)
        line "1.2.3.4 - - [01/Mar/2025:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"x\"\n"]
    (spit file (str line line))
    (let [[prepared] (driver/prepare-all [(str file)] {})]
      (spit file line)
      (is (= {:skein/error :skein/file, :input (str file)}
             (try (analysis/analyse-prepared prepared [] 0 {:tallies [{:name "status", :by ["status"]}]} {})
                  (catch ExceptionInfo e (select-keys (ex-data e) [:skein/error :input]))))))))

(deftest clients-are-anonymized-in-place
  (let [clients {"192.0.2.66" "192.0.2.0", "1.2.3.4" "1.2.3.0", "255.255.255.255" "255.255.255.0", "::ffff:10.1.2.3" "10.1.2.0", "::ffff:a01:0209" "10.1.2.0"
                 "2001:db8:1:2:3:4:5:6" "2001:db8:1::", "2001:db8::7" "2001:db8::", "::1" "::", "1:2:3::4" "1:2:3::", "fe80::1%eth0" "fe80::"
                 "1:2::" "1:2::", "2001:DB8:1::" "2001:db8:1::", "2001:0db8:1:0::" "2001:db8:1::", "2001:db8:0::1" "2001:db8::", "1::10.1.2.3" "1::"
                 "::5:6:7:8:9:a:b" "0:5:6::", "1::2:3:4:5:6:7" "1:0:2::", "www.example.com" "www.example.com", "-" "-"}
        file (File/createTempFile "clients" ".log")]
    (try
      (spit file (str/join (for [client (keys clients)]
                             (str client " - - [30/Mar/2006:10:00:00 -0700] \"GET /a HTTP/1.0\" 200 5 \"-\" \"x\"\n"))))
      (let [counted (fn [options where]
                      (let [{[{:keys [rows]}] :tallies} (analysis/analyse [(str file)] {:where where, :tallies [{:name "client", :by ["client"], :top 99}]} options)]
                        (into {} (map (fn [{[key] :key, [hits] :numbers}] [key hits])) rows)))]
        (is (= (frequencies (vals clients)) (counted {:anonymize? true} [])))
        (is (= (frequencies (keys clients)) (counted {} [])))
        (is (= {"192.0.2.0" 1} (counted {:anonymize? true} [[:client "192.0.2.66"]])) "conditions see the whole address"))
      (finally (.delete file)))))
