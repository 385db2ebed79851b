;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.filter
  "Conditions on log lines, as data, and as what the engine tests.

      [:status \"4xx,500-503\"]        [:method \"GET,HEAD\"]          [:client \"10.0.0.0/8,2001:db8::/32,10.9.8.7\"]
      [:from \"2025-03-01\"]           [:to \"2025-03-07 12:00\"]      [:slower \"500ms\"]      [:larger \"1.5M\"]
      [:match \"agent\" \"[Bb]ot\"]      [:no-match \"url\" \"^/static\"]   [:not-client \"10.9.8.7\"]       [:no-bots]
      [:given \"referrer\"]            has a text other than the empty one and a minus sign

  - `compiled`   a condition -> the engine's filter
  - `check-period!`   throws if a period ends before it begins
  - `fields`     the names of the fields that a condition looks at
  - `crawler`    the name of the crawler that an agent says it is"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format :as format]
   [skein.wf.key :as key]
   [skein.wf.units :as units])
  (:import
   (java.time Duration Instant LocalDate LocalDateTime OffsetDateTime ZoneOffset)
   (java.time.format DateTimeParseException)
   (java.util BitSet)
   (java.util.regex Pattern PatternSyntaxException)
   (skein.wf Address RowFilter)))

(set! *warn-on-reflection* true)

(defn- bad! [kind text wanted]
  (error/fail! :skein/bad-argument (str "--" (name kind) " " (error/preview text) " is not valid: " wanted)
               {:filter kind, :value text}))

(defn- parts [kind text]
  (or (seq (remove str/blank? (map str/trim (str/split text #","))))
      (bad! kind text "it is empty; write at least one, with commas between several")))

;;;; Statuses, addresses, patterns

(defn- status-range [text]
  (let [[_ class] (re-matches #"([1-5])[xX]{2}" text)
        [_ least _ most] (re-matches #"(\d{3})(-(\d{3}))?" text)]
    (cond
      (and most (neg? (compare most least))) (bad! :status text (str least " is more than " most))
      class [(* 100 (long (parse-long class))) (+ 99 (* 100 (long (parse-long class))))]
      least [(parse-long least) (parse-long (or most least))]
      :else (bad! :status text "write statuses such as 404, 4xx or 500-503, with commas between"))))

(defn- statuses [text]
  (let [set (BitSet.)]
    (doseq [[least most] (map status-range (parts :status text))]
      (.set set (int least) (int (inc (long most)))))
    (RowFilter/statuses set)))

(defn- network [kind text column]
  (let [[address bits] (str/split text #"/" 2)
        ^bytes bytes (Address/of address)
        v6? (str/includes? address ":")
        most (if v6? 128 32)
        least (if (and v6? bytes (Address/isV4 bytes)) Address/V4_BITS 0)
        bits (if bits (parse-long bits) most)]
    (when-not (and bytes bits (<= least (long bits) most))
      (bad! kind text (str "write addresses or networks such as 10.1.2.3, 10.0.0.0/8 or 2001:db8::/32, with commas between; for names of hosts use --where "
                        "client" (when (= kind :not-client) "!") "=REGEX")))
    (RowFilter/network (int column) bytes (int (if v6? bits (+ Address/V4_BITS (long bits)))))))

(defn- pattern
  "Returns the compiled pattern. It sees each byte of a log as one character, so each byte of `text` becomes one character too."
  ^Pattern [^String text]
  (try (Pattern/compile (String. (.getBytes text "UTF-8") "ISO-8859-1"))
       (catch PatternSyntaxException e
         (error/fail! :skein/bad-argument
                      (str (error/preview text) " is not a regular expression: " (.getDescription e))
                      {:filter :match, :value text}))))

(defn- networks [kind text column]
  (RowFilter/any (mapv #(network kind % column) (parts kind text))))

(def ^:private bots
  "The words in the names of agents that say that they are crawlers."
  ["bot" "crawl" "spider" "slurp" "scrap" "archiver" "facebookexternalhit" "feedfetcher" "pingdom" "uptime"])

(defn- first-bot
  "Returns [from to] of the first of `bots` in an agent, or nil. Ten searches for texts are quicker than one for a pattern."
  [^String agent]
  (let [small (.toLowerCase agent java.util.Locale/ROOT)]
    (first (sort (for [^String word bots, :let [from (.indexOf small word)], :when (nat-int? from)]
                   [from (+ from (count word))])))))

(defn- in-word? [^String text ^long i]
  (and (< -1 i (.length text))
       (let [c (int (.charAt text i))]
         (or (<= 97 c 122) (<= 65 c 90) (<= 48 c 57) (= c 95) (= c 45)))))

(defn crawler
  "Returns the word by which an agent says that it is a crawler, such as \"Googlebot\", or nil: the agents that --no-bots leaves out."
  [^String agent]
  ;; One pattern for the whole word would try to begin anywhere in a long one, and take the square of its length.
  (when-let [[from to] (first-bot agent)]
    (loop [from (long from), to (long to)]
      (cond
        (in-word? agent (dec from)) (recur (dec from) to)
        (in-word? agent to) (recur from (inc to))
        :else (subs agent from to)))))

(def ^:private static-endings
  "The extensions of static files, which pages load."
  ["css" "js" "mjs" "map" "png" "jpg" "jpeg" "gif" "svg" "webp" "avif" "ico" "bmp" "woff" "woff2" "ttf" "otf" "eot" "mp3" "mp4" "webm"])

;;;; Times

(def ^:private ago-units {"s" 1, "m" 60, "h" 3600, "d" 86400, "w" 604800})

(defn- ago [text]
  (when-let [[_ n unit] (re-matches #"(\d{1,6})([smhdw])" text)]
    (- (.getEpochSecond (Instant/now)) (* (long (parse-long n)) (long (ago-units unit))))))

(defn- parsed [f text]
  (try (f text) (catch DateTimeParseException _ nil)))

(defn- time-range
  "Returns [first-second end-second utc?] of the day, minute or second that `given` names."
  [kind given]
  (let [text (str/replace given #"^(\d{4}-\d\d-\d\d) " "$1T")
        seconds (if (re-find #"\d\d:\d\d:\d\d" text) 1 60)
        day (parsed #(LocalDate/parse %) text)
        local (parsed #(LocalDateTime/parse %) text)
        offset (parsed #(OffsetDateTime/parse %) text)
        at-utc (fn at-utc [^LocalDateTime t] (.toEpochSecond t ZoneOffset/UTC))
        from (cond day (at-utc (.atStartOfDay ^LocalDate day))
                   local (at-utc local)
                   offset (.toEpochSecond ^OffsetDateTime offset)
                   :else (ago text))]
    (when-not from
      (bad! kind given "write a time such as 2025-03-30, \"2025-03-30 08:00\", 2025-03-30T12:00:00Z, or 2w, 7d, 24h or 90m for so long ago"))
    [from (+ (long from) (long (cond day 86400 (or local offset) seconds :else 0))) (not (or day local))]))

(defn settled
  "Returns a condition with a fixed time: a time such as 7d, which is relative to now, becomes absolute."
  [[kind text :as condition]]
  (if-let [second (when (#{:from :to} kind) (ago text))]
    ;; A time that names a second includes all of that second.
    [kind (str (Instant/ofEpochSecond (cond-> (long second) (= :to kind) dec)))]
    condition))

(defn check-period!
  "Throws :skein/bad-argument when conditions name a period that ends before it begins. Times of different clocks can't be compared."
  [conditions]
  (let [{:keys [from to]} (into {} (map (fn [[kind value]] [kind value])) conditions)
        [first-second _ from-utc?] (when from (time-range :from from))
        [_ end to-utc?] (when to (time-range :to to))]
    (when (and from to (= from-utc? to-utc?) (>= (long first-second) (long end)))
      (bad! :from from (str "it is after --to " (error/preview to) ", so there is nothing between them")))))

(defn- micros [text]
  (let [[_ n unit] (re-matches #"(\d{1,9}(?:\.\d{1,6})?)(us|ms|s|m)" text)]
    (when-not n (bad! :slower text "write a duration such as 1.5s, 500ms or 2m"))
    (.longValue (.multiply (bigdec n) (bigdec (case unit "us" 1 "ms" 1000 "s" 1000000 60000000))))))

;;;; Public

(defn fields
  "Returns the names of the fields that a condition looks at."
  [[kind field]]
  (case kind
    :status ["status"]
    :method ["method"]
    (:client :not-client) ["client"]
    :no-bots ["agent"]
    (:static :no-static) ["url"]
    (:from :to) ["time"]
    :slower ["duration"]
    :larger ["bytes"]
    [(key/field-of field)]))

(defn compiled
  "Returns a condition as the engine's filter; `extra` are the names of the extra columns. Throws :skein/bad-argument."
  ^RowFilter [[kind value argument] extra]
  (let [column #(int (format/text-column % extra))
        matching (fn matching [by text] (RowFilter/matches (key/part by extra) (pattern text)))]
    (case kind
      :status (statuses value)
      :method (RowFilter/oneOf (column "method") (into [] (mapcat (fn cases [m] [m (str/upper-case m)])) (parts :method value)))
      :client (networks kind value (column "client"))
      :not-client (RowFilter/not (networks kind value (column "client")))
      :no-bots (RowFilter/not (matching "agent" (str "(?i)" (str/join "|" bots))))
      :static (RowFilter/endings (column "url") static-endings)
      :no-static (RowFilter/not (RowFilter/endings (column "url") static-endings))
      :from (let [[from _ utc?] (time-range kind value)] (RowFilter/time from Long/MAX_VALUE utc?))
      :to (let [[_ end utc?] (time-range kind value)] (RowFilter/time Long/MIN_VALUE end utc?))
      :slower (RowFilter/slower (micros value))
      :larger (RowFilter/larger (units/parse-size value))
      :given (RowFilter/given (column value))
      :match (matching value argument)
      :no-match (RowFilter/not (matching value argument)))))

(defn seconds
  "Returns the seconds in a duration such as \"90s\", \"10m\", \"1h\" or \"1d\", from 1 s to 366 days.

      (seconds \"10m\")
      ;=> 600

  Throws :skein/bad-argument."
  [text]
  (let [[_ n unit] (re-matches #"(\d{1,6})([smhd])" text)
        seconds (when n (* (long (parse-long n)) (long (ago-units unit))))]
    (if (and seconds (<= 1 (long seconds) (.toSeconds (Duration/ofDays 366))))
      seconds
      (bad! :every text "write a duration such as 10s, 5m, 1h or 1d"))))
