;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.story
  "A failing run in words: what happened, and who waits for whom.

  * `names` of ports and tasks, `place` of an event
  * `story` - the lines of a run whose events were kept
  * `waits` - what the tasks of a failed run wait in, read before they are cancelled
  * `told` - those waits as lines"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.sim.dump :as dump])
  (:import
   (clojure.lang IAtom IBlockingDeref IPending Volatile)
   (java.util.concurrent CountDownLatch Future Semaphore)
   (java.util.concurrent.locks LockSupport)
   (skein.rt Channel Frame UnlimitedChannel Waiter World)
   (skein.rt.schedule Timeout)
   (skein.rt.scope Region Region$Owner VirtualFuture)
   (skein.rt.watch Failures Sites)
   (skein.sim.rt Simulation Task Task$Kind Trace$Event)))

(set! *warn-on-reflection* true)

(def ^:const ^:private first-lines "How many first lines are always shown." 8)
(def ^:const ^:private last-lines "How many last lines are." 16)
(def ^:const ^:private around "How many lines are shown before and after a deviation or note." 3)
(def ^:const ^:private max-marked "How many deviations and notes count: the last ones. A livelock has thousands." 50)
(def ^:const ^:private max-whole "The most lines that a whole story may have." 2000)

;;;; Events

(defn- inside?
  "Returns whether Skein's own code reads or writes the atom, which tells the user nothing."
  [^Trace$Event e]
  (and (#{"at" "read" "write" "unset"} (.what e))
       (some-> ^StackTraceElement (first (remove (fn [^StackTraceElement e]
                                                   (re-find #"^(java|clojure|skein\.sim\.(rt|wrap))[.$]" (.getClassName e)))
                                                 (.site e)))
               .getClassName
               Failures/isMachinery)))

(defn- events
  "Returns the events of a run that belong in its story."
  [^Simulation sim]
  (remove (fn [^Trace$Event e] (or (#{"deref" "closing" "gives back"} (.what e)) (inside? e))) (.events (.-trace sim))))

;;;; Names

(def ^:private scopes-end "the end of a scope")

(defn- limiter
  "Returns the description of a concurrency limiter, {:name :limit}, or nil for all else."
  [x]
  (when (instance? UnlimitedChannel x)
    (let [label (.label ^UnlimitedChannel x)]
      (when (:limit label) label))))

(defn- kind-of [x]
  (cond
    (instance? Timeout x) "timeout"
    (limiter x) "limiter"
    (instance? Channel x) "chan"
    (or (instance? IAtom x) (instance? Volatile x)) "atom"
    (instance? Semaphore x) "semaphore"
    :else "port"))

(defn- collect-ports [x]
  (cond
    (vector? x) (if (and (= 2 (count x)) (instance? Channel (x 0)) (not (instance? Channel (x 1))))
                  [(x 0)]
                  (mapcat collect-ports x))
    (sequential? x) (mapcat collect-ports x)
    (or (nil? x) (instance? Task x)) nil
    :else [x]))

(defn names
  "Returns a function from a task, port or atom of a run to its name: as the test has labelled it, as a
  limiter is called, or numbered in the order in which the events name them."
  [^Simulation sim more]
  (let [known (java.util.IdentityHashMap. ^java.util.Map (.labels sim))
        numbers (volatile! {})
        own-name (fn own-name [x]
                   (let [kind (kind-of x)]
                     (str kind (if-some [given (:name (limiter x))]
                                 (str " " given)
                                 (str "-" (get (vswap! numbers update kind (fnil inc 0)) kind))))))]
    (doseq [^Trace$Event e (events sim), :let [x (.on e)], :when (instance? Task x)]
      (when-some [^Frame frame (.frame ^Task x)]
        (.putIfAbsent known (.port frame) (str (or (.get known x) x) "'s result"))))
    (doseq [^Trace$Event e (.events (.-trace sim)) :when (= "closing" (.what e))]
      (.put known (:done (.on e)) scopes-end))
    (doseq [x (concat (mapcat (fn [^Trace$Event e] (collect-ports (.on e))) (events sim))
                      (mapcat collect-ports more))]
      (when-not (.containsKey known x) (.put known x (own-name x))))
    (fn name-of [x]
      (or (.get known x) (when (instance? Task x) (str x)) (own-name x)))))

(defn- port-names [name-of on]
  (str/join ", " (map name-of (distinct (collect-ports on)))))

;;;; Places

(defn- last-segment [file]
  (peek (str/split (str file) #"/")))

(defn users-frame
  "Returns the innermost of the StackTraceElements that is of the user's code, or nil."
  [frames]
  (first (remove (fn [^StackTraceElement e]
                   (or (Failures/isMachinery (.getClassName e)) (neg? (.getLineNumber e))))
                 frames)))

(defn- users-place
  "Returns \"file.clj:12\" for where an event happened in the user's code, or nil."
  [^Task task site]
  (if (integer? site)
    (when-some [body (some-> task .frame .body)]
      (when-not (Failures/isMachinery (.getName (class body)))
        (when-some [s (.at (Sites/of body) (int site))]
          (str (last-segment (.file s)) ":" (.line s)))))
    (when-some [^StackTraceElement e (some-> site seq users-frame)]
      (str (.getFileName e) ":" (.getLineNumber e)))))

(defn place
  "Returns \"file.clj:12\" for where an event happened, or nil. For Skein's own code, that is where the user's code started it."
  [^Task task site]
  (or (users-place task site)
      (when (and task site) (recur (.-parent task) (.site task)))))

;;;; The story

(defn- action [name-of ^Trace$Event e]
  (let [on (.on e), value (.value e), scope? (and (instance? Channel on) (= scopes-end (name-of on)))]
    (case (.what e)
      "spawn" (str "spawns " (name-of on))
      "take" (str (if scope? "waits for " "<! ") (port-names name-of on))
      "put" (str ">! " (port-names name-of on) (when value (str " " value)))
      "alts" (str "alts! " (port-names name-of on))
      "poll" (str "poll! " (port-names name-of on))
      "offer" (str "offer! " (port-names name-of on) (when value (str " " value)))
      "failed" "fails"
      "deliver" (str "delivers " value)
      "await" (str "waits for a permit of " (name-of on))
      "acquire" (str "takes a permit of " (name-of on))
      "release" (str "releases " (name-of on))
      "close" (str "close! " (name-of on))
      "goes on" (cond
                  scope? "its scope has ended"
                  (= World/TAKE (.operation (.task e))) (str "has got " (or value "nil") " from " (port-names name-of on))
                  (= World/ALTS (.operation (.task e))) (str "has got " value)
                  :else "its put is done")
      "read" (str "reads " (name-of on) " = " value)
      "write" (str "sets " (name-of on) " = " value)
      "unset" (str "compare-and-set! of " (name-of on) " fails")
      "chose" (str "draws " value)
      "note" value
      "fault" (str "fault " value)
      "end" (when (#{Task$Kind/MAIN Task$Kind/GO Task$Kind/THREAD} (.-kind (.task e))) "ends")
      nil)))

(defn- line-of [name-of ^Trace$Event e]
  (case (.what e)
    "time" {:time (.at e)}
    "switch" {:deviation (name-of (.on e)) :task (.task e)}
    (when-some [text (action name-of e)]
      {:task (.task e) :actions [text] :place (place (.task e) (.site e)) :note? (= "note" (.what e))})))

(defn- joined
  "Adds `line` to `lines`. If the last of them is of the same task and place, joins both."
  [lines {:keys [task actions note?] :as line}]
  (let [before (peek lines)]
    (cond
      (nil? line) lines
      (and actions (:deviation before) (identical? task (:task before)) (nil? (:actions before)))
      (conj (pop lines) (merge before line))
      (and actions (:actions before) (identical? task (:task before))
           (or (nil? (:place line)) (= (:place before) (:place line)) (nil? (:place before)))
           (< (count (:actions before)) 4))
      (conj (pop lines) (-> before (update :actions into actions) (update :place #(or % (:place line))) (update :note? #(or % note?))))
      :else (conj lines line))))

(defn- ms [ns]
  (let [n (/ (double ns) 1e6)] (if (== n (Math/rint n)) (str (long n)) (str n))))

(defn- in-a-row
  "Returns the actions of a line in words. `spawns` is said once for tasks that are spawned in a row."
  [actions]
  (let [spawns? (fn [action] (str/starts-with? (str action) "spawns "))
        short (fn [before action] (if (and (spawns? before) (spawns? action)) (subs action (count "spawns ")) action))]
    (str/join ", " (map short (cons nil actions) actions))))

(defn- printed [name-of width i {:keys [task actions place time deviation]}]
  (if time
    (format "   %3d  time is %s ms" i (ms time))
    (str (format (str "%s %3d  %-" width "s  ") (if deviation " !" "  ") i (if task (name-of task) ""))
         (format "%-52s" (in-a-row actions))
         (when place (str "  " place))
         (when deviation (str "   deviation: " deviation " was next")))))

(defn- shown
  "Returns the indices of the lines that a shortened story shows, in order."
  [lines]
  (let [n (count lines)
        marked (keep-indexed (fn [i {:keys [deviation note?]}] (when (or deviation note?) i)) lines)]
    (into (sorted-set) (filter (fn [i] (< -1 i n)))
          (concat (range first-lines) (range (- n last-lines) n)
                  (mapcat (fn [i] (range (- i around) (+ i around 1))) (take-last max-marked marked))))))

(defn story
  "Returns the lines that tell what happened in a run whose events were kept. Unless `whole?`, leaves out lines in the middle
  that are not near a deviation or note."
  [^Simulation sim name-of whole?]
  (let [lines (reduce joined [] (map (partial line-of name-of) (events sim)))
        lines (into [] (remove (fn nothing? [l] (and (:deviation l) (nil? (:actions l))))) lines)
        width (transduce (map (comp count name-of)) max 4 (keep :task lines))
        n (count lines)
        is (if (and whole? (<= n max-whole)) (range n) (shown lines))
        left-out (fn [n] (when (pos? n) [(str "       ... " n " more")]))]
    (mapcat (fn [before i]
              (concat (left-out (- i before 1))
                      (when (< i n) [(str/trimr (printed name-of width (inc i) (lines i)))])))
            (cons -1 is) (concat is [n]))))

;;;; Who waits for whom

(defn- waits-on
  "Returns the port that `task` waits in, or the ports of an alts; nil if it waits elsewhere."
  [^Task task]
  (when-not (= World/NONE (.doing task)) (.doingOn task)))

(defn- full [^Channel c]
  (when-some [b (.buffer c)]
    (str (.count b) "/" (.capacity b))))

(defn- callbacks
  "Returns a map for each channel of a run on which a callback waits to put, as a mult's does if a tap is full."
  [^Simulation sim]
  (for [port (distinct (mapcat (fn [^Trace$Event e] (collect-ports (.on e))) (.events (.-trace sim))))
        :when (and (instance? Channel port)
                   (some (fn callback? [^Waiter w] (not (or (.frame w) (.thread w)))) (.waiters ^Channel port false)))]
    {:op World/PUT :on port :ports [port] :full (full port)}))

(defn- wait-of
  "Returns a map of what a task waits in."
  [^Task t]
  (let [op (.doing t), on (waits-on t), ports (vec (collect-ports on)), port (first ports)]
    {:task t :op op :on on :ports ports
     :full (when (and (= World/PUT op) (instance? Channel port)) (full port))
     :site (cond
             (and (.frame t) (= op (.operation t)) (nil? (.thread t))) (.state (.frame t))
             (.thread t) (.getStackTrace ^Thread (.thread t))
             :else nil)}))

(defn- last-of
  "Returns what a task's last event of the kind `what` is about, or nil."
  [^Simulation sim task what]
  (some-> (last (filter (fn [^Trace$Event e] (and (identical? task (.task e)) (= what (.what e)))) (.events (.-trace sim))))
          (as-> e (.on ^Trace$Event e))))

(defn- last-deref
  "Returns the IPending of a task's last `deref` that had to wait, or nil if it has a value by now."
  [^Simulation sim task]
  (when-some [x (last-of sim task "deref")]
    (when-not (.isRealized ^IPending x) x)))

(defn- scope-of
  "If a task waits for the end of a scope, returns {:for words :needs its-only-child :all its-children}, else nil."
  [^Simulation sim task]
  (when-some [{:keys [closed? live]} (some-> ^Region$Owner (:scope (last-of sim task "closing")) .describe)]
    (when-not closed?
      (let [parties (into #{} (keep (fn [^Region child] (.party (.cancellable child)))) live)
            children (filter (fn [^Task t] (or (parties (.frame t)) (parties (.thread t)))) (.live sim))]
        {:for scopes-end :needs (when-not (next children) (first children)) :all children}))))

(defn- in-skein?
  "Returns whether a thread with this stack waits in Skein's own code."
  [stack]
  (when-some [class-name (some (fn [^StackTraceElement e]
                                 (when-not (re-find #"^(java|jdk)\." (.getClassName e)) (.getClassName e)))
                               stack)]
    (and (Failures/isMachinery class-name) (str/starts-with? class-name "skein."))))

(defn- joins?
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
                (joins? (.getStackTrace thread)) "the end of a thread"
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
                         (assoc (wait-of t) :op World/NONE :on nil :ports [] :outside scope)
                         (cond-> (wait-of t)
                           (and (.thread t) (nil? (waits-on t))) (assoc :outside (outside sim monitors t)))))))
          (callbacks sim))))

(def ^:private locks
  "What another thread must give back, hardly one outside of the simulation."
  #{"a monitor" "a ReentrantLock" "a ReentrantReadWriteLock" "a Semaphore" "the end of a thread"})

(defn foreign?
  "Returns whether a thread outside of the simulation may well end the wait: it is in java.util.concurrent, but not for a
  lock, and not in Skein's own code."
  [{{:keys [needs], what :for :as outside} :outside, :keys [task site]}]
  (and outside (not needs) (not (locks what)) (not (integer? site)) (not (in-skein? site)) (users-place task site)))

(defn- sides
  "Returns [port :take] or [port :put] for each port of an operation."
  [op on]
  (cond
    (= World/TAKE op) [[on :take]]
    (= World/PUT op) [[on :put]]
    (= World/ALTS op) (map (fn side [x] (if (vector? x) [(x 0) :put] [x :take])) on)))

(def ^:private other-side {:take :put, :put :take})

(defn- tasks-of
  "Returns {port {side tasks}} of operations, each a map of :task, :op and :on."
  [operations]
  (reduce (fn [tasks [task [port side]]] (update-in tasks [port side] (fnil conj #{}) task))
          {}
          (for [{:keys [task op on]} operations, s (sides op on)] [task s])))

(defn- operations
  "Returns the operations that a run has begun."
  [^Simulation sim]
  (for [^Trace$Event e (.events (.-trace sim))
        :let [what (.what e)
              op ({"take" World/TAKE, "poll" World/TAKE, "put" World/PUT, "offer" World/PUT, "alts" World/ALTS} what)]
        :when op]
    {:task (.task e) :op op :on (.on e) :maybe? (boolean (#{"poll" "offer" "alts"} what))}))

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
        servers (for [[port side] channels :when (not (limiter port))] [port (other-side side)]) ; permits are not put but given back
        takes (filter (fn [[port side]] (and (= :take side) (not (limiter port)))) channels)
        from-limiters (filter (comp limiter first) channels)
        users (fn [tasks sides] (into #{} (mapcat (partial get-in tasks)) sides))
        served (users used servers)]
    (assoc wait :owners owners :channels channels :served served
           :holders (into (into #{} (filter live) (reduce disj (users used takes) (concat served (users waiting takes) [task])))
                          (for [[port] from-limiters, [t n] (permits port) :when (pos? (long n))] t))
           :sure (into (users surely servers) (remove served) (users surely (concat takes from-limiters))))))

(defn- only-one
  "Returns the one task that could end the wait as far as the run shows, in a set, or nil."
  [{:keys [owners channels served holders semaphore takers outside]}]
  (cond
    semaphore (when (= 1 (count takers)) takers)
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

(def ^:private words {World/TAKE "<!" World/PUT ">!" World/ALTS "alts!"})

(defn- why
  "Returns what is known of why a wait can't end. It says \"needs\" only of a task whose result or end is awaited: which
  one will use a channel can't be known. `live` has the tasks that have not ended."
  [name-of live {:keys [op ports task site owners channels served holders sure semaphore takers outside] :as wait}]
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
      (when (and (= World/PUT op) (:full wait)) (str "full " (:full wait) "; "))
      (cond
        semaphore (str "no permit is free" (when (seq takers) (str "; " (have takers) "taken one")))
        (empty? ports) (let [{:keys [needs all], what :for} outside]
                         (cond
                           (seq all) (str "needs " (names all " and "))
                           (and needs (= "a monitor" what)) (str (name-of needs) " holds it")
                           needs (str "needs " (name-of needs))
                           (= "a promise" what) "nobody has delivered it"
                           what nil
                           (or (not (users-place task site)) (in-skein? site)) "in code of Skein"
                           :else "in java.util.concurrent or a lock"))
        (seq owners) (str "needs " (names owners " or ") (when (seq channels) " or another port"))
        (every? limiter ports) "no permit is free"
        (and (served task) (empty? others)) (str "nobody " uses " " any " but the task itself")
        (seq left) (did left used)
        (seq others) (str (have others) "ended, and "
                          (if (= :put side) (str "nobody else takes from " any) (str "nobody has closed " any)))
        :else (str "nobody has " used " " any (when-not (= :put side) (str ", and nobody has closed " any))))
      (when-some [holders (when (empty? owners) (seq (filter live holders)))] (str "; " (did holders "taken from")))
      (when (and (empty? owners) (seq ended)) (str "; " (did ended "taken from") (if (next ended) " and have ended" " and has ended"))))))

(defn- held-of
  "Adds up changes [task thing n]: {thing {task n}}."
  [changes]
  (reduce (fn [held [task on n]] (update-in held [on task] (fnil + 0) n)) {} changes))

(defn- permits-of
  "Returns {limiter {task n}}, the permits that tasks have taken and not given back. A take that waits has taken none."
  [events waits]
  (held-of (concat
             (for [^Trace$Event e events
                   :let [n ({"take" 1, "poll" 1, "alts" 1, "failed" -1, "gives back" -1} (.what e))] :when n
                   port (collect-ports (.on e)) :when (limiter port)]
               [(.task e) port n])
             (for [{:keys [task ports]} waits, port ports :when (limiter port)] [task port -1]))))

(defn- semaphores-of
  "Returns {task {:semaphore s :takers tasks}} of tasks that wait for a permit, with the tasks that hold permits of it."
  [events]
  (let [held (held-of (for [^Trace$Event e events, :let [n ({"acquire" 1, "release" -1} (.what e))] :when n] [(.task e) (.on e) n]))]
    (into {} (for [[task es] (group-by (fn by [^Trace$Event e] (.task e)) events), :let [^Trace$Event e (peek es)]
                   :when (and task (= "await" (.what e)))]
               [task {:semaphore (.on e) :takers (for [[t n] (held (.on e)) :when (pos? (long n))] t)}]))))

(defn told
  "Returns the lines that say what each task of `waits`, or a callback, waits in, and who could end that."
  [^Simulation sim name-of waits]
  (let [events (.events (.-trace sim))
        results (into {} (keep (fn [^Trace$Event e]
                                 (when (and (= "spawn" (.what e)) (some-> ^Task (.on e) .frame))
                                   [(.port (.frame ^Task (.on e))) (.on e)])))
                      events)
        live (into #{} (keep :task) waits)
        begun (operations sim)
        known {:used (tasks-of begun) :surely (tasks-of (remove :maybe? begun)) :waiting (tasks-of waits)
               :results results :live live :permits (permits-of events waits)}
        semaphores (semaphores-of events)
        waits (map (fn with-known [wait] (merge (known-of known wait) (semaphores (:task wait)))) waits)
        graph (into {} (map (juxt :task only-one)) waits)
        waiter (fn [{:keys [task]}] (if task (name-of task) "callback"))
        width (transduce (map (comp count waiter)) max 4 waits)]
    (for [{:keys [task op on site semaphore outside] :as wait} (take 12 waits)]
      (str/trimr
        (str (format (str "  %-" width "s  ") (waiter wait))
             (format "%-30s" (if-some [word (words op)]
                               (str "waits in " word " " (port-names name-of on))
                               (str "waits" (when-some [x (if semaphore (name-of semaphore) (:for outside))] (str " for " x)))))
             (format "  %-20s  " (or (place task site) ""))
             (why name-of live wait)
             (when (in-cycle? graph task) "   <- cycle"))))))
