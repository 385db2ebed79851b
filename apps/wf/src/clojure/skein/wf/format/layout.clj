;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.layout
  "The languages in which servers are told how to log: Apache's LogFormat and nginx's log_format.

  - `parse`   text -> literals and fields

  Beyond what the servers know, `\\t` is a tab in both; `%6D` and `%-10h` are padded with spaces to so many characters, before or
  behind the value; `${took:ms}` is a duration in s, ms, us or ns; `$remote_addr:$remote_port` is an address and its port."
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format.keys :as keys])
  (:import
   (skein.wf TextFormat)))

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
    "x-forwarded-for" {:field "x-forwarded-for", :kind :list}
    {:field (str/lower-case header)}))

(defn- duration
  "Returns a duration in `unit`, which `text`, the whole format, names."
  [text unit]
  {:field "duration", :kind :duration, :nanos (or (keys/unit->nanos unit) (bad-format! text (keys/unknown-unit unit)))})

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
  "Returns what the % directive with this letter and argument logs. `text` is the whole format."
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
    "D" (duration text "us")
    "T" (duration text (or argument "s"))
    ("v" "V") {:field "host"}
    "p" {:field "port", :kind :number}
    "i" (header (or argument ""))
    ("C" "c" "e" "n" "o" "x") {:field (str/lower-case (str argument))}
    (if-let [field (rare letter)]
      {:field field}
      (bad-format! text (str "has a directive that Apache does not know: %" letter)))))

(def ^:private apache-pattern
  #"%(?:!?\d{3}(?:,\d{3})*|(-?\d{1,2}))?[<>]?(?:\{([^}]*)\})?(\^?[A-Za-z]{1,2}|%)|\\(.)")

(defn- first-status?
  "Returns whether `directive` is the status before internal redirections, in a format that has the last one, too."
  [text directive]
  (and (re-find #"^%[^>{A-Za-z]*s" directive) (re-find #"%(?:!?[\d,]+)?>s" text)))

(defn- apache-token [text [directive width argument letter escape]]
  (cond
    (= letter "%") "%"
    (first-status? text directive) {:field "other-status"}
    letter (cond-> (apache-directive text (if (str/starts-with? letter "^") letter (subs letter 0 1)) argument)
             width (assoc :pad (if (str/starts-with? width "-") :behind :before)))
    :else (case escape "n" "\n" escape)))

;;;; nginx

(defn- nginx-variable [variable]
  (case variable
    ("remote_addr" "realip_remote_addr") {:field "client"}
    "forwarded_addr" {:field "client", :kind :address}  ; the first address of a list
    "remote_user" {:field "user"}
    "time_local" {:field "time", :kind :time, :pattern common-log-time}
    ("time_iso8601" "msec" "time") {:field "time", :kind :time, :pattern ""}
    "request" {:field "request", :kind :request}
    "request_method" {:field "method"}
    ("request_uri" "uri") {:field "url"}
    "server_protocol" {:field "protocol"}
    "status" {:field "status", :kind :status}
    ("body_bytes_sent" "bytes_sent") {:field "bytes", :kind :size}
    "request_time" {:field "duration", :kind :duration, :nanos (keys/unit->nanos "s")}
    ("host" "server_name" "http_host") {:field "host"}
    "http_referer" {:field "referrer"}
    "http_user_agent" {:field "agent"}
    (cond
      (str/starts-with? variable "http_") (header (str/replace (subs variable 5) "_" "-"))
      (str/starts-with? variable "upstream_") {:field variable, :kind :list}
      :else {:field variable})))

(def ^:private nginx-pattern #"\$(?:([a-z0-9_]+)|\{([a-z0-9_]+)(?::(\w+))?\})")

(defn- nginx-token [text [_ bare braced unit]]
  (if unit (duration text unit) (nginx-variable (or bare braced))))

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
  "Returns the second letter that the pattern has taken into a directive, or the empty text. Apache's directives have one letter, so a
  second one belongs to the text after the directive."
  [[_ _ _ ^String letter]]
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
  "Removes the name of a field that was logged before, so that the first one counts."
  [fields]
  (let [request? (some #(= "request" (:field %)) fields)]
    (first (reduce (fn keep-first [[kept seen] {:keys [field kind] :as f}]
                     (if (or (seen field) (and request? (given-by-request field)))
                       [(conj kept (cond-> {:field (str "other-" field)} (= kind :size) (assoc :kind :number))) seen]
                       [(conj kept f) (conj seen field)]))
                   [[] #{}]
                   fields))))

(defn- drop-query
  "Returns the tokens without a query that directly follows its URL, as in %U%q. The query is a part of the URL then."
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
  "Returns whether two fields are times that say different things, as a date and a zone do."
  [{a :pattern} {b :pattern}]
  (boolean (and (seq a) (seq b) (not-any? (directives a) (directives b)))))

(defn- joined-time
  "Returns one time made of `time`, the text `between` and `token`, or nil if they are not parts of one time."
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

(defn- join-ports
  "Makes one field of a client's address and the port behind it, since an address may have colons of its own."
  [tokens]
  (reduce (fn step [kept token]
            (let [[before colon] (take-last 2 kept)]
              (if (and (= ":" colon) (= "client" (:field before)) (re-find #"port$" (str (:field token))))
                (conj (pop (pop kept)) (assoc before :kind :address-port))
                (conj kept token))))
          []
          (remove #{""} tokens)))

(defn- padded
  "Marks padded fields. If a field has its padding behind it, marks the field after it too: the spaces are read as padding before
  that field."
  [fields]
  (mapv (fn pad [{before :pad} {:keys [pad] :as field}]
          (cond-> (dissoc field :pad) (or pad (= before :behind)) (assoc :padded? true)))
        (cons nil fields) fields))

(defn- check-times! [text fields]
  (when-let [[time & others] (seq (filter #(= :time (:kind %)) fields))]
    (when (some #(parts-of-one-time? time %) others)
      (bad-format! text "has its time in several places; log it in one, such as %t or %{%d/%b/%Y:%T %z}t"))))

(defn- assemble [text tokens]
  (let [tokens (join-ports (join-times (drop-query tokens)))
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
      (bad-format! text "has two fields with nothing between them, so it is unknown where the first one ends"))
    (check-times! text fields)
    (when (some #(re-find #"[\r\n]" %) literals) (bad-format! text "contains a line end"))
    {:literals literals, :fields (padded (without-doubles fields))}))

(defn- with-tabs
  "Replaces a backslash and a t by a tab, unless another backslash stands before them."
  [text]
  (str/replace text #"(?<!\\)\\t" "\t"))

(defn- bare
  "Returns the format in a whole directive of a configuration file, or the text itself."
  [text]
  (let [[_ apache] (re-matches #"(?s)\s*LogFormat\s+\"((?:[^\"\\]|\\.)*)\".*" text)
        [_ nginx] (re-matches #"(?s)\s*log_format\s+\S+\s+(?:escape=\S+\s+)?(.*?);?\s*" text)]
    (or apache
        (when nginx (str/join (map (fn part [[_ a b]] (or a b)) (re-seq #"'([^']*)'|\"([^\"]*)\"" nginx))))
        text)))

(defn parse
  "Returns {:literals [text ...], :fields [{:field name, :kind keyword} ...]}, as a format has them, of a string of Apache's or
  nginx's, or of the whole directive. Throws :skein/bad-log-format."
  [text]
  (let [text (with-tabs (bare text))]
    (if (and (re-find nginx-pattern text) (not (re-find #"%[>{a-zA-Z]" text)))
      (assemble text (tokens text nginx-pattern (partial nginx-token text)))
      (assemble text (apache-tokens text)))))
