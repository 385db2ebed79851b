;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.waits
  "Who waits for whom when a run has failed.

  * `waits` - what the tasks wait in, read before they are cancelled
  * `told` - those waits as lines"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.sim.dump :as dump]
   [skein.sim.subject :as subject])
  (:import
   (clojure.lang IBlockingDeref IPending)
   (java.util.concurrent Future)
   (java.util.concurrent.locks LockSupport)
   (skein.rt Channel Operation Region Region$Owner Waiter)
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)
   (skein.sim.rt Simulation Task Task$Kind Trace$Event Trace$Kind)))

(set! *warn-on-reflection* true)

(defn- waits-on
  "Returns the port that `task` waits in, or the ports of an alts; nil if it waits elsewhere."
  [^Task task]
  (when-not (= Operation/NONE (.doing task)) (.doingOn task)))

(defn- full [^Channel c]
  (when-some [b (.buffer c)]
    (str (.count b) "/" (.capacity b))))

(defn- callbacks
  "Returns a map for each channel of a run on which a callback waits to put, as a mult's does if a tap is full."
  [^Simulation sim]
  (for [port (distinct (mapcat (fn [^Trace$Event e] (subject/collect-ports (.on e))) (.events (.-trace sim))))
        :when (and (instance? Channel port)
                   (some (fn callback? [^Waiter w] (not (or (.block w) (.thread w)))) (.waiters ^Channel port false)))]
    {:op Operation/PUT :on port :ports [port] :full (full port)}))

(defn- wait-of
  "Returns a map of what a task waits in."
  [^Simulation sim ^Task t]
  (let [op (.doing t), on (waits-on t), ports (vec (subject/collect-ports on)), port (first ports)]
    {:task t :op op :on on :ports ports
     :full (when (and (= Operation/PUT op) (instance? Channel port)) (full port))
     :site (cond
             (and (.frame t) (= op (.operation t)) (nil? (.thread t))) (.state (.frame t))
             (.thread t) (.stack sim t)
             :else nil)}))

(defn- last-of
  "Returns what a task's last event of a kind is about, or nil."
  [^Simulation sim task kind]
  (some-> (last (filter (fn [^Trace$Event e] (and (identical? task (.task e)) (= kind (.kind e)))) (.events (.-trace sim))))
          (as-> e (.on ^Trace$Event e))))

(defn- last-deref
  "Returns the IPending of a task's last `deref` that had to wait, or nil if it has a value by now."
  [^Simulation sim task]
  (when-some [x (last-of sim task Trace$Kind/DEREF)]
    (when-not (.isRealized ^IPending x) x)))

(defn- scope-of
  "If a task waits for the end of a scope, returns {:for words :needs its-only-child :all its-children}, else nil."
  [^Simulation sim task]
  (when-some [^Region$Owner scope (:scope (last-of sim task Trace$Kind/CLOSING))]
    (let [{:keys [closed? live]} (.describe scope)]
      (when-not closed?
        (let [parties (into #{} (keep (fn [^Region child] (.party (.cancellable child)))) live)
              children (filter (fn [^Task t] (or (parties (.frame t)) (parties (.thread t)))) (.live sim))]
          {:for (subject/end-of scope) :needs (when-not (next children) (first children)) :all children})))))

(defn waiting-class
  "Returns the name of the class whose method waits in the JDK, for a thread with this stack, or nil."
  [stack]
  (some (fn [^StackTraceElement e] (when-not (re-find #"^(java|jdk)\." (.getClassName e)) (.getClassName e))) stack))

(defn- in-skein?
  "Returns whether a thread with this stack waits in Skein's own code."
  [stack]
  (when-some [class-name (waiting-class stack)]
    (and (Failures/isMachinery class-name) (str/starts-with? class-name "skein."))))

(defn for-transaction?
  "Returns whether a thread with this stack waits in a transaction for another one."
  [stack]
  (= "clojure.lang.LockingTransaction" (waiting-class stack)))

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
  "Returns what is known of a wait of a task's thread that is not in a channel: {:for what it waits for, in words, or nil;
  :needs the task that makes or holds that, or nil}."
  [^Simulation sim monitors ^Task t]
  (let [thread ^Thread (.thread t), blocker (LockSupport/getBlocker thread), x (last-deref sim t)
        live (fn [pred] (some (fn [^Task t] (when (pred t) t)) (.live sim)))
        on (fn [^Thread thread] (when thread (live (fn [^Task t] (identical? thread (.thread t))))))]
    (if (= Thread$State/BLOCKED (.getState thread))
      {:for "a monitor" :needs (when-some [id (@monitors (.threadId thread))]
                                 (live (fn [^Task t] (some-> ^Thread (.thread t) .threadId (= id)))))}
      (if-some [task (or (when blocker (live (fn [^Task t] (identical? blocker (.-work t)))))
                         (when (instance? VirtualFuture x) (on (.runner ^VirtualFuture x))))]
        {:for "a result" :needs task}
        {:for (cond
                (joins? (.stack sim t)) "the end of a thread"
                (and (instance? IBlockingDeref x) (not (instance? Future x)) (= "CountDownLatch" (known-class blocker)))
                "a promise"
                :else (some->> (known-class blocker) (str "a ")))}))))

(defn waits
  "Returns a map for each task that has not ended, with what it waits in; the body comes first. Then follow maps
  without :task, for channels on which callbacks wait to put."
  [^Simulation sim]
  (let [monitors (delay (dump/monitors))]
    (into (->> (.live sim)
               (remove (fn [^Task t] (.isReady t)))
               (sort-by (fn [^Task t] [(not= Task$Kind/MAIN (.-kind t)) (count (str t)) (str t)]))
               (mapv (fn [^Task t]
                       (if-some [scope (scope-of sim t)]
                         (assoc (wait-of sim t) :op Operation/NONE :on nil :ports [] :outside scope)
                         (cond-> (wait-of sim t)
                           (and (.thread t) (nil? (waits-on t))) (assoc :outside (outside sim monitors t)))))))
          (callbacks sim))))

(def ^:private locks
  "Waits that only a thread of the simulation is likely to end."
  #{"a monitor" "a ReentrantLock" "a ReentrantReadWriteLock" "a Semaphore" "the end of a thread"})

(defn foreign?
  "Returns whether a thread outside of the simulation may well end the wait: it is in java.util.concurrent, but not for a
  lock, and not in Skein's own code."
  [{{:keys [needs], what :for :as outside} :outside, :keys [task site]}]
  (and outside (not needs) (not (locks what)) (not (integer? site)) (not (in-skein? site)) (subject/users-place task site)))

(defn- sides
  "Returns [port :take] or [port :put] for each port of an operation."
  [op on]
  (cond
    (= Operation/TAKE op) [[on :take]]
    (= Operation/PUT op) [[on :put]]
    (= Operation/ALTS op) (map (fn side [x] (if (vector? x) [(x 0) :put] [x :take])) on)))

(def ^:private other-side {:take :put, :put :take})

(defn- tasks-of
  "Returns {port {side tasks}} of operations, each a map of :task, :op and :on."
  [operations]
  (reduce (fn [tasks [task [port side]]] (update-in tasks [port side] (fnil conj #{}) task))
          {}
          (for [{:keys [task op on]} operations, s (sides op on)] [task s])))

(def ^:private begun
  "Kind of event -> the operation that has begun then."
  {Trace$Kind/TAKE Operation/TAKE, Trace$Kind/POLL Operation/TAKE, Trace$Kind/PUT Operation/PUT
   Trace$Kind/OFFER Operation/PUT, Trace$Kind/ALTS Operation/ALTS})

(defn- operations
  "Returns the operations that a run has begun."
  [^Simulation sim]
  (for [^Trace$Event e (.events (.-trace sim))
        :let [kind (.kind e), op (begun kind)]
        :when op]
    {:task (.task e) :op op :on (.on e) :maybe? (boolean (#{Trace$Kind/POLL Trace$Kind/OFFER Trace$Kind/ALTS} kind))}))

(defn- known-of
  "Adds to a wait what the run shows of who could end it, as sets of tasks:

  - :owners   blocks whose results it waits for; only these can end a wait that has no other ports
  - :served   tasks that have done the other side of its operation, and may have no reason to do so again
  - :holders  tasks that have taken from its channel and wait elsewhere. What they took may belong there, as with a pool.
              For a limiter, tasks that have not given back what they took, even this one or ended ones
  - :sure     those of :served and :holders of which this is certain: an alts! may have chosen another port"
  [{:keys [used surely waiting results live permits]} {:keys [task op on ports] :as wait}]
  (let [owners (into #{} (keep results) ports)
        channels (remove (comp results first) (sides op on))
        servers (for [[port side] channels :when (not (subject/limiter port))] [port (other-side side)]) ; permits are not put but given back
        takes (filter (fn [[port side]] (and (= :take side) (not (subject/limiter port)))) channels)
        from-limiters (filter (comp subject/limiter first) channels)
        users (fn [tasks sides] (into #{} (mapcat (partial get-in tasks)) sides))
        served (users used servers)]
    (assoc wait :owners owners :channels channels :served served
           :holders (into (into #{} (filter live) (reduce disj (users used takes) (concat served (users waiting takes) [task])))
                          (for [[port] from-limiters, [t n] (permits port) :when (pos? (long n))] t))
           :sure (into (users surely servers) (remove served) (users surely (concat takes from-limiters))))))

(defn- only-one
  "Returns the one task that could end the wait as far as the run shows, in a set, or nil."
  [{:keys [owners channels served holders outside]}]
  (cond
    (:needs outside) [(:needs outside)]
    (seq owners) (when (and (empty? channels) (nil? (next owners))) owners)
    (empty? holders) (when (= 1 (count served)) served)))

(defn- in-cycle? [graph task]
  (loop [t task, seen #{}]
    (let [[t] (seq (graph t))]
      (cond (nil? t) false
            (identical? t task) true
            (seen t) false
            :else (recur t (conj seen t))))))

(def ^:private words {Operation/TAKE "<!" Operation/PUT ">!" Operation/ALTS "alts!"})

(defn- why
  "Returns what is known of why a wait can't end. It says \"needs\" only of a task whose result or end is awaited: which
  one will use a channel can't be known. `live` has the tasks that have not ended."
  [name-of live {:keys [op ports task site owners channels served holders sure outside] :as wait}]
  (let [others (disj served task)
        left (filter live others)
        names (fn [tasks between]
                (let [sorted (sort (map name-of tasks)), more (- (count sorted) 3)]
                  (str/join between (if (< 1 more) (concat (take 3 sorted) [(str more " more")]) sorted))))
        have (fn [tasks] (str (names tasks " and ") (if (next tasks) " have " " has ")))
        side (when-not (next (distinct (map second channels))) (second (first channels)))
        [uses used] ({:take ["puts on" "put on"] :put ["takes from" "taken from"]} side ["serves" "served"])
        many? (next (distinct (map first channels)))
        [it any] (if many? ["one of them" "any of them"] ["it" "it"])
        did (fn [tasks what] (str (have tasks) what " " it (when-not (every? sure tasks) " or tried to")))
        ended (remove live holders)]
    (str
      (when (and (= Operation/PUT op) (:full wait)) (str "full " (:full wait) "; "))
      (cond
        (empty? ports) (let [{:keys [needs all], what :for} outside]
                         (cond
                           (seq all) (str "needs " (names all " and "))
                           (and needs (= "a monitor" what)) (str (name-of needs) " holds it")
                           needs (str "needs " (name-of needs))
                           (= "a promise" what) "nobody has delivered it"
                           what nil
                           (or (not (subject/users-place task site)) (in-skein? site)) "in code of Skein"
                           :else "in java.util.concurrent or a lock"))
        (seq owners) (str "needs " (names owners " or ") (when (seq channels) " or another port"))
        (every? subject/limiter ports) "no permit is free"
        (and (served task) (empty? others)) (str "nobody " uses " " any " but the task itself")
        (seq left) (did left used)
        (seq others) (str (have others) "ended, and "
                          (if (= :put side) (str "nobody else takes from " any) (str "nobody has closed " any)))
        :else (str "nobody has " used " " any (when-not (= :put side) (str ", and nobody has closed " any))))
      (when-some [holders (when (empty? owners) (seq (filter live holders)))] (str "; " (did holders "taken from")))
      (when (and (empty? owners) (seq ended)) (str "; " (did ended "taken from") (if (next ended) " and have ended" " and has ended"))))))

(def ^:private permits
  "Kind of event of a limiter -> how many permits its task has taken then; less than 0: given back."
  {Trace$Kind/TAKE 1, Trace$Kind/POLL 1, Trace$Kind/ALTS 1, Trace$Kind/FAILED -1, Trace$Kind/GIVES_BACK -1})

(defn- permits-of
  "Returns {limiter {task n}}, the permits that tasks have taken and not given back. A take that waits has taken none."
  [events waits]
  (reduce (fn add [held [task limiter n]] (update-in held [limiter task] (fnil + 0) n))
          {}
          (concat
            (for [^Trace$Event e events
                  :let [n (permits (.kind e))] :when n
                  port (subject/collect-ports (.on e)) :when (subject/limiter port)]
              [(.task e) port n])
            (for [{:keys [task ports]} waits, port ports :when (subject/limiter port)] [task port -1]))))

(defn told
  "Returns the lines that say what each task of `waits`, or a callback, waits in, and who could end that."
  [^Simulation sim name-of waits]
  (let [events (.events (.-trace sim))
        results (into {} (keep (fn [^Trace$Event e]
                                 (when (and (= Trace$Kind/SPAWN (.kind e)) (some-> ^Task (.on e) .frame))
                                   [(.port (.frame ^Task (.on e))) (.on e)])))
                      events)
        live (into #{} (keep :task) waits)
        begun (operations sim)
        known {:used (tasks-of begun) :surely (tasks-of (remove :maybe? begun)) :waiting (tasks-of waits)
               :results results :live live :permits (permits-of events waits)}
        waits (map (partial known-of known) waits)
        graph (into {} (map (juxt :task only-one)) waits)
        waiter (fn [{:keys [task]}] (if task (name-of task) "callback"))
        width (transduce (map (comp count waiter)) max 4 waits)]
    (for [{:keys [task op on site outside] :as wait} (take 12 waits)]
      (str/trimr
        (str (format (str "  %-" width "s  ") (waiter wait))
             (format "%-30s" (if-some [word (words op)]
                               (str "waits in " word " " (subject/port-names name-of on))
                               (str "waits" (when-some [x (:for outside)] (str " for " x)))))
             (format "  %-20s  " (or (subject/place task site) ""))
             (why name-of live wait)
             (when (in-cycle? graph task) "   <- cycle"))))))
