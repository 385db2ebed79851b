;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.questions
  "All of `skein wf` except the report of Wide Finder 2: from its options to a query, and from the result to text.

  - `query`                options -> query
  - `answer`               reads the logs, and writes the result
  - `follow`               the same, live"
  (:require
   [clojure.string :as str]
   [skein.cli.options :as options]
   [skein.cli.outputs :as outputs]
   [skein.cli.progress :as progress]
   [skein.cli.terminal :as terminal]
   [skein.impl.error :as error]
   [skein.wf.analysis :as analysis]
   [skein.wf.filter :as filter]
   [skein.wf.query :as query]
   [skein.wf.saved :as saved]
   [skein.wf.text :as text]
   [skein.wf.units :as units])
  (:import
   (java.io File OutputStream PrintStream)))

(set! *warn-on-reflection* true)

(def ^:private ^:const rows-of-page
  "How many rows of a tally the page has, unless --top asks for more."
  200)

(def ^:private rows-served
  "How many rows of a tally the page of --serve has, unless --top asks for more. With --follow it has fewer, because the page is
  made many times."
  {:follow 1000, :once 10000})

(def ^:const approx-keys
  "How many keys --approx keeps for each tally."
  100000)

;;;; From options to a query

(defn- where-condition [text]
  (let [[_ field operator pattern] (re-matches #"(?s)([\w.@-]+)(!?=)(.*)" text)]
    (when-not field (options/fail! (str "--where must be FIELD=REGEX or FIELD!=REGEX, not " (error/preview text)
                                        "; for numbers use --larger, --slower and --status, for times --from and --to")))
    [(if (= operator "=") :match :no-match) field pattern]))

(defn- conditions [{:keys [path where] :as options}]
  (concat (for [kind [:status :method :client :not-client :from :to :slower :larger] :when (kind options)] [kind (kind options)])
          (when (:no-bots? options) [[:no-bots]])
          (for [pattern path] [:match "url" pattern])
          (map where-condition where)))

(defn- percentiles [text]
  (let [names (set (str/split (or text "") #","))]
    (when-let [wrong (first (remove #{"bytes" "time" ""} names))]
      (options/fail! (str "--percentiles must be bytes, time or both, not " (error/preview wrong))))
    (disj names "")))

(defn- with-databases
  "Returns the options with the databases of the files of --geo."
  [{:keys [geo] :as options}]
  (cond-> options geo (assoc :databases ((requiring-resolve 'skein.wf.geo/open) geo))))

(defn- own-tallies [{:keys [by every distinct sum rank top] :as options}]
  (when (and distinct (str/blank? distinct)) (options/fail! "--distinct must name a field, such as client"))
  (when (and sum rank (not= sum rank))
    (options/fail! (str "--sum " sum " orders the rows as --rank " sum " does, so it can't be combined with --rank " rank)))
  (let [common (cond-> {:percentiles (percentiles (:percentiles options))}
                 top (assoc :top top, :order :value)
                 distinct (assoc :distinct distinct)
                 (or rank sum) (assoc :rank (or rank sum)))
        shape-alone? (some options [:distinct :percentiles :sum :rank])]
    (concat (for [text (when by (map str/trim (str/split by #",")))] (query/tally-of text common))
            (when every
              [(query/tally-of (str "every-" (filter/seconds every)) (assoc common :title (str "Every " every) :name (str "every-" every)))])
            (when (and shape-alone? (not (or by every)))
              [(merge {:name "all", :title "All lines", :by []} common)]))))

(defn query
  "Returns the query of the options of `skein wf`: the general report if they contain no tally."
  [{:keys [top form tallies preset databases html save with serve? follow?] :as options}]
  (let [own (own-tallies options)
        rows (cond html rows-of-page, (and serve? follow?) (:follow rows-served), serve? (:once rows-served))
        site? (or (= preset "site") (and (empty? own) (not form) (not tallies)))]
    {:where (vec (conditions options))
     :site? site?
     :tallies (cond->> (into (if site? (mapv #(cond-> % top (assoc :top top)) (into query/site (vals (select-keys query/located (keys databases))))) []) own)
                rows (mapv #(update % :top (fnil max 0) rows))
                ;; Saved counts may be shown as a page later.
                (and site? (or html serve? save with)) (into [query/plot]))}))

;;;; Output

(defn- print-line [^PrintStream err & texts]
  (.println err ^String (apply str texts)))

(defn- for-others
  "Returns a result without the rows and tallies that only the page shows."
  [result {:keys [html top]}]
  (let [cut (fn cut [tally]
              (cond-> tally (and html (not (query/over-time? tally))) (update :rows #(vec (take (or top query/default-top) %)))))
        plot? (fn plot? [{:keys [name]}] (= name (:name query/plot)))]
    (update result :tallies (fn others [tallies] (into [] (comp (remove plot?) (map cut)) tallies)))))

(defn write-result
  "Writes a result to `out` in the format of the options."
  [result {:keys [format] :or {format "text"} :as options} ^OutputStream out]
  (let [result (for-others result options)
        [^String text ^String encoding] (case format
                                          "text" [(text/text result (terminal/color? options) (second (terminal/size))) "UTF-8"]
                                          "json" [((requiring-resolve 'skein.wf.data/json) result) "UTF-8"]
                                          "edn" [((requiring-resolve 'skein.wf.data/edn) result) "UTF-8"]
                                          "csv" [((requiring-resolve 'skein.wf.data/csv) result) "ISO-8859-1"])]
    (.write out (.getBytes text encoding))
    (.flush out)))

(defn write-html!
  "Writes a result as a page into the file `path`. Throws :skein/file."
  [path result]
  (outputs/write-text! path ((requiring-resolve 'skein.wf.html/page) result)))

;;;; The command

(defn- own
  "Returns the parts of the user's own tallies, {:sinks, :add-to, :own}, or nil."
  [{:keys [form tallies top]}]
  (when (or form tallies)
    ((requiring-resolve 'skein.wf.own/tallies) {:form form, :file tallies, :top top})))

(defn with-plan-options
  "Calls `f` with the options that `skein.wf.analysis/analyse` takes, and with a function that puts the user's own
  tallies into a result. Empties the file for malformed lines each time that reading begins, after the query has been
  checked."
  [{:keys [approx? malformed on-start] :as options} {:keys [notes]} f]
  (let [{:keys [sinks add-to own]} (own options)]
    (when (and approx? sinks) (print-line notes "--approx does not apply to -e and --tallies, which keep all keys"))
    (outputs/with-line-sink malformed
      (fn run [sink]
        (f (assoc options
                  :malformed sink, :sinks sinks, :own own
                  :on-start (fn start [reading]
                              (outputs/start-lines! sink)
                              (when on-start (on-start reading)))
                  :approx (when approx? approx-keys)
                  :on-formats (fn say [formats] (doseq [line (text/format-notes formats)] (print-line notes line))))
           (or add-to identity))))))

(defn write-all!
  "Writes a result to standard output, with --html also as a page, and notes about it to standard error. If the options have a function
  `:show`, that gets the result instead of standard output."
  [result {:keys [html show malformed] :as options} {:keys [out err notes]}]
  (if show (show result) (terminal/write-report! #(write-result result options out)))
  (when html (write-html! html result))
  (doseq [{:keys [message]} (:failures result)] (print-line err "skein wf: " message))
  (let [shown (for-others result options)]
    (doseq [note (concat (text/gap-notes shown) (when (= "csv" (:format options)) (text/tally-notes shown)))] (print-line notes note)))
  (run! (partial print-line notes) (remove nil? [(text/malformed-note result malformed) (text/none-note result)]))
  (print-line notes (text/summary result)))

(defn exit-code
  "Returns the exit code of a result. Prints the reason if most lines are malformed."
  [result {:keys [err]}]
  (let [mostly-malformed (text/mostly-malformed result)]
    (when mostly-malformed (print-line err "skein wf: " mostly-malformed))
    (cond (seq (:failures result)) 2, mostly-malformed 1, :else 0)))

(defn- with-saved
  "Returns the options with the header of the file that --with names, as :saved. If --save names the same file, it need not exist yet."
  [{:keys [with save] :as options} notes]
  (cond
    (nil? with) options
    (and (= with save) (not (.exists (File. ^String with)))) (do (print-line notes with " does not exist yet; this run creates it") options)
    :else (assoc options :saved (saved/opened with))))

(defn- unread
  "Returns the parts of the inputs that were not counted before. Prints a note about those that were."
  [prepared {:keys [saved save]} notes]
  (if-not (or saved save)
    prepared
    (let [unread (saved/unread saved prepared)]
      (doseq [{:keys [name]} (when save (remove :repeatable? prepared))]
        (print-line notes "skein wf: " name " can't be recognised by a later run; it counts each time that it is given"))
      (doseq [{:keys [name]} (remove (comp (set (map :name unread)) :name) prepared)] (print-line notes "skein wf: " name " was counted before"))
      (doseq [{:keys [name from]} unread :when (pos? (long from))]
        (print-line notes "skein wf: " name ": its first " (units/grouped from) " bytes were counted before"))
      unread)))

(defn answer
  "Runs the query of `options` on prepared inputs and writes the result. Returns the exit code."
  [prepared failures start options {:keys [notes] :as streams} bar]
  (let [options (with-saved (with-databases options) notes)
        prepared (unread prepared options notes)
        {:keys [site?] :as query} (query options)
        _ (when site? (print-line notes "preset site: the general report"))
        result (try (with-plan-options options streams
                      (fn analyse [plan-options add-own]
                        (add-own (analysis/analyse-prepared prepared failures start query plan-options))))
                    (finally (progress/stop! bar)))]
    (write-all! result options streams)
    (exit-code result streams)))

(defn follow
  "Shows the result of the query of `options` on the terminal and keeps it up to date, until the process is interrupted."
  [paths options streams]
  (let [options (with-databases options)]
    ((requiring-resolve 'skein.cli.follow/run) paths (query options) options streams)))
