;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.words
  "Sentences on the blocks, channels and waits of a snapshot. Every function takes an index, as `skein.inspect.shape/index`
  returns it, or parts of a snapshot."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]))

(set! *warn-on-reflection* true)

(defn block-name
  "Returns the name of the block `id`.

      (block-name 42)
      ;=> \"go-42\""
  [id]
  (str "go-" id))

(defn counted
  "Returns a number with its noun, whose plural ends in s, and then `of-one` or `of-several`, such as a verb in the
  singular and in the plural.

      [(counted 1 \"thread\" [\" waits\" \" wait\"]) (counted 2 \"block\")]
      ;=> [\"1 thread waits\" \"2 blocks\"]"
  ([n noun] (counted n noun nil))
  ([n noun [of-one of-several]]
   (if (= 1 n) (str n " " noun of-one) (str n " " noun "s" of-several))))

(defn duration
  "Returns a time in milliseconds as text.

      (map duration [120 12400 754000])
      ;=> (\"0.1 s\" \"12.4 s\" \"12 min 34 s\")"
  [ms]
  (let [ms (long ms)]
    (if (< ms 60000)
      (str (/ (Math/round (/ ms 100.0)) 10.0) " s")
      (str (quot ms 60000) " min " (quot (rem ms 60000) 1000) " s"))))

(defn- on-one-line
  "Returns `text`, a name that the program has chosen, with a space in place of control characters and line separators, which could break a line."
  [text]
  (str/replace text #"[\p{Cc}\u2028\u2029]+" " "))

(defn place
  "Returns where a block or thread is, as \"orders.clj:31 (>! requests r)\"."
  [{:keys [file line form]}]
  (on-one-line
    (str (some-> file (str/replace #".*[/\\]" "")) (when (and line (pos? (long line))) (str ":" line)) (when form (str " " form)))))

(defn thread-name
  "Returns the name of a thread. If it has none, like many virtual threads, its number is the name. `tid` is nil if the number is
  not known.

      [(thread-name \"\" 31) (thread-name \"main\" 1)]
      ;=> [\"thread 31\" \"thread main\"]"
  [name tid]
  (cond
    (not (str/blank? name)) (str "thread " (on-one-line name))
    tid (str "thread " tid)
    :else "a thread without a name"))

(defn channel-label
  "Returns what a channel is called: its label, its block or its number."
  [{:keys [label kind id block thread]}]
  (cond
    label (on-one-line (str label))
    thread (str "the result of " (thread-name (:thread thread) (:tid thread)))
    block (str "the result of " (block-name block))
    :else (str (name (or kind :chan)) "-" id)))

(defn channel-name
  "Returns what a channel is called, and how full its buffer is."
  [{:keys [kind buffer] :as channel}]
  (let [{:keys [count capacity]} (when (not= :result kind) buffer)]
    (cond
      (and count (= :limiter kind)) (str (channel-label channel) " (" (- (long capacity) (long count)) " of " capacity " in use)")
      count
      (str (channel-label channel) " (" count (when capacity (str "/" capacity)) (when (= count capacity) " full") ")")
      :else (channel-label channel))))

(defn waiting-party
  "Returns the name of the block, thread or callback that waits in a channel."
  [{:keys [block thread tid callback older]}]
  (cond
    block (block-name block)
    thread (thread-name thread tid)
    callback (str "callback " callback)
    :else (str "a block older than the inspector, at " (place older))))

(defn wait
  "Returns one wait as text, such as \"to put on orders (1/1 full)\"."
  [{:keys [channels]} {:keys [op channel foreign latch lock held-by]}]
  (str (if (= :put op) "to put on " "for ")
       (cond
         channel (let [{:keys [kind] :as c} (channels channel {:id channel})]
                   (str (when (and (= :limiter kind) (not= :put op)) "a permit of ") (channel-name c)))
         latch latch
         lock (str lock ", which " (waiting-party held-by) " holds")
         :else (str "a port of another kind, " foreign))))

(defn waits
  "Returns all waits of a block or thread as text."
  [ix party]
  (if-some [ws (seq (:waits party))]
    (str/join " or " (map (partial wait ix) ws))
    (name (:state party :running))))

(defn who
  "Returns the name of a block or thread, with the label of the block. For a thread, adds the block that it runs, if that is known."
  [{:keys [id label name tid block]}]
  (if id
    (str (block-name id) (when label (str " (" (on-one-line label) ")")))
    (str (thread-name name tid) (when block (str ", which runs " (block-name block))))))

(defn blocked?
  "Returns whether a block runs on a thread that waits, in a channel or elsewhere."
  [{:keys [on waits]}]
  (and (some? on) (or (some? (seq waits)) (not= :runnable (:state on)))))

(defn says
  "Returns a sentence on where a block or thread is and what it waits for."
  [ix {:keys [site since-ms state on] :as party}]
  (let [at (or (:site on) site) ; a step that blocks is in a function that the block has called
        who (str (who party) (when at (str ", " (place at))))
        thread (when (blocked? party) (str "blocks " (thread-name (:name on) (:tid on))))]
    (cond
      (seq (:waits party)) (str who (if since-ms (str ", has waited " (duration since-ms) " ") ", waits ") (waits ix party) (when thread (str ", and " thread)) ".")
      thread (str who ", " thread " outside of channels.")
      :else (str who ", is " (name (or state :waiting)) "."))))

(defn- locked-out
  "Returns the other threads that wait for a lock that a thread of `chain` holds."
  [{:keys [threads]} chain]
  (let [tids (into #{} (keep :tid) chain)]
    (filter (fn waits? [t] (and (not (tids (:tid t))) (some (comp tids :tid :held-by) (:waits t)))) (vals threads))))

(defn- unseen
  "Returns a sentence on the running blocks, whose locals are not seen, without those of `chain` and `helpers` and those that wait for
  a lock of `chain`; nil if there are none."
  [{:keys [blocks] :as ix} chain helpers]
  (let [known (-> helpers (into (keep :id) chain) (into (keep :block) (locked-out ix chain)))
        running (filter (fn runs? [{:keys [id state]}] (and (= :running state) (not (known id)))) (vals blocks))
        places (sort (distinct (map (fn at [{:keys [on site]}] (place (or (:site on) site))) running)))
        [runs its they] (if (next running) [" run" "their" "they"] [" runs" "its" "it"])]
    (when (seq running)
      (str (counted (count running) "other block") runs ", at " (str/join ", " (take 3 places)) (when (nth places 3 nil) " and other places")
           ". The inspector does not see " its " locals, so " they " could end " (if (next chain) "any of these waits" "that") "."))))

(defn of-children
  "Returns a sentence on the scope for which a block or thread waits, and its children."
  [children]
  (let [named (map waiting-party (take 5 (remove (comp false? :begun?) children)))
        more (- (count children) (count named))]
    (str "The scope ends when its children have ended"
         (when (seq named) (str ": " (str/join ", " named) (when (pos? more) (str " and " more " more")))) ".")))

(defn gone
  "Returns the state of the blocks in the :collected of a snapshot. Those of a heap file are in the file, but no code can reach them."
  [snapshot]
  (if (:heap snapshot) :stuck :collected))

(defn process
  "Returns the number of the process of a snapshot or index. If it is not known, as for a heap file, returns \"PID\"."
  [{:keys [pid]}]
  (str (or pid "PID")))

(defn thread-list
  "Returns the command that lists all threads of the process."
  [{:keys [old-jvm?] :as snapshot}]
  (str "jcmd " (process snapshot) " " (if old-jvm? "Thread.print" "Thread.dump_to_file \"$PWD/threads.txt\"")))

(defn- awaits-collected?
  "Returns whether `party` waits for a result whose block the heap file does not have."
  [{:keys [channels blocks]} {:keys [waits]}]
  (some (fn of-none [{:keys [channel]}]
          (let [{:keys [kind block running?]} (channels channel)] (and (= :result kind) (not running?) (not (blocks block)))))
        waits))

(defn for-ever
  "Returns sentences on a thread, or on the block that it runs, if a heap file proves that it waits for ever."
  [ix party]
  (str "No running code can reach that, so it waits for ever."
       (when (awaits-collected? ix party)
         (str " The block of that result was collected earlier. If the inspector was on then, ./skein ps " (process ix) " names it. If not, call"
              " skein.inspect/start! at the start of the program, and run ./skein ps PID when it hangs again."))
       (some->> (seq (shape/children ix party)) of-children (str " "))))

(defn- hopeless
  "Returns a sentence on each block that was collected before it had ended and for whose result `block` waits, or nil."
  [ix block]
  (when-some [waits (seq (filter (partial shape/hopeless? ix) (:waits block)))]
    (str/join " " (map (fn says [{:keys [channel]}]
                         (str (block-name (:block ((:channels ix) channel)))
                              " was collected before it had ended: it can never continue."))
                       waits))))

(defn- judged
  "Returns sentences on the blocks that could end the waits of `block`, the last of `chain`, judging by locals."
  [ix block chain]
  (let [helpers (shape/helpers ix block), unseen (unseen ix chain helpers)]
    (str/join " "
      (keep identity
        [(if (seq helpers)
           (str "Judging by their locals, " (when-not unseen "only ") (str/join ", " (map block-name (take 5 (sort helpers)))) " could end that.")
           (str "Judging by their locals, no " (when unseen "parked ") "block could end that."))
         unseen
         (some->> (seq (locked-out ix chain)) (map (partial says ix)) (str/join " "))
         (when (empty? helpers) "Code that reaches it in another way, such as through a var, still may.")]))))

(defn- hope
  "Returns sentences on who could end one of the waits of `block`, the last of `chain`."
  [{:keys [channels] :as ix} {:keys [waits] :as block} chain]
  (let [waited-for (map (comp channels :channel) waits)
        timers (sort (keep :remaining-ms waited-for))]
    (cond
      (:stuck? block) (for-ever ix block)
      (seq timers) (str "A timer ends that in " (duration (first timers)) ".")
      (some (comp #{:timeout} :kind) waited-for) "A timer ends that. A heap does not show when."
      (seq (shape/children ix block)) (of-children (shape/children ix block))
      (some :held-by waits) (str (waiting-party (some :held-by waits)) " is not known to wait.")
      (seq (shape/helpers ix block)) (judged ix block chain)
      (shape/deadline ix block) (str "The deadline of its scope is in " (duration (shape/deadline ix block)) ".")
      (seq (shape/makers ix block)) (str (str/join ", " (map who (take 5 (shape/makers ix block)))) " could end that.")
      (some :foreign waits) "It is not known what could end that."
      :else (judged ix block chain))))

(defn outlook
  "Returns sentences on who could end the waits of the last of `chain`, blocks and threads that wait for one another, and on waits
  that nobody can end."
  [ix chain]
  (let [block (peek chain), waits (remove (partial shape/hopeless? ix) (:waits block))]
    (str/join " " (keep identity [(hopeless ix block)
                                  (when (seq waits) (hope ix (assoc block :waits waits) chain))]))))
