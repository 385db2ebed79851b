;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.data
  "A result of `skein.wf.analysis` for programs.

  - `json`, `edn`, `csv`     result -> string
  - `json-text`, `edn-text`  any data -> string

  JSON and EDN are ASCII. A key's bytes are the characters U+0000 to U+00FF, escaped where needed; CSV has them as they are, so
  it must be written in ISO-8859-1."
  (:require
   [clojure.string :as str]
   [skein.wf.units :as units]))

(set! *warn-on-reflection* true)

(defn- for-programs
  "Returns the part of a result that depends only on the log and the query."
  [{:keys [seconds tallies] :as result}]
  (-> (select-keys result [:preset :lines :counted :filtered :malformed :malformed-kinds :bytes :bytes-read :formats :tallies])
      (assoc :from (some-> (first seconds) units/clock), :to (some-> (second seconds) units/clock))
      (update :formats (fn names [formats] (mapv #(select-keys % [:name :inputs]) formats)))
      (assoc :tallies (mapv (fn tally [t]
                              (-> (dissoc t :columns :title :gaps? :order)
                                  (update :rows (fn rows [rows]
                                                  (mapv (fn row [{:keys [key numbers error]}]
                                                          (cond-> (into {:key key} (map vector (map keyword (:columns t)) numbers))
                                                            error (assoc :error error)))
                                                        rows)))))
                            tallies))))

;;;; JSON

(defn- append-char [^StringBuilder to c]
  (let [code (long (int c))]
    (cond
      (= code 34) (.append to "\\\"")
      (= code 92) (.append to "\\\\")
      (<= 32 code 126) (.append to (char code))
      :else (let [hex (Long/toHexString code)]
              (.append to "\\u")
              (.append to (.repeat "0" (- 4 (.length hex))))
              (.append to hex)))))

(defn quoted
  "Returns a string as JSON and EDN both write it."
  [text]
  (let [to (StringBuilder. "\"")]
    (doseq [c text] (append-char to c))
    (str (.append to "\""))))

(defn- json-name [k]
  (quoted (str/replace (if (keyword? k) (name k) (str k)) "-" "_")))

(defn- json-number
  "Returns a number as JSON. The sums of a user's own tally may be fractions; a sum that JSON can't express, such as infinity, becomes null."
  [n]
  (cond
    (integer? n) (str n)
    (Double/isFinite (double n)) (str (double n))
    :else "null"))

(defn- write-json [value indent]
  (let [inner (str indent " ")
        block (fn block [open texts close]
                (str open (str/join (str ",\n" inner) texts) close))]
    (cond
      (and (map? value) (not-any? (some-fn map? (every-pred coll? #(some map? %))) (vals value)))
      (str "{" (str/join ", " (for [[k v] (sort-by (comp str key) value)] (str (json-name k) ": " (write-json v inner)))) "}")
      (map? value) (block "{" (for [[k v] (sort-by (comp str key) value)] (str (json-name k) ": " (write-json v inner))) "}")
      (and (sequential? value) (some map? value)) (block "[" (map #(write-json % inner) value) "]")
      (coll? value) (str "[" (str/join ", " (map #(write-json % inner) value)) "]")
      (nil? value) "null"
      (number? value) (json-number value)
      :else (quoted (if (keyword? value) (name value) value)))))

(defn json-text
  "Returns maps, sequences, strings and numbers as JSON, keys in the order of the alphabet."
  [value]
  (str (write-json value "") "\n"))

(defn json
  "Returns a result as JSON, keys in the order of the alphabet."
  [result]
  (json-text (for-programs result)))

;;;; EDN

(defn- write-edn [value]
  (cond
    (map? value) (str "{" (str/join ", " (for [[k v] (sort-by (comp str key) value)] (str (write-edn k) " " (write-edn v)))) "}")
    (coll? value) (str "[" (str/join " " (map write-edn value)) "]")
    (nil? value) "nil"
    (string? value) (quoted value)
    :else (str value)))

(defn edn-text
  "Returns maps, sequences, strings and numbers as EDN in ASCII, keys in the order of the alphabet."
  [value]
  (str (write-edn value) "\n"))

(defn edn
  "Returns a result as EDN."
  [result]
  (edn-text (for-programs result)))

;;;; CSV

(defn- harmless
  "Returns a key without control characters, and with an apostrophe in front if a spreadsheet would take it for a formula."
  [^String text]
  (let [shown (str/replace text #"[\u0000-\u001f\u007f]" #(format "\\x%02x" (int (first %))))]
    (if (re-find #"^[=+@\t\r]|^-." shown) (str "'" shown) shown)))

(defn- cell [value]
  (let [text (if (string? value) (harmless value) (str value))]
    (if (re-find #"[\",\r\n]" text)
      (str "\"" (str/replace text "\"" "\"\"") "\"")
      text)))

(defn- csv-line [cells]
  (str (str/join "," (map cell cells)) "\r\n"))

(defn- csv-columns
  "Returns the names of a tally's columns. Each part of a key of several parts has a column of its own."
  [{:keys [by columns]}]
  (concat ["tally"] (if (next by) by ["key"]) columns))

(defn csv
  "Returns the tallies of a result as one table of comma-separated values (RFC 4180): the tally's name, its key, then its numbers.
  Tallies with other columns than the one before have a heading of their own."
  [{:keys [tallies]}]
  (apply str
         (mapcat (fn lines [[before {:keys [name by rows] :as tally}]]
                   (let [heading (csv-columns tally)]
                     (concat (when-not (and before (= heading (csv-columns before))) [(csv-line heading)])
                             (for [{:keys [key numbers]} rows] (csv-line (concat [name] (if (seq by) key [""]) numbers))))))
                 (map vector (cons nil tallies) tallies))))
