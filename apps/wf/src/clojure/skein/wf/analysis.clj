;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.analysis
  "Answers a query about logs of any format, as data.

  - `analyse`   paths, query -> result
  - `result`    what one of the engine's analyses has counted, as data"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.driver :as driver]
   [skein.wf.format :as format]
   [skein.wf.format.detection :as detection]
   [skein.wf.groups :as groups]
   [skein.wf.key :as key]
   [skein.wf.query :as query]
   [skein.wf.saved :as saved]
   [skein.wf.spelling :as spelling]
   [skein.wf.timeline :as timeline])
  (:import
   (skein.wf Analysis AnalysisPlan LogFormat Tally TallyRows TallyRows$Row WrappedFormat$Wrapper)))

(set! *warn-on-reflection* true)

;;;; Formats

(defn with-formats
  "Returns `[inputs formats failures]`. Each of the prepared inputs has the number of its format under :format, and {:lines n,
  :matches n} for its first lines under :fit. The formats begin with those that were `saved`. `log-format` is text as for
  `skein.wf.format/parse`, or nil to detect the format. `format-of` is the name of the server whose logs they are, or nil. With
  :keep-going?, an input in no known format is a failure, as of `skein.wf.driver/prepare-all`."
  [prepared {:keys [log-format format-of saved keep-going?]}]
  (let [given (some-> log-format format/parse)
        rows (when format-of (detection/rows-of format-of))
        outcome (fn outcome [{:keys [name samples]}]
                  (cond given {:format given}
                        rows (detection/detect name samples rows)
                        :else (detection/detect name samples)))
        outcome (if keep-going? #(driver/value-or-failure outcome %) outcome)]
    (reduce (fn step [[inputs formats failures] input]
              (let [{:keys [format] :as fit} (outcome input)
                    known (.indexOf ^java.util.List formats format)]
                (if (:skein/error fit)
                  [inputs formats (conj failures fit)]
                  [(conj inputs (assoc input
                                       :format (if (neg? known) (count formats) known)
                                       :fit (dissoc fit :format)))
                   (if (neg? known) (conj formats format) formats)
                   failures])))
            [[] (vec (:formats saved)) []]
            prepared)))

(defn- unread-part
  "Returns advice on how to name the field `missing`, if lines in `formats` may have it, or nil."
  [missing formats]
  (some (fn part [{:keys [layout open? name]}]
          (cond
            (#{:json :ltsv} layout) (str "; if it is in later lines, name it: --log-format " (clojure.core/name layout) ":" missing "=" missing)
            (and open? (str/ends-with? name "-and-more"))
            (str "; what follows in the lines after the fields of " name " is not read: give the server's own format with --log-format")))
        formats))

(defn- missing!
  "Throws :skein/bad-argument for the field `missing`, which is not among the fields `have` of logs in `formats`."
  [missing {:keys [tallies] :as query} have formats]
  (error/fail! :skein/bad-argument
               (cond
                 (and (some #{missing} (map :distinct tallies)) (some #{missing} (query/made-from have)))
                 (str "--distinct takes only fields of the log, and " missing " is computed from one; the log has " (str/join ", " (sort have)))
                 (and ((query/tested query) missing) (groups/group? missing))
                 (str "a condition can't use " missing ", which is made after counting; use the field that it is made from, " (groups/source missing))
                 :else
                 (let [made (query/made-from have)
                       near (spelling/nearest (into made have) missing)]
                   (str "the log has no " missing (if near (str "; did you mean " near "? It has ") "; it has ") (str/join ", " (sort have))
                        (when (seq made) (str ", and computed from these: " (str/join ", " made)))
                        (unread-part missing formats))))
               {:field missing, :fields (sort have)}))

(defn check-fields!
  "Throws :skein/bad-argument if a query uses a field that none of `formats` has and none of the `prepared` inputs names, and
  :skein/bad-argument if a condition tests a name that is both a field of the log and a key made from another field."
  [query formats prepared]
  (let [known (into #{} (mapcat format/fields) formats)
        tested (query/tested query)
        made (filter tested key/made)
        missing (remove known (query/fields query))]
    (when (or (seq missing) (seq made))
      (let [have (into known (mapcat (fn own [{:keys [format samples]}] (detection/own-names (formats format) samples))) prepared)]
        (when-let [missing (first (sort (remove have missing)))] (missing! missing query have formats))
        (when-let [both (first (filter have made))]
          (error/fail! :skein/bad-argument
                       (str both " is a field of this log, and also what is made from " (key/field-of both)
                            "; give the field another name in --log-format, or test " (key/field-of both))
                       {:field both}))))))

(defn having-fields
  "Returns the tallies without those that are optional and look at a field that none of `formats` has."
  [tallies formats]
  (let [have (into #{} (mapcat format/fields) formats)]
    (filterv (fn possible? [{:keys [optional?] :as tally}] (or (not optional?) (every? have (query/fields {:tallies [tally]}))))
             tallies)))

;;;; Results

(defn- latin-1 [^bytes bytes]
  (String. bytes "ISO-8859-1"))

(defn- time-number
  "Returns the number of a column that a key without durations does not have, or nil."
  [^longs values column]
  (when (pos? (aget values Tally/TIMED))
    (case column
      "slowest" (aget values Tally/SLOWEST)
      "mean" (quot (aget values Tally/TIME) (aget values Tally/TIMED)))))

(defn- number [^TallyRows rows ^TallyRows$Row row column]
  (let [^longs values (.values row)]
    (case column
      "hits" (aget values Tally/HITS)
      "bytes" (aget values Tally/BYTES)
      "distinct" (aget values Tally/DISTINCT)
      "time" (aget values Tally/TIME)
      ("slowest" "mean") (time-number values column)
      (let [[percent of] (query/percentile-of column)
            found (.percentile rows row (int (if (= of "time") TallyRows/TIMES TallyRows/SIZES)) (/ (double percent) 100.0))]
        (when-not (neg? found) found)))))

(defn- ranked [^TallyRows rows {:keys [top order] :as tally}]
  (let [value (query/rank-value tally)]
    (cond
      (or (= order :key) (query/over-time? tally)) (.byKey rows)
      (number? value) (.top rows (int value) (long (or top query/default-top)))
      :else (do (if (= :mean value)
                  (.computeMeans rows)
                  (let [[percent of] value]
                    (.computePercentiles rows (int (if (= of "time") TallyRows/TIMES TallyRows/SIZES)) (/ (double percent) 100.0))))
                (.top rows Tally/COMPUTED (long (or top query/default-top)))))))

(defn- row->data [^TallyRows rows columns error? ^TallyRows$Row row]
  (cond-> {:key (mapv latin-1 (.key row)), :numbers (mapv #(number rows row %) columns)}
    error? (assoc :error (aget ^longs (.values row) Tally/ERROR))))

(defn- without-gaps [rows columns {:keys [by] :as tally}]
  (let [empty-numbers (mapv (fn none [column] (when-not (or (query/percentile-of column) (#{"mean" "slowest"} column)) 0)) columns)
        step (query/step-seconds tally)]
    (cond
      step (timeline/filled rows step empty-numbers)
      (and (= ["hour"] by) (query/over-time? tally)) (timeline/hours rows empty-numbers)
      :else rows)))

(def ^:private distinct-error
  "The relative standard error of distinct counts with :approx: 1.04 / sqrt(2^12)."
  0.01625)

(defn- group-key
  "Returns the key of a grouped tally for the key that was counted, or nil. `functions` has a function for each part of the key."
  [functions key]
  (reduce (fn part [found [f text]]
            (if-let [grouped (f text)]
              (conj found grouped)
              (reduced nil)))
          [] (map vector functions key)))

(defn- grouped-rows
  "Returns the rows of a grouped tally, all in order, from those that were counted."
  [^TallyRows rows columns {:keys [by rank]} databases]
  (let [functions (mapv #(or (groups/group % databases) identity) by)
        add (fn add [^longs sums ^TallyRows$Row row]
              (let [^longs values (.values row)]
                (doseq [i [Tally/HITS Tally/BYTES Tally/TIME Tally/TIMED]]
                  (aset sums i (Math/addExact (aget sums i) (aget values i))))
                (aset sums Tally/SLOWEST (Math/max (aget sums Tally/SLOWEST) (aget values Tally/SLOWEST)))
                sums))
        sums (reduce (fn step [sums ^TallyRows$Row row]
                       (if-let [key (group-key functions (map latin-1 (.key row)))]
                         (assoc sums key (add (or (sums key) (long-array Tally/WIDTH)) row))
                         sums))
                     {} (.byKey rows))
        place (.indexOf ^java.util.List columns (or rank "hits"))]
    (->> (for [[key ^longs its] sums]
           {:key key, :numbers (mapv (fn number [column]
                                       (if (#{"mean" "slowest"} column)
                                         (time-number its column)
                                         (aget its (int (query/rank-value {:rank column})))))
                                     columns)})
         (sort-by (fn order [{:keys [key numbers]}] [(- (long (or (numbers place) 0))) key]))
         vec)))

(defn- counted-rows
  "Returns [rows n hits]: the rows of a tally to be shown, how many there are, and the hits of all."
  [^Tally counted columns {:keys [top] :as tally} databases]
  (let [rows (TallyRows. counted)
        error? (pos? (.error counted))]
    (if (query/grouped? tally)
      (let [all (grouped-rows rows columns tally databases)]
        [(into [] (take (or top query/default-top)) all) (count all) (transduce (map (comp first :numbers)) + all)])
      [(mapv #(row->data rows columns error? %) (ranked rows tally)) (.distinct counted) (.hits counted)])))

(defn- lines-without-key
  "Returns how many of the counted lines have no key of a tally. Returns 0 if that is unknown. Returns 0 also for tallies that only
  some lines are meant to be in: those that nobody has asked for, and those with conditions of their own."
  [^Tally counted hits lines {:keys [where optional?]}]
  (if (or optional? (seq where) (pos? (.error counted))) 0 (- (long lines) (long hits))))

(defn- lines-without-duration
  "Returns how many of a tally's lines have no duration. Returns 0 if the tally does not add up durations, or if that is unknown."
  [^Tally counted tally]
  (if (and (query/times? tally) (zero? (.error counted))) (- (.hits counted) (.timed counted)) 0))

(defn- tally->data [^Tally counted lines {:keys [name title by distinct rank order] :as tally} databases]
  (let [columns (query/columns tally)
        error (.error counted)
        [found n hits] (counted-rows counted columns tally databases)
        keyless (lines-without-key counted hits lines tally)
        timeless (lines-without-duration counted tally)
        step (query/step-seconds tally)]
    (cond-> {:name name
             :title title
             :by by
             :rank (or rank "hits")
             :columns columns
             :distinct n
             :rows (without-gaps found columns tally)}
      (and step (timeline/gaps? found step)) (assoc :gaps? true)
      (pos? keyless) (assoc :lines-without-key keyless)
      (pos? timeless) (assoc :lines-without-duration timeless)
      order (assoc :order order)
      distinct (assoc :distinct-of distinct)
      (and distinct (.isApproximate counted)) (assoc :distinct-error distinct-error)
      (pos? error) (assoc :error error))))

(defn- remade->data
  "Like `tally->data`, but if `tally` can be made from the rows of `shared`, makes it from `counted`, the tally of those rows."
  [^Tally counted shared lines tally databases]
  (if-let [[plan column] (query/remaking tally shared)]
    (let [remade (.remade counted plan (int column))]
      (try (tally->data remade lines tally databases)
           (finally (.close remade))))
    (tally->data counted lines tally databases)))

(defn- malformed [^Analysis analysis ^AnalysisPlan plan]
  (reduce (fn add [kinds [i format]]
            (merge-with + kinds (into {} (remove (comp zero? val))
                                      (zipmap (.faults ^LogFormat format) (.malformed analysis (int i))))))
          {}
          (map-indexed vector (.formats plan))))

(defn result
  "Returns what `analysis` has counted, as `analyse` does, without the parts that only the caller knows."
  [^Analysis analysis ^AnalysisPlan plan {:keys [tallies where] :as query} {:keys [approx databases]}]
  (let [kinds (malformed analysis plan)
        first-second (.firstSecond analysis)
        last-second (.lastSecond analysis)]
    {:lines (reduce + (.lines analysis))
     :counted (.counted analysis)
     :filtered (.filtered analysis)
     :malformed (reduce + (vals kinds))
     :malformed-kinds kinds
     :bytes (.bytes analysis)
     :seconds (when (<= first-second last-second) [first-second last-second])
     ;; If a line was counted, these depend on the batches.
     :filtered-seconds (when (and (zero? (.counted analysis)) (<= (.firstFiltered analysis) (.lastFiltered analysis)))
                         [(.firstFiltered analysis) (.lastFiltered analysis)])
     :where (vec where)
     :tallies (let [[counted places] (query/counted query approx)]
                (mapv (fn tally [place t] (remade->data (.tally analysis (int place)) (nth counted place) (.counted analysis) t databases)) places tallies))}))

(defn format-report
  "Returns [{:name name, :inputs [path ...], :lines n, :matches n} ...]: which inputs are in which format, and how well their first lines
  fit. An empty input is in none."
  [prepared formats]
  (vec (for [[i format] (map-indexed vector formats)
             :let [its (filter (fn its? [{:keys [^bytes head] its :format}] (and (= i its) (pos? (alength head)))) prepared)]
             :when (seq its)]
         {:name (:name format)
          :inputs (mapv :name its)
          :lines (reduce + (keep (comp :lines :fit) its))
          :matches (reduce + (keep (comp :matches :fit) its))})))

(defn- without-optional-groups
  "Returns the tallies without optional ones that are grouped. With --approx, the dropped keys would be missing in every group."
  [tallies]
  (filterv (fn kept? [tally] (not (and (:optional? tally) (query/grouped? tally)))) tallies))

(defn planned
  "Returns {:prepared, :failures, :formats, :query, :plan, :options} for prepared inputs and a query: the inputs with the number of
  their format, those in no known format, the query without optional tallies that no format has the fields for, and the engine's plan.
  Options as for `analyse`."
  [prepared query {:keys [on-formats approx saved] :as options}]
  (let [[prepared formats failures] (with-formats prepared options)
        formats (if (seq formats) formats [(format/parse "combined")])
        query (update query :tallies having-fields (or (:formats saved) formats))
        query (cond-> query approx (update :tallies without-optional-groups))
        planned {:prepared prepared, :failures failures, :formats formats, :query query, :options options}]
    (if saved (saved/check! saved planned) (check-fields! query formats prepared))
    (let [plan (query/plan query formats options)]
      (when on-formats (on-formats (format-report prepared formats)))
      (assoc planned :plan plan))))

(defn run-options
  "Returns the options for the driver. One worker reads all slices if lines depend on earlier ones. In a W3C log, an earlier
  line names the fields. In a container's log, the parts of one line may be in several slices."
  [{:keys [formats query]} {:keys [approx anonymize? databases own] :as options}]
  (let [serial? (boolean (or (some #(= :w3c (:layout %)) formats)
                             (some #{WrappedFormat$Wrapper/DOCKER WrappedFormat$Wrapper/KUBERNETES} (map :wrapper formats))))
        ;; Groups are made after all lines are counted, so the workers need only know which groups there are.
        databases (update-vals databases (constantly identity))]
    (cond-> (assoc options :add-earlier (some-> (:saved options) saved/add-to)
                   :recipe {:databases databases, :report :analysis, :query query, :formats formats, :approx approx, :anonymize? anonymize?, :own own, :whole-files? serial?})
      serial? (assoc :workers 1))))

(defn counting
  "Returns the function that makes an accumulator of inputs with the number of their :format."
  [^AnalysisPlan plan]
  (fn new-analysis [inputs] (Analysis. plan (int-array (map :format inputs)))))

(defn finished
  "Returns what `analysis` has counted, as `analyse` does; `counted` holds :bytes-read and :failures."
  [^Analysis analysis {:keys [prepared formats query plan options]} counted start]
  (cond-> (assoc (driver/explained #(result analysis plan query options))
                 :preset (when (:site? query) "site")
                 :formats (format-report prepared formats)
                 :bytes-read (:bytes-read counted)
                 :failures (vec (:failures counted))
                 :elapsed-ns (- (System/nanoTime) (long start)))
    (.sink analysis) (assoc :sink (.sink analysis))))

(defn analyse-prepared
  "Like `analyse`, for inputs that `skein.wf.driver/prepare-all` has prepared; `start` is the System/nanoTime at which the
  command began. Two more options; each needs the inputs as `skein.wf.saved/unread` returns them:

           :saved  what was counted before, as `skein.wf.saved/opened` returns it
           :save   the path of a file for what is counted"
  [prepared failures start query {:keys [saved save] :as options}]
  (let [{:keys [prepared ^AnalysisPlan plan] :as planned} (planned prepared query options)
        counted (driver/run prepared (counting plan) (run-options planned options))]
    (when (or saved save) (saved/write! save counted planned))
    (finished (:result counted) planned (assoc counted :failures (concat failures (:failures planned) (:failures counted))) start)))

(defn analyse
  "Returns the answers to a query (see `skein.wf.query`) about the logs at `paths`:

      {:lines n, :counted n, :filtered n, :malformed n      ; lines = counted + filtered + malformed
       :malformed-kinds {text n}, :bytes n, :seconds [first last]
       :formats [{:name text, :inputs [path ...]} ...], :where [...]
       :tallies [{:name text, :title text, :by [...], :columns [text ...], :distinct n,
                  :rows [{:key [text ...], :numbers [n ...]} ...]} ...]
       :bytes-read n, :elapsed-ns n, :failures []}

  If lines have no key of a tally, that tally has :lines-without-key, their number. If lines have no duration, a tally that adds up
  durations has :lines-without-duration.
  A kind of malformed line is the field at which it departs from its format. A key's bytes are the characters U+0000 to U+00FF.
  :seconds are on the log's own clock, since 1970. If no line is counted, :filtered-seconds has those of the filtered lines.
  Durations are in microseconds; percentiles are off by 0.8 % at most.

  options  :log-format  as `skein.wf.format/parse` takes it; by default each input's format is detected
           :format-of   the name of a server or a format in `skein.wf.format.catalogue`, to detect each input's format among those
           :approx      how many keys to keep for each tally; then a tally has :error, the most that any key may lack, and a row
                        :error, by how much its ranked number (hits, if that is not a sum) may be too small, and :distinct is an
                        estimate; distinct values of rows are estimates with the standard error :distinct-error, a part of 1
           :malformed, :sinks, :extra, :anonymize?, :databases as `skein.wf.query/plan` takes them
           :on-formats  called with what :formats will be before reading begins
           :workers, :slice-bytes, :keep-going?, :on-start as for `skein.wf.wf2/report`

  Throws :skein/bad-log-format, :skein/bad-argument, and what
  `skein.wf.wf2/report` throws."
  ([paths query] (analyse paths query {}))
  ([paths query options]
   (let [start (System/nanoTime)
         [prepared failures] (driver/prepare-all paths options)]
     (analyse-prepared prepared failures start query options))))
