;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.plain-analysis
  "Queries in plain Clojure, on strings and collections: the model for tests of the fast one.

  - `analyse`          contents of files, a parser of lines, a query -> what an analysis says about them, all rows
  - `common`, `combined`   parsers: line -> record, or the kind of malformed line that it is
  - `comparable`       an analysis, without what the model doesn't know"
  (:require
   [clojure.string :as str])
  (:import
   (java.time LocalDateTime OffsetDateTime)
   (java.time.format DateTimeFormatter DateTimeFormatterBuilder)
   (java.util Locale)))

(set! *warn-on-reflection* true)

;;;; Lines

(defn lines
  "Returns the lines of a file's bytes, as strings of ISO-8859-1, without zeros and a byte order mark before them."
  [^bytes file]
  (let [parts (str/split (String. file "ISO-8859-1") #"\n" -1)]
    (mapv #(str/replace % #"\r\z|\A\x00*(?:\u00ef\u00bb\u00bf)?" "") (if (= "" (peek parts)) (pop parts) parts))))

(def ^:private ^DateTimeFormatter clock
  (-> (DateTimeFormatterBuilder.) .parseCaseInsensitive (.appendPattern "dd/MMM/uuuu:HH:mm:ss Z") (.toFormatter Locale/US)
      (.withResolverStyle java.time.format.ResolverStyle/STRICT)))

(defn- offset-time
  "Reads a time as Java's clock does, but accepts leap seconds, which that lacks, and rejects signs of years, which that accepts."
  [text]
  (try (cond
         (re-find #"/[+-]" text) nil
         (re-find #":60 " text) (.plusSeconds (OffsetDateTime/parse (str/replace text ":60 " ":59 ") clock) 1)
         :else (OffsetDateTime/parse text clock))
       (catch Exception _ nil)))

(defn- split-at-literal
  "Returns [before after] of the first `literal` in `text` that ends a field, or nil."
  [^String text ^String literal {:keys [quoted? number-next? last? proxied?]}]
  (loop [from 0]
    (let [at (.indexOf text literal from)]
      (cond
        (neg? at) nil
        (and (or (not quoted?) (even? (count (re-find #"\\*$" (subs text 0 at)))))
             (or (not number-next?) (re-find #"^[0-9+-]" (subs text (+ at (count literal)))))
             (or (not proxied?) (not (str/ends-with? (subs text 0 at) ",")) (str/starts-with? (subs text (inc at)) "-"))
             (or (not last?) (= (count text) (+ at (count literal)))))
        [(subs text 0 at) (subs text (+ at (count literal)))]
        :else (recur (inc at))))))

(defn- torn?
  "Returns whether a request has a quotation mark without a backslash, and spaces in its URL or no protocol."
  [text]
  (and (re-find #"(?<!\\)(?:\\\\)*\"" text) (not (re-matches #"(?s)[^ ]* [^ ]* HTTP/[^ ]{0,5}" text))))

(defn- request [text]
  (let [[_ method rest] (re-matches #"(?s)([A-Za-z][A-Za-z_-]*) (.*)" text)
        [_ url protocol] (when rest (re-matches #"(?s)(.*) (HTTP/[^ ]{0,5})" rest))]
    (cond
      (nil? method) {:url text}
      url {:method method, :url url, :protocol protocol}
      :else {:method method, :url rest})))

(defn- client
  "Returns the address in the place of the client: the first of a list, without brackets and port."
  [text]
  (let [address (re-find #"(?s)^[^,]+" (str/replace text #"^[, ]+" ""))
        [_ in-brackets] (when address (re-matches #"(?s)\[([^\]]+)\].*" address))
        [_ before-port] (when address (re-matches #"(?s)([^:\[][^:]*):[0-9]+" address))]
    (or (when (re-find #":" (str address)) in-brackets) before-port address text)))

(defn- field-value
  "Returns what a field adds to a record, or nil when its text can't be one."
  [field text]
  (case field
    "client" (when (seq text) {:client (client text)})
    ("user" "ident") (when (seq text) {(keyword field) text})
    "time" (when-let [^OffsetDateTime t (offset-time text)] {:time (.toLocalDateTime t), :epoch (.toEpochSecond t)})
    "request" (when-not (torn? text) (request text))
    "status" (when (re-matches #"[1-9]\d\d|-|-1|0|000" text) {:status text})
    "bytes" (when (re-matches #"\+?\d{1,15}|-" text) {:bytes (if (= text "-") 0 (parse-long text))})
    {(keyword field) text}))

(defn- parse [fields line]
  (if (= "" line)
    "empty"
    (loop [[[field literal options] & more] fields, text line, record {}]
      (if (nil? field)
        record
        (let [[before after] (if literal (split-at-literal text literal options) [text ""])
              value (when before (field-value field before))]
          (if value
            (recur more after (merge record value))
            field))))))

(def ^:private common-fields
  [["client" " " {:proxied? true}] ["ident" " " nil] ["user" " [" nil] ["time" "] \"" nil]
   ["request" "\" " {:quoted? true, :number-next? true}] ["status" " " nil]])

(defn common
  "Parses a line of the common format."
  [line]
  (parse (conj common-fields ["bytes" nil nil]) line))

(defn combined
  "Parses a line of the combined format."
  [line]
  (parse (conj common-fields ["bytes" " \"" nil] ["referrer" "\" \"" {:quoted? true}] ["agent" "\"" {:quoted? true, :last? true}]) line))

;;;; Queries

(defn- key-of [by {:keys [^LocalDateTime time status ^String url] :as record}]
  (case by
    "site" (some-> (re-find #"(?s)://(?:[^/?#]*@)?(\[[^\]/?#]*\]?|[^/:?#]*)" (str (:referrer record))) second str/lower-case)
    "path" (some-> url (str/replace #"(?s)\?.*" ""))
    "class" (when (re-matches #"\d.." (str status)) (str (first status) "xx"))
    "hour" (format "%02d" (.getHour time))
    "weekday" (str (.getValue (.getDayOfWeek time)) " " (subs (str/capitalize (str (.getDayOfWeek time))) 0 3))
    "day" (str (.toLocalDate time))
    "month" (subs (str time) 0 7)
    "minute" (str/replace (subs (str time) 0 16) "T" " ")
    (get record (keyword by))))

(defn- number [text]
  (reduce (fn add [n part] (+ (* 256 n) (parse-long part))) 0 (str/split text #"\.")))

(defn- in-network? [client network]
  (let [[address bits] (str/split network #"/")
        divisor (bit-shift-left 1 (- 32 (parse-long (or bits "32"))))]
    (and (re-matches #"(?:(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}" (str client))
         (= (quot (number client) divisor) (quot (number address) divisor)))))

(defn- status-fits? [status text]
  (let [[_ from to] (re-matches #"(\d{3})-(\d{3})" text)]
    (cond
      (= "-" (str status)) false
      from (<= (parse-long from) (parse-long status) (parse-long to))
      (str/ends-with? text "xx") (= (first text) (first status))
      :else (= text status))))

(defn- passes? [{:keys [status method client epoch ^LocalDateTime time] :as record} [kind value pattern]]
  (case kind
    :status (some #(status-fits? status %) (str/split value #","))
    :method (contains? (set (str/split value #",")) method)
    :client (some #(in-network? client %) (str/split value #","))
    :not-client (not (passes? record [:client value]))
    :no-bots (not (re-find #"bot|crawl" (str/lower-case (str (:agent record)))))
    :from (if (str/ends-with? value "Z")
            (>= epoch (.getEpochSecond (java.time.Instant/parse value)))
            (not (.isBefore time (LocalDateTime/parse value))))
    :match (some->> (get record (keyword value)) (re-find (re-pattern pattern)))
    :given (not (contains? #{"" "-"} (get record (keyword value) "")))
    :no-match (not (passes? record [:match value pattern]))))

(defn- tally [records {:keys [name by where distinct]}]
  (let [groups (dissoc (group-by (fn key [record] (let [parts (mapv #(key-of % record) by)] (when (every? some? parts) parts)))
                                 (filter (fn pass [record] (every? #(passes? record %) where)) records))
                       nil)]
    [name (into {}
                (for [[k its] groups]
                  [k (cond-> [(count its) (reduce + (map #(:bytes % 0) its))]
                       distinct (conj (count (set (keep (keyword distinct) its)))))]))]))

(defn analyse
  "Returns {:lines :counted :filtered :malformed-kinds :bytes :tallies {name {key numbers}}} for the query over `files`, byte
  arrays whose lines `parser` parses."
  [files parser {:keys [tallies where]}]
  (let [outcomes (map parser (mapcat lines files))
        {faults true, records false} (group-by string? outcomes)
        counted (filter (fn pass [record] (every? #(passes? record %) where)) records)]
    {:lines (count outcomes)
     :counted (count counted)
     :filtered (- (count records) (count counted))
     :malformed-kinds (frequencies faults)
     :bytes (reduce + (map #(:bytes % 0) counted))
     :tallies (into {} (map #(tally counted %)) tallies)}))

(defn comparable
  "Returns what `analyse` would return for the query of `result`, an analysis with all rows. Leaves out rows without hits, as of times at
  which nothing happened."
  [{:keys [tallies] :as result}]
  (assoc (select-keys result [:lines :counted :filtered :malformed-kinds :bytes])
         :tallies (into {} (map (fn tally [{:keys [name rows]}] [name (into {} (comp (map (juxt :key :numbers)) (remove (comp zero? first second))) rows)])) tallies)))
