;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.shape
  "Finds out who waits for whom from the locals in a snapshot: a block that has a channel in a local could use it.

  * `helpers` of a block: the other blocks that could end its wait
  * `children` of the scopes for whose end a block or thread waits
  * `deadline` of the scope of a block or thread
  * `outlook`: what could end the waits of the last of a chain
  * `closed-set`: blocks that wait for one another only, which is a suspicion and no proof
  * `groups` of blocks that are connected

  A closure, a var or a thread may hold a channel too, which no snapshot shows."
  {:no-doc true}
  (:require
   [clojure.set :as set]))

(set! *warn-on-reflection* true)

(defn- by-id [xs]
  (persistent! (reduce (fn add [m x] (assoc! m (:id x) x)) (transient {}) xs)))

(defn index
  "Returns `snapshot` by id: {:blocks {id block} :channels {id channel} :threads {tid thread} :scopes {id scope}
  :holders {channel-id #{block-id}}}, with :pid, :heap, :old-jvm? and :simulation of the snapshot."
  [{:keys [blocks channels threads scopes] :as snapshot}]
  (or (let [{of ::of, index ::index} (meta snapshot)]
        (when (and of (identical? blocks (of 0)) (identical? channels (of 1))) index))
      (assoc (select-keys snapshot [:pid :heap :old-jvm? :simulation])
             :blocks (by-id blocks)
             :channels (by-id channels)
             :threads (into {} (map (juxt :tid identity)) threads)
             :scopes (by-id scopes)
             :holders (reduce (fn hold [m {:keys [id holds]}]
                                (reduce (fn one [m c] (update m c (fnil conj #{}) id)) m holds))
                              {} blocks))))

(defn indexed
  "Returns `snapshot` with its index, for callers that need it several times. A snapshot made from it with other blocks
  or channels has no index."
  [{:keys [blocks channels] :as snapshot}]
  (vary-meta snapshot assoc ::index (index snapshot), ::of [blocks channels]))

(defn- same-side
  "Returns the blocks that wait in channel `c` on the same side as `op`."
  [c op]
  (into #{} (keep :block) (if (= :take op) (:takes c) (:puts c))))

(defn- wait-helpers [{:keys [blocks channels holders scopes]} {:keys [op channel]}]
  (let [c (channels channel)
        makers (if-some [scope (scopes channel)]
                 (map :block (:children scope))
                 (when (= :take op) (some-> (:block c) list)))]
    (cond
      (and (:thread c) (= :take op)) #{}
      makers (if (every? blocks makers) (set makers) #{}) ; if one of them is unknown, nobody knows who could end it
      :else (set/difference (set (holders channel)) (same-side c op)))))

(defn makers
  "Returns the threads for whose results `party` waits, as in the snapshot's :threads or {:name :tid :site :state :waits []}."
  [{:keys [channels threads]} party]
  (for [{:keys [op channel]} (:waits party), :let [{:keys [thread tid] :as maker} (:thread (channels channel))] :when (and maker (= :take op))]
    (or (threads tid) (assoc (select-keys maker [:tid :site :state]) :name thread :waits []))))

(defn hopeless?
  "Returns whether a wait is for the result of a block that was collected, so that it never comes. A block
  that the index `ix` has was not collected."
  [{:keys [blocks channels]} {:keys [op channel]}]
  (let [{:keys [collected? block]} (channels channel)]
    (boolean (and (= :take op) collected? (not (blocks block))))))

(defn users
  "Returns who has used the channels in which `party` waits, by ids, if the snapshot knows, as that of a simulation does; else nil:

  - :side     :take or :put if its operations are all of one kind
  - :served   those that have done the other side, and may have no reason to do so again
  - :holders  those that have taken there and wait elsewhere. What they took may belong there, as with a pool. For a limiter,
              those that have not given back their permits
  - :sure     those of them of which this is certain: an alts! may have chosen another port"
  [{:keys [channels blocks threads]} {:keys [id tid waits]}]
  (let [arms (for [{:keys [op channel]} waits, :let [{:keys [used kind block] :as c} (channels channel)] :when (and used (not block))]
               [op (= :limiter kind) c])
        id-of (fn id-of [{:keys [block tid]}] (or block tid))
        by (fn by [of-arm] (into #{} (mapcat of-arm) arms))
        served (by (fn other [[op limiter? {:keys [used]}]] (when-not limiter? (({:take :put, :put :take} op) used))))
        takers (by (fn took [[op limiter? {:keys [used]}]] (when (and (= :take op) (not limiter?)) (:take used))))
        keepers (by (fn permits [[_ limiter? {:keys [used]}]] (when limiter? (:take used))))
        waiting (by (fn waits [[op _ c]] (when (= :take op) (:takes c))))
        all (fn all [parties] (into #{} (map id-of) parties))
        live? (some-fn blocks threads)]
    (when (seq arms)
      {:side (when (apply = (map first arms)) (ffirst arms))
       :many? (some? (next (distinct (map (comp :id peek) arms))))
       :limiter? (every? second arms)
       :self (or id tid)
       :served (all served)
       :holders (into (all keepers) (filter live?) (set/difference (all takers) (all served) (all waiting) #{(or id tid)}))
       :sure (all (filter :sure? (concat served (remove (comp (all served) id-of) (concat takers keepers)))))})))

(defn helpers
  "Returns the ids of the blocks that could end the wait of `block`, as far as the index `ix` knows. If it waits for
  the result of a block, that block could. If it waits for the end of a scope, the children could, if all are blocks.
  Otherwise it is each block that holds the channel in a local and does not wait there on the same side. In a
  simulation it is who has served the channel, unless others hold what they took from there."
  [ix block]
  (let [{:keys [served holders]} (users ix block)]
    (into #{} cat [(when (empty? holders) served) (mapcat (partial wait-helpers ix) (:waits block))])))

(defn children
  "Returns the children of the scopes for whose end `party` waits."
  [{:keys [scopes]} {:keys [waits]}]
  (mapcat (comp :children scopes :channel) waits))

(defn deadline
  "Returns in how many ms the deadline of the scope of `party` cancels it, or nil."
  [{:keys [scopes]} {:keys [scope]}]
  (let [{:keys [remaining-ms cancelled?]} (scopes scope)]
    (when-not cancelled? remaining-ms)))

(defn blocked?
  "Returns whether a block runs on a thread that waits, in a channel or elsewhere."
  [{:keys [on waits]}]
  (and (some? on) (or (some? (seq waits)) (not= :runnable (:state on)))))

(defn- locked-out
  "Returns the other threads that wait for a lock that a thread of `chain` holds."
  [{:keys [threads]} chain]
  (let [tids (into #{} (keep :tid) chain)]
    (filter (fn waits? [t] (and (not (tids (:tid t))) (some (comp tids :tid :held-by) (:waits t)))) (vals threads))))

(defn- judged
  "Returns who could end the waits of the last of `chain`, judging by locals. Those of a running block are not seen. One
  that waits for a lock of `chain` can't."
  [{:keys [blocks] :as ix} chain]
  (let [helpers (helpers ix (peek chain)), locked-out (locked-out ix chain)
        known (-> helpers (into (keep :id) chain) (into (keep :block) locked-out))]
    {:could :locals :helpers (sort helpers) :locked-out locked-out
     :running (filter (fn runs? [{:keys [id state]}] (and (= :running state) (not (known id)))) (vals blocks))}))

(defn- awaits-collected?
  "Returns whether `party` waits for a result whose block the heap file does not have."
  [{:keys [channels blocks]} {:keys [waits]}]
  (some (fn of-none [{:keys [channel]}]
          (let [{:keys [kind block running?]} (channels channel)]
            (and (= :result kind) (not running?) (not (blocks block)))))
        waits))

(defn for-ever
  "Returns the outlook of a thread or of the block that it runs, if a heap file proves that it waits for ever."
  [ix party]
  {:could :nothing :earlier? (awaits-collected? ix party) :children (children ix party)})

(defn- hope [{:keys [channels] :as ix} chain]
  (let [{:keys [waits stuck?] :as party} (peek chain)
        waited-for (map (comp channels :channel) waits)
        children (children ix party)
        holder (some :held-by waits)
        deadline (deadline ix party)
        helped? (seq (helpers ix party))
        makers (makers ix party)
        users (users ix party)]
    (cond
      stuck? (for-ever ix party)
      (some (comp #{:timeout} :kind) waited-for) {:could :timer :ms (first (sort (keep :remaining-ms waited-for)))}
      (seq children) {:could :children :children children}
      holder {:could :holder :holder holder}
      users (assoc users :could :users)
      helped? (judged ix chain)
      deadline {:could :deadline :ms deadline}
      (seq makers) {:could :makers :makers makers}
      (some :foreign waits) {:could :foreign}
      :else (judged ix chain))))

(defn outlook
  "Returns what could end the waits of the last of `chain`, blocks and threads that wait for one another. :could is
  :nothing, :timer, :children of a scope, the :holder of a lock, the :deadline of a scope, :makers, which are threads whose
  results are awaited, :users of the channels, see `users`, :foreign if that is not known, or :locals for the blocks that :helpers, :running and
  :locked-out have; nil if nothing can. :collected has the blocks whose results will never come."
  [{:keys [channels] :as ix} chain]
  (let [{hopeless true, waits false} (group-by (partial hopeless? ix) (:waits (peek chain)))]
    (cond-> {:many? (some? (next chain)) :collected (map (comp :block channels :channel) hopeless)}
      (seq waits) (merge (hope ix (conj (pop chain) (assoc (peek chain) :waits waits)))))))

(defn- wakes-itself?
  "Returns whether a timer, or something that no snapshot shows, could end one of the waits of `block`."
  [{:keys [channels] :as ix} block]
  (or (deadline ix block)
      (some (fn one [{:keys [channel foreign]}]
              (let [{:keys [kind closed?] :or {kind :chan}} (channels channel)]
                (or foreign (not (#{:chan :limiter :result :scope} kind)) (and (= :chan kind) closed?))))
            (:waits block))))

(defn- helpers-of-stuck [ix helpers-of {:keys [waits] :as block} since-ms]
  (when (and (seq waits)
             (<= (long since-ms) (long (:since-ms block 0)))
             (every? (comp seq helpers-of) waits)
             (not (wakes-itself? ix block)))
    (into #{} (mapcat helpers-of) waits)))

(defn closed-set
  "Returns {id #{helper-id}} for the blocks that have waited for `since-ms` or more, and whose helpers are all in the map too.
  Unless the map is empty, it contains a cycle."
  [ix since-ms]
  (let [of-held (memoize (fn of-held [op channel] (wait-helpers ix {:op op :channel channel}))) ; many may wait there
        helpers-of (fn helpers-of [{:keys [op channel] :as wait}]
                     (if (contains? (:holders ix) channel) (of-held op channel) (wait-helpers ix wait)))]
    (loop [graph (into {} (keep (fn stuck [[id b]] (when-some [h (helpers-of-stuck ix helpers-of b since-ms)] [id h]))) (:blocks ix))]
      (let [smaller (into {} (filter (fn inside? [[_ hs]] (every? graph hs))) graph)]
        (if (= (count smaller) (count graph)) graph (recur smaller))))))

(defn groups
  "Returns the connected parts of a graph {id #{id}}, each a sorted vector of ids."
  [graph]
  (let [both (reduce-kv (fn add [g id hs] (reduce (fn back [g h] (update g h (fnil conj #{}) id)) g hs)) graph graph)]
    (loop [todo (sort (keys graph)), seen #{}, found []]
      (if-some [[id & more] (seq todo)]
        (if (seen id)
          (recur more seen found)
          (let [part (loop [stack [id], part #{}]
                       (if-some [x (peek stack)]
                         (recur (into (pop stack) (remove part) (when-not (part x) (both x))) (conj part x))
                         part))]
            (recur more (into seen part) (conj found (vec (sort part))))))
        found))))
