;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.snapshot
  "Makes one value of the blocks, threads and channels of this process, for the rest of the inspector.

  * `take-snapshot` makes one

  It reads from the channels, under their locks, which block waits where. Events would not suffice: a block
  that asks for a value need not wait for it. It reads one channel after the other while the program runs,
  so a snapshot is exact for each channel, and for all of them only if no code runs."
  {:no-doc true}
  (:require
   [skein.impl.async.describe :as describe]
   [skein.impl.async.gather :as gather]
   [skein.inspect.carriers :as carriers]
   [skein.inspect.places :as places]
   [skein.inspect.scopes :as scopes])
  (:import
   (java.lang.management ManagementFactory ThreadInfo ThreadMXBean)
   (java.util ArrayList HashMap IdentityHashMap List Map)
   (skein.inspect.rt ChannelNames Entry Entry$Fate Registry Registry$Waiting)
   (skein.rt Channel Labels Operation Result SourceChannel Uncaught Uncaught$Report Waiter)
   (skein.rt.block Callback Failures Frame)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

(def ^:const version
  "The version of the format, under :skein/snapshot."
  1)

(def ^:const ^:private max-stacks
  "The number of waiting threads whose place is read, which takes some 50 µs each."
  256)

;;;; The waiters of a channel

(defn owner
  "Returns the frame, thread or function of a waiter, or the waiter itself."
  [^Waiter w]
  (or (.block w) (.thread w) (when (instance? Callback w) (.function ^Callback w)) w))

(defn- owners [^List waiters]
  (if (.isEmpty waiters) [] (mapv owner waiters))) ; mostly there are none

(defn- view-of
  "Returns who waits in `c` now."
  [^Channel c]
  {:id (ChannelNames/id c) :channel c :takes (owners (.waiters c true)) :puts (owners (.waiters c false))})

(defn waits-of
  "Returns a function from an owner in the :takes and :puts of channels to what it waits in, [{:op :channel :place}], or nil."
  [channels]
  (let [waits (HashMap.)
        add (fn add [op channel place owner]
              (.put waits owner (conj (.getOrDefault waits owner []) {:op op :channel channel :place (inc (long place))})))]
    (doseq [{:keys [id takes puts]} channels]
      (reduce-kv (fn take [_ i owner] (add :take id i owner)) nil takes)
      (reduce-kv (fn put [_ i owner] (add :put id i owner)) nil puts))
    (fn in [owner] (.get waits owner))))

(defn- arms
  "Returns an operation as [op port] pairs."
  [op ports]
  (condp = op
    Operation/TAKE [[:take ports]]
    Operation/PUT [[:put ports]]
    Operation/ALTS (mapv (fn arm [p] (if (vector? p) [:put (nth p 0)] [:take p])) ports)
    nil))

(defn- ports-of [port]
  (if (vector? port) (map (fn of [p] (if (vector? p) (nth p 0) p)) port) [port]))

(defn callback-name
  "Returns the name of a function, or of the class of another waiter, that is neither a block nor a thread."
  [owner]
  (if (instance? Waiter owner) (.getSimpleName (class owner)) (Compiler/demunge (.getName (class owner)))))

(defn- party
  "Returns an owner as {:block id}, {:thread name :tid n}, {:callback name}, or {:older site} of a block that was parked
  before the inspector was on; nil for a block that has ended."
  [x]
  (cond
    (instance? Thread x) {:thread (.getName ^Thread x) :tid (.threadId ^Thread x)}
    (instance? Frame x) (let [^Entry e (Registry/entry x)]
                          (cond
                            (and e (= Entry$Fate/LIVES (.fate e))) {:block (.id e)}
                            (.isClosed (.port ^Frame x)) nil
                            :else {:older (select-keys (describe/frame x) [:file :line :form])}))
    :else {:callback (callback-name x)}))

(defn- limiter
  "Returns the description of a limiter of skein.async.limit, {:name :n} or {:name :rate}, or nil for another channel."
  [^Channel c]
  (let [label (.label c)]
    (when (and (map? label) (some label [:n :rate])) label)))

(defn- kind [^Channel c]
  (cond
    (instance? Timeout (.role c)) :timeout
    (.isResult c) :result
    (instance? SourceChannel c) :future
    (limiter c) :limiter
    :else :chan))

(defn place
  "Returns the innermost place of a stack that is not in the machinery of Clojure or Skein, or nil."
  [stack]
  (some-> (first (remove (fn [^StackTraceElement e] (Failures/isMachinery (.getClassName e))) stack)) places/of-element))

(defn- makers
  "Returns {channel-id thread} for the channels that get the results of threads: {:thread name :tid n :state :site}."
  [^Registry registry views]
  (into {} (comp (keep (fn of [{:keys [id channel]}] (when-some [t (.maker registry channel)] [id t])))
                 (take max-stacks)
                 (map (fn made-by [[id ^Thread t]]
                        [id (assoc (party t) :state (keyword (.toLowerCase (str (.getState t)))) :site (place (.getStackTrace t)))])))
        views))

(defn- channel [scopes makers {:keys [id takes puts], ^Channel c :channel}]
  (let [scope (scopes id), thread (makers id)
        ^Entry maker (Result/block c)
        ;; A result with a label is here even when its block has ended.
        ^Entry block (when (and maker (not= Entry$Fate/GONE (.fate maker))) maker)
        label (or (Labels/of c) (:label scope) (some-> (:name (limiter c)) str))
        buffer (.buffer c)]
    (cond-> {:id id :kind (if scope :scope (kind c)) :closed? (.isClosed c)
             :takes (into [] (keep party) takes) :puts (into [] (keep party) puts)}
      label (assoc :label label)
      thread (assoc :kind :result, :thread thread)
      buffer (assoc :buffer (describe/buffer buffer))
      block (assoc :block (.id block))
      (and block (= Entry$Fate/COLLECTED (.fate block))) (assoc :collected? true)
      (instance? Timeout (.role c))
      (assoc :remaining-ms (max 0 (quot (- (.deadlineNanos ^Timeout (.role c)) (Scheduler/nanoTime)) 1000000))))))

;;;; Blocks

(defn- waits-now
  "Returns the waits of a frame or thread in `ports`, where a port of another library is {:op :foreign class}; nil if it has
  left one, since it then continues."
  [waits owner arms]
  (let [found (or (waits owner) [])]
    (if (= (count arms) (count found))
      found
      (let [foreign (for [[op port] arms :when (not (instance? Channel port))] {:op op :foreign (some-> port class .getName)})]
        (when (= (count arms) (+ (count found) (count foreign))) (into found foreign))))))

(defn- locals [^Frame f]
  (into [(.o0 f) (.o1 f) (.o2 f) (.o3 f) (.o4 f) (.o5 f)] (.more f)))

(defn- slow-puts
  "Returns [[port callback]]: the puts that callbacks do for a block. The block waits in `port` until all are done, as a mult waits for
  its taps."
  [frame port]
  (some (fn own [x] (gather/slow-puts x port)) (locals frame)))

(defn- holds
  "Returns the channels in the frame's locals, or in vectors in the locals, in which a block or thread waits."
  [^Map ids ^Frame f]
  (let [held (fn held [found x]
               (let [id (when (instance? Channel x) (.get ids x))]
                 (if (or (nil? id) (some #{id} found)) found (conj found id))))]
    (reduce (fn inside [found x] (if (and (vector? x) (< (count x) 32)) (reduce held found x) (held found x)))
            [] (locals f))))

(defn- elapsed-ms [now ticks]
  (* (max 0 (- (long now) (long ticks))) Registry/TICK_MILLIS)) ; it may have run on since `now`

(defn- site-of
  "Returns the place where the block of an entry parks, or parked last. `seen` keeps the places of one snapshot, of which there are
  few."
  [^Map seen ^Entry e]
  (let [site (.site e), key (or site (.sites e))]
    (or (.get seen key)
        (let [place (if site (places/site site) {:file (.file (.sites e))})]
          (.put seen key place)
          place))))

(defn- parent [^Entry e]
  (when (pos? (.parent e)) (.parent e)))

(defn- gone
  "Returns a block that was collected, with the operation that it will never do."
  [now seen ^Entry e]
  {:id (.id e) :site (site-of seen e) :since-ms (elapsed-ms now (.since e)) :age-ms (elapsed-ms now (.born e))
   :runs (.runs e) :parent (parent e) :op (condp = (.op e) Operation/TAKE :take, Operation/PUT :put, Operation/ALTS :alts, nil)})

(def ^:const ^:private long-step-ms
  "How long a step must have run before the place of its thread is read."
  500)

(defn- state-of
  "Returns the state of a thread whose stack was read between the states `before` and `after`. A thread that waits for one of Skein's
  own short locks counts as runnable."
  [before after stack]
  (let [spins? (some (fn in-lock? [^StackTraceElement e] (= "skein.rt.Lock" (.getClassName e))) (take 8 stack))]
    (if (or spins? (= Thread$State/RUNNABLE before)) :runnable (keyword (.toLowerCase (str after))))))

(defn- on-thread
  "Returns the thread of a block that has been running for some time, as {:name :tid :state :site}."
  [^Frame frame]
  (when-some [t (.thread frame)]
    (let [before (.getState t), stack (.getStackTrace t), state (state-of before (.getState t) stack)]
      (when (identical? t (.thread frame))
        {:name (.getName t) :tid (.threadId t) :state state :site (place stack)}))))

(defn- block [now seen waits ^Map ids [^Entry e ^Frame frame port arms slow]]
  (let [in (waits-now waits frame arms)
        running? (.isRunning frame) ; read once: the frame may continue at any time
        parked? (and (some? port) (seq in) (not running?))
        result (.get ids (.port frame))
        held (holds ids frame)
        refused (Registry/refusals frame)
        cancellable (.cancellable frame)
        label (Labels/of (.port frame))
        thread (when (and running? (<= (long long-step-ms) (long (elapsed-ms now (.since e))))) (on-thread frame))]
    (cond-> {:id (.id e) ; one map from the start: there may be a hundred thousand
             :site (site-of seen e)
             :since-ms (elapsed-ms now (.since e))
             :age-ms (elapsed-ms now (.born e))
             :runs (.runs e)
             :parent (parent e)
             :state (cond running? :running
                          parked? :parked
                          (zero? (.runs e)) :new
                          :else :ready)
             :waits (if parked? (or (some-> (some (comp waits peek) slow) (subvec 0 1)) in) [])}
      label (assoc :label label)
      (seq held) (assoc :holds held)
      cancellable (assoc :cancellable? true, :scope (scopes/innermost cancellable))
      (pos? refused) (assoc :refused refused)
      thread (assoc :on thread)
      result (assoc :result result))))

;;;; Threads

(defn- thread
  "Returns a thread that waits, or nil if it has left a channel since the registry was read."
  [now waits i ^Registry$Waiting w]
  (let [waiter (.waiter w), cancellable (.cancellable w)]
    (when-some [t (.thread waiter)]
      (when-some [waits (waits-now waits t (map (fn arm [port] [:take port]) (ports-of (.port w))))]
        (let [site (when (< (long i) (long max-stacks)) (place (.stack waiter)))]
          (when (.isWaiting (Registry/get) waiter) ; else it may have left before its stack was read
            (cond-> {:name (.getName t) :tid (.threadId t) :virtual? (.isVirtual t)
                     :waits waits
                     :since-ms (elapsed-ms now (.since w))
                     :site site}
              (scopes/in-region? cancellable) (assoc :cancellable? true, :scope (scopes/innermost cancellable)))))))))

(run! (fn machinery [prefix] (Failures/addMachinery prefix)) ["skein.fold$" "skein.fold.run$" "skein.fold.engine." "skein.fold.memory."])

(defn- folds
  "Returns the running folds; none unless the program has loaded skein.fold, which this module does not need."
  []
  (when-some [under-way (some-> (find-ns 'skein.fold.run) (ns-resolve 'under-way))]
    (for [{:keys [^Thread caller start unit done total]} (under-way)]
      {:thread (.getName caller) :tid (.threadId caller) :site (place (.getStackTrace caller))
       :since-ms (quot (- (System/nanoTime) (long start)) 1000000) :unit unit :done done :total total})))

(defn- failures
  "Returns the last exceptions that no code has taken, oldest first."
  []
  (for [^Uncaught$Report u (Uncaught/last), :let [thrown (.thrown u)]]
    {:at-ms (.at u) :thread (.thread u) :exception (.getName (class thrown)) :site (place (.getStackTrace thrown))}))

(def ^:const ^:private lock-frames "How deep a thread's stack is read for its place." 64)

(defn- locked-out?
  "Returns whether the thread waits without a limit for a lock that another thread holds. A thread in Object.wait does not
  count, even if another thread holds the monitor."
  [^ThreadInfo i]
  (and (<= 0 (.getLockOwnerId i))
       (or (= Thread$State/BLOCKED (.getThreadState i))
           (and (= Thread$State/WAITING (.getThreadState i))
                (= "park" (some-> ^StackTraceElement (first (.getStackTrace i)) .getMethodName))))))

(defn lock-waits
  "Returns the platform threads that wait without a limit for locks that threads hold, as the JVM of `bean` sees them at one moment."
  [^ThreadMXBean bean]
  (let [ids (keep (fn id [^ThreadInfo i] (when (and i (<= 0 (.getLockOwnerId i))) (.getThreadId i)))
                  (.getThreadInfo bean (.getAllThreadIds bean))) ; reads no stacks, and so stops no thread
        infos (when (seq ids) (.getThreadInfo bean (long-array ids) (int lock-frames)))]
    (for [^ThreadInfo i infos :when (and i (locked-out? i))]
      {:name (.getThreadName i) :tid (.getThreadId i) :virtual? false :site (place (.getStackTrace i))
       :waits [{:op :lock :lock (.getLockName i) :held-by {:thread (.getLockOwnerName i) :tid (.getLockOwnerId i)}}]})))

(defn- with-blocked
  "Joins each thread that waits and the block that it runs: the block waits for what the thread waits for, and the thread and its
  place in the channel name the block. For long steps only, whose thread is known."
  [{:keys [blocks threads] :as snapshot}]
  (let [waiting (into {} (comp (filter (comp seq :waits)) (map (juxt :tid identity))) threads)
        runs (into {} (for [{:keys [id on]} blocks :when (waiting (:tid on))] [(:tid on) id]))
        waits (fn waits [{:keys [on] :as b}] (merge b (select-keys (waiting (:tid on)) [:waits :since-ms :stuck?])))
        named (fn named [{:keys [tid] :as party}] (if-some [id (runs tid)] (assoc party :block id) party))
        both (fn both [{:keys [takes puts] :as c}] (assoc c :takes (mapv named takes) :puts (mapv named puts)))]
    (if (empty? runs)
      snapshot
      (-> snapshot (update :blocks (partial mapv waits)) (update :threads (partial mapv named)) (update :channels (partial mapv both))))))

(defn with-lock-waits
  "Adds `threads`, which wait for locks, to a snapshot, apart from those that it has already. Then joins the threads and the blocks
  that they run."
  [snapshot threads]
  (let [known (into #{} (map :tid) (:threads snapshot))]
    (with-blocked (update snapshot :threads into (remove (comp known :tid)) threads))))

(defn- memory []
  (let [used (.getHeapMemoryUsage (ManagementFactory/getMemoryMXBean))]
    {:used (quot (.getUsed used) 1000000) :max (quot (.getMax used) 1000000)}))

;;;; Snapshots

(defn- asked
  "Returns a live entry with its frame and the operations that it waits in, as [entry frame port arms slow-puts], or nil if the frame is
  garbage: then it tells the registry, so that the block is in one of the lists of this snapshot."
  [^Entry e]
  (if-some [^Frame frame (.get e)]
    (let [port (Registry/port frame)]
      [e frame port (when port (try (arms (.op e) port) (catch RuntimeException _ nil))) (when port (slow-puts frame port))])
    (.cleared (Registry/get) e)))

(defn- views-of
  "Returns [ids views]: {channel id}, and the views of the channels in which blocks and threads wait, and of those with a
  label, in the order of their numbers. A channel gets its number when it is first looked at, so there is little to sort."
  [asked threads]
  (let [ids (IdentityHashMap. (+ 32 (count asked))), views (ArrayList. (count asked))
        look (fn look [c]
               (when (and (instance? Channel c) (not (.containsKey ids c)))
                 (let [view (view-of c)] (.put ids c (:id view)) (.add views view))))]
    (run! (fn block [[_ _ _ arms slow]] (run! (comp look peek) arms) (run! (comp look first) slow)) asked)
    (run! (fn thread [^Registry$Waiting w] (run! look (ports-of (.port w)))) threads)
    (run! look (Labels/labelled))
    [ids (sort-by :id views)]))

(defn take-snapshot
  "Returns a snapshot as `skein.inspect/snapshot` describes it, all data: it holds no object of the program."
  []
  (let [registry (Registry/get)
        now (.tick registry)
        seen (HashMap.)
        asked (into [] (keep asked) (.live registry))
        collected (.collected registry) ; read after `asked`, which holds the living blocks: each block is in one list, and in one only
        threads (.waiting registry)
        [ids views] (views-of asked threads)
        waits (waits-of views)
        cancellables (-> #{}
                         (into (keep (fn of [[_ ^Frame f]] (.cancellable f))) asked)
                         (into (keep (fn of [^Registry$Waiting w] (.cancellable w))) threads))
        placed (fn placed [x place?]
                 (cond-> (party x) (and place? (instance? Thread x)) (assoc :site (place (.getStackTrace ^Thread x)))))
        scopes (scopes/scopes placed cancellables)]
    (with-lock-waits
      {:skein/snapshot version
       :pid (.pid (java.lang.ProcessHandle/current))
       :at-ms (System/currentTimeMillis)
       :blocks (mapv (partial block now seen waits ids) asked)
       :threads (into [] (keep identity) (map-indexed (partial thread now waits) threads))
       :channels (mapv (partial channel (into {} (map (juxt :id identity)) scopes) (makers registry views)) views)
       :scopes scopes
       :folds (vec (folds))
       :failures (failures)
       :timers (Timeout/outstanding)
       :memory (memory)
       :starved (carriers/starved (.carriers registry))
       :collected {:count (.count collected) :blocks (mapv (partial gone now seen) (.last collected))}}
      (lock-waits (ManagementFactory/getThreadMXBean)))))
