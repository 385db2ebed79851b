;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.waits
  "What waits when a run has failed, as a snapshot of `skein.inspect`: tasks are its blocks and threads, and their paths are its
  numbers. A channel also has :used, who has done what with it.

  * `description` of a run, made before its tasks are cancelled
  * `told` - the snapshot as lines"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.async.describe :as describe]
   [skein.inspect.shape :as shape]
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.why :as why]
   [skein.inspect.words :as words]
   [skein.sim.dump :as dump]
   [skein.sim.subject :as subject])
  (:import
   (clojure.lang IBlockingDeref IPending)
   (java.util.concurrent Future)
   (java.util.concurrent.locks LockSupport)
   (skein.rt Channel Operation Region Region$Owner Waiter)
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)
   (skein.sim.rt Simulation Task Task$Kind Trace$Event Trace$Kind Verdict)))

(set! *warn-on-reflection* true)

;;;; Tasks

(defn- party [name-of ^Task task]
  (let [path (name-of task)]
    (if (.frame task) {:block path} {:thread path :tid path})))

(defn- site
  "Returns the stack of a task's thread, or the state in which a block is parked."
  [^Simulation sim ^Task t]
  (cond
    (.thread t) (.stack sim t)
    (and (.frame t) (= (.doing t) (.operation t))) (.state (.frame t))))

(defn- arms
  "Returns [port :take] or [port :put] for each port of an operation."
  [op on]
  (condp = op
    Operation/TAKE [[on :take]]
    Operation/PUT [[on :put]]
    Operation/ALTS (map (fn arm [x] (if (vector? x) [(x 0) :put] [x :take])) on)
    nil))

(defn- waits-in [^Task task]
  (when-not (= Operation/NONE (.doing task)) (arms (.doing task) (.doingOn task))))

(defn- last-of
  "Returns what a task's last event of a kind is about, or nil."
  [^Simulation sim task kind]
  (some-> (last (filter (fn [^Trace$Event e] (and (identical? task (.task e)) (= kind (.kind e)))) (.events (.-trace sim))))
          (as-> e (.on ^Trace$Event e))))

(defn- scope-of
  "Returns what a task's last event says of the scope for whose end it waits, or nil."
  [^Simulation sim task]
  (when-some [{:keys [^Region$Owner scope] :as closing} (last-of sim task Trace$Kind/CLOSING)]
    (when-not (:closed? (.describe scope)) closing)))

(defn- scope
  "Returns a scope whose end a task waits for."
  [^Simulation sim name-of [task {:keys [^Region$Owner scope done]}]]
  (let [parties (into #{} (keep (fn [^Region child] (.party (.cancellable child)))) (:live (.describe scope)))]
    {:id (name-of done) :body (party name-of task) :cancelled? false :failures 0
     :children (into [] (comp (filter (fn [^Task t] (or (parties (.frame t)) (parties (.thread t))))) (map (partial party name-of)))
                     (.live sim))}))

;;;; Waits outside of channels

(defn waiting-class
  "Returns the name of the class whose method waits in the JDK, for a thread with this stack, or nil."
  [stack]
  (some (fn [^StackTraceElement e] (when-not (re-find #"^(java|jdk)\." (.getClassName e)) (.getClassName e))) stack))

(defn for-transaction?
  "Returns whether a thread with this stack waits in a transaction for another one."
  [stack]
  (= "clojure.lang.LockingTransaction" (waiting-class stack)))

(defn- in-skein?
  "Returns whether a thread with this stack waits in Skein's own code."
  [stack]
  (let [class-name (str (waiting-class stack))]
    (and (str/starts-with? class-name "skein.") (Failures/isMachinery class-name))))

(defn joins?
  "Returns whether a thread with this stack waits for the end of a virtual thread."
  [stack]
  (some (fn [^StackTraceElement e] (and (= "java.lang.Thread" (.getClassName e)) (= "join" (.getMethodName e)))) stack))

(defn- known-class
  "Returns the name of the java.util.concurrent class of the object that a thread is parked in, or nil."
  [blocker]
  (when blocker
    (let [[_ name] (re-find #"^java\.util\.concurrent\.(?:locks\.)?(\w+)" (.getName (class blocker)))]
      (when-not (= "AbstractQueuedSynchronizer" name) name))))

(defn- outside
  "Returns the wait of a task's thread that is not in a channel."
  [^Simulation sim name-of monitors ^Task t]
  (let [thread ^Thread (.thread t), stack (.stack sim t), blocker (LockSupport/getBlocker thread), x (last-of sim t Trace$Kind/DEREF)
        pending (when (and x (not (.isRealized ^IPending x))) x)
        live (fn [pred] (some->> (.live sim) (some (fn [^Task t] (when (pred t) t))) (party name-of)))
        on (fn [^Thread thread] (when thread (live (fn [^Task t] (identical? thread (.thread t))))))
        maker (or (when blocker (live (fn [^Task t] (identical? blocker (.-work t)))))
                  (when (instance? VirtualFuture pending) (on (.runner ^VirtualFuture pending))))
        holder (when-some [id (@monitors (.threadId thread))]
                 (live (fn [^Task t] (some-> ^Thread (.thread t) .threadId (= id)))))]
    (cond
      (= Thread$State/BLOCKED (.getState thread)) (cond-> {:op :lock :lock "a monitor"} holder (assoc :held-by holder))
      maker {:op :take :latch "the result" :by maker}
      (joins? stack) {:op :take :latch "the end of a thread"}
      (and (instance? IBlockingDeref pending) (not (instance? Future pending)) (= "CountDownLatch" (known-class blocker)))
      {:op :take :latch "a promise"}
      (known-class blocker) {:op :take :latch (str "a " (known-class blocker))}
      (or (in-skein? stack) (not (subject/users-site t stack))) {:op :take :latch "something in Skein's own code"}
      :else {:op :take :latch "something in java.util.concurrent, or a lock"})))

(def ^:private locks
  "Waits that only a thread of the simulation is likely to end."
  #{"a ReentrantLock" "a ReentrantReadWriteLock" "a Semaphore" "the end of a thread"})

(defn- foreign?
  "Returns whether a thread outside of the simulation may well end a wait: it is in java.util.concurrent, but not for a lock, and
  not in Skein's own code."
  [task stack {:keys [latch by]}]
  (and latch (not by) (not (locks latch)) (not (in-skein? stack)) (some? (subject/users-site task stack))))

;;;; Channels

(def ^:private operations
  "Kind of event -> the operation that has begun then."
  {Trace$Kind/TAKE Operation/TAKE, Trace$Kind/POLL Operation/TAKE, Trace$Kind/PUT Operation/PUT
   Trace$Kind/OFFER Operation/PUT, Trace$Kind/ALTS Operation/ALTS})

(def ^:private permits
  "Kind of event of a limiter -> how many permits its task has taken then; less than 0: given back."
  {Trace$Kind/TAKE 1, Trace$Kind/POLL 1, Trace$Kind/ALTS 1, Trace$Kind/FAILED -1, Trace$Kind/GIVES_BACK -1})

(defn- used
  "Returns {port {side {task sure?}}}: which tasks have done what with it. An alts may have chosen another port."
  [events]
  (reduce (fn add [m [task kind [port side]]]
            (update-in m [port side task] (fn [sure?] (or sure? (contains? #{Trace$Kind/TAKE Trace$Kind/PUT} kind)))))
          {}
          (for [^Trace$Event e events, arm (arms (operations (.kind e)) (.on e))] [(.task e) (.kind e) arm])))

(defn- holding
  "Returns {limiter {task n}}, the permits that tasks have taken and not given back. A take that waits has taken none."
  [events waiting]
  (reduce (fn add [held [task port n]] (cond-> held (subject/limiter port) (update-in [port task] (fnil + 0) n)))
          {}
          (concat (for [^Trace$Event e events, :let [n (permits (.kind e))] :when n, port (subject/collect-ports (.on e))]
                    [(.task e) port n])
                  (for [[task arms] waiting, [port] arms] [task port -1]))))

(defn- users
  "Returns who has done what with `port`; of a limiter, who holds its permits."
  [name-of used holding port]
  (letfn [(parties [tasks] (mapv (fn [[task sure?]] (assoc (party name-of task) :sure? (boolean sure?))) tasks))]
    (if (subject/limiter port)
      {:take (parties (filter (fn [[task]] (pos? (long (get-in holding [port task] 0)))) (get-in used [port :take])))}
      (update-vals (used port) parties))))

(defn- callbacks
  "Returns the callbacks that wait to put on a port, as a mult's does if a tap is full."
  [port]
  (when (instance? Channel port)
    (for [^Waiter w (.waiters ^Channel port false) :when (not (or (.block w) (.thread w)))]
      {:callback (snapshot/callback-name (snapshot/owner w))})))

(defn- channel [name-of makers scope? users waiters port]
  (let [{limiter-name :name :as limiter} (subject/limiter port)
        buffer (when (instance? Channel port) (.buffer ^Channel port))]
    (cond-> {:id (name-of port) :kind (if (scope? port) :scope (subject/kind-of port)) :used (users port)
             :takes (get-in waiters [port :take] []) :puts (into (get-in waiters [port :put] []) (callbacks port))}
      (instance? Channel port) (assoc :closed? (.isClosed ^Channel port))
      buffer (assoc :buffer (describe/buffer buffer))
      limiter-name (assoc :label (str limiter-name))
      (makers port) (assoc :kind :result :block (:block (party name-of (makers port)))))))

;;;; All

(defn- task
  "Returns a task that has not ended, as a block or thread."
  [name-of waits site ^Task t]
  (merge {:site (subject/site t site) :waits waits}
         (if (.frame t) {:id (name-of t) :state :parked} {:name (name-of t) :tid (name-of t) :state :waiting})))

(defn- kind [^Verdict verdict]
  (when verdict (keyword (str/lower-case (str (.kind verdict))))))

(defn description
  "Returns what waits when a run has failed:

  - :name-of   see `skein.sim.subject/naming`
  - :sites     {task stack, or the state in which a block is parked}
  - :snapshot  the tasks that wait, the body first, with their channels and scopes
  - :foreign?  whether a thread outside of the simulation may well end a wait"
  [^Simulation sim]
  (let [monitors (delay (dump/monitors)), events (.events (.-trace sim))
        tasks (->> (.live sim)
                   (remove (fn [^Task t] (.isReady t)))
                   (sort-by (fn [^Task t] [(not= Task$Kind/MAIN (.-kind t)) (count (str t)) (str t)])))
        scopes (into {} (keep (fn [t] (when-some [scope (scope-of sim t)] [t scope]))) tasks)
        waiting (into {} (for [t tasks, :let [arms (if-some [{:keys [done]} (scopes t)] [[done :take]] (waits-in t))] :when arms] [t arms]))
        ports (distinct (concat (mapcat (fn [^Trace$Event e] (subject/collect-ports (.on e))) events)
                                (map first (mapcat val waiting))))
        name-of (subject/naming sim ports)
        sites (into {} (map (juxt identity (partial site sim))) tasks)
        waits (into {} (for [^Task t tasks]
                         [t (if-some [arms (waiting t)]
                              (mapv (fn [[port side]] {:op side :channel (name-of port)}) arms)
                              (if (.thread t) [(outside sim name-of monitors t)] []))]))
        waiters (reduce (fn add [m [t [port side]]] (update-in m [port side] (fnil conj []) (party name-of t)))
                        {} (for [t tasks, arm (waiting t)] [t arm]))
        makers (into {} (for [^Trace$Event e events
                              :let [^Task t (when (= Trace$Kind/SPAWN (.kind e)) (.on e))] :when (some-> t .frame)]
                          [(.port (.frame t)) t]))
        scope? (into #{} (map :done) (vals scopes))
        users (partial users name-of (used events) (holding events waiting))
        [blocks threads] (map (partial map (fn [t] (task name-of (waits t) (sites t) t)))
                              ((juxt filter remove) (fn [^Task t] (.frame t)) tasks))]
    {:name-of name-of
     :sites sites
     :snapshot {:skein/snapshot snapshot/version :simulation (kind (.verdict sim)) :at-ms (quot (.endedAt sim) 1000000)
                :blocks (vec blocks) :threads (vec threads)
                :channels (mapv (partial channel name-of makers scope? users waiters) ports)
                :scopes (mapv (partial scope sim name-of) scopes)
                :collected {:count 0 :blocks []}}
     :foreign? (boolean (some (fn [t] (some (partial foreign? t (sites t)) (waits t))) tasks))}))

(def ^:const ^:private max-told "How many tasks a report names." 12)

(defn told
  "Returns the lines of a report that say what each task of a snapshot waits in, and who could end that."
  [{:keys [blocks threads channels] :as snapshot}]
  (let [ix (shape/index snapshot)
        outlook (fn outlook [party] (shape/outlook ix [party]))]
    (concat
      (for [party (take max-told (concat threads blocks)) :let [{:keys [could] :as known} (outlook party)]]
        (str "  " (words/says ix party)
             (when (#{:children :users} could) (str " " (words/outlook ix known)))
             (when (why/in-cycle? ix party) "   <- cycle")))
      (for [{:keys [id puts]} channels :when (some :callback puts)]
        (str "  " (words/sentence ix (why/of-channel ix id)) " "
             (words/outlook ix (outlook {:waits [{:op :put :channel id}]})))))))
