;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.own
  "Tallies that users write themselves, as functions on parsed lines.

  - `tallies`   forms or a file -> what `skein.wf.query/plan` and the result need
  - `sinks`     tallies -> a Supplier of the engine's row sinks

  A tally is {:name text, :key (fn [record] key-or-nil), :value (fn [record] number)}; a function or a keyword alone is its
  :key, and the default :value is 1. A nil key leaves a line out, and a nil value adds nothing. A record is a map with :client :user :method :url :protocol :status
  (a number) :bytes :micros :referrer :agent :host :time (a java.time.LocalDateTime of the log's clock) and :line. A record
  has only those that the line has.

  The functions run on several threads at once. A line costs one of them about 1.2 us, including its strings. The engine's own
  tallies take a quarter of that."
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (clojure.lang Compiler LineNumberingPushbackReader)
   (java.io File StringReader)
   (java.time LocalDateTime ZoneOffset)
   (java.util ArrayList HashMap Map Map$Entry)
   (java.util.function Supplier)
   (skein.wf RowSink Rows)))

(set! *warn-on-reflection* true)

;;;; Records

(def ^:private text-columns
  [[:client Rows/CLIENT] [:user Rows/USER] [:method Rows/METHOD] [:url Rows/URL] [:protocol Rows/PROTOCOL]
   [:referrer Rows/REFERRER] [:agent Rows/AGENT] [:host Rows/HOST]])

(defn- add-number [record k ^long n]
  (if (= n Rows/NONE) record (assoc! record k n)))

(defn record
  "Returns a row of a batch as a map."
  [^Rows batch row]
  (let [row (int row)
        texts (reduce (fn add [record [k column]]
                        (if-let [text (.text batch (int column) row)] (assoc! record k text) record))
                      (transient {:line (.line batch row)})
                      text-columns)
        status (.status batch row)
        second (.second batch row)]
    (-> (cond-> texts
          (pos? status) (assoc! :status status)
          (not= second Rows/NONE) (assoc! :time (LocalDateTime/ofEpochSecond second 0 ZoneOffset/UTC)))
        (add-number :bytes (.size batch row))
        (add-number :micros (.micros batch row))
        persistent!)))

;;;; Counting

(defn- count-record! [{:keys [name key value]} ^Map counted record]
  (try
    (let [k (key record)]
      (when (some? k)
        (.put counted k (+ (or (.get counted k) 0) (or (value record) 0)))))
    (catch Throwable e  ; a user's function may throw anything
      (throw (ex-info (str "the tally " name " threw " e " on the line " (error/preview (:line record)))
                      {:skein/error :skein/bad-argument, :tally name, :line (error/preview (:line record))}
                      e)))))

(defn- merge-counts! [^Map counted ^Map other]
  (doseq [^Map$Entry entry other]
    (let [k (.getKey entry)]
      (.put counted k (+ (or (.get counted k) 0) (.getValue entry))))))

(deftype Counts [tallies ^ArrayList counts]
  RowSink
  (add [_ batch rows n]
    (dotimes [i n]
      (let [record (record batch (aget ^ints rows i))]
        (dotimes [k (count tallies)]
          (count-record! (nth tallies k) (.get counts k) record)))))
  (merge [_ other]
    (dotimes [i (count tallies)]
      (merge-counts! (.get counts i) (.get ^ArrayList (.-counts ^Counts other) i)))))

(alter-meta! #'->Counts assoc :doc "One worker's counts: the tallies, and a map from key to number for each.")

(defn counted
  "Returns what a sink has counted, as data: a map from key to number for each tally."
  [^Counts sink]
  (mapv #(into {} %) (.-counts sink)))

(defn add-counted!
  "Adds what `counted` returned for another sink of the same tallies."
  [^Counts sink counted]
  (dorun (map merge-counts! (.-counts sink) counted)))

(defn sinks
  "Returns a Supplier of row sinks that count `tallies`."
  ^Supplier [tallies]
  (reify Supplier
    (get [_] (Counts. tallies (ArrayList. ^java.util.Collection (mapv (fn new-counts [_] (HashMap.)) tallies))))))

;;;; From forms to tallies

(def ^:private fields
  (into #{:status :bytes :micros :time :line} (map first) text-columns))

(defn- check-field! [tally f]
  (when (and (keyword? f) (not (fields f)))
    (error/fail! :skein/bad-argument (str "a line has no " f "; it has " (str/join " " (sort fields))) {:tally (error/preview tally)})))

(defn- normal [i tally]
  (run! #(check-field! tally %) (if (map? tally) [(:key tally) (:value tally)] [tally]))
  (cond
    (or (fn? tally) (keyword? tally)) {:name (str "own-" (inc (long i))), :key tally, :value (constantly 1)}
    (and (map? tally) (ifn? (:key tally)) (every? #{:name :key :value} (keys tally)))
    (let [{:keys [name key value]} tally]
      {:name (str (or name (str "own-" (inc (long i))))), :key key, :value (or value (constantly 1)), :sum? (some? value)})
    :else
    (error/fail! :skein/bad-argument
                 (str "a tally must be a function of a record, or a map with a function as its :key and perhaps a :name and a :value, not " (error/preview tally))
                 {:tally (error/preview tally)})))

(defn- the-form
  "Returns the one form in `text`."
  [text]
  (let [reader (LineNumberingPushbackReader. (StringReader. text))
        forms (vec (take-while #(not= ::end %) (repeatedly #(read {:eof ::end} reader))))]
    (when-not (= 1 (count forms))
      (error/fail! :skein/bad-argument (str "-e takes one form, not " (count forms) "; write several tallies as a vector")
                   {:form (error/preview text)}))
    (first forms)))

(defn- evaluated [what f]
  (let [user (create-ns 'user)
        value (try (binding [*ns* user]
                     (refer-clojure)
                     (f))
                   (catch Throwable e
                     (if (= :skein/bad-argument (:skein/error (ex-data e)))
                       (throw e)
                       (error/fail! :skein/bad-argument
                                    (str what " can't be evaluated: " (ex-message (or (ex-cause e) e)))
                                    {:source what}))))]
    (if (vector? value) value [value])))

(defn- ranked
  "Returns the rows of one tally, largest first. Rows with equal values are in the order of their keys' texts."
  [counted top]
  (->> (map (fn row [^Map$Entry entry] [(str (.getKey entry)) (.getValue entry)]) counted)
       (sort (fn by-number [[k n] [k2 n2]] (let [c (compare n2 n)] (if (zero? c) (compare k k2) c))))
       (take top)
       (mapv (fn row [[^String k n]] {:key [(String. (.getBytes k "UTF-8") "ISO-8859-1")], :numbers [n]}))))

(defn- add-to-result [tallies top {:keys [^Counts sink] :as result}]
  (update (dissoc result :sink) :tallies into
          (map-indexed (fn tally [i {:keys [name sum?]}]
                         (let [^Map counted (.get ^ArrayList (.-counts sink) i)
                               column (if sum? "sum" "count")]
                           {:name name, :title name, :by [name], :rank column, :columns [column]
                            :distinct (.size counted), :rows (ranked counted top)}))
                       tallies)))

(defn tallies
  "Returns `{:sinks supplier, :add-to f, :own data}` for the tallies in :form, the text of a form, and :file, the path of a Clojure
  file whose last value is a tally or a vector of tallies. `f` puts them into a result that has its :sink. :top is
  how many rows each shows. From `data` another process can make the same, without the file: its text is :source. Throws
  :skein/bad-argument, and what the functions throw when they run."
  [{:keys [form file source top]}]
  (let [source (or source (when file (first (evaluated file #(slurp file)))))
        found (concat (when form (evaluated "the form after -e" #(eval (the-form form))))
                      (when file (evaluated file #(Compiler/load (StringReader. source) file (.getName (File. ^String file))))))
        tallies (vec (map-indexed normal found))]
    (when (empty? tallies)
      (error/fail! :skein/bad-argument (str (if form "the form after -e" file) " has no tallies; write a function, or a vector of them") {}))
    {:sinks (sinks tallies)
     :own {:form form, :file file, :source source}
     :add-to (fn add-to [result] (add-to-result tallies (or top 10) result))}))
