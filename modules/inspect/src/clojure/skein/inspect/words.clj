;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.words
  "All sentences of the inspector. The functions take an index, as `skein.inspect.shape/index` returns it, and data.

  * `says`: where a block or thread is, and what it waits for
  * `sentence` on what `deadlocks`, `lints`, `growth` or `why` has found
  * names of blocks, threads and channels, places and numbers"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]))

(set! *warn-on-reflection* true)

(defn block-name
  "Returns the name of the block `id`. The ids of a simulation are names.

      (block-name 42)
      ;=> \"go-42\""
  [id]
  (if (string? id) id (str "go-" id)))

(defn- filled
  "Returns `template` with what its braces name. `{x}` is `(part :x)`. `{x|one|several}` is \"one\" if `(part :x)` is 1."
  [template part]
  (str/replace template #"\{([a-z-]+)(?:\|([^|}]*)\|([^}]*))?\}"
               (fn value [[_ k one several]]
                 (let [v (part (keyword k))] (str (cond (nil? one) v (= 1 v) one :else several))))))

(defn listed
  "Returns the first `n` of `names`, and how many there are more."
  [n names]
  (let [more (- (count names) (long n))]
    (str (str/join ", " (take n names)) (when (pos? more) (str " and " more " more")))))

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
    (string? tid) name
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
    (string? id) id
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
  [{:keys [channels]} {:keys [op channel foreign latch lock held-by by]}]
  (str (if (= :put op) "to put on " "for ")
       (cond
         channel (let [{:keys [kind] :as c} (channels channel {:id channel})]
                   (str (case kind :limiter (when-not (= :put op) "a permit of ") :scope "the end of " nil) (channel-name c)))
         latch (str latch (when by (str " of " (waiting-party by))))
         lock (str lock (when held-by (str ", which " (waiting-party held-by) " holds")))
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

(defn says
  "Returns a sentence on where a block or thread is and what it waits for."
  [ix {:keys [site since-ms state on] :as party}]
  (let [at (or (:site on) site) ; a step that blocks is in a function that the block has called
        who (str (who party) (when at (str ", " (place at))))
        thread (when (shape/blocked? party) (str "blocks " (thread-name (:name on) (:tid on))))]
    (cond
      (seq (:waits party)) (str who (if since-ms (str ", has waited " (duration since-ms) " ") ", waits ") (waits ix party) (when thread (str ", and " thread)) ".")
      thread (str who ", " thread " outside of channels.")
      :else (str who ", is " (name (or state :waiting)) "."))))

(defn gone
  "Returns the state of the blocks in the :collected of a snapshot. Those of a heap file are in the file, but no code can
  reach them."
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

;;;; Who could end a wait

(defn- all-say [ix parties]
  (str/join " " (map (partial says ix) parties)))

(defn- of-children
  "Returns a sentence on the children of a scope for which something waits."
  [children]
  (let [named (map waiting-party (remove (comp false? :begun?) children))]
    (str "The scope ends when its children have ended"
         (when (seq named) (str ": " (listed 5 (concat (take 5 named) (drop (min 5 (count named)) children))))) ".")))

(defn- of-running
  "Returns sentences on running blocks, which could end a wait of a chain, or nil if there are none."
  [running many?]
  (let [places (sort (distinct (map (fn at [{:keys [on site]}] (place (or (:site on) site))) running)))]
    (when (seq running)
      (filled "{blocks}, at {places}. The inspector does not see {n|its|their} locals, so {n|it|they} could end {waits}."
              {:n (count running) :blocks (counted (count running) "other block" [" runs" " run"])
               :places (str (str/join ", " (take 3 places)) (when (nth places 3 nil) " and other places"))
               :waits (if many? "any of these waits" "that")}))))

(defn- by-locals [ix {:keys [helpers running locked-out many?]}]
  (->> [(filled "Judging by their locals, {who} could end that."
                {:who (if (seq helpers)
                        (str (when (empty? running) "only ") (str/join ", " (map block-name (take 5 helpers))))
                        (str "no " (when (seq running) "parked ") "block"))})
        (of-running running many?)
        (when (seq locked-out) (all-say ix locked-out))
        (when (empty? helpers) "Code that reaches it in another way, such as through a var, still may.")]
       (keep identity)
       (str/join " ")))

(defn- of-users
  "Returns sentences on who has used the channels for which something waits, see `skein.inspect.shape/users`. Which of them will use
  one again can't be known."
  [{:keys [blocks threads]} {:keys [side many? limiter? self served holders sure]}]
  (let [live? (some-fn blocks threads), others (disj served self), ended (remove live? holders)
        [it any] (if many? ["one of them" "any of them"] ["it" "it"])
        [uses used] (case side :take ["puts on" "put on"] :put ["takes from" "taken from"] ["serves" "served"])
        names (fn names [ids]
                (let [[a b c & more] (sort ids)]
                  (str/join " and " (concat (remove nil? [a b c]) (if (next more) [(str (count more) " more")] more)))))
        did (fn did [ids what & [after]]
              (filled "{who} {n|has|have} {what} {it}{maybe}{after}."
                      {:who (names ids) :n (count ids) :what what :it it :after after :maybe (when-not (every? sure ids) " or tried to")}))
        by-whom (cond
                  limiter? nil
                  (and (served self) (empty? others)) (str "Nobody " uses " " any " but the task itself.")
                  (some live? others) (did (filter live? others) used)
                  (seq others) (filled (if (= :put side)
                                         "{who} {n|has|have} ended, and nobody else takes from {any}."
                                         "{who} {n|has|have} ended, and nobody has closed {any}.")
                                       {:who (names others) :n (count others) :any any})
                  :else (str "Nobody has " used " " any (when-not (= :put side) (str ", and nobody has closed " any)) "."))]
    (->> [by-whom
          (some-> (seq (filter live? holders)) (did "taken from"))
          (some-> (seq ended) (did "taken from" (if (next ended) " and have ended" " and has ended")))]
         (keep identity)
         (str/join " "))))

(def ^:private earlier
  (str " The block of that result was collected earlier. If the inspector was on then, ./skein ps {process} names it. If"
       " not, call skein.inspect/start! at the start of the program, and run ./skein ps PID when it hangs again."))

(defn outlook
  "Returns sentences on what could end a wait, see `skein.inspect.shape/outlook`."
  [ix {:keys [could collected ms children holder makers earlier?] :as outlook}]
  (->> (concat
         (map (fn gone [id] (str (block-name id) " was collected before it had ended: it can never continue.")) collected)
         [(case could
            nil nil
            :nothing (str "No running code can reach that, so it waits for ever."
                          (when earlier? (filled earlier {:process (process ix)}))
                          (when (seq children) (str " " (of-children children))))
            :timer (if ms (str "A timer ends that in " (duration ms) ".") "A timer ends that. A heap does not show when.")
            :children (of-children children)
            :holder (str (waiting-party holder) " is not known to wait.")
            :deadline (str "The deadline of its scope is in " (duration ms) ".")
            :makers (str (str/join ", " (map who (take 5 makers))) " could end that.")
            :foreign "It is not known what could end that."
            :users (of-users ix outlook)
            :locals (by-locals ix outlook))])
       (remove str/blank?)
       (str/join " ")))

;;;; Deadlocks

(def ^:private meaning
  {:no-clean-up "Its catch or finally clause has not run."
   :lost-value "The value of its put is lost."
   :abandoned "It waited for a value that no code could put."
   :deadlock "{parties} {n|waits|wait} for its result only, which will never come.{interrupt}{group}"})

(defn- of-group
  "Returns a sentence on blocks that waited for one another when the inspector proved them; nil if there is no such group."
  [{:keys [says then]}] ; before version 2, a dump has the sentence
  (when-some [says (or says (some-> then (as-> then (all-say (shape/index then) (:blocks then)))))]
    (str " It was one of these blocks, which waited for one another: " says)))

(defn- of-proven [ix {:keys [kind awaited-by group interrupt?], {:keys [site] :as block} :block}]
  (filled (str "{who}, {place}{waits}, can never continue: no running code can reach it. " (meaning kind))
          {:who (who block) :place (place site) :waits (when (seq (:waits block)) (str ", waits " (waits ix block)))
           :n (count awaited-by) :parties (str/join ", " (map waiting-party awaited-by)) :group (of-group group)
           :interrupt (when interrupt?
                        " A put on the port of that result, closing it or an interrupt could still end the wait.")}))

(defn- of-deadlock [ix {:keys [verdict block blocks threads could] :as report}]
  (cond
    block (of-proven ix report)
    (= :suspected verdict) (str (all-say ix blocks) (if (next blocks)
                                                      " They seem to wait for one another."
                                                      " It seems to wait for itself."))
    :else (str (all-say ix (concat threads blocks)) (when could (str " " (outlook ix could))))))

;;;; Lints

(def ^:private lints
  "lint -> its template, or a function from the finding to its template."
  {:pending "{channel}: {count} {op}s wait, of at most 1024: {places}. Further ones will be refused. Use a buffer, or fewer blocks."
   :full "{channel}{closed}: nobody has taken from it for {ms}: {who}, waits to put.{outlook}"
   :holds-lock (str "{holder} It holds a lock meanwhile. {waiting} If the wait in the channel needs such a thread, both wait for"
                    " ever. Don't wait in a channel while you hold a lock.")
   :retained-by-timer (fn by [{:keys [channel]}]
                        (if channel
                          (str "{channel} holds {count} blocks for {ms}: {places}. They can't be collected before that. Close"
                               " the timeout when it is no longer needed.")
                          (str "{who}, each wait for a timer of more than a minute. Close the timeouts that are no longer"
                               " needed.")))
   :ignores-cancel (str "Scope {scope} was cancelled {ms} ago. {parties} {count|has|have} not ended. A child gets its"
                        " cancellation once. After that, its `catch` and `finally` must end by themselves. A step that"
                        " computes must call `cancelled?`.")
   :never-started "{who}, made {ms} ago, {n|has|have} not begun."
   :hog (str "{who}, {n|has|have} computed for {ms} in one step, at {at}, while {ready} {ready|block wants|blocks want} to"
             " run. Split the step, or compute on a thread.")
   :blocked (str "{who}, {n|has blocked its thread|have blocked their threads} for {ms}, at {at}{waits}. Other blocks run"
                 " meanwhile. A block keeps its thread unless it waits with `<!`, `>!` or `alts!` in its own body.")
   :nil-loop (str "{who}, {n|has found the same channel closed|have found one closed channel each, up to} {count} times in a"
                  " row. End the loop when a take gives nil.")
   :put-after-close (str "{who}, {n|has found the same channel closed|have found one closed channel each, up to} {count}"
                         " times in a row. End the loop when a put gives false.")
   :dropped-error (fn alike [{:keys [more]}]
                    (if (pos? (long more))
                      "A {exception} on {thread}{site}, and {more} more of that place were neither caught nor taken."
                      "A {exception} on {thread}{site}, was neither caught nor taken."))
   :starved (str "No virtual thread has got a carrier for {ms}. The carriers are held by {holders}. Don't wait in class"
                 " initializers or in native code on virtual threads.")
   :abandoned (fn of-heap [{:keys [heap?]}]
                (if heap?
                  "{count} blocks wait{site}: no code can put a value for them."
                  "{least}{count} blocks were collected while they waited{site}: no code could put a value for them."))
   :growth "The number of blocks{site} grows: {counts}."})

(defn- who-and-where [{:keys [at] :as party}]
  (str (waiting-party party) (when at (str " at " (place at)))))

(defn- part
  "Returns a part of the template of a finding."
  [{:keys [threads] :as ix} {:keys [block more site] :as finding} k]
  (let [v (k finding)]
    (case k
      :channel (channel-name ((:channels ix) v {:id v}))
      :closed (when (:closed? finding) ", closed")
      :op (name v)
      :places (str/join ", " (map (fn each [[site n]] (str n " at " (place site))) v))
      :ms (duration v)
      :who (str (who (if block ((:blocks ix) block) (threads (:tid finding))))
                (when (pos? (long (or more 0))) (str " and " more " more"))
                (when site (str ", " (place site))))
      :n (inc (long (or more 0)))
      :site (when v (str (if (= :dropped-error (:lint finding)) ", at " " at ") (place v)))
      :at (place v)
      :waits (when v (str ", waiting " (waits ix {:waits v})))
      :outlook (when v (str " " (outlook ix v)))
      :holder (says ix v)
      :waiting (all-say ix (take 5 v))
      :parties (listed 5 (map who-and-where v))
      :thread (thread-name v nil)
      :holders (str/join "; " (map (fn held [{:keys [name tid site]}] (str (thread-name name tid) ", " (place site))) (take 5 v)))
      :least (when (:more? finding) "at least ")
      :counts (str/join ", " v)
      v)))

(defn- of-lint [ix {:keys [lint] :as finding}]
  (let [template (lints lint)]
    (filled (if (fn? template) (template finding) template) (partial part ix finding))))

;;;; Why something waits

(defn- parties [ps]
  (if (seq ps) (str/join ", " (map waiting-party ps)) "nobody"))

(defn- of-channel [ix {:keys [channel holders]}]
  (let [{:keys [takes puts closed?] :as c} ((:channels ix) channel)]
    (if c
      (filled "{name}{closed}: {takes} {n|waits|wait} to take, {puts} to put.{holders}"
              {:name (channel-name c) :closed (when closed? ", closed") :takes (parties takes) :puts (parties puts)
               :n (max 1 (count takes))
               :holders (when (seq holders) (str " The locals of " (str/join ", " (map block-name holders)) " hold it."))})
      (str "Nobody waits in " (channel-name {:id channel}) "."))))

(defn- ending
  "Returns sentences on how a chain ends."
  [ix {:keys [chain ends could]}]
  (let [many? (next chain)]
    (case ends
      :cycle (str (if many? "It seems that they wait for one another." "It seems to wait for itself.")
                  (when (:stuck? (peek chain)) (str " No running code can reach " (if many? "them." "it."))))
      :moves (when-not (or many? (shape/blocked? (first chain))) "It does not wait.")
      (outlook ix could))))

(def ^:private looks
  {:prove " ./skein ps {process} --heap may prove that nothing can. {list} lists all threads."
   :show " ./skein ps {process} --heap may show for what. {list} lists all threads."})

(declare ^:private of-why)

(defn- of-scope [ix {:keys [children reasons], {:keys [body] :as scope} :scope}]
  (str/join " " (list* (str (channel-label (assoc scope :kind :scope)) (when body (str " of " (waiting-party body))) ".")
                       (of-children children)
                       (map (partial of-why ix) reasons))))

(defn- of-why [ix {:keys [chain look channel scope report reasons] :as why}]
  (str (cond
         report (of-deadlock ix report)
         channel (of-channel ix why)
         scope (of-scope ix why)
         reasons (str/join " " (map (partial of-why ix) reasons))
         :else (str/join " " (remove str/blank? [(all-say ix chain) (ending ix why)])))
       (some-> (looks look) (filled {:process (process ix) :list (thread-list ix)}))))

;;;; All

(defn sentence
  "Returns what `deadlocks`, `lints`, `growth` or `why` has found, as text."
  [ix {:keys [verdict lint] :as found}]
  (cond verdict (of-deadlock ix found)
        lint (of-lint ix found)
        :else (of-why ix found)))

(defn with-sentence
  "Returns what was found, with its sentence as :says."
  [ix found]
  (assoc found :says (sentence ix found)))
