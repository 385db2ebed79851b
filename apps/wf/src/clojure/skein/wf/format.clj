;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format
  "Log formats as data, from what a server's configuration says.

  - `parse`      Apache LogFormat, nginx log_format, or a name -> format
  - `built-in`   the formats that have names
  - `fields`     the names of what a format logs
  - `compiled`   format -> what the engine scans with

  A format is {:name text, :literals [text ...], :fields [{:field name, :kind keyword} ...], :open? boolean}, the literals
  standing before, between and after the fields; or {:name text, :json [{:field name, :kind keyword, :path text} ...]}.
  Names of fields are client, user, time, request (which gives method, url and protocol), status, bytes, duration,
  referrer, agent, host, and for all others the server's own, such as x-forwarded-for or upstream_addr."
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format.json :as json])
  (:import
   (skein.wf JsonFormat LogFormat Rows TextFormat TextFormat$Field TextFormat$Kind WrappedFormat WrappedFormat$Wrapper)))

(set! *warn-on-reflection* true)

(def ^:private common-log-time "%d/%b/%Y:%H:%M:%S %z")

(defn- bad-format! [text why]
  (error/fail! :skein/bad-log-format (str "the format " (error/preview text) " " why) {:format text}))

;;;; Apache

(defn- header [^String header]
  (case (str/lower-case header)
    "referer" {:field "referrer"}
    "user-agent" {:field "agent"}
    "host" {:field "host"}
    {:field (str/lower-case header)}))

(defn- duration [unit]
  {:field "duration", :kind :duration, :nanos ({"s" 1000000000, "ms" 1000000, "us" 1000} unit 1000000000)})

(defn- apache-time [text argument]
  (cond
    (nil? argument) {:field "time", :kind :time, :pattern common-log-time, :before "[", :after "]"}
    (re-find #"frac$" argument) {:field argument, :fraction? true}
    :else
    (let [pattern (str/replace argument #"^(begin|end):" "")
          pattern (if (#{"sec" "msec" "usec"} pattern) "" pattern)]
      (when-not (TextFormat/isTimePattern pattern)
        (bad-format! text (str "has a time that can't be read: " argument)))
      {:field "time", :kind :time, :pattern pattern})))

(def ^:private rare
  "What Apache's other directives log, by their letters."
  {"A" "local-address", "f" "file", "k" "requests-before", "L" "log-id", "P" "process", "R" "handler", "S" "bytes-both", "X" "connection"
   "^FB" "first-byte-us", "^ti" "request-trailer", "^to" "response-trailer"})

(defn- apache-directive
  "Returns what a % directive logs; `letter` and `argument` are its own, in `text`."
  [text letter argument]
  (case letter
    ("h" "a") {:field "client"}
    "u" {:field "user"}
    "l" {:field "ident"}
    "t" (apache-time text argument)
    "r" {:field "request", :kind :request}
    "m" {:field "method"}
    "U" {:field "url"}
    "q" {:field "query"}
    "H" {:field "protocol"}
    "s" {:field "status", :kind :status}
    ("b" "B" "O") {:field "bytes", :kind :size}
    "I" {:field "bytes-in", :kind :number}
    "D" (duration "us")
    "T" (duration argument)
    ("v" "V") {:field "host"}
    "p" {:field "port", :kind :number}
    "i" (header (or argument ""))
    ("C" "e" "n" "o") {:field (str/lower-case (str argument))}
    (if-let [field (rare letter)]
      {:field field}
      (bad-format! text (str "has a directive that Apache does not know: %" letter)))))

(def ^:private apache-pattern
  #"%(?:!?\d{3}(?:,\d{3})*)?[<>]?(?:\{([^}]*)\})?(\^?[A-Za-z]{1,2}|%)|\\(.)")

(defn- apache-token [text [_ argument letter escape]]
  (cond
    (= letter "%") "%"
    letter (apache-directive text (if (str/starts-with? letter "^") letter (subs letter 0 1)) argument)
    :else (case escape "t" "\t" "n" "\n" escape)))

;;;; nginx

(defn- nginx-variable [variable]
  (case variable
    ("remote_addr" "realip_remote_addr") {:field "client"}
    "remote_user" {:field "user"}
    "time_local" {:field "time", :kind :time, :pattern common-log-time}
    ("time_iso8601" "msec") {:field "time", :kind :time, :pattern ""}
    "request" {:field "request", :kind :request}
    "request_method" {:field "method"}
    ("request_uri" "uri") {:field "url"}
    "server_protocol" {:field "protocol"}
    "status" {:field "status", :kind :status}
    ("body_bytes_sent" "bytes_sent") {:field "bytes", :kind :size}
    "request_time" (duration "s")
    ("host" "server_name" "http_host") {:field "host"}
    "http_referer" {:field "referrer"}
    "http_user_agent" {:field "agent"}
    {:field (if (str/starts-with? variable "http_") (str/replace (subs variable 5) "_" "-") variable)}))

(def ^:private nginx-pattern #"\$(?:([a-z0-9_]+)|\{([a-z0-9_]+)\})")

;;;; From text to literals and fields

(defn- tokens
  "Returns the literals and fields in `text`, in order, as strings and maps."
  [text pattern ->token]
  (let [matcher (re-matcher pattern text)]
    (loop [at 0, tokens []]
      (if (.find matcher)
        (recur (.end matcher) (conj tokens (subs text at (.start matcher)) (->token (re-groups matcher))))
        (conj tokens (subs text at))))))

(defn- leading-letter
  "Apache's directives have one letter; what the pattern took as a second belongs to the text after it."
  [[_ _ ^String letter]]
  (if (and letter (= 2 (count letter)) (not (str/starts-with? letter "^"))) (subs letter 1) ""))

(defn- apache-tokens [text]
  (let [matcher (re-matcher apache-pattern text)]
    (loop [at 0, tokens []]
      (if (.find matcher)
        (let [groups (re-groups matcher)]
          (recur (.end matcher) (conj tokens (subs text at (.start matcher)) (apache-token text groups) (leading-letter groups))))
        (conj tokens (subs text at))))))

(def ^:private given-by-request #{"method" "url" "protocol"})

(defn- without-doubles
  "Gives a field that was logged before no name, so that the first one counts."
  [fields]
  (let [request? (some #(= "request" (:field %)) fields)]
    (first (reduce (fn keep-first [[kept seen] {:keys [field kind] :as f}]
                     (if (or (seen field) (and request? (given-by-request field)))
                       [(conj kept (cond-> {:field (str "other-" field)} (= kind :size) (assoc :kind :number))) seen]
                       [(conj kept f) (conj seen field)]))
                   [[] #{}]
                   fields))))

(defn- drop-query
  "A query that follows its URL without anything between is a part of it, as in %U%q."
  [tokens]
  (reduce (fn step [kept token]
            (if (and (= "query" (:field token)) (= "url" (:field (last (remove #(= "" %) kept)))))
              kept
              (conj kept token)))
          []
          tokens))

(def ^:private short-for
  "Time directives that stand for several others."
  {\T "HMS", \R "HM", \F "Ymd", \D "mdy"})

(defn- directives
  "Returns the set of the letters of a time pattern's directives."
  [pattern]
  (into #{} (mapcat (fn letters [[_ [letter]]] (short-for letter [letter]))) (re-seq #"%(.)" pattern)))

(defn- parts-of-one-time?
  "Whether two fields are times that say different things, as a date and a zone do."
  [{a :pattern} {b :pattern}]
  (boolean (and (seq a) (seq b) (not-any? (directives a) (directives b)))))

(defn- joined-time
  "Returns the time of which `time` and, after the text `between`, `token` are parts; nil if they aren't."
  [{:keys [pattern after] :as time} between {part :pattern, :keys [fraction?] :as token}]
  (let [join (fn join [part] (assoc time :pattern (str pattern (str/replace between "%" "%%") part)))]
    (cond
      (or after (nil? pattern)) nil
      (and fraction? (= "" pattern)) (when (= "." between) time)  ; an epoch may have a fraction anyway
      fraction? (join "%f")
      (parts-of-one-time? time token) (join part))))

(defn- join-times
  "Makes one field of a time that several directives write, as Apache's manual does to have milliseconds before the zone."
  [tokens]
  (reduce (fn step [kept token]
            (let [before (vec (reverse (drop-while string? (rseq kept))))
                  between (apply str (subvec kept (count before)))]
              (if-let [time (when (map? token) (joined-time (peek before) between token))]
                (conj (pop before) time)
                (conj kept token))))
          [(first tokens)]
          (rest tokens)))

(defn- check-times! [text fields]
  (when-let [[time & others] (seq (filter #(= :time (:kind %)) fields))]
    (when (some #(parts-of-one-time? time %) others)
      (bad-format! text "has its time in several places; log it in one, such as %t or %{%d/%b/%Y:%T %z}t"))))

(defn- assemble [name text tokens]
  (let [tokens (join-times (drop-query tokens))
        [literals fields] (reduce (fn step [[literals fields] token]
                                    (if (string? token)
                                      [(conj (pop literals) (str (peek literals) token)) fields]
                                      [(conj (pop literals) (str (peek literals) (:before token)) (str (:after token)))
                                       (conj fields (dissoc token :before :after :fraction?))]))
                                  [[""] []]
                                  tokens)]
    (when (empty? fields)
      (bad-format! text "names no field; write one as for Apache's LogFormat, nginx's log_format, or a name such as combined"))
    (when (some #{""} (butlast (rest literals)))
      (bad-format! text "has two fields with nothing between them, so it can't be told where the first one ends"))
    (check-times! text fields)
    (when (some #(re-find #"[\r\n]" %) literals) (bad-format! text "has a line end in it"))
    {:name name, :literals literals, :fields (without-doubles fields)}))

(defn- bare
  "Returns the format in a whole directive of a configuration file, or the text itself."
  [text]
  (let [[_ apache] (re-matches #"(?s)\s*LogFormat\s+\"((?:[^\"\\]|\\.)*)\".*" text)
        [_ nginx] (re-matches #"(?s)\s*log_format\s+\S+\s+(?:escape=\S+\s+)?(.*?);?\s*" text)]
    (or apache
        (when nginx (str/join (map (fn part [[_ a b]] (or a b)) (re-seq #"'([^']*)'|\"([^\"]*)\"" nginx))))
        text)))

(defn- parse-text [name text]
  (let [text (bare text)]
    (if (and (re-find nginx-pattern text) (not (re-find #"%[>{a-zA-Z]" text)))
      (assemble name text (tokens text nginx-pattern (fn variable [[_ a b]] (nginx-variable (or a b)))))
      (assemble name text (apache-tokens text)))))

;;;; The formats that have names

(def ^:private combined "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\"")
(def ^:private common "%h %l %u %t \"%r\" %>s %b")

(def ^:private named
  "In the order in which they are tried: of two that fit as many lines the first one is taken, so the longer ones come first,
  whose lines the shorter ones fit with odd users and agents."
  (array-map
    "vhost-port-seconds" (str "%v:%p " combined " %T")
    "vhost" (str "%v:%p " combined)
    "vhost-seconds" (str "%v " combined " %T")
    "nginx-main" (str combined " \"%{X-Forwarded-For}i\"")
    "combined-forwarded-seconds" (str combined " \"%{X-Forwarded-For}i\" %T")
    "combined-seconds" (str combined " %T")
    "combinedio" (str combined " %I %O")
    "vhost-without-port" (str "%v " combined)
    "combined" combined
    "vhost-common" (str "%v " common)
    "common" common))

(def built-in
  "The formats that have names, in the order in which they are tried. The last ones let anything follow after a space."
  (into (mapv (fn format [[name text]] (parse-text name text)) named)
        [{:name "json", :json json/fields}
         (assoc (parse-text "vhost-and-more" (str "%v:%p " combined)) :open? true)
         (assoc (parse-text "vhost-without-port-and-more" (str "%v " combined)) :open? true)
         (assoc (parse-text "combined-and-more" combined) :open? true)
         (assoc (parse-text "common-and-more" common) :open? true)]))

(def wrappers
  "What may have put the lines of a log into lines of its own, with what such a line looks like."
  (array-map
    "docker" {:wrapper WrappedFormat$Wrapper/DOCKER, :line #"\{\"log\":\".*\",\"stream\":\".*"}
    "kubernetes" {:wrapper WrappedFormat$Wrapper/KUBERNETES, :line #"\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] .*"}
    "syslog" {:wrapper WrappedFormat$Wrapper/SYSLOG
              :line #"<\d+>.*|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (?:\S+ )?\S+: .*"}))

(defn wrapped
  "Returns `format` for the lines that are in lines of `wrapper`, a key of `wrappers`."
  [wrapper format]
  (-> format
      (update :name #(str wrapper ":" %))
      (assoc :wrapper (:wrapper (wrappers wrapper)))))

(declare parse)

(defn- parse-wrapped [text]
  (let [[_ wrapper inner] (re-matches #"(?s)(docker|kubernetes|syslog):(.+)" text)]
    (when wrapper (wrapped wrapper (parse inner)))))

(defn parse
  "Returns the format that `text` means: the name of one of `built-in`, a LogFormat of Apache or a log_format of nginx (the
  string, or the whole directive), `json:` with a place for each field, as in \"json:client=ip,url=req.path\", or one of these behind `syslog:`,
  `docker:` or `kubernetes:`, for lines within lines.

      (:fields (parse \"%h %>s\"))
      ;=> [{:field \"client\"} {:field \"status\", :kind :status}]

  Throws :skein/bad-log-format."
  [text]
  (or (some #(when (= text (:name %)) %) built-in)
      (parse-wrapped text)
      (when (str/starts-with? text "json:")
        (or (json/parse text) (bad-format! text "gives no places; write it as json:client=ip,url=req.path")))
      ;; A server's own variables may be empty; the fields of the known formats are a minus sign then.
      (assoc (parse-text text text) :sparse? true)))

(defn fields
  "Returns the set of names that a format's lines have a value for."
  [{:keys [json fields]}]
  (into #{}
        (mapcat (fn names [{:keys [field]}] (if (= field "request") ["request" "method" "url" "protocol"] [field])))
        (or json fields)))

;;;; For the engine

(def ^:private columns
  {"client" Rows/CLIENT, "user" Rows/USER, "method" Rows/METHOD, "url" Rows/URL, "protocol" Rows/PROTOCOL
   "status" Rows/STATUS, "referrer" Rows/REFERRER, "agent" Rows/AGENT, "host" Rows/HOST})

(defn column
  "Returns the column of the field `field`, given `extra`, the names of those beyond what every batch has; -1 for none."
  [field extra]
  (or (columns field)
      (let [at (.indexOf ^java.util.List extra field)]
        (if (neg? at) -1 (+ Rows/COLUMNS at)))))

(def not-texts
  "The fields that a line has no text of, each with what to ask instead."
  {"time" "--by hour, day, month, weekday, minute, or --every; --from, --to"
   "request" "method, url or protocol"
   "bytes" "--sum bytes, --percentiles bytes, --rank p95-bytes"
   "duration" "--slower, --percentiles time, --rank mean, slowest or p95-time"})

(defn text-column
  "As `column`, of a field that is text. Throws :skein/bad-option."
  [field extra]
  (when-let [instead (not-texts field)]
    (error/fail! :skein/bad-option
                 (str field " is no text that lines can be told apart or matched by; there is " instead)
                 {:field field}))
  (column field extra))

(def ^:private kinds
  {:text TextFormat$Kind/TEXT, :request TextFormat$Kind/REQUEST, :time TextFormat$Kind/TIME
   :status TextFormat$Kind/STATUS, :number TextFormat$Kind/NUMBER, :size TextFormat$Kind/SIZE, :duration TextFormat$Kind/DURATION})

(defn- ->field [extra {:keys [field kind pattern nanos path] :or {kind :text, pattern "", nanos 0}}]
  (TextFormat$Field. (or path field) (kinds kind) (int (column field extra)) pattern (long nanos)))

(defn compiled
  "Returns a format as the engine's, with columns for the fields in `extra`, a vector of names."
  ^LogFormat [{:keys [json literals fields open? sparse? wrapper] :as format} extra]
  (cond
    wrapper (WrappedFormat. wrapper (compiled (dissoc format :wrapper) extra))
    json
    (JsonFormat. (into [] (comp (map #(->field extra %))
                                (remove #(and (= TextFormat$Kind/TEXT (.kind ^TextFormat$Field %))
                                              (neg? (.column ^TextFormat$Field %)))))
                       json))
    :else (TextFormat. literals (mapv #(->field extra %) fields) (boolean open?) (boolean sparse?))))
