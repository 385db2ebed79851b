;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli-test
  "Commands as a user meets them: what they print where, and their exit codes."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.cli :as cli]
   [skein.wf.data :as data]
   [skein.wf.text :as text]
   [skein.wf.wf2 :as wf2])
  (:import
   (java.io ByteArrayOutputStream File IOException OutputStream PrintStream)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(defn- run [& arguments]
  (let [out (ByteArrayOutputStream.)
        err (ByteArrayOutputStream.)
        code (cli/run (map str arguments) {:out out, :err (PrintStream. err true "UTF-8")})]
    {:code code, :out (.toString out "UTF-8"), :err (.toString err "UTF-8")}))

(defn- temp-path ^String [suffix]
  (let [file (File/createTempFile "skein-cli" suffix)]
    (.deleteOnExit file)
    (.delete file)
    (str file)))

(defn- sample-file []
  (let [path (temp-path ".log")]
    (assert (zero? (long (:code (run "sample-log" "50K" "-o" path)))))
    path))

(defn- failure-line
  "Returns what a failing command says, if it says one line, and nothing on standard output."
  [{:keys [out err]}]
  (when (and (= "" out) (= 1 (count (str/split-lines err))))
    (str/trim-newline err)))

;;;; wf

(defn- text-of [report] (text/text (wf2/text-result report) false))

(deftest wf-prints-the-report-and-a-summary
  (let [path (sample-file)
        report (wf2/report [path])
        for-programs (wf2/for-programs report)]
    (doseq [[arguments expected] {[path] (text-of report)
                                  ["--preset" "wf2" path] (text-of report)
                                  ["--format=json" path] (data/json-text for-programs)
                                  ["--format" "edn" "--workers" "1" path] (data/edn-text for-programs)
                                  ["--format" "csv" path] (data/csv (wf2/result report))
                                  ["--top" "2" path] (text-of (wf2/report [path] {:top 2}))}
            :let [{:keys [code out err]} (apply run "wf" arguments)]]
      (is (= 0 code))
      (is (= expected out))
      (is (re-matches #"preset wf2: [^\n]*\n[\d,]+ lines: [\d,]+ counted, [\d,]+ ignored, [\d,]+ malformed; [\d,]+ bytes read in [\d.]+ s, [\d.]+ [KMGB]+/s\n" err)))))

(deftest wf-names-every-unreadable-file
  (let [path (sample-file)
        missing (temp-path ".log")
        directory (System/getProperty "java.io.tmpdir")
        lines [(str "skein wf: There is no file " missing ". Check the spelling, and the folder in which the program runs.")
               (str "skein wf: " directory " is a directory. Name the files in it, as in " directory "/*.log.")]]
    (is (= {:code 2, :out "", :err (str (str/join "\n" lines) "\n")} (run "wf" missing path directory)))
    (testing "and reports the others on request"
      (let [{:keys [code out err]} (run "wf" "--keep-going" missing path directory)]
        (is (= 2 code))
        (is (= (text-of (wf2/report [path])) out))
        (is (= lines (butlast (rest (str/split-lines err)))))))))

(deftest keep-going-leaves-out-files-in-no-known-format
  (let [path (sample-file), other (temp-path ".log")]
    (spit other "hello\n")
    (is (= [2 ""] ((juxt :code :out) (run "wf" "--by" "status" other path))))
    (let [{:keys [code out err]} (run "wf" "--keep-going" "--by" "status" other path)]
      (is (= [2 (:out (run "wf" "--by" "status" path))] [code out]))
      (is (str/includes? err (str "skein wf: " other ": its first lines are in none of the formats"))))))

(deftest quiet-prints-errors-only
  (let [path (sample-file)
        loud (run "wf" path)]
    (is (= (assoc loud :err "") (run "wf" "--quiet" path)))
    (is (= "" (:err (run "wf" "--quiet" "--by" "status" path))))
    (is (= {:code 2, :out "", :err "skein wf: There is no file /no/such.log. Check the spelling, and the folder in which the program runs.\n"} (run "wf" "--quiet" "/no/such.log")))
    (is (= "skein wf: There is no file /no/such.log. Check the spelling, and the folder in which the program runs.\n" (:err (run "wf" "--quiet" "--keep-going" path "/no/such.log"))))))

(deftest since-and-until-are-from-and-to
  (let [path (sample-file)]
    (is (= (:out (run "wf" "--from" "2025-03-01 01:00" "--to" "2025-03-01 02:00" path))
           (:out (run "wf" "--since" "2025-03-01 01:00" "--until" "2025-03-01 02:00" path))))))

(deftest requested-fields-must-exist
  (let [path (sample-file)
        {:keys [code out err]} (run "wf" "--preset" "site" "--by" "nosuch" path)]
    (is (= [2 ""] [code out]))
    (is (str/includes? (:err (run "wf" "--by" "clients" path)) "skein wf: the log has no clients; did you mean client? It has agent, "))
    (is (str/includes? (:err (run "wf" "--by" "week-day" path)) "; did you mean weekday? It has "))
    (is (str/includes? (:err (run "wf" "--by" "day" "--distinct" "site" path)) "--distinct takes only fields of the log, and site is computed from one;"))
    (is (re-find #"(?m)^skein wf: the log has no nosuch; it has .*, os$" err))
    (testing "the general report leaves out missing fields"
      (is (= 0 (:code (run "wf" "--preset" "site" "--by" "status" "--log-format" "%h %l %u %t \"%r\" %>s %b \"%{X}i\" \"%{Y}i\"" path)))))))

(defn- log-of [& lines]
  (let [path (temp-path ".log")]
    (spit path (str/join (map #(str % "\n") lines)))
    path))

(deftest a-missing-field-gets-a-hint
  (let [err (fn err [& arguments] (:err (apply run "wf" arguments)))]
    (is (re-find #"the log has no router; it has .*; if it is in later lines, name it: --log-format json:router=router\n$"
                 (err "--by" "router" (log-of "{\"ip\":\"192.0.2.1\",\"status\":200}"))))
    (is (re-find #"; if it is in later lines, name it: --log-format ltsv:router=router\n$" (err "--by" "router" (log-of "host:192.0.2.1\tstatus:200"))))
    (is (re-find #"; what follows in the lines after the fields of combined-and-more is not read: give the server's own format with --log-format\n$"
                 (err "--by" "url" "--rank" "p95-time" (log-of "h - - [02/Mar/2025:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"x\" 0.5 0.4"))))
    (is (re-find #"did you mean ident\?.*; what follows in the lines after the fields of common-and-more is not read"
                 (err "--by" "agent" (log-of "h - - [02/Mar/2025:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5 0.5"))))))

(deftest files-given-twice-are-reported
  (let [path (sample-file)
        again (str (io/file (.getParentFile (File. ^String path)) "." (.getName (File. ^String path))))
        {:keys [code err]} (run "wf" "--by" "status" path again)]
    (is (= 0 code))
    (is (str/includes? err (str "skein wf: " again " is given more than once, and counts each time\n")))
    (is (= {:code 2, :out "", :err "skein wf: standard input can be read only once, so there can be only one - (see: skein wf --help)\n"}
           (run "wf" "-" "-")))))

(deftest unbounded-parts-of-approx-are-reported
  (let [path (sample-file)]
    (is (str/includes? (:err (run "wf" "--approx" "-e" ":url" path)) "--approx does not apply to -e and --tallies, which keep all keys\n"))
    (is (= {:code 2, :out "", :err "skein wf: the form after -e has no tallies; write a function, or a vector of them\n"}
           (run "wf" "-e" "[]" path)))))

(deftest a-report-without-lines-says-when-the-lines-are
  (let [at (fn at [day] (str "h - - [" day "/Mar/2025:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5"))
        path (log-of (at "02") (at "01") (at "03"))
        note "no line was counted; the lines of the log are from 2025-03-01 00:00:00 to 2025-03-03 00:00:00, on the log's own clock\n"]
    (is (str/includes? (:err (run "wf" "--from" "2026-01-01" path)) note))
    (is (str/includes? (:err (run "wf" "--to" "2024-01-01" "--by" "status" "--format" "csv" path)) note))
    (is (not-any? #(str/includes? (:err %) "no line was counted") [(run "wf" "--from" "2025-03-03" path) (run "wf" "--status" "200" path)]))
    (testing "or that the conditions left them out"
      (is (str/includes? (:err (run "wf" "--where" "url=x" "--by" "status" path)) "no line was counted; the conditions left out 3 lines\n")))))

(deftest json-without-a-known-time-gets-a-hint
  (let [path (log-of "{\"ip\":\"192.0.2.1\",\"status\":200,\"when\":\"2025-03-01T00:00:00Z\"}")
        hint "no line was counted; if the time is in a field of another name, give its path, as in --log-format json:time=PATH\n"]
    (is (str/includes? (:err (run "wf" "--from" "2025-03-01" "--by" "status" path)) hint))
    (is (not (str/includes? (:err (run "wf" "--status" "404" "--by" "status" path)) hint)) "the time is not a condition")
    (doseq [log [(log-of) (log-of "no JSON")]]
      (is (not (str/includes? (:err (run "wf" "--log-format" "json" "--from" "2025-03-01" "--by" "status" log)) hint)) "no line was read"))
    (is (str/starts-with? (:out (run "wf" "--log-format" "json:time=when" "--from" "2025-03-01" "--by" "status" path)) "1 line: 1 counted"))))

(deftest an-empty-log-has-no-format
  (let [{:keys [code err]} (run "wf" "--by" "client" (log-of))]
    (is (= 0 code))
    (is (not (str/includes? err "format")) err)))

(deftest the-file-of-malformed-lines-is-named
  (let [bad (temp-path ".bad")
        {:keys [err]} (run "wf" "--by" "client" "--malformed" bad (log-of "h - - [02/Mar/2025:00:00:00 +0000] \"GET / HTTP/1.1\" 200 5" "x"))]
    (is (str/includes? err (str "(" bad " has them)\n")) err)))

(deftest an-unknown-server-is-answered-with-the-nearest-name
  (is (str/starts-with? (:err (run "wf" "--by" "client" "--format-of" "ngnix" (log-of "x")))
                        "skein wf: --format-of does not know \"ngnix\"; did you mean nginx? There are alb, ")))

(deftest a-server-is-no-format
  (let [{:keys [code err]} (run "wf" "--by" "client" "--log-format" "nginx" (log-of "x"))]
    (is (= 2 code))
    (is (= "skein wf: \"nginx\" is the name of a server, not a format; give --format-of nginx to find out which of its formats the log has\n" err))))

(deftest a-duration-has-a-unit
  (is (= {:code 2, :out "", :err "skein wf: --slower \"500\" is not valid: write a duration such as 1.5s, 500ms or 2m\n"}
         (run "wf" "--quiet" "--slower" "500" (log-of "{\"ip\":\"192.0.2.1\",\"status\":200}")))))

(deftest omitted-steps-are-reported
  (let [at (fn at [day time] (str "h - - [" day "/Mar/2025:" time " +0000] \"GET / HTTP/1.1\" 200 5"))
        note "Every 1s: steps without lines are left out, because there are too many steps\n"
        few (run "wf" "--every" "1s" (log-of (at "01" "00:00:00") (at "01" "00:00:02")))
        many (run "wf" "--every" "1s" "--format" "csv" (log-of (at "01" "00:00:00") (at "02" "00:00:00")))]
    (is (= [0 0] [(:code few) (:code many)]))
    (is (str/includes? (:out few) "00:00:01"))
    (is (not (str/includes? (:err few) note)))
    (is (str/includes? (:err many) note))
    (is (= 3 (count (str/split-lines (:out many)))))))

(deftest derived-fields-are-named
  (is (str/ends-with? (:err (run "wf" "--by" "nosuch" "--log-format" "%h %t \"%r\"" (log-of "h [01/Mar/2025:00:00:00 +0000] \"GET / HTTP/1.1\"")))
                      "it has client, method, protocol, request, time, url, and computed from these: path, hour, weekday, day, month, minute, country, network\n")))

(deftest the-ranking-percentile-is-shown-and-none-exceeds-the-maximum
  (let [path (log-of "h 5200000" "h 1000" "i 77")
        {:keys [out]} (run "wf" "--by" "client" "--rank" "p75-time" "--log-format" "%h %D" "--format" "csv" path)]
    (is (= ["tally,key,hits,bytes,time,mean,slowest,p50-time,p75-time,p90-time,p95-time,p99-time"
            "client,h,2,0,5201000,2600500,5200000"]
           (let [[head row] (str/split-lines out)] [head (str/join "," (take 7 (str/split row #",")))])))
    (doseq [row (rest (str/split-lines out))
            :let [[_ _ _ _ _ _ slowest & percentiles] (str/split row #",")]]
      (is (every? #(<= (long (parse-long %)) (long (parse-long slowest))) percentiles)))))

(deftest an-empty-file-is-a-report-of-zeros
  (let [path (temp-path ".log")]
    (spit path "")
    (let [{:keys [code out]} (run "wf" "--format" "edn" path)]
      (is (= 0 code))
      (is (= [0 0 0 0 0] ((juxt :lines :malformed :filtered :counted :bytes-read) (edn/read-string out)))))))

(deftest lines-without-the-key-are-reported
  (let [path (log-of "{\"client\":\"192.0.2.1\",\"time\":\"2025-03-01T00:00:00Z\",\"url\":\"/\",\"status\":200}"
                     "{\"client\":\"192.0.2.1\",\"time\":\"2025-03-01T00:00:00Z\",\"url\":\"/\"}"
                     "{\"client\":\"192.0.2.1\",\"url\":\"/\",\"status\":404}")
        ask (fn [& more] (apply run "wf" "--quiet" path more))]
    (is (str/includes? (:out (ask "--by" "client,status")) "404\n  1 counted line has no status\n"))
    (is (= [nil 1 2] (map :lines-without-key (:tallies (edn/read-string (:out (ask "--by" "client, status,status+day" "--format" "edn")))))))
    (is (str/includes? (:out (ask "--every" "1d")) "  1 counted line has no time\n"))
    (is (not (str/includes? (:out (ask "--status" "404,200" "--by" "status")) "has no")))
    (testing "beside CSV, which is for programs"
      (is (str/includes? (:err (run "wf" "--by" "status" "--format" "csv" path)) "status: 1 counted line has no status\n")))))

(deftest responses-are-selected-by-size
  (let [path (apply log-of (for [n ["-" 0 1023 1024 1025]] (str "h 200 " n)))]
    (doseq [[size counted] {"1" 3, "1024" 2, "1K" 2, "1025" 1, "1M" 0}]
      (is (= counted (:counted (edn/read-string (:out (run "wf" "--log-format" "%h %>s %b" "--larger" size "--format" "edn" path))))) size))))

;;;; sample-log

(deftest sample-log-writes-to-standard-output-or-a-file
  (let [path (temp-path ".log")
        {:keys [code out err]} (run "sample-log" "10K" "--seed" "7" "--clean")]
    (is (= [0 ""] [code err]))
    (is (= {:code 0, :out ""} (dissoc (run "sample-log" "10K" "--seed=7" "--clean" "-o" path) :err)))
    (is (= out (slurp path)))))

(deftest sample-log-overwrites-only-with-force
  (let [path (sample-file)
        before (slurp path :encoding "ISO-8859-1")
        refused (run "sample-log" "1K" "-o" path)]
    (is (= 2 (:code refused)))
    (is (= (str "skein sample-log: " path ": exists; give --force to overwrite it") (failure-line refused)))
    (is (= before (slurp path :encoding "ISO-8859-1")))
    (is (= 0 (:code (run "sample-log" "1K" "-o" path "--force"))))
    (is (< (.length (File. ^String path)) (count before)))))

(deftest sample-log-names-unwritable-files
  (let [path (str (temp-path "") "/no/such/folder.log")
        {:keys [code] :as failed} (run "sample-log" "1K" "-o" path)]
    (is (= 1 code))
    (is (str/starts-with? (failure-line failed) (str "skein sample-log: " path ": can't be written: ")))))

(deftest a-missing-spark-module-is-named
  (let [{:keys [code out err]} (run "wf" "--spark" "local[1]" "examples/access.log")]
    (is (= [2 ""] [code out]))
    (is (str/includes? err "skein.spark is not on the class path. ./skein wf puts it there if --spark is on the command line, not in a file of --config."))))

;;;; Help

(deftest help-teaches-with-examples
  (doseq [[arguments part] {["wf" "--help"] "skein wf access.log"
                            ["help" "wf"] "skein wf access.log"
                            ["sample-log" "--help"] "skein sample-log 1G --seed 7 -o access.log"
                            ["help" "sample-log"] "skein sample-log 1G --seed 7 -o access.log"
                            ["--help"] "skein wf examples/access.log"
                            ["help"] "skein wf examples/access.log"
                            [] "skein wf examples/access.log"}
          :let [{:keys [code out err]} (apply run arguments)]]
    (is (= [0 ""] [code err]))
    (is (str/includes? out part))
    (is (every? #(<= (count %) 100) (str/split-lines out)))))

(deftest version-is-that-of-the-build
  (is (= {:code 0, :out (str "skein " cli/version "\n"), :err ""} (run "--version")))
  (is (= cli/version (get-in (edn/read-string (slurp "deps.edn")) [:skein/release :version]))))

;;;; Failures

(deftest wrong-arguments-are-one-clear-line
  (doseq [[arguments message]
          {["wf"] "skein wf: no FILE given; name the logs to read, or - for standard input (see: skein wf --help)"
           ["wf" "--frmat" "json" "x"] "skein wf: Unknown option: \"--frmat\"; did you mean --format? (see: skein wf --help)"
           ["wf" "--format" "xml" "x"] "skein wf: Failed to validate \"--format xml\": must be text or json or edn or csv (see: skein wf --help)"
           ["wf" "--preset" "wf1" "x"] "skein wf: Failed to validate \"--preset wf1\": must be wf2 or site (see: skein wf --help)"
           ["wf" "x" "--top"] "skein wf: Missing required argument for \"--top N\" (see: skein wf --help)"
           ["wf" "x" "--top" "0"] "skein wf: Failed to validate \"--top 0\": must be a whole number from 1 to 2147483647 (see: skein wf --help)"
           ["wf" "x" "--top=many"] "skein wf: Failed to validate \"--top many\": must be a whole number from 1 to 2147483647 (see: skein wf --help)"
           ["wf" "x" "--workers" "-1"] "skein wf: Failed to validate \"--workers -1\": must be a whole number from 1 to 1024 (see: skein wf --help)"
           ["wf" "x" "--keep-going=yes"] "skein wf: --keep-going takes no value (see: skein wf --help)"
           ["wf" "x" "--format-of" "nginx" "--log-format" "%h %s"]
           "skein wf: --log-format says what the lines look like, so it can't be combined with --format-of (see: skein wf --help)"
           ["wf" "--spark" "x"] (str "skein wf: Failed to validate \"--spark x\": must be a master, such as spark://host:7077, local[4] or yarn (see: skein wf --help)")
           ["wf" "--by" "url" "--sum" "bytes" "--rank" "hits" "examples/shop.log"]
           "skein wf: --sum bytes orders the rows as --rank bytes does, so it can't be combined with --rank hits (see: skein wf --help)"
           ["wf" "--by" "url" "--log-format" "combind" "examples/shop.log"]
           "skein wf: \"combind\" is not the name of a format; did you mean combined?"
           ["wf" "--by" "url" "--client" "foo" "examples/shop.log"]
           (str "skein wf: --client \"foo\" is not valid: write addresses or networks such as 10.1.2.3, 10.0.0.0/8 or 2001:db8::/32, with commas"
                " between; for names of hosts use --where client=REGEX")
           ["wf" "--by" "url" "--from" "2025-06-15 8:00" "examples/shop.log"]
           (str "skein wf: --from \"2025-06-15 8:00\" is not valid: write a time such as 2025-03-30, \"2025-03-30 08:00\", 2025-03-30T12:00:00Z, or"
                " 2w, 7d, 24h or 90m for so long ago")
           ["wf" "--where" "bytes>1000" "--by" "url" "examples/shop.log"]
           (str "skein wf: --where must be FIELD=REGEX or FIELD!=REGEX, not \"bytes>1000\"; for numbers use --larger, --slower and --status,"
                " for times --from and --to (see: skein wf --help)")
           ["wf" "--larger" "1X" "--by" "url" "examples/shop.log"]
           "skein wf: \"1X\" is not a size; write a number of bytes, or one with K, M, G or T, such as 500, 10M or 2.5G, up to 1024T"
           ["wf" ""] "skein wf: There is no file \"\". Check the spelling, and the folder in which the program runs."
           ["sample-log"] "skein sample-log: no SIZE given; give the size of the log, such as 10M (see: skein sample-log --help)"
           ["sample-log" "1" "2"] "skein sample-log: give one SIZE, not 2: [\"1\" \"2\"] (see: skein sample-log --help)"
           ["sample-log" "1" "--seed" "x"] "skein sample-log: Failed to validate \"--seed x\": must be a whole number (see: skein sample-log --help)"
           ["sample-log" "10Q"] (str "skein sample-log: \"10Q\" is not a size; write a number of bytes, or one with K, M, G or T,"
                                     " such as 500, 10M or 2.5G, up to 1024T")
           ["fw"] "skein: unknown command \"fw\"; the commands are wf, sample-log and help (see: skein --help)"
           ["help" "fw"] "skein: unknown command \"fw\"; the commands are wf and sample-log (see: skein --help)"}
          :let [{:keys [code] :as failed} (apply run arguments)]]
    (is (= [2 message] [code (failure-line failed)]) (pr-str arguments))))

(defn- failing-stream [message]
  (proxy [OutputStream] []
    (write ([_] (throw (IOException. ^String message))) ([_ _ _] (throw (IOException. ^String message))))))

(defn- run-into [message & arguments]
  (let [err (ByteArrayOutputStream.)]
    [(cli/run arguments {:out (failing-stream message), :err (PrintStream. err true "UTF-8")}) (.toString err "UTF-8")]))

(deftest a-broken-pipe-is-no-error
  (is (= [0 ""] (run-into "Broken pipe" "sample-log" "10M")))
  (testing "and the rest of the command is done"
    (let [path (sample-file), page (temp-path ".html")]
      (doseq [arguments [["--html" page] ["--by" "url" "--html" page]]
              :let [[code text] (apply run-into "Broken pipe" "wf" "--keep-going" path "/no/such.log" arguments)]]
        (is (= 2 code))
        (is (re-find #"There is no file /no/such.log" text))
        (is (.delete (File. ^String page)))))))

(deftest other-failures-are-one-line-and-on-request-a-trace
  (let [[code text] (run-into "No space left on device" "sample-log" "10M")]
    (is (= 1 code))
    (is (= 1 (count (str/split-lines text))))
    (is (str/includes? text "No space left on device")))
  (let [[code text] (run-into "No space left on device" "sample-log" "10M" "--trace")]
    (is (= 1 code))
    (is (str/includes? text "\tat "))))

;;;; A process of its own

(defn- process [input & arguments]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        command (into [java "-cp" (System/getProperty "java.class.path") "clojure.main" "-m" "skein.cli"] arguments)
        process (.start (doto (ProcessBuilder. ^java.util.List command)
                          (.redirectInput (File. ^String input))))
        err (future (slurp (.getErrorStream process)))
        out (slurp (.getInputStream process))]
    (assert (.waitFor process 60 TimeUnit/SECONDS))
    {:code (.exitValue process), :out out, :err (deref err 60000 :late)}))

(deftest a-process-reads-standard-input-and-exits-with-a-code
  (let [path (sample-file)]
    (is (= {:code 0, :out (text-of (wf2/report [path]))} (dissoc (process path "wf" "-") :err)))
    (is (= {:code 2, :out ""} (dissoc (process path "wf" "no-such-file.log") :err)))))

(deftest lines-without-a-duration-are-reported
  (let [json (fn json [url more] (str "{\"client\":\"192.0.2.1\",\"url\":\"" url "\",\"status\":200" more "}"))
        path (log-of (json "/a" ",\"duration\":12") (json "/a" ",\"duration\":0.5") (json "/b" ",\"duration\":\"\""))
        ask (fn ask [& more] (apply run "wf" "--quiet" path "--by" "path" more))]
    (testing "in words"
      (let [{:keys [out]} (ask "--rank" "mean")]
        (is (re-find #"2 +0 B +500.0 ms +500.0 ms +500.0 ms .*/a\n" out))
        (is (re-find #"1 +0 B +0 us +- +- .*/b\n" out))
        (is (str/includes? out "\n  2 counted lines have no duration\n")))
      (is (str/includes? (:out (ask "--rank" "mean" "--status" "200" "--path" "b")) "\n  1 counted line has no duration\n"))
      (is (str/includes? (:out (ask "--percentiles" "time" "--log-format" "json:duration=nosuch")) "\n  3 counted lines have no duration\n"))
      (is (str/includes? (:out (ask "--rank" "time" "--log-format" "json:duration=duration:ms")) "\n  1 counted line has no duration\n"))
      (is (not (str/includes? (:out (ask)) "duration"))))
    (testing "for programs"
      (is (= ["/a,2,0,500000,500000,500000" "/b,1,0,0,,"] (map #(subs % 5) (rest (str/split-lines (:out (ask "--rank" "mean" "--format" "csv")))))))
      (let [[{:keys [lines-without-duration rows]}] (:tallies (edn/read-string (:out (ask "--rank" "slowest" "--format" "edn"))))]
        (is (= 2 lines-without-duration))
        (is (= [500000 nil] (map :slowest rows)))
        (is (= [500000 nil] (map :mean rows))))
      (is (str/includes? (:err (run "wf" path "--by" "path" "--rank" "mean" "--format" "csv")) "path: 2 counted lines have no duration\n")))
    (testing "of groups, and of steps without lines"
      (let [log (log-of (str "{\"time\":\"2025-03-01T00:00:00Z\",\"url\":\"/\",\"user_agent\":\"Firefox/130.0\"}")
                        (str "{\"time\":\"2025-03-01T02:00:00Z\",\"url\":\"/\",\"user_agent\":\"Firefox/131.0\",\"duration\":0.5}"))
            ask (fn ask [& more] (:out (apply run "wf" "--quiet" log "--format" "edn" more)))]
        (is (str/includes? (ask "--by" "os" "--rank" "slowest") ":lines-without-duration 1"))
        (is (= [nil nil 500000] (map :mean (:rows (first (:tallies (edn/read-string (ask "--every" "1h" "--rank" "mean"))))))))))))
