;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.format.detection
  "Detects the format of a log from its first lines.

  - `detect`      bytes -> format, with how many of the first lines it fits
  - `own-names`   the names in the lines that their format does not know"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.format :as format]
   [skein.wf.format.catalogue :as catalogue]
   [skein.wf.format.keys :as keys]
   [skein.wf.spelling :as spelling]
   [skein.wf.units :as units])
  (:import
   (skein.wf Trial Trial$Outcome)))

(set! *warn-on-reflection* true)

(def sample-lines
  "How many lines are examined at the beginning, in the middle and at the end."
  [200 50 50])

(def ^:private least-part
  "The share of the sampled lines that a format must fit."
  0.2)

(def ^:private near-best
  "An earlier format is chosen if it fits this share of the lines that the best format fits: a log in a strict format may have lines
  that only a looser one fits."
  0.9)

(defn- whole-lines
  "Returns `head` without the line at its end that may be cut off, unless there is no other."
  ^bytes [^bytes head]
  (let [end (loop [at (alength head)]
              (cond (zero? at) (alength head)
                    (= 10 (aget head (dec at))) at
                    :else (recur (dec at))))]
    (java.util.Arrays/copyOf head (int end))))

(defn- lines-of
  "Returns the lines as text, without the byte order mark and the zeros that a scanner leaves out."
  [^bytes head]
  (remove empty? (map #(str/replace % #"^\x00*(?:\u00ef\u00bb\u00bf)?" "") (.split (String. head "ISO-8859-1") "\r?\n"))))

(def ^:private ^:const pattern-chars
  "The number of characters of a line that patterns see. Some patterns take a time that grows with the square of a line's length."
  4096)

(defn- beginning [^String line]
  (subs line 0 (min (count line) pattern-chars)))

(defn- most?
  "Returns whether `pattern` is found in more than half of `lines`."
  [pattern lines]
  (< (count lines) (* 2 (count (filter #(re-find pattern %) lines)))))

(defn- wrapper-of
  "Returns the key of `format/wrappers` whose lines most of `lines` are, or nil."
  [lines]
  (some (fn wraps? [[wrapper {:keys [line]}]] (when (most? line lines) wrapper)) format/wrappers))

(defn- wrappers-in
  "Returns the keys of `format/wrappers` that have a line among `lines`."
  [lines]
  (for [[wrapper {:keys [line]}] format/wrappers :when (some #(re-find line %) lines)] wrapper))

;;;; Names that a log itself gives

(defn- directives
  "Returns the directives at the beginning of a W3C log that say what its other lines contain, or nil."
  [lines]
  (let [directives (take-while #(str/starts-with? % "#") lines)
        fields (last (filter #(str/starts-with? % "#Fields:") directives))]
    (when fields
      (cond-> [fields]
        (not (re-find #"\sdate(?:\s|$)" fields)) (into (filter #(str/starts-with? % "#Date:")) directives)))))

(defn- with-header
  "Returns a format with the header of a W3C log."
  [{:keys [layout] :as format} lines]
  (cond-> format (= layout :w3c) (assoc :header (directives lines))))

(defn- w3c-names [line]
  (when (str/starts-with? line "#Fields:") (re-seq #"\S+" (subs line 8))))

(defn- labels [line]
  (when (re-find #"\t|\\t" line)
    (map second (re-seq #"(?:^|\t|\\t)([\w.@-]+):" line))))

(defn- json-paths
  "Returns the paths of the values in a line of JSON, which syslog or Docker may have wrapped. Values within arrays have none."
  [line]
  (let [line (if-let [[_ inner] (re-find #"^\{\"log\":\"(\{\\\".*)" line)] (str/replace inner #"\\(.)" "$1") line)
        tokens (re-seq #"\"((?:[^\"\\]|\\.)*+)\"(\s*+:)?|[\[\]{}]" line)]
    (loop [[[token text colon] & more] (rest (drop-while #(not= "{" (first %)) tokens)), within [], key nil, paths []]
      (let [path (conj within key)
            before (cond-> paths (= path (peek paths)) pop)] ; an object is not a value
        (case token
          nil (mapv #(str/join "." %) paths)
          "{" (recur more path nil before)
          "[" (recur more (conj within nil) nil paths)
          ("}" "]") (recur more (vec (butlast within)) nil paths)
          (cond
            (nil? colon) (recur more within nil paths)
            (some nil? within) (recur more within text paths)
            :else (recur more within text (conj paths (conj within text)))))))))

(defn own-names
  "Returns the set of the names in the samples of a log whose lines name their values, without those that its format knows."
  [{:keys [layout fields]} samples]
  (when-let [names ({:json json-paths, :ltsv labels, :w3c w3c-names} layout)]
    (into #{}
          (comp (mapcat names)
                (remove (comp (into #{} (map (comp format/same-path :path)) fields) format/same-path))
                (map #(format/own-name layout %)))
          (mapcat (fn lines [sample most] (take most (lines-of sample))) samples sample-lines))))

;;;; Trials

(def ^:private seconds-at-end
  "A duration is taken for seconds only if it has a point: a whole number may as well be microseconds, and must be named. Docker writes
  a line's end as a backslash and a letter."
  #" \d+\.\d+(?:$|\\[nr])")

(defn- possible?
  "Returns whether a log may be in the format of a row, judging by the directives in its first `lines`."
  [{:keys [head layout]} lines]
  (and (or (nil? head) (boolean (some #(re-find head %) (take-while #(str/starts-with? % "#") lines))))
       (or (not= layout :w3c) (some? (directives lines)))))

(defn- trial
  "Returns {:format format, :lines n, :fitting lines, :matches n}: how many lines of the samples were tried, and which are in the format."
  [samples format]
  (let [compiled (format/compiled format (format/own-texts format))
        outcomes (mapv (fn run [sample lines] (Trial/run compiled sample lines)) samples sample-lines)
        fitting (into [] (mapcat #(.matches ^Trial$Outcome %)) outcomes)]
    {:format format
     :lines (reduce + (map #(.lines ^Trial$Outcome %) outcomes))
     :fitting fitting
     :matches (count fitting)}))

(defn- recognised?
  "Returns whether the lines that fit a row's format within `wrapper` look as the row says. Lines of other programs do not matter."
  [{:keys [line name]} wrapper {:keys [fitting]}]
  (and (= wrapper (wrapper-of fitting))
       (or (nil? line) (most? line (mapv beginning fitting)))
       (or (not (str/ends-with? name "seconds")) (boolean (some #(re-find seconds-at-end %) fitting)))))

(defn- weight
  "Returns how good the outcome of a trial is: its matches, weighted, because those of some formats count less."
  [{:keys [format matches]}]
  (* (double matches) (double (:weight format 1.0))))

(defn- enough? [{:keys [lines matches]}]
  (and (pos? (long matches)) (>= (double matches) (* (double least-part) (double lines)))))

(defn- trials
  "Returns the outcomes of the trials of those of `rows` that are possible, whose lines are recognised. Stops at a format that all lines
  fit: none can be better."
  [rows samples]
  (let [lines (mapcat (fn lines [sample most] (take most (lines-of sample))) samples sample-lines)
        wrappers (cons nil (wrappers-in lines))]
    (reduce (fn try-next [outcomes [row wrapper]]
              (let [format (with-header (format/row->format row) lines)
                    {:keys [lines matches] :as outcome} (trial samples (if wrapper (format/wrapped wrapper format) format))]
                (cond
                  (not (recognised? row wrapper outcome)) outcomes
                  (= lines matches) (reduced (conj outcomes (dissoc outcome :fitting)))
                  :else (conj outcomes (dissoc outcome :fitting)))))
            []
            (for [row rows :when (possible? row lines), wrapper wrappers] [row wrapper]))))

;;;; Words

(defn- utf-16
  "Returns iconv's name for the encoding of a file that begins with the byte order mark of UTF-16, or with ASCII text in UTF-16; or nil."
  [^bytes head]
  (condp re-find (String. head "ISO-8859-1")
    #"^(?:\u00ff\u00fe|\u00fe\u00ff)" "UTF-16"
    #"^(?:[ -~]\u0000){8}" "UTF-16LE"
    #"^(?:\u0000[ -~]){8}" "UTF-16BE"
    nil))

(defn- first-misfit
  "Returns the first line of a log's beginning that is not in `format`."
  [^bytes head format]
  (first (filter #(zero? (long (:matches (trial [(.getBytes ^String % "ISO-8859-1")] format)))) (lines-of head))))

(defn- shown
  "Returns a line of a log for a message."
  [line]
  (units/printable (str/replace (error/preview line) "…" "...")))

(defn- few-fit!
  "Throws the error for a log that has too few lines in the format that fits best."
  [name head {:keys [format lines matches]}]
  (let [line (first-misfit head format)]
    (error/fail! :skein/bad-log-format
                 (str name ": only " matches " of the " lines " lines that were tried are in the format that fits best, " (:name format)
                      ". If that is the log's format, give --log-format " (:name format) "; the other lines are then malformed, and --malformed FILE writes them."
                      " Otherwise give the server's own format with --log-format. The first line that does not fit: " (shown line))
                 {:input name, :format (:name format), :lines lines, :matches matches, :line (error/preview line)})))

(def ^:private requests
  "The paths in JSON that are known to be a URL or a status."
  (into #{} (comp (filter (comp #{"request" "url" "status"} :field)) (map :path)) keys/json))

(defn- unknown-format! [name ^bytes head rows]
  (when-let [encoding (utf-16 head)]
    (error/fail! :skein/bad-log-format
                 (str name " is a text in UTF-16. Convert it first, as in iconv -f " encoding " -t UTF-8 " name " | skein wf -")
                 {:input name}))
  (let [^String line (first (lines-of head))
        keys (when (re-find #"^\s*\{" line) (vec (take 30 (distinct (json-paths line)))))]
    (error/fail! :skein/bad-log-format
                 (cond
                   (some requests keys)
                   (str name ": its lines are JSON, but have a value that can't be read, such as a time, a status or a client. Say with --log-format"
                        " which keys have these, as in --log-format json:client=ip,time=at. The first line: " (shown line))
                   keys
                   (str name ": its lines are JSON without a key that is known to be a URL or a status. Say which is which with --log-format,"
                        " as in --log-format json:client=ip,url=req.path,status=code. The keys of the first line: "
                        (units/printable (str/join ", " keys)))
                   :else
                   (str name ": its first lines are in none of the formats " (if (identical? rows catalogue/rows) "that are known by name" "of that server")
                        "; give the server's own with --log-format, as in --log-format '%h %l %u %t \"%r\" %>s %b'. The first line: "
                        (shown line)))
                 (cond-> {:input name, :line (error/preview line)} keys (assoc :keys keys)))))

(defn rows-of
  "Returns the rows of the catalogue for the server or the format called `name`. Throws :skein/bad-log-format."
  [name]
  (or (seq (catalogue/of name))
      (error/fail! :skein/bad-log-format
                   (str "--format-of does not know " (error/preview name)
                        (if-let [near (spelling/nearest catalogue/servers name)] (str "; did you mean " near "? There are ") "; there are ")
                        (str/join ", " catalogue/servers))
                   {:format name})))

(defn detect
  "Returns `{:format format, :lines n, :matches n}`: the first format of the catalogue that fits about as
  many of the sampled lines as the best one. For an input without a line this is combined. `rows` are the formats to choose from.

  samples  bytes of an input: its beginning and, of a large one, whole lines from its middle and its end

  Throws :skein/bad-log-format when none fits a fifth of them."
  ([name samples] (detect name samples catalogue/rows))
  ([name samples rows]
   (let [head (whole-lines (first samples))
         samples (cons head (rest samples))
         outcomes (trials rows samples)
         best (double (reduce max 0 (map weight outcomes)))
         lines (long (:lines (trial samples (format/parse "common"))))]
     (cond
       (zero? lines) {:format (format/parse "combined"), :lines 0, :matches 0}
       (= 0 (:lines (peek outcomes))) (peek outcomes)  ; only the header of a W3C log
       (every? (comp zero? :matches) outcomes) (unknown-format! name head rows)
       (not-any? enough? outcomes) (few-fit! name head (apply max-key :matches (rseq outcomes)))
       :else (some (fn near [outcome] (when (>= (double (weight outcome)) (* (double near-best) best)) outcome)) outcomes)))))
