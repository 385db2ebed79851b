;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.verdict
  "Which blocks and threads can never continue, and how sure that is.

  * :proven     no running code can reach the block or thread: the garbage collector has taken it, or a heap file shows it
  * :certain    threads wait for each other's locks
  * :suspected  blocks wait for one another according to their locals; a var or a closure may hold more channels

  A report is {:verdict :kind :says} with the blocks or threads that it is about."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.words :as words])
  (:import
   (skein.inspect.rt Entry Registry)))

(set! *warn-on-reflection* true)

(def ^:const suspicion-ms
  "How long blocks must have waited before they are reported as :suspected."
  2000)

;;;; Proven

(defn- bound
  "Returns the blocks and threads that wait only for results of collected blocks, and that no scope could cancel, as the
  parties {:block id} and {:thread tid}. A timer, another port or a deadline could end any other wait."
  [{:keys [blocks threads channels]}]
  (let [stuck (into #{} (comp (filter :collected?) (map :id)) channels)
        bound? (fn bound? [{:keys [waits cancellable?]}]
                 (and (seq waits) (not cancellable?)
                      (every? (fn on-stuck? [{:keys [op channel]}] (and (= :take op) (stuck channel))) waits)))]
    (-> (into #{} (comp (filter :stuck?) (map (fn party [t] {:thread (:tid t)}))) threads)
        (into (comp (filter bound?) (map (fn party [b] {:block (:id b)}))) blocks)
        (into (comp (filter bound?) (map (fn party [t] {:thread (:tid t)}))) threads))))

(defn- awaiting
  "Returns the parties that wait only for the results of collected blocks: {block-id [party]}."
  [{:keys [channels] :as snapshot}]
  (let [bound (bound snapshot)
        bound? (fn bound? [{:keys [block tid]}] (bound (if block {:block block} {:thread tid})))]
    (into {} (keep (fn of [{:keys [collected? block takes]}]
                     (when-some [parties (when collected? (seq (filter bound? takes)))] [block (vec parties)])))
          channels)))

(defn- fate
  "Returns what the collection of a block means. `awaited-by` are the parties that wait only for its result.

  :deadlock     they wait for ever
  :no-clean-up  its catch or finally clause has not run
  :lost-value   the value of its put is lost
  :abandoned    it does no harm"
  [{{:keys [in-try]} :site op :op} awaited-by]
  (cond
    (seq awaited-by) :deadlock
    in-try :no-clean-up
    (= :put op) :lost-value
    :else :abandoned))

(def ^:private meaning
  {:no-clean-up "Its catch or finally clause has not run."
   :lost-value "The value of its put is lost."
   :abandoned "It waited for a value that no code could put."})

(defn- group-of
  "Returns a sentence on the blocks that waited for one another and were collected together, the block `id` among them, or nil."
  [groups id]
  (some (fn of-id [{:keys [blocks says]}]
          (when (and (next blocks) (some #{id} blocks)) (str " It was one of these blocks, which waited for one another: " says)))
        groups))

(defn- proven [ix groups awaited stuck {:keys [id site waits] :as block}]
  (let [awaited-by (awaited id)
        kind (fate block awaited-by)]
    (cond-> {:verdict :proven :kind kind :block block
             :says (str (words/who block) ", " (words/place site) (when (seq waits) (str ", waits " (words/waits ix block))) ", can never continue: no running code can reach it. "
                        (if awaited-by
                          (str (str/join ", " (map words/waiting-party awaited-by))
                               (if (next awaited-by) " wait" " waits")
                               " for its result only, which will never come."
                               (when-not (every? (comp stuck :tid) awaited-by)
                                 " A put on the port of that result, closing it or an interrupt could still end the wait.")
                               (group-of groups id))
                          (meaning kind)))}
      awaited-by (assoc :awaited-by awaited-by))))

(defn collected
  "Returns a report for each block of the snapshot that was collected before it had ended, oldest first. For :kind see `fate`."
  [snapshot]
  (let [stuck (into #{} (comp (filter :stuck?) (map :tid)) (:threads snapshot))]
    (mapv (partial proven (shape/index snapshot) (:groups (:collected snapshot)) (awaiting snapshot) stuck) (:blocks (:collected snapshot)))))

(defn- idles?
  "Returns whether this is the main thread and it only takes, and not from a result or a scope. A program's main function may wait in
  this way to keep the program alive."
  [{:keys [channels]} {:keys [name waits]}]
  (and (= "main" name) (not-any? (fn ends? [{:keys [op channel]}] (or (= :put op) (#{:result :scope} (:kind (channels channel))))) waits)))

(defn- stuck-threads
  "Returns a report for each thread that waits for something that no running code can reach, as a heap file shows. A thread that
  waits for a block in `told` is left out: the report on that block names it."
  [snapshot told]
  (let [ix (shape/index snapshot), told (into #{} (comp (mapcat :awaited-by) (map :tid)) told)]
    (for [{:keys [tid stuck?] :as thread} (:threads snapshot)
          :when (and stuck? (not (told tid)) (not (idles? ix thread)))]
      {:verdict :proven :kind :deadlock :threads [thread]
       :says (str (words/says ix thread) " " (words/for-ever ix thread))})))

;;;; Certain

(defn- cycle-of
  "Returns the set of threads through which the thread `tid` waits for itself, or nil if it does not. `holder` is a map from a
  thread to the thread that holds the lock for which it waits."
  [holder tid]
  (loop [t (holder tid), seen #{tid}]
    (cond (= t tid) seen
          (or (nil? t) (seen t)) nil
          :else (recur (holder t) (conj seen t)))))

(defn lock-cycles
  "Returns a report for each cycle of threads that wait for each other's locks."
  [{:keys [threads] :as snapshot}]
  (let [holder (into {} (for [{:keys [tid waits]} threads, {:keys [held-by]} waits :when held-by] [tid (:tid held-by)]))
        cycles (dissoc (group-by (comp (partial cycle-of holder) :tid) threads) nil)]
    (for [stuck (sort-by (comp :tid first) (vals cycles))]
      {:verdict :certain :kind :locks :threads stuck
       :says (str/join " " (map (partial words/says (shape/index snapshot)) stuck))})))

;;;; Suspected

(defn- closed-groups
  "Returns [[blocks text]]: each set of blocks that have waited for one another, and for nobody else, for `since-ms` or longer,
  according to their locals, and what each waits for."
  [snapshot since-ms]
  (let [ix (shape/index snapshot)]
    (for [ids (shape/groups (shape/closed-set ix since-ms)) :let [blocks (mapv (:blocks ix) ids)]]
      [blocks (str/join " " (map (partial words/says ix) blocks))])))

(defn suspected
  "Returns a report for each set of blocks of the snapshot that have waited for one another, and for nobody else, for
  `suspicion-ms` or longer, according to their locals."
  [snapshot]
  (for [[blocks text] (closed-groups snapshot suspicion-ms)]
    {:verdict :suspected :kind :deadlock :blocks blocks
     :says (str text (if (next blocks) " They seem to wait for one another." " It seems to wait for itself."))}))

;;;; All

(defn deadlocks
  "Returns the reports on blocks and threads that can never continue, the surest first. Abandoned blocks, which are allowed, are
  left out."
  [snapshot]
  (let [collected (collected snapshot)]
    (into [] cat [(remove (comp #{:abandoned} :kind) collected) (stuck-threads snapshot collected)
                  (lock-cycles snapshot) (suspected snapshot)])))

;;;; The garbage collector

;; A collected block no longer says what it waited for, so these groups are read before the collection.
(defonce ^:private groups (atom []))

(def ^:const ^:private max-groups 100)

(defn forget!
  "Deletes what `collect!` has remembered."
  []
  (reset! groups []))

(defn with-groups
  "Returns `snapshot` with the last groups of blocks that waited for one another, as `collect!` has proven. They are
  [{:blocks [id] :says text}] under :groups in :collected."
  [snapshot]
  (assoc-in snapshot [:collected :groups] @groups))

(defn- collect-all
  "Runs the garbage collector until it collects no more blocks that have not ended. Returns whether it ran."
  [^Registry registry]
  (loop [i 0]
    (let [before (.count (.collected registry))]
      (cond
        (not (.collect registry 20000)) false
        (and (< i 5) (or (zero? i) (< before (.count (.collected registry))))) (recur (inc i))
        :else true))))

(defn collect!
  "Runs the garbage collector until it collects no more blocks that have not ended, and remembers which of them waited for one
  another. Returns whether it ran."
  []
  (let [registry (Registry/get)
        before (mapv (fn group [[blocks text]] {:blocks (mapv :id blocks) :says text}) (closed-groups (snapshot/take-snapshot) 0))
        ran? (collect-all registry)
        gone (into #{} (map (fn id [^Entry e] (.id e))) (.last (.collected registry)))
        proven (filterv (fn gone? [{:keys [blocks]}] (every? gone blocks)) before)]
    (swap! groups (fn add [known] (vec (take-last max-groups (into known proven)))))
    ran?))
