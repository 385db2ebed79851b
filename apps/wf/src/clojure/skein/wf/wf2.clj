;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.wf2
  "Counts web-server logs by the rules of Wide Finder 2, on all cores.

  - `report`       files -> tallies, as data
  - `result`       report -> a result as `skein.wf.analysis` gives it, for the page and CSV
  - `text-result`  the same for the terminal
  - `for-programs` report -> what JSON and EDN hold

  A line ends at a line feed, and single spaces separate its fields. Nothing is decoded. Only lines of
  the combined format (11 fields or more) count, and of those only GETs answered with 200, 304 or 404.

      (report [\"examples/access.log\"] {:top 3})

  `skein.wf.wf2` (Java) does the counting."
  (:require
   [skein.wf.driver :as driver])
  (:import
   (skein.wf Budget Ranking Ranking$Entry)
   (skein.wf.wf2 Wf2)))

(set! *warn-on-reflection* true)

(def ^:const default-top
  "How many entries of each tally a report shows."
  10)

;;;; The report

(defn- entry->pair [^Ranking$Entry entry]
  [(.key entry) (.value entry)])

(defn- ranking->data [^Ranking ranking ^long top checksums?]
  (let [checksum (when checksums? (.checksum ranking))]
    (cond-> {:distinct (.distinct ranking)
             :total (.total ranking)
             :top (mapv entry->pair (.top ranking top))}
      checksum (assoc :checksum checksum))))

(defn- tally->data [^Wf2 tally top checksums?]
  (let [malformed (.malformed tally)
        ignored (.ignored tally)
        counted (.counted tally)
        data (fn data [ranking] (ranking->data ranking top checksums?))]
    {:lines (+ malformed ignored counted)
     :malformed malformed
     :ignored ignored
     :counted counted
     :url-hits (data (.urlHits tally))
     :url-bytes (data (.urlBytes tally))
     :s404s (data (.misses tally))
     :clients (data (.clients tally))
     :refs (data (.referrers tally))}))

(defn report-of
  "Like `report`, for inputs that `skein.wf.driver/prepare-all` has prepared; `start` is the System/nanoTime at which
  the command began."
  [prepared failures start {:keys [top checksums? own-process?] :or {top default-top, checksums? true} :as options}]
  (let [budget (if own-process? (Budget/ofOwnHeap) (Budget/ofHeap))
        new-tally (fn new-tally [_] (Wf2. budget))
        {:keys [result bytes-read] :as counted} (driver/run prepared new-tally (assoc options :recipe {:report :wf2}))]
    (assoc (tally->data result top checksums?)
           :bytes-read bytes-read
           :failures (into failures (:failures counted))
           :elapsed-ns (- (System/nanoTime) (long start)))))

(defn report
  "Returns the Wide Finder 2 report over `inputs`, as data:

      {:lines n, :malformed n, :ignored n, :counted n    ; lines = malformed + ignored + counted
       :bytes-read n, :elapsed-ns n, :failures []
       :url-hits  {:distinct n, :total n, :checksum text, :top [[key value] ...]}
       :url-bytes {...}, :s404s {...}, :clients {...}, :refs {...}}

  inputs   seq of paths; \"-\" is standard input. Each is split into lines on its own.
  options  :top          how many entries of each tally, default `default-top`
           :checksums?   whether tallies have a :checksum, default true; without, less is sorted
           :keep-going?  leave out inputs that fail, and list them in :failures, instead of throwing
           :workers      threads, default one per core
           :slice-bytes  bytes read at a time, default 256 KiB
           :own-process? whether the process does nothing else, so that what tables drop may be collected at once
           :on-start     called once or more with {:total-bytes n-or-nil, :bytes-read (fn [] n)} as reading begins

  A key's bytes are the characters U+0000 to U+00FF, so nothing is lost. Entries are in order of value, descending,
  then key, ascending. :checksum is the SHA-256 of `VALUE TAB KEY LF` over all entries in that order. Compressed files
  are unpacked. A failure in :failures is {:skein/error keyword, :input path, :message text}.

  Throws :skein/file, and :skein/too-large for a line, each with :failures; :skein/too-large if the tables or a sum are."
  ([inputs] (report inputs {}))
  ([inputs options]
   (let [start (System/nanoTime)
         [prepared failures] (driver/prepare-all inputs options)]
     (report-of prepared failures start options))))

;;;; In the shape of a general report

(def ^:private titles
  [[:url-hits "Articles by hits" "hits"] [:url-bytes "URLs by bytes" "bytes"] [:s404s "Not found (404)" "hits"]
   [:clients "Clients of articles" "hits"] [:refs "Referrers of articles" "hits"]])

(defn- tally [report ->key column-name [k title column]]
  (let [{:keys [distinct top]} (report k)
        column (column-name column)]
    {:name (name k), :title title, :by ["key"], :rank column, :columns [column], :distinct distinct
     :rows (mapv (fn row [[bytes n]] {:key [(->key bytes)], :numbers [n]}) top)}))

(defn- result-of [{:keys [ignored url-bytes] :as report} ->key column-name]
  (assoc (select-keys report [:lines :counted :malformed :bytes-read :elapsed-ns :failures])
         :preset "wf2", :filtered ignored, :filtered-as "ignored", :bytes (:total url-bytes), :malformed-kinds {}, :formats []
         :tallies (mapv #(tally report ->key column-name %) titles)))

(defn result
  "Returns a report in the shape of a result of `skein.wf.analysis/analyse`."
  [report]
  (result-of report identity identity))

(def ^:private ^:const max-key-bytes 60)

(defn text-result
  "Like `result`, with keys cut to 60 bytes, and bytes in MB of 1024 * 1024, as the benchmark's rules require."
  [report]
  (result-of report
             (fn cut [^String bytes]
               (if (> (.length bytes) max-key-bytes) (str (subs bytes 0 max-key-bytes) "...") bytes))
             {"bytes" "MB", "hits" "hits"}))

(defn for-programs
  "Returns the parts of a report that depend on the log alone."
  [report]
  (dissoc report :elapsed-ns :failures))
