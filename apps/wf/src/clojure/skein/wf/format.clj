;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format
  "Log formats as data.

  - `parse`        Apache LogFormat, nginx log_format, or a name -> format
  - `row->format`  a row of `skein.wf.format.catalogue` -> format
  - `fields`       the names of what a format logs
  - `compiled`     format -> what the engine scans with

  A format is {:name text, :literals [text ...], :fields [{:field name, :kind keyword} ...], :open? boolean}, the literals
  standing before, between and after the fields; or {:name text, :layout :json, :fields [{:field name, :kind keyword, :path text} ...]},
  likewise with :ltsv and :w3c.
  Names of fields are client, user, time, request (which gives method, url and protocol), status, bytes, duration,
  referrer, agent, host, and for all others the server's own, such as x-forwarded-for or upstream_addr."
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format.catalogue :as catalogue]
   [skein.wf.format.keys :as keys]
   [skein.wf.format.layout :as layout]
   [skein.wf.spelling :as spelling])
  (:import
   (skein.wf JsonFormat LogFormat LtsvFormat Rows TextFormat TextFormat$Field TextFormat$Kind W3cFormat WrappedFormat WrappedFormat$Wrapper)))

(set! *warn-on-reflection* true)

;;;; The formats that have names

(defn row->format
  "Returns the format of a row of the catalogue."
  [{:keys [name layout fields open? sparse? bare? absolute? weight]}]
  (let [absolute (fn absolute [field] (cond-> field (= :request (:kind field)) (assoc :kind :absolute-request)))]
    (if (string? layout)
      (cond-> (assoc (layout/parse layout) :name name)
        open? (assoc :open? true)
        sparse? (assoc :sparse? true)
        bare? (assoc :bare? true)
        weight (assoc :weight weight)
        absolute? (update :fields #(mapv absolute %)))
      {:name name, :layout layout, :fields fields})))

(def wrappers
  "The programs that may wrap the lines of a log, with a pattern for the beginning of their lines."
  (array-map
    "docker" {:wrapper WrappedFormat$Wrapper/DOCKER, :line #"^\{\"log\":\".*\",\"stream\":\""}
    "kubernetes" {:wrapper WrappedFormat$Wrapper/KUBERNETES, :line #"^\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] "}
    "syslog" {:wrapper WrappedFormat$Wrapper/SYSLOG
              :line #"^(?:<\d+>|(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) (?:\S+ )?\S+: )"}))

(defn wrapped
  "Returns `format` for the lines that are in lines of `wrapper`, a key of `wrappers`."
  [wrapper format]
  (-> format
      (update :name #(str wrapper ":" %))
      (assoc :wrapper (:wrapper (wrappers wrapper)))))

(declare parse)

(defn- check-no-server!
  "Throws if `text` is the name of a server, which is a value of --format-of."
  [text]
  (when (catalogue/servers text)
    (error/fail! :skein/bad-log-format
                 (str (error/preview text) " is the name of a server, not a format; give --format-of " text " to find out which of its formats the log has")
                 {:format text})))

(defn- check-name!
  "Throws if `text` could only be the name of a format, because it is one word."
  [text]
  (when (re-matches #"[a-zA-Z][\w-]*" text)
    (let [names (map :name catalogue/rows), near (spelling/nearest names text)]
      (error/fail! :skein/bad-log-format
                   (str (error/preview text) " is not the name of a format; " (if near (str "did you mean " near "?") (str "there are " (str/join ", " names))))
                   {:format text}))))

(defn- parse-wrapped [text]
  (let [[_ wrapper inner] (re-matches #"(?s)(docker|kubernetes|syslog):(.+)" text)]
    (when wrapper (wrapped wrapper (parse inner)))))

(defn parse
  "Returns the format that `text` means: the name of one in the catalogue, a LogFormat of Apache or a log_format of nginx (the
  string, or the whole directive), `json:` or `ltsv:` with a place for each field, as in \"json:client=ip,url=req.path\", or one of these behind
  `syslog:`, `docker:` or `kubernetes:`, for lines within lines.

      (:fields (parse \"%h %>s\"))
      ;=> [{:field \"client\"} {:field \"status\", :kind :status}]

  Throws :skein/bad-log-format."
  [text]
  (or (some #(when (= text (:name %)) (row->format %)) catalogue/rows)
      (parse-wrapped text)
      (when (re-find #"^(?:json|ltsv):" text)
        (or (keys/parse text)
            (error/fail! :skein/bad-log-format
                         (str "the format " (error/preview text) " names no field; write it as json:client=ip,url=req.path")
                         {:format text})))
      (check-no-server! text)
      (check-name! text)
      ;; A server's own variables may be empty; the fields of the known formats are a minus sign then.
      (assoc (layout/parse text) :name text, :sparse? true)))

(defn fields
  "Returns the set of names that a format's lines have a value for."
  [{:keys [fields]}]
  (into #{}
        (mapcat (fn names [{:keys [field kind]}]
                  (case kind
                    :request ["request" "method" "url" "protocol"]
                    :absolute-request ["request" "method" "url" "protocol" "host"]
                    :absolute-url ["url" "host"]
                    [field])))
        fields))

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

(defn own-texts
  "Returns the names of the texts in a format of literals for which a batch has no column, unless it gets one."
  [{:keys [literals fields]}]
  (if literals
    (into [] (comp (filter #(contains? #{nil :text :list} (:kind %))) (map :field) (remove columns) (distinct)) fields)
    []))

(def not-texts
  "The fields that have no text in a line, each with the fields to use instead."
  {"time" "--by hour, day, month, weekday, minute, or --every; --from, --to"
   "request" "method, url or protocol"
   "bytes" "--larger, --sum bytes, --percentiles bytes, --rank p95-bytes"
   "duration" "--slower, --percentiles time, --rank mean, slowest or p95-time"})

(defn text-column
  "Like `column`, for a field that is text. Throws :skein/bad-argument."
  [field extra]
  (when-let [instead (not-texts field)]
    (error/fail! [:skein/bad-argument :usage]
                 (str field " is not a text, so lines can't be counted or matched by it; use " instead)
                 {:field field}))
  (column field extra))

(def ^:private kinds
  {:text TextFormat$Kind/TEXT, :list TextFormat$Kind/LIST, :request TextFormat$Kind/REQUEST, :time TextFormat$Kind/TIME, :day TextFormat$Kind/DAY, :clock TextFormat$Kind/CLOCK
   :status TextFormat$Kind/STATUS, :number TextFormat$Kind/NUMBER, :size TextFormat$Kind/SIZE, :duration TextFormat$Kind/DURATION
   :address TextFormat$Kind/ADDRESS, :address-port TextFormat$Kind/ADDRESS_PORT
   :absolute-request TextFormat$Kind/ABSOLUTE_REQUEST, :absolute-url TextFormat$Kind/ABSOLUTE_URL})

(defn- ->field [extra {:keys [field kind pattern nanos path padded?] :or {kind :text, pattern "", nanos 0}}]
  (TextFormat$Field. (or path field) (kinds kind) (int (column field extra)) pattern (long nanos) (boolean padded?)))

(defn- named-fields
  "Returns the fields of a format whose values have names, without those that nobody asks for."
  [fields extra]
  (into []
        (comp (map #(->field extra %))
              (remove #(and (= TextFormat$Kind/TEXT (.kind ^TextFormat$Field %)) (neg? (.column ^TextFormat$Field %)))))
        fields))

(defn same-path
  "Returns `path` as it is compared: in the names of headers, as in cs(User-Agent), case does not matter."
  [path]
  (cond-> path (str/starts-with? path "cs(") str/lower-case))

(defn own-name
  "Returns what a value is called that lines name `path`: a header of a W3C log by its name alone, in small letters."
  [layout path]
  (or (when (= layout :w3c) (second (re-matches #"cs\((.+)\)" (same-path path)))) path))

(defn- and-own-names
  "Returns the fields of a format with those of `extra` that it does not know. Lines name their values, so any line may have such a value."
  [{:keys [layout fields]} extra]
  (let [known (into #{} (map (comp same-path :path)) fields)]
    (into fields (for [name (remove (into #{} (map :field) fields) extra)
                       path (cond-> [name] (= layout :w3c) (conj (str "cs(" name ")")))
                       :when (not (known path))]
                   {:field name, :kind :text, :path path}))))

(defn compiled
  "Returns a format as the engine's, with columns for the fields in `extra`, a vector of names."
  ^LogFormat [{:keys [layout literals fields header open? sparse? bare? wrapper] :as format} extra]
  (if wrapper
    (WrappedFormat. wrapper (compiled (dissoc format :wrapper) extra))
    (case layout
      :json (JsonFormat. (named-fields (and-own-names format extra) extra) (count (named-fields (filter :own? fields) extra)))
      :ltsv (LtsvFormat. (named-fields (and-own-names format extra) extra) (count (named-fields (filter :own? fields) extra)))
      :w3c (W3cFormat. (named-fields (and-own-names format extra) extra) (vec header))
      (TextFormat. literals (mapv #(->field extra %) fields) (boolean open?) (boolean sparse?) (boolean bare?)))))
