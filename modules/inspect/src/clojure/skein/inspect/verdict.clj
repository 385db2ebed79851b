;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.verdict
  "Which blocks and threads can never continue, and how sure that is.

  * :proven     no running code can reach the block or thread: the garbage collector has taken it, or a heap file shows it;
                or a simulation has nothing left that can run
  * :certain    threads wait for each other's locks
  * :suspected  blocks wait for one another according to their locals; a var or a closure may hold more channels

  A report is {:verdict :kind} with the blocks or threads that it is about."
  {:no-doc true}
  (:require
   [skein.inspect.shape :as shape]
   [skein.inspect.snapshot :as snapshot])
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

(defn collected
  "Returns a report for each block of the snapshot that was collected before it had ended, oldest first. For :kind see
  `fate`. :interrupt? is true if something that awaits its result could be ended in another way. :group has the blocks
  that waited for one another and were collected together, it among them."
  [{:keys [threads] :as snapshot}]
  (let [stuck (into #{} (comp (filter :stuck?) (map :tid)) threads)
        awaiting (awaiting snapshot)
        {:keys [groups blocks]} (:collected snapshot)
        group-of (into {} (for [{:keys [blocks] :as group} groups :when (next blocks), id blocks] [id group]))]
    (mapv (fn report [{:keys [id] :as block}]
            (let [awaited-by (awaiting id), group (when awaited-by (group-of id))]
              (cond-> {:verdict :proven :kind (fate block awaited-by) :block block}
                awaited-by (assoc :awaited-by awaited-by :interrupt? (not-every? (comp stuck :tid) awaited-by))
                group (assoc :group group))))
          blocks)))

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
      {:verdict :proven :kind :deadlock :threads [thread] :could (shape/for-ever ix thread)})))

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
  [{:keys [threads]}]
  (let [holder (into {} (for [{:keys [tid waits]} threads, {:keys [held-by]} waits :when held-by] [tid (:tid held-by)]))
        cycles (dissoc (group-by (comp (partial cycle-of holder) :tid) threads) nil)]
    (for [stuck (sort-by (comp :tid first) (vals cycles))]
      {:verdict :certain :kind :locks :threads stuck})))

;;;; Suspected

(defn- closed-groups
  "Returns each set of blocks that have waited for one another, and for nobody else, for `since-ms` or longer, according to
  their locals."
  [snapshot since-ms]
  (let [ix (shape/index snapshot)]
    (map (partial mapv (:blocks ix)) (shape/groups (shape/closed-set ix since-ms)))))

(defn suspected
  "Returns a report for each set of blocks of the snapshot that have waited for one another, and for nobody else, for
  `suspicion-ms` or longer, according to their locals."
  [snapshot]
  (for [blocks (closed-groups snapshot suspicion-ms)]
    {:verdict :suspected :kind :deadlock :blocks blocks}))

;;;; All

(defn deadlocks
  "Returns the reports on blocks and threads that can never continue, the surest first. Abandoned blocks, which are allowed, are
  left out."
  [{:keys [simulation] :as snapshot}]
  (let [collected (collected snapshot)]
    (into [] cat [(when (= :deadlock simulation)
                    [(assoc (select-keys snapshot [:blocks :threads]) :verdict :proven :kind :deadlock)])
                  (remove (comp #{:abandoned} :kind) collected) (stuck-threads snapshot collected)
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
  "Returns `snapshot` with the last groups of blocks that waited for one another, as `collect!` has proven, under :groups in
  :collected. They are {:blocks [id] :then {:blocks :channels}}, with the blocks and their channels before the collection."
  [snapshot]
  (assoc-in snapshot [:collected :groups] @groups))

(defn- as-it-was
  "Returns a group of blocks that waited for one another in `snapshot`."
  [{:keys [channels]} blocks]
  (let [used (into #{} (comp (mapcat :waits) (map :channel)) blocks)]
    {:blocks (mapv :id blocks) :then {:blocks blocks :channels (filterv (comp used :id) channels)}}))

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
        now (snapshot/take-snapshot)
        before (mapv (partial as-it-was now) (closed-groups now 0))
        ran? (collect-all registry)
        gone (into #{} (map (fn id [^Entry e] (.id e))) (.last (.collected registry)))
        proven (filterv (fn gone? [{:keys [blocks]}] (every? gone blocks)) before)]
    (swap! groups (fn add [known] (vec (take-last max-groups (into known proven)))))
    ran?))
