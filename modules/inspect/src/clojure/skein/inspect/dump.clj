;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.dump
  "A snapshot as text for people, as JSON and as EDN. All three are written piece by piece, and never held as one string."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.lints :as lints]
   [skein.inspect.shape :as shape]
   [skein.inspect.verdict :as verdict]
   [skein.inspect.words :as words])
  (:import
   (clojure.lang Keyword)
   (java.io IOException Writer)
   (java.time Instant)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-alike
  "How many blocks of one place are named in the text."
  3)

;;;; JSON

(def ^:private escapes {"\"" "\\\"", "\\" "\\\\", "\n" "\\n", "\r" "\\r", "\t" "\\t"})

(defn- quoted
  "Returns a string as JSON. Control characters and halves of characters, which a terminal or a file can't
  hold, are escaped."
  ^String [s]
  (str "\""
       (str/replace s #"[\p{Cc}\p{Cs}\"\\]" (fn escape [c] (or (escapes c) (format "\\u%04x" (int (first c))))))
       "\""))

(defn write-json
  "Writes `x`, made of maps, sequences, strings, names, numbers, booleans and nil, to `out` as JSON."
  [^Writer out x]
  (cond
    (map? x) (do (.write out "{")
                 (reduce-kv (fn entry [separator k v]
                              (.write out ^String separator)
                              (.write out (quoted (str (if (keyword? k) (.sym ^Keyword k) k))))
                              (.write out ":")
                              (write-json out v)
                              ",\n")
                            "" x)
                 (.write out "}"))
    (coll? x) (do (.write out "[")
                  (reduce (fn each [separator v] (.write out ^String separator) (write-json out v) ",") "" x)
                  (.write out "]"))
    (or (nil? x) (boolean? x) (number? x)) (.write out (if (nil? x) "null" (str x)))
    :else (.write out (quoted (if (ident? x) (name x) (str x))))))

;;;; Text

(defn- line! [^Writer out & parts]
  (.write out (str (apply str parts) "\n")))

(defn- median [xs]
  (nth (sort xs) (quot (count xs) 2)))

(defn- oldest-first
  "Returns the sort key of a block; a heap file has no times."
  [block]
  (- (long (:since-ms block 0))))

(defn- shown-state
  "Returns the state of a block for people. A step is blocked if it waits or its thread does. A heap file may show that
  the wait is for ever."
  [{:keys [state stuck?] :as block}]
  (cond stuck? :stuck
        (shape/blocked? block) :blocked
        :else state))

(defn- alike
  "Writes the blocks of one place and state as a paragraph."
  [out ix [{:keys [state site]} blocks]]
  (let [ages (seq (keep :since-ms blocks))]
    (line! out (format "%5d  %-8s %s" (count blocks) (name state) (words/place site))
           (when (:in-try site) "  in try")
           (cond
             (nil? ages) nil
             (next blocks)
             (str "  for " (words/duration (apply min ages)) ", " (words/duration (median ages)) ", "
                  (words/duration (apply max ages)) " (least, median, most)")
             :else (str "  for " (words/duration (first ages)))))
    (doseq [b (take max-alike (sort-by oldest-first blocks))]
      (line! out "       " (words/who b) (when (seq (:waits b)) (str " waits " (words/waits ix b)))
             (when-some [at (:site (:on b))] (str ", at " (words/place at)))
             (when (:parent b) (str ", made by " (words/block-name (:parent b))))))
    (when (< (long max-alike) (count blocks)) (line! out "       and " (- (count blocks) (long max-alike)) " more"))))

(defn- alike-once
  "Returns `reports`, where blocks of one place and kind that nobody waits for share one report, with :alike, the number of the
  others."
  [reports]
  (let [key-of (fn key-of [{:keys [kind block awaited-by] :as report}]
                 (if (and block (not awaited-by)) [kind (:site block)] report))
        groups (group-by key-of reports)]
    (for [[report & more] (map groups (distinct (map key-of reports)))]
      (cond-> report more (assoc :alike (count more))))))

(defn- findings
  "Returns the reports and lints of a snapshot as [rank text], the surest first."
  [ix snapshot]
  (sort-by (comp {:proven 0 :certain 1 :error 2 :suspected 3 :warn 4 :info 5} first)
           (concat (for [{:keys [verdict alike] :as report} (alike-once (verdict/deadlocks snapshot))]
                     [verdict (str (words/sentence ix report)
                                   (when alike (str " The same goes for " (words/counted alike "more block") " of that place.")))])
                   (for [{:keys [lint severity] :as found} (lints/lints snapshot)]
                     [severity (str (name lint) ": " (words/sentence ix found))]))))

(def ^:const ^:private max-listed "The largest number of scopes, of children of each, and of threads of one place that the text names." 20)

(defn- scope
  "Writes a scope, its children and what will end it as a line."
  [out {:keys [body parent children remaining-ms cancelled-ms] :as scope}]
  (let [begun (remove (comp false? :begun?) children)
        more (- (count begun) (long max-listed))
        unbegun (- (count children) (count begun))
        named (when (seq begun)
                (str (str/join ", " (map words/waiting-party (take max-listed begun))) (when (pos? more) (str " and " more " more"))))]
    (line! out "       " (words/channel-label (assoc scope :kind :scope)) " of " (if body (words/waiting-party body) "an unknown thread") (when parent (str ", in scope-" parent))
           (if (seq children) ", has children: " ", has no children")
           (str/join ", and " (keep identity [named (when (pos? unbegun) (str unbegun " that " (if (= 1 unbegun) "has" "have") " not begun"))]))
           (when (and remaining-ms (not cancelled-ms)) (str ", ends in " (words/duration remaining-ms)))
           (when cancelled-ms (str ", was cancelled " (words/duration cancelled-ms) " ago")))))

(defn- threads-of
  "Writes the threads of one place as lines, the longest-waiting first."
  [out ix [site threads]]
  (let [at (when site (words/place site)), more (- (count threads) (long max-listed))]
    (doseq [t (take max-listed (sort-by oldest-first threads))]
      (line! out "       " (words/who t) (when at (str ", " at))
             " waits " (words/waits ix t) (when-some [ms (:since-ms t)] (str " for " (words/duration ms)))))
    (when (pos? more) (line! out "       and " (words/counted more "more thread") (when at (str " at " at))))))

(defn- unseen?
  "Returns whether the inspector has seen no block, and no thread that waits in a channel. A thread that waits for a lock does not
  count: the inspector finds it without a step."
  [{:keys [blocks threads collected heap]}]
  (and (not heap) (empty? blocks) (every? :lock (mapcat :waits threads)) (zero? (long (:count collected)))))

(defn- write-head
  "Writes how much a snapshot has, and what it can't show."
  [out {:keys [at-ms blocks threads collected heap simulation] :as snapshot}]
  (let [at (if simulation (str ", at " at-ms " ms of a simulation") (str ", at " (Instant/ofEpochMilli at-ms)))
        threads (words/counted (count threads) "thread" [" waits" " wait"])]
    (cond
      heap
      (let [gone (long (:count collected)), stuck (+ gone (count (filter :stuck? blocks)))]
        (line! out (words/counted (+ gone (count blocks)) "block") (when (pos? stuck) (str " (" stuck " stuck)")) ", " threads at ", in " heap)
        (line! out "A heap file alone shows no times, labels, uncaught exceptions, suspected cycles or waits for monitors. If the"
               " inspector of the process is on, ./skein ps " (words/process snapshot) " shows them."))
      (unseen? snapshot)
      (do (line! out "No block seen yet, and no thread that waits in a channel" at)
          (line! out "The inspector sees what waited before it was switched on only after its next step. ./skein ps "
                 (words/process snapshot) " --heap shows it, and threads that wait for promises or latches."))
      :else
      (line! out (words/counted (count blocks) "block") ", " threads ", " (words/counted (:count collected) "block") " collected" at))))

(defn- write-text [out {:keys [blocks threads scopes folds collected unproven elsewhere] :as snapshot}]
  (let [snapshot (shape/indexed snapshot)
        ix (shape/index snapshot)
        groups (group-by (fn key-of [b] {:state (shown-state b) :site (:site b)}) blocks)]
    (write-head out snapshot)
    (when unproven (line! out unproven))
    (when (pos? (long (or elsewhere 0)))
      (line! out (words/counted elsewhere "other thread" [" waits" " wait"])
             "; " (words/thread-list snapshot) " shows where."))
    (doseq [[rank says] (findings ix snapshot)]
      (line! out)
      (line! out (str/upper-case (name rank)) "  " says))
    (when (seq blocks) (line! out))
    (doseq [group (sort-by (fn oldest [[_ blocks]] (apply min (map oldest-first blocks))) groups)] (alike out ix group))
    (when (seq (:blocks collected)) (line! out))
    (doseq [[site gone] (sort-by (comp - count val) (group-by :site (:blocks collected)))]
      (alike out ix [{:state (words/gone snapshot) :site site} (map (fn [b] (dissoc b :since-ms)) gone)])) ; it waits no longer
    (when (seq threads) (line! out))
    (run! (partial threads-of out ix) (sort-by (comp - count val) (group-by :site threads)))
    (when (seq scopes) (line! out))
    (run! (partial scope out) (take max-listed scopes))
    (when (< (long max-listed) (count scopes)) (line! out "       and " (- (count scopes) (long max-listed)) " more scopes"))
    (when (seq folds) (line! out))
    (doseq [{:keys [thread tid site since-ms done total unit]} folds]
      (line! out "       a fold on " (words/thread-name thread tid) (when site (str ", " (words/place site))) ": " done
             (when total (str " of " total)) " " (name unit) " done in " (words/duration since-ms)))))

(defn write-edn
  "Writes `x`, all data, to `out` as EDN."
  [^Writer out x]
  (binding [*print-length* nil, *print-level* nil, *print-meta* false, *print-dup* false, *print-namespace-maps* false, *print-readably* true]
    (print-method x out))
  (.write out "\n"))

(defn write
  "Writes `snapshot` to `out` as :text, :json or :edn."
  [snapshot ^Writer out format]
  (case format
    :text (write-text out snapshot)
    :json (do (write-json out snapshot) (.write out "\n"))
    :edn (write-edn out snapshot)))

(defn format-of
  "Returns the format of a dump with the name `path`: :json, :edn or :text. Throws :skein/bad-argument if the name is that of a heap file."
  [path]
  (when (str/ends-with? (str path) ".hprof")
    (error/fail! :skein/bad-argument
                 (str "A dump is not a heap file, so it can't be named " path ". jcmd PID GC.heap_dump -all FILE writes a heap file; FILE is its whole path.")
                 {:path (str path)}))
  (condp #(str/ends-with? %2 %1) (str path) ".json" :json, ".edn" :edn, :text))

(defn to-file
  "Calls `write` with a writer to the file `path`. Throws :skein/file."
  [path write]
  (try (with-open [out (io/writer path)] (write out))
       (catch IOException e
         (error/fail! [:skein/file :unwritable] (str "can't write " path ": " (ex-message e)) {:output (str path)}))))
