;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.query
  "What is asked of a log, as data, and as the engine's plan.

  A query is

      {:tallies [{:name \"url\", :by [\"url\"], :where [], :rank \"hits\", :top 10, :order :value,
                  :distinct nil, :percentiles #{}}]
       :where [[:status \"4xx\"]]}

  :by holds what a tally counts by, one name or several: a field of the log, a key that `skein.wf.key` makes from a field, or a group of
  `skein.wf.groups`. The keys are path (a URL up to its question mark), site (the host of a referrer), class (2xx ...), hour (00 to 23), weekday,
  day, month, minute, and every-N with N in seconds. :rank is hits, bytes, time, mean, slowest, distinct, or a percentile such as p95-time or
  p50-bytes. :order :key shows all rows by key instead, as do tallies by time, unless their :order is :value.
  A tally that is :optional? is left out where the log has no such fields.

  - `site`       the general report
  - `plan`       query -> the engine's plan
  - `counted`    query -> the tallies that the engine counts, which several of the query's may share
  - `remaking`   how one of the query's tallies is made from one that the engine has counted
  - `columns`    a tally -> the names of its numbers"
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.wf.filter :as filter]
   [skein.wf.format :as format]
   [skein.wf.groups :as groups]
   [skein.wf.key :as key])
  (:import
   (skein.wf AnalysisPlan Budget Tally TallyPlan)))

(set! *warn-on-reflection* true)

(def ^:const default-top
  "How many rows of a tally are shown."
  10)

(def percents
  "The percentiles that are shown."
  [50 90 95 99])

(def located
  "The tallies of the general report that need a database of addresses, by what it knows."
  {"country" {:name "country", :title "Countries", :by ["country"], :optional? true}
   "network" {:name "network", :title "Networks", :by ["network"], :optional? true}})

(def plot
  "The tally for the plot on the page of the general report."
  {:name "plot", :title "Requests over time", :by ["minute"], :optional? true})

(def site
  "The tallies of the general report: what most people ask for. Those that a log has no fields for are left out."
  (mapv
    #(assoc % :optional? true)
    [{:name "url", :title "URLs", :by ["url"], :where [[:no-static]]}
     {:name "static", :title "Static files", :by ["path"], :where [[:static]]}
     {:name "404", :title "Not found (404)", :by ["url"], :where [[:status "404"]]}
     {:name "client", :title "Clients", :by ["client"]}
     {:name "referrer", :title "Referrers", :by ["referrer"], :where [[:given "referrer"]]}
     {:name "site", :title "Referring sites", :by ["site"], :where [[:given "referrer"]]}
     {:name "agent", :title "User agents", :by ["agent"]}
     {:name "crawler", :title "Crawlers", :by ["crawler"]}
     {:name "status", :title "Statuses", :by ["status"]}
     {:name "method", :title "Methods", :by ["method"]}
     {:name "host", :title "Hosts", :by ["host"]}
     {:name "hour", :title "Hours of the day", :by ["hour"]}
     {:name "day", :title "Days", :by ["day"], :distinct "client"}]))

;;;; Keys

(defn- field-of
  "Returns the field that the key or group `by` is made from."
  [by]
  (key/field-of (groups/source by)))

(defn made-from
  "Returns the names of the keys and groups that are made from fields in the set `fields`."
  [fields]
  (filterv (comp fields field-of) (into key/made groups/names)))

(defn over-time?
  "Returns whether a tally shows the course of time, so that its rows are in the order of their keys and none is left out."
  [{:keys [by order]}]
  (and (= 1 (count by)) (not= order :value) (= "time" (field-of (first by)))))

(defn step-seconds
  "Returns the length of the steps of a tally over time, or nil if it has none."
  [{:keys [by] :as tally}]
  (when (over-time? tally) (key/seconds (first by))))

;;;; Numbers

(def ^:private value-of
  {"hits" Tally/HITS, "bytes" Tally/BYTES, "time" Tally/TIME, "slowest" Tally/SLOWEST, "distinct" Tally/DISTINCT})

(defn percentile-of
  "Returns `[percent of]` for a name such as \"p95-time\", where `of` is \"time\" or \"bytes\"; otherwise nil."
  [rank]
  (when-let [[_ percent of] (re-matches #"p(\d{1,2})-(time|bytes)" (str rank))]
    [(parse-long percent) of]))

(defn times?
  "Returns whether a tally adds up durations."
  [{:keys [rank percentiles]}]
  (boolean (or (#{"time" "mean" "slowest"} rank) (contains? percentiles "time") (= "time" (second (percentile-of rank))))))

(defn- percentiles-of [{:keys [rank percentiles]}]
  (cond-> (set percentiles)
    (percentile-of rank) (conj (second (percentile-of rank)))))

(defn columns
  "Returns the names of a tally's numbers, in order."
  [{:keys [distinct] :as tally}]
  (cond-> ["hits" "bytes"]
    distinct (conj "distinct")
    (times? tally) (into ["time" "mean" "slowest"])
    true (into (for [of (sort (percentiles-of tally))
                     percent (sort (into (set percents) (keep (fn ranked [[percent its]] (when (= its of) percent)))
                                         [(percentile-of (:rank tally))]))]
                 (str "p" percent "-" of)))))

(defn rank-value
  "Returns what a tally is ranked by: the engine's number for a value, or :mean or a percentile, see `percentile-of`, which must
  be computed first. Throws :skein/bad-argument."
  [{:keys [rank distinct] :as tally}]
  (let [rank (or rank "hits")]
    (cond
      (and (= rank "distinct") (nil? distinct))
      (error/fail! [:skein/bad-argument :usage] "--rank distinct needs --distinct FIELD, the field whose values are counted" {})
      (value-of rank) (value-of rank)
      (= rank "mean") :mean
      (percentile-of rank) (percentile-of rank)
      :else (error/fail! [:skein/bad-argument :usage]
                         (str "--rank can't be " (error/preview rank) "; it is hits, bytes, time, mean, slowest, distinct, or a "
                              "percentile such as p95-time")
                         {:tally (:name tally)}))))

;;;; The plan

(defn fields
  "Returns the names of all fields that a query looks at."
  [{:keys [tallies where]}]
  (into #{}
        (concat (mapcat filter/fields where)
                (mapcat (fn of-tally [{:keys [by where distinct rank] :as tally}]
                          (concat (map field-of by) (mapcat filter/fields where) (when distinct [distinct])
                                  (when (times? tally) ["duration"])
                                  (when (or (= "bytes" rank) (contains? (percentiles-of tally) "bytes")) ["bytes"])))
                        tallies))))

(defn tested
  "Returns the set of the fields, keys and groups whose text the conditions of a query test."
  [{:keys [tallies where]}]
  (into #{}
        (keep (fn name-of [[kind field]] (when (#{:match :no-match} kind) field)))
        (concat where (mapcat :where tallies))))

(defn- own-columns
  "Returns the fields that need a column beyond those that every batch has."
  [query more]
  (vec (sort (remove #(or (nat-int? (format/column % [])) (format/not-texts %)) (into (fields query) more)))))

(defn- named-fields
  "Returns the fields whose place the user has given. Any one of them makes a line valid, whether or not the query looks at it."
  [formats]
  (into #{} (comp (mapcat :fields) (filter :own?) (map :field)) formats))

(defn- limited-rank
  "Returns the engine's number for the value by which keys are dropped if only some are kept: that of the rank, or hits if the
  rank is not a sum."
  [{:keys [rank]}]
  (get (dissoc value-of "distinct") rank Tally/HITS))

(defn grouped?
  "Returns whether the rows of a tally are put together from those that the engine counts; see `skein.wf.groups`."
  [{:keys [by]}]
  (boolean (some groups/group? by)))

(defn- check-groups!
  "Throws :skein/bad-argument if a tally names an unknown group, or numbers that can't be added."
  [{:keys [name by distinct] :as tally} approx databases]
  (doseq [name by] (groups/group name databases))
  (when (grouped? tally)
    (when-let [reason (cond
                        distinct "--distinct"
                        (seq (percentiles-of tally)) "percentiles"
                        approx "--approx")]
      (error/fail! [:skein/bad-argument :usage]
                   (str "--by " name " adds up what was counted for each " (str/join "+" (map groups/source by))
                        ", so it can't be combined with " reason)
                   {:tally name}))))

(defn- counted-as
  "Returns what the engine has to know of a tally."
  [{:keys [by where distinct] :as tally} approx]
  {:by (mapv groups/source by)
   :where (vec where)
   :distinct distinct
   :times? (times? tally)
   :percentiles (percentiles-of tally)
   :rank (if approx (limited-rank tally) Tally/HITS)})

(defn- whole
  "Returns a tally by whole URLs or referrers whose rows can be regrouped into those of `tally`, or nil if there is none. The numbers
  of `tally` must be sums. The returned tally lacks the conditions of `tally` that test only the URL or the referrer."
  [{:keys [by where distinct] :as tally} approx]
  (let [source (when (= 1 (count by)) (field-of (first by)))]
    (when (and (#{"url" "referrer"} source) (not approx) (not distinct) (empty? (percentiles-of tally)))
      (assoc tally :by [source] :where (remove #(= [source] (filter/fields %)) where)))))

(defn counted
  "Returns [counted index]. `counted` has each tally once that the engine counts for a query. `index` has the position in it for each
  tally of the query.
  `approx` is as for `plan`. If several tallies are made from one field, they share a tally by that field, as
  URLs, paths and static files of the general report do; see `remaking`."
  [{:keys [tallies]} approx]
  (let [wholes (mapv #(some-> (whole % approx) (counted-as approx)) tallies)
        shared (into #{} (keep (fn several [[tally n]] (when (< 1 (long n)) tally))) (frequencies wholes))
        needed (mapv (fn engine [tally whole] (or (shared whole) (counted-as tally approx))) tallies wholes)
        counted (vec (distinct needed))]
    [counted (mapv #(.indexOf ^java.util.List counted %) needed)]))

(defn- tally-plan [{:keys [by where distinct times? percentiles rank]} extra approx]
  (TallyPlan. (mapv #(key/part % extra) by)
              (mapv #(filter/compiled % extra) where)
              times?
              (int (if distinct (format/text-column distinct extra) -1))
              (contains? percentiles "bytes")
              (contains? percentiles "time")
              (int (or approx 0))
              (int rank)))

(defn remaking
  "Returns [plan column] if `tally` is to be made from the rows of `shared`, one of those that `counted` returns; else nil."
  [tally shared]
  (let [needed (counted-as tally nil)]
    (when (not= (select-keys needed [:by :where]) (select-keys shared [:by :where]))
      [(tally-plan needed [] nil) (int (format/text-column (first (:by shared)) []))])))

(defn plan
  "Returns the engine's plan of a query over inputs in `formats`.

  options  :approx     how many keys to keep for each tally, the others being approximate; nil: all
           :malformed  a LineSink for malformed lines, or nil
           :sinks      a Supplier of RowSinks, or nil
           :extra      names of fields that get a column although no tally asks for them
           :anonymize?  whether clients are counted by their networks: 10.1.2.0, 2001:db8:1::
           :databases   what is known of addresses, as `skein.wf.geo/open` returns it
           :memory-bytes  what all tables may take together, by default most of the heap
           :own-process?  whether the process does nothing else, so that what tables drop may be collected at once

  Throws :skein/bad-argument."
  ^AnalysisPlan [{:keys [tallies where] :as query} formats {:keys [approx malformed sinks extra anonymize? databases memory-bytes own-process?]}]
  (filter/check-period! where)
  (doseq [tally tallies]
    (rank-value tally)
    (check-groups! tally approx databases))
  (let [extra (own-columns query (into (named-fields formats) extra))]
    (AnalysisPlan. (mapv #(format/compiled % extra) formats)
                   (int (count extra))
                   (mapv #(filter/compiled % extra) where)
                   (boolean anonymize?)
                   (mapv #(tally-plan % extra approx) (first (counted query approx)))
                   malformed
                   sinks
                   (cond memory-bytes (Budget. (long memory-bytes)), own-process? (Budget/ofOwnHeap), :else (Budget/ofHeap)))))

(defn tally-of
  "Returns the tally that --by asks for: one field, or several with + between, as in \"host+day\"."
  [text options]
  (let [by (str/split text #"\+" -1)]
    (when (some str/blank? by) (error/fail! [:skein/bad-argument :usage] (str "--by has an empty name in " (error/preview text)) {}))
    (merge {:name text, :title text, :by by} options)))
