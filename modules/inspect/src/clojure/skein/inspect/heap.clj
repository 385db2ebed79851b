;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.heap
  "Reads a heap file as a snapshot. The program needs no preparation: channels are in the heap, and hold their parked
  blocks. A block that no running code can reach waits for ever, see skein.inspect.heap.Reach.

  * `read-heap`, `of-this-process`
  * `in-temporary-file` makes a temporary file for a heap

  A file has no times, and only those blocks that are parked or that a thread runs."
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.places :as places]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (com.sun.management HotSpotDiagnosticMXBean)
   (java.io File IOException)
   (java.lang.management ManagementFactory)
   (java.nio.file Files Path)
   (java.nio.file.attribute FileAttribute)
   (java.util Map)
   (skein.inspect.heap HeapFile Reach)
   (skein.rt HeapNames)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

;;;; Waiters of channels

(def ^:const ^:private max-ring
  "A ring of waiters can't be longer than this."
  10000000)

(defn- ring
  "Returns the waiters of the ring that begins with `first-one`, if all of them wait on `side`. A broken ring counts as
  empty: garbage objects may have old references."
  [^HeapFile h ^long first-one ^long side]
  (if (zero? first-one)
    []
    (loop [w first-one, found (transient [])]
      (let [after (.field h w HeapNames/WAITER_NEXT)]
        (cond
          (not (and (= side (.field h w HeapNames/WAITER_WAITS)) (= w (.field h after HeapNames/WAITER_PREV)) (< (count found) (long max-ring)))) []
          (= after first-one) (persistent! (conj! found w))
          :else (recur after (conj! found w)))))))

(defn- owner
  "Returns the frame, thread or callback of a waiter."
  ^long [^HeapFile h ^long w]
  (condp = (.className h w)
    HeapNames/ARM (recur h (.field h (.field h w HeapNames/ARM_CHOICE) HeapNames/CHOICE_OWNER))
    HeapNames/WAIT (recur h (.field h w HeapNames/WAIT_OWNER))
    HeapNames/FOREIGN_WAIT (recur h (.field h w HeapNames/FOREIGN_WAIT_OWNER))
    w))

(defn- channels-of
  "Returns the channels of the file in which operations wait, numbered: [{:id :channel :takes [owner] :puts [owner]}]."
  [^HeapFile h channels]
  (let [owners (fn owners [c field side] (mapv (fn of [w] (owner h w)) (ring h (.field h c field) side)))]
    (into []
          (comp (map (fn look [c] {:channel c :takes (owners c HeapNames/CHANNEL_TAKERS HeapNames/TO_TAKE) :puts (owners c HeapNames/CHANNEL_PUTTERS HeapNames/TO_PUT)}))
                (filter (fn used? [{:keys [takes puts]}] (or (seq takes) (seq puts))))
                (map-indexed (fn numbered [i c] (assoc c :id (inc (long i))))))
          channels)))

;;;; Threads

(def ^:private latches
  "The classes, apart from channels, in which a thread waits until other code ends the wait."
  ["java.util.concurrent.CountDownLatch$Sync" "java.util.concurrent.CompletableFuture$Signaller"])

(defn- virtual? [^HeapFile h ^long t]
  (.isA h t "java.lang.BaseVirtualThread"))

(def ^:const ^:private parked
  "The state of a virtual thread that is parked without a time limit."
  4)

(def ^:private waiting
  "The states of a virtual thread that waits: parked, pinned, for a monitor or in Object.wait, with a time limit or without."
  #{parked 5 7 8 13 16 18})

(defn- state-of
  "Returns the state of a virtual thread; nil for a JDK before 24, which has other states and no field `timeout`. That field keeps
  the thread's last time limit, even while the thread waits without one."
  [^HeapFile h ^long t]
  (when (.hasField h t "timeout") (.field h t "state")))

(defn- old?
  "Returns whether the thread is of a JVM before JDK 19, which keeps the state of a platform thread in the thread itself."
  [^HeapFile h ^long t]
  (.hasField h t "threadStatus"))

(defn- holder
  "Returns the object that has the state of a platform thread."
  ^long [^HeapFile h ^long t]
  (if (old? h t) t (.field h t "holder")))

(defn- without-limit?
  "Returns whether the thread waits without a time limit; false if that is not known."
  [^HeapFile h ^long t]
  (if (virtual? h t)
    (= parked (state-of h t))
    (= 0x10 (bit-and 0x30 (.field h (holder h t) "threadStatus")))))

(defn- waiting-threads
  "Returns {thread what-it-waits-in} for the threads that wait in a channel, or without a time limit in a latch."
  [^HeapFile h waits threads]
  (into {}
        (for [t threads
              :let [t (long t), blocker (.field h t "parkBlocker")]
              :when (and (pos? (.threadNumber h t))
                         (zero? (.field h t "interrupted"))
                         (if (= HeapNames/THREAD_WAITER (.className h blocker))
                           (and (waits blocker) (zero? (.field h blocker HeapNames/THREAD_WAITER_DONE)))
                           (and (some (fn is? [^String latch] (.isA h blocker latch)) latches)
                                (without-limit? h t))))]
          [t blocker])))

(defn- waits?
  "Returns whether the thread waits, with or without a time limit."
  [^HeapFile h ^long t]
  (if (virtual? h t)
    (waiting (state-of h t))
    (zero? (bit-and 4 (.field h (holder h t) "threadStatus"))))) ; 4 is runnable

(defn- unseen-stacks?
  "Returns whether the file lacks stacks of virtual threads that have begun and not ended, since JDK 21 leaves them out: nothing can be
  proven then."
  [^HeapFile h threads]
  (some (fn unseen? [t]
          (and (virtual? h t) (zero? (.threadNumber h t)) (not (#{0 99} (.field h t "state")))))
        threads))

(defn- place [^HeapFile h t]
  (->> (.stack h t)
       (remove (fn ours? [^StackTraceElement e]
                 (re-find #"^(skein\.(async|scope|virtual)\$|skein\.inspect\.rt\.|com\.sun\.)" (.getClassName e))))
       snapshot/place))

(defn- elsewhere
  "Returns how many threads wait in a call of the program and are not among `shown`. Idle threads of a pool and those of the JDK
  don't count, nor platform threads that wait for monitors, which `skein.inspect.attach/monitor-waits` shows. Virtual threads
  count if their state is known."
  [^HeapFile h threads shown]
  (let [shown (into #{} (map :tid) shown)
        for-monitor? (fn for-monitor? [t] (and (not (virtual? h t)) (pos? (bit-and 0x400 (.field h (holder h t) "threadStatus")))))]
    (count (filter (fn counts? [t] (and (waits? h t) (not (shown (.field h t "tid"))) (not (for-monitor? t)) (place h t))) threads))))

(defn- class-of
  "Returns the name of the class of a lock or latch, without inner classes."
  [^HeapFile h o]
  (str/replace (.className h o) #"\$.*" ""))

(defn- latch
  "Returns what a thread waits for other than a channel: a promise of Clojure, or the name of a class."
  [^HeapFile h t blocker]
  (if (some (fn promise? [^StackTraceElement e] (str/starts-with? (.getClassName e) "clojure.core$promise$")) (.stack h t))
    "a promise"
    (class-of h blocker)))

(defn- thread [^HeapFile h t waits]
  {:name (.text h (.field h t "name")) :tid (.field h t "tid") :virtual? (virtual? h t) :site (place h t) :waits waits})

(defn- thread-party [^HeapFile h t]
  {:thread (.text h (.field h t "name")) :tid (.field h t "tid")})

(defn- waiting-thread [^HeapFile h waits ^Reach reach [t blocker]]
  (let [reached? (.isReached reach t)]
    (assoc (thread h t (or (waits blocker) [{:op :take :latch (latch h t blocker)}]))
           :stuck? (not reached?) :cancellable? reached?)))

(defn- lock-waits
  "Returns the threads that wait without a time limit for java.util.concurrent locks that threads hold."
  [^HeapFile h threads]
  (for [t (sort threads)
        :let [lock (.field h t "parkBlocker"), owner (.field h lock "exclusiveOwnerThread")]
        :when (and (pos? owner) (without-limit? h t) (zero? (.field h t "interrupted")))]
    (thread h t [{:op :lock :lock (class-of h lock) :held-by (thread-party h owner)}])))

;;;; Blocks

(defn- entry-id
  "Returns the number of the block, if an inspector has given it one."
  [^HeapFile h f]
  (let [id (.field h (.field h (.field h f HeapNames/BLOCK_KEPT) "entry") "id")]
    (when (pos? id) id)))

(defn- numbered
  "Returns {frame id}."
  [h frames]
  (let [known (into {} (keep (fn known [f] (when-some [id (entry-id h f)] [f id]))) frames)
        free (iterate inc (inc (long (reduce max 0 (vals known)))))]
    (into known (map vector (remove known frames) free))))

(defn- site-of
  "Returns a function from a frame to its place. The table of places is in symbols of the body's class, see skein.impl.go.emit."
  [^HeapFile h]
  (let [symbol-name (fn symbol-name [[_ o]] (when (= "clojure.lang.Symbol" (.className h o)) (.text h (.field h o "name"))))
        text (fn text [body]
               (->> (sort-by (fn number [[field]] [(count field) field]) (.statics h body))
                    (keep symbol-name)
                    (filter #(str/starts-with? % ",,"))
                    str/join))
        sites (volatile! {}) ; by class and state, since many blocks have one
        site (fn site [body name state] (or (places/of-text (text body) state) (places/by-name name state)))]
    (fn of-frame [f]
      (let [body (.field h f HeapNames/FRAME_BODY), at [(.className h body) (.field h f HeapNames/FRAME_STATE)]]
        (or (@sites at) ((vswap! sites assoc at (apply site body at)) at))))))

(defn- running
  "Returns {frame thread} for the blocks that run on a thread, which may be blocked."
  [^HeapFile h frames]
  (into {} (for [f frames
                 :let [f (long f), runner (.field h f HeapNames/FRAME_RUNNER), t (.field h runner HeapNames/WORKER_RUNNER_THREAD)]
                 :when (and (pos? t) (= f (.field h runner HeapNames/RUNNER_BLOCK)))]
             [f t])))

(defn- on-thread [^HeapFile h t]
  (assoc (set/rename-keys (thread-party h t) {:thread :name}) :state (if (waits? h t) :waiting :runnable) :site (place h t)))

(defn- block [^HeapFile h ids waits running channel-ids site-of f]
  (let [in (or (waits f) [])
        held (concat (map (fn local [field] (.field h f field)) HeapNames/FRAME_LOCALS)
                     (.elements h (.field h f HeapNames/FRAME_MORE)))
        holds (into [] (comp (keep channel-ids) (distinct)) held)]
    (cond-> {:id (ids f) :state :parked :waits in
             :site (site-of f)}
      (running f) (assoc :state :running :on (on-thread h (running f)))
      (seq holds) (assoc :holds holds)
      (channel-ids (.field h f HeapNames/FRAME_PORT)) (assoc :result (channel-ids (.field h f HeapNames/FRAME_PORT)))
      (pos? (.field h f HeapNames/BLOCK_CANCELLABLE)) (assoc :cancellable? true))))

(defn- party [^HeapFile h ids o]
  (condp = (.className h o)
    HeapNames/FRAME {:block (ids o)}
    HeapNames/THREAD_WAITER (thread-party h (.field h o HeapNames/THREAD_WAITER_THREAD))
    {:callback (Compiler/demunge (str (.className h (.field h o HeapNames/CALLBACK_FUNCTION))))}))

(defn- scopes
  "Returns the scopes whose end a block or thread waits for. A region that has not been left is their body or a child."
  [^HeapFile h ids channel-ids regions]
  (let [done (fn done [r] (channel-ids (.field h (.field h r HeapNames/REGION_OWNER) "done")))
        number (fn number [r] (.field h r HeapNames/REGION_NUMBER)) ; 0 for the body
        party (fn party [r]
                (let [c (.field h r HeapNames/REGION_CANCELLABLE), f (.field h c HeapNames/CANCELLABLE_BLOCK), t (.field h c HeapNames/CANCELLABLE_THREAD)]
                  (cond (ids f) {:block (ids f)} (pos? t) (thread-party h t) :else {:begun? false})))] ; or it is ready
    (vec (for [[id regions] (group-by done (filter (fn open? [r] (and (zero? (.field h r HeapNames/REGION_LEFT)) (done r))) regions))
               :let [{[body] true, children false} (group-by (comp zero? number) regions)]]
           {:id id :body (some-> body party) :children (mapv party (sort-by number children))
            :cancelled? (boolean (some-> body (as-> r (pos? (.field h r HeapNames/REGION_REQUESTED)))))
            :failures 0}))))

(defn- channel [^HeapFile h ids by-port unparked stuck scope? {:keys [id channel takes puts]}]
  (let [buffer (.field h channel HeapNames/CHANNEL_BUFFER), made-by (by-port channel)]
    (cond-> {:id id
             :kind (if (scope? id)
                     :scope
                     (condp = (.className h (.field h channel HeapNames/CHANNEL_ROLE))
                       HeapNames/TIMEOUT :timeout
                       HeapNames/RESULT :result
                       (if (.isA h channel HeapNames/SOURCE_CHANNEL) :future :chan)))
             :closed? (not (zero? (.field h channel HeapNames/CHANNEL_END)))
             :takes (mapv (partial party h ids) takes) :puts (mapv (partial party h ids) puts)}
      (.hasField h buffer HeapNames/BUFFER_CAPACITY)
      (assoc :buffer {:type (symbol (str/replace (.className h buffer) #"^.*[.$]" ""))
                      :count (.field h buffer HeapNames/BUFFER_COUNT) :capacity (.field h buffer HeapNames/BUFFER_CAPACITY)})
      made-by (assoc :block (ids made-by))
      (unparked channel) (assoc :running? true)
      (stuck made-by) (assoc :collected? true))))

;;;; Snapshots

(defn- of-file [^HeapFile h path]
  (let [[channels frames threads regions] (map vec (.instances h [HeapNames/CHANNEL HeapNames/FRAME "java.lang.Thread" HeapNames/REGION]))
        channels (channels-of h channels)
        waits (snapshot/waits-of channels)
        unparked (into #{} (comp (remove waits) (map (fn port [f] (.field h f HeapNames/FRAME_PORT)))) frames)
        waiting (waiting-threads h waits threads)
        running (running h (remove waits frames))
        frames (filterv (some-fn waits running) frames)
        blind? (unseen-stacks? h threads)
        reach (Reach/of h ^Map (if blind? {} waiting))
        stuck (if blind? #{} (into #{} (remove (fn live? [f] (or (running f) (.isReached reach f)))) frames))
        ids (numbered h frames)
        channel-ids (into {} (map (juxt :channel :id)) channels)
        block (partial block h ids waits running channel-ids (site-of h))
        scopes (scopes h ids channel-ids regions)
        gone (mapv (fn gone [f] (let [{[{:keys [op]} & more] :waits :as b} (block f)] (assoc b :op (if more :alts op))))
                   (filter stuck frames))
        waiting (into [] (comp (map (partial waiting-thread h waits reach))
                               (filter (fn shown? [{:keys [stuck? waits]}] (or stuck? (:channel (first waits))))))
                      waiting)
        locked (lock-waits h threads)
        blocks (into [] (comp (remove stuck) (map block)) frames)]
    (cond-> {:skein/snapshot snapshot/version
             :heap path
             :at-ms (.millis h)
             :blocks blocks
             :threads waiting
             :channels (mapv (partial channel h ids (into {} (map (fn [f] [(.field h f HeapNames/FRAME_PORT) f])) frames) unparked stuck (into #{} (map :id) scopes)) channels)
             :scopes scopes
             :elsewhere (elsewhere h threads (concat waiting locked (keep :on blocks)))
             :collected {:count (count gone) :blocks gone}}
      true (snapshot/with-lock-waits locked)
      (some (partial old? h) threads) (assoc :old-jvm? true)
      (not (.hasClass h HeapNames/CHANNEL)) (assoc :unproven "The program has not loaded Skein, so there are no blocks and channels.")
      blind? (assoc :unproven "It lacks the stacks of virtual threads, as files of a JDK 21 do. So nothing is proven."))))

(defn read-heap
  "Returns the snapshot that the heap file at `path` holds, as `skein.inspect/snapshot` does. Throws :skein/file."
  [path]
  (let [fail (fn fail [why]
               (error/fail! [:skein/file (if (.exists (io/file path)) :foreign :missing)]
                            (str path " can't be read as a heap file: " why) {:path (str path)}))
        h (try (HeapFile/read (Path/of path (make-array String 0)))
               (catch IllegalArgumentException e (fail (ex-message e)))
               (catch IOException e (fail (str "there is no such file, or it can't be read (" (ex-message e) ")."))))]
    (try (of-file h path)
         (catch OutOfMemoryError _
           (fail "it needs more memory than this JVM has; give it more, as in JAVA_OPTS=-Xmx4g.")))))

(defn- delete-folder
  "Deletes a folder with its files. A JVM that still writes there may add files meanwhile."
  [^File folder]
  (loop [n 100]
    (run! (fn delete [^File file] (.delete file)) (.listFiles folder))
    (when-not (or (.delete folder) (not (.exists folder)) (zero? n)) (recur (dec n)))))

(defn in-temporary-file
  "Calls `write` with the path of a file that `write` must make, in a folder that only this user may enter. Then calls `read` with
  that path, and returns its result. The file, which holds all values of the program, is always deleted, also if this process is
  told to end meanwhile."
  [write read]
  (let [folder (try (.toFile (Files/createTempDirectory "skein-heap" (make-array FileAttribute 0)))
                    (catch IOException e
                      (error/fail! [:skein/file :unwritable]
                                   (str "No heap file can be written: the temporary folder can't be used (" (ex-message e) ").") {})))
        file (str (io/file folder "heap.hprof"))
        at-end (Thread. (fn at-end [] (delete-folder folder)))]
    (.addShutdownHook (Runtime/getRuntime) at-end)
    (try
      (write file)
      (read file)
      (finally
        (delete-folder folder)
        (try (.removeShutdownHook (Runtime/getRuntime) at-end)
             (catch IllegalStateException _)))))) ; this process is ending

(defn of-this-process
  "Returns the snapshot of a heap file of this process. Throws :skein/file, as when the disk is full."
  []
  (let [bean ^HotSpotDiagnosticMXBean (ManagementFactory/getPlatformMXBean HotSpotDiagnosticMXBean)]
    (in-temporary-file
      (fn write [path]
        (try (.dumpHeap bean path false)
             (catch IOException e
               (error/fail! [:skein/file :unwritable] (str "The heap file " path " can't be written: " (ex-message e)) {:path path}))))
      read-heap)))
