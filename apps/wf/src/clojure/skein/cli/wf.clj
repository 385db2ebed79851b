;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.wf
  "The command `skein wf`: its options, its help, and the choice of the report.

  - `run`            options, paths, streams -> exit code
  - `option-specs`   the options, as `skein.cli.options/parse` takes them
  - `help`           the text of --help

  The Wide Finder report takes half a second, so this namespace loads only what that report needs. Everything else is
  loaded at its first use, see `skein.cli.questions`."
  (:require
   [skein.cli.options :as options]
   [skein.cli.paths :as paths]
   [skein.cli.progress :as progress]
   [skein.cli.terminal :as terminal]
   [skein.wf.driver :as driver]
   [skein.wf.text :as text]
   [skein.wf.wf2 :as wf2])
  (:import
   (java.io OutputStream PrintStream)))

(set! *warn-on-reflection* true)

(defn- several
  "Returns an option whose value is a list with commas. If it is given again, the lists are joined."
  [option id]
  (options/several option id (fn join [before more] (if before (str before "," more) more))))

(defn- all
  "Returns an option whose values come in a vector."
  [option id]
  (options/several option id (fnil conj [])))

(def ^:private question-specs
  "The options that the Wide Finder report does not have."
  [[nil "--log-format FORMAT"]
   [nil "--format-of NAME"]
   (several "--by NAME,..." :by)
   [nil "--sum bytes|time" :validate (options/one-of ["bytes" "time"])]
   [nil "--rank NAME"]
   [nil "--every DURATION"]
   [nil "--distinct FIELD"]
   (several "--percentiles bytes,time" :percentiles)
   (several "--status LIST" :status)
   (several "--method LIST" :method)
   (several "--client LIST" :client)
   (several "--not-client LIST" :not-client)
   [nil "--no-bots" :id :no-bots?]
   (all "--path REGEX" :path)
   (all "--where CONDITION" :where)
   [nil "--from TIME"]
   [nil "--to TIME"]
   [nil "--since TIME" :id :from]
   [nil "--until TIME" :id :to]
   [nil "--slower DURATION"]
   [nil "--larger SIZE"]
   ["-e" nil :id :form :required "FORM"]
   [nil "--tallies FILE"]
   (all "--geo FILE" :geo)
   [nil "--anonymize" :id :anonymize?]
   [nil "--save FILE"]
   [nil "--with FILE"]
   [nil "--approx" :id :approx?]
   [nil "--malformed FILE"]
   [nil "--follow" :id :follow?]
   [nil "--serve" :id :serve?]
   (options/whole-number "--port N" 0 65535)])

(def option-specs
  "The options of `skein wf`."
  (into question-specs
        [[nil "--preset NAME" :validate (options/one-of ["wf2" "site"])]
         (options/whole-number "--top N" 1 Integer/MAX_VALUE)
         [nil "--html FILE"]
         [nil "--format FORMAT" :validate (options/one-of ["text" "json" "edn" "csv"])]
         [nil "--color WHEN" :validate (options/one-of ["auto" "always" "never"])]
         ;; For other masters the launcher does not add Spark to the class path.
         [nil "--spark MASTER" :validate [#(re-find #"^(?:local|yarn|spark:|k8s:)" %)
                                          "must be a master, such as spark://host:7077, local[4] or yarn"]]
         (options/whole-number "--workers N" 1 1024)
         [nil "--keep-going" :id :keep-going?]
         [nil "--config FILE"]
         [nil "--quiet" :id :quiet?]
         [nil "--trace" :id :trace?]
         ["-h" "--help" :id :help?]
         [nil "--version" :id :version?]]))

(def help
  "The text of --help."
  "Reports on web-server logs: URLs, bytes, clients, referrers, times.

usage: skein wf [OPTION...] FILE...
       FILE may be compressed (gzip, bzip2, Zstandard, xz, lz4), a pattern such as 'logs/*.gz', or -
       for standard input

  --preset NAME        site: the general report, which counts static files separately;
                       wf2: Wide Finder 2's, the default for its logs
  --format-of NAME     the log's server; detected for each file if not given: alb apache
                       azure caddy cloudflare cloudfront elb envoy google haproxy iis ingress-nginx
                       istio json lighttpd ltsv nginx pino s3 squid tomcat traefik varnish w3c
  --log-format FORMAT  the string of Apache's LogFormat or nginx's log_format, or for JSON,
                       json:client=ip,url=req.path,duration=took:ms

tallies:
  --by NAME,...        url path client country network referrer site (the referrer's host) agent
                       browser os crawler status class method host user protocol hour weekday day
                       month minute, any field of the format, several at once: host+day
  --every DURATION     hits over time, in steps of 10s, 5m, 1h, 1d ...
  --top N              rows of each tally, default 10. A tally over time (--every, --by minute ...)
                       shows all its rows in order; with --top, only the N largest
  --sum bytes|time     order by that sum
  --rank NAME          order by hits bytes time mean slowest distinct p95-time p50-bytes ...
  --distinct FIELD     the number of different values in each row: --by day --distinct client;
                       only fields of the log, not what --by computes from them, such as site
  --percentiles bytes,time   columns with the 50th, 90th, 95th and 99th percentiles
  -e FORM              a Clojure function from a line's fields to a key, such as
                       -e '(fn [{:keys [url]}] (count url))'; about four times as slow as --by
  --tallies FILE       such functions from a Clojure file

conditions (all must hold; of a list, one value suffices; an option given again adds to its list):
  --status 404,500-503 --method GET,HEAD     --client 10.0.0.0/8,2001:db8::1     --slower 500ms
  --not-client 10.9.8.7,... (none of these)   --no-bots (agents that say that they are crawlers)
  --larger 1.5M        responses of at least that many bytes
  --path REGEX         for the URL with its query string; --where path=REGEX for the URL without it.
                       W3C logs keep the query string apart: --where cs-uri-query=REGEX
  --where CONDITION    NAME=REGEX or NAME!=REGEX, for all that --by takes except browser os crawler
                       country network. Of several --where and --path, all must hold. Not for time,
                       bytes and duration (use --from, --to, --larger, --slower), nor for request
  --from, --to TIME    2025-03-30 or '2025-03-30 12:00' on the log's clock, 2025-03-30T12:00:00Z, or
                       2w, 7d, 24h, 90m ago; --to is inclusive (--since, --until: the same)

output:
  --format FORMAT      text (default), json, edn or csv
  --html FILE          also writes the report as one page with plots
  --serve              serves the report as a page to your browser on this machine, until Ctrl-C;
                       with --follow the page is kept up to date
  --port N             the port of --serve; by default any free one
  --color WHEN         auto (default), always or never
  --malformed FILE     writes the lines that do not fit the format
  --follow             keeps the report on the terminal up to date as the log grows
  --geo FILE           a database of countries or networks (ASN) of addresses, in MaxMind's format
  --save FILE          saves the counts for a later run
  --with FILE          adds the counts of an earlier run, and reads only the new lines of its logs
  --anonymize          counts clients by network: 192.0.2.0 for 192.0.2.66
  --approx             limits memory for any number of keys, and prints the largest possible error
  --workers N          threads, default one per core
  --spark MASTER       counts on a Spark cluster, such as spark://host:7077, which reads the files
  --keep-going         reports the other files if one can't be read (the exit code is still 2)
  --config FILE        reads options from a file, one a line; those on the command line win
  --quiet              prints only errors on standard error
  --trace              shows the stack trace of an error
  --help, -h           this text
  --version            the version

examples:
  skein wf access.log
  skein wf --status 404 --from 7d --by url,referrer logs/*.gz
  skein wf --by path --rank p95-time --top 20 access.log
  skein wf --by host+day --sum bytes --format csv logs/*.log
  zcat access.log.1.gz | skein wf -

The report goes to standard output. The preset, the formats, and a summary with lines, bytes and
speed go to standard error. A line is counted, filtered or malformed. doc/wf.md is the guide.
Exit codes: 0 success, 1 Skein failed or most lines are malformed, 2 wrong arguments or a file
that can't be read, 130 interrupted.
")

(defn- print-line [^PrintStream err & texts]
  (.println err ^String (apply str texts)))

(defn- write-text [^OutputStream out ^String text ^String encoding]
  (.write out (.getBytes text encoding))
  (.flush out))

;;;; Which report

(defn- wide-finder-log?
  "Returns whether an input begins like the logs of Wide Finder, whose articles are below /ongoing/When/."
  [{:keys [^bytes head]}]
  (.contains (String. head "ISO-8859-1") "\"GET /ongoing/When/"))

(defn- preset [{:keys [preset] :as options} prepared]
  (let [questions (sort (options/given question-specs options))]
    (when (and (= preset "wf2") (seq questions))
      (options/fail! (str "--preset wf2 makes a fixed report, so it can't be combined with " (first questions))))
    (or preset
        (if (and (empty? questions) (seq prepared) (every? wide-finder-log? prepared)) "wf2" "site"))))

;;;; Wide Finder 2

(defn- load-questions
  "Returns a public function of skein.cli.questions. Loads that namespace, which takes a while."
  [function]
  (requiring-resolve (symbol "skein.cli.questions" function)))

(defn- wide-finder-report [prepared failures start {:keys [format] :as options}]
  (wf2/report-of prepared failures start (assoc options :checksums? (contains? #{"json" "edn"} format))))

(defn- answer-wf2 [prepared failures start {:keys [format html] :or {format "text"} :as options} {:keys [out err notes]} bar]
  (print-line notes "preset wf2: the five tallies of the contest Wide Finder 2 (--preset site: the general report)")
  (let [report (try (wide-finder-report prepared failures start options)
                    (finally (progress/stop! bar)))]
    (terminal/write-report!
      #(case format
         "text" (write-text out (text/text (wf2/text-result report) (terminal/color? options) (second (terminal/size))) "UTF-8")
         "json" (write-text out ((requiring-resolve 'skein.wf.data/json-text) (wf2/for-programs report)) "UTF-8")
         "edn" (write-text out ((requiring-resolve 'skein.wf.data/edn-text) (wf2/for-programs report)) "UTF-8")
         "csv" (write-text out ((requiring-resolve 'skein.wf.data/csv) (wf2/result report)) "ISO-8859-1")))
    (when html ((load-questions "write-html!") html (wf2/result report)))
    (doseq [{:keys [message]} (:failures report)] (print-line err "skein wf: " message))
    (print-line notes (text/summary (wf2/result report)))
    (let [mostly-malformed (text/mostly-malformed report)]
      (when mostly-malformed (print-line err "skein wf: " mostly-malformed))
      (cond (seq (:failures report)) 2, mostly-malformed 1, :else 0))))

;;;; The command

(defn- say-repeated!
  "Prints a note on files that are given more than once, by a pattern and a name for example: that may be a mistake."
  [paths notes]
  (doseq [path (paths/repeated paths)]
    (when (= path "-") (options/fail! "standard input can be read only once, so there can be only one -"))
    (print-line notes "skein wf: " path " is given more than once, and counts each time")))

(defn- report
  "Reads the files at `paths` and reports on them. Returns the exit code."
  [paths {:keys [on-reading] :as options} start {:keys [notes] :as streams}]
  (let [[prepared failures] (driver/prepare-all paths options)
        bar (progress/bar notes)
        options (assoc options :on-start (fn on-start [reading]
                                           (progress/start! bar reading)
                                           (when on-reading (on-reading reading))))]
    (if (= "wf2" (preset options prepared))
      (answer-wf2 prepared failures start options streams bar)
      ((load-questions "answer") prepared failures start options streams bar))))

(defn- check-saved!
  "Throws :skein/bad-argument for options that can't be combined with --save or --with."
  [{:keys [save with follow? spark form tallies from to]}]
  (when (or save with)
    (when follow? (options/fail! "--follow ends when it is interrupted, so it can't be combined with --save or --with"))
    (when-let [ago (some #(when % (re-matches #"\d+[smhdw]" %)) [from to])]
      (options/fail! (str ago " is counted back from now, so it means another time in each run; with --save and --with give a day or a time, such as 2025-03-30")))
    (when spark (options/fail! "--save and --with work only with logs on this machine, so they can't be combined with --spark"))
    (when (or form tallies) (options/fail! "the values of -e and --tallies can't be saved, so they can't be combined with --save or --with"))))

(defn- check-serve!
  "Throws :skein/bad-argument for options that can't be combined with --serve."
  [{:keys [serve? port preset format html spark]}]
  (when (and port (not serve?)) (options/fail! "--port is the port of --serve; add --serve"))
  (when serve?
    (when format (options/fail! "--serve shows the report as a page, so it can't be combined with --format; run the command again for a file"))
    (when html (options/fail! "--serve shows the report as a page, so it can't be combined with --html; run the command again for a file"))
    (when (= preset "wf2") (options/fail! "--preset wf2 makes a fixed report, so it can't be combined with --serve"))
    (when spark (options/fail! "--serve counts on this machine, so it can't be combined with --spark"))))

(defn- check-spark!
  "Throws :skein/bad-argument for options that can't be combined with --spark."
  [{:keys [follow? malformed workers]} paths]
  (when follow? (options/fail! "--follow watches files of this machine, so it can't be combined with --spark"))
  (when malformed (options/fail! "--malformed writes lines in order, and executors don't know the order, so it can't be combined with --spark"))
  (when workers (options/fail! "--workers sets the number of threads on this machine; with --spark, the cluster's settings say how many tasks run at once"))
  (when (some #{"-"} paths) (options/fail! "- is the standard input of this process, which no executor can read; give --spark files")))

(defn run
  "Runs `skein wf` and returns its exit code.

  options  as `option-specs` parse them
  paths    what to read
  streams  {:out OutputStream, :err PrintStream}"
  [options paths {:keys [err] :as streams}]
  (when (and (empty? paths) (not (:with options)))
    (options/fail! "no FILE given; name the logs to read, or - for standard input"))
  (when (and (:log-format options) (:format-of options))
    (options/fail! "--log-format says what the lines look like, so it can't be combined with --format-of"))
  (let [start (System/nanoTime)
        paths (paths/expand paths)
        streams (assoc streams :notes (if (:quiet? options) (PrintStream. (OutputStream/nullOutputStream)) err))
        options (assoc options :own-process? true)]
    (check-saved! options)
    (check-serve! options)
    (when (or (:malformed options) (:html options) (:save options)) ((requiring-resolve 'skein.cli.outputs/check!) options paths))
    (say-repeated! paths (:notes streams))
    (when (:spark options) (check-spark! options paths))
    (cond
      (:serve? options) ((requiring-resolve 'skein.cli.serve/run) paths options streams
                         (fn count-once [options] (report paths options start streams)))
      (:follow? options) ((load-questions "follow") paths options streams)
      (:spark options) ((requiring-resolve 'skein.wf.spark/with-cluster)
                        (:spark options) paths
                        (fn count-there [paths there] (report paths (merge options there) start streams)))
      :else (report paths options start streams))))
