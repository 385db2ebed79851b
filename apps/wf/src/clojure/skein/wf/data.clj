;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.data
  "A result of `skein.wf.analysis` for programs.

  - `json`, `edn`, `csv`     result -> string
  - `json-text`, `edn-text`  any data -> string

  JSON and EDN are ASCII. A key's bytes are the characters U+0000 to U+00FF, escaped where needed; CSV has them as they are, so
  it must be written in ISO-8859-1."
  (:require
   [clojure.data.json :as json]
   [clojure.string :as str]
   [clojure.walk :as walk]
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

(defn- sorted
  "Returns `value` with the keys of its maps in the order of the alphabet."
  [value]
  (walk/postwalk (fn sort-keys [x] (if (map? x) (into (sorted-map) x) x)) value))

(defn- finite
  "Returns the value of a key. The sum of a user's own tally may be infinite, which JSON can't express: it
  becomes nil."
  [_ value]
  (if (and (float? value) (not (Double/isFinite (double value)))) nil value))

(defn- written
  "Returns `value` as JSON in printable ASCII."
  [value & options]
  (str/replace (apply json/write-str value :escape-slash false options) "\u007f" "\\u007f"))

(defn json-text
  "Returns maps, sequences, strings and numbers as JSON, keys in the order of the alphabet."
  [value]
  (str (written (sorted value) :indent true, :key-fn #(str/replace (name %) "-" "_"), :value-fn finite) "\n"))

(defn json
  "Returns a result as JSON, keys in the order of the alphabet."
  [result]
  (json-text (for-programs result)))

;;;; EDN

(defn- write-edn [value]
  (cond
    (map? value) (str "{" (str/join ", " (for [[k v] value] (str (write-edn k) " " (write-edn v)))) "}")
    (coll? value) (str "[" (str/join " " (map write-edn value)) "]")
    (nil? value) "nil"
    (string? value) (written value) ; EDN reads all escapes of JSON
    :else (str value)))

(defn edn-text
  "Returns maps, sequences, strings and numbers as EDN in ASCII, keys in the order of the alphabet."
  [value]
  (str (write-edn (sorted value)) "\n"))

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
