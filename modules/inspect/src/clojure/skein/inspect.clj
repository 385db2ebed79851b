;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect
  "Shows which blocks and threads of this process wait, what they wait for, and which wait for ever.

  * `start!` `stop!` `level`
  * `snapshot`, `blocks`: what exists now
  * `why`, `graph`: who waits for whom
  * `deadlocks`, `leaks`: blocks and threads that can never continue
  * `lints`, `growth`: what looks wrong
  * `timeline`: when each block ran and waited
  * `metrics`: numbers for a scraper
  * `dump!` writes a snapshot or a timeline, `read-snapshot` reads a snapshot, also from a heap file

  Functions that look at a snapshot take it as their last argument, and take one themselves if they are called without.

  While the inspector is on, a block costs about a hundred bytes and a few nanoseconds more. Off, it costs nothing. The inspector
  keeps no block alive. It holds the ports of a block's last operation, and for an alts! the values to put, until the block's next
  operation, step or end.

  It shows the source of operations, the names of files, functions, threads, locks and classes, your labels, and numbers. It
  shows no value of the program, except for literals in the source of an operation.

      (start!)
      ;=> :registry"
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.inspect.dump :as dump]
   [skein.inspect.heap :as heap]
   [skein.inspect.lints :as lints]
   [skein.inspect.metrics :as metrics]
   [skein.inspect.shape :as shape]
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.timeline :as timeline]
   [skein.inspect.verdict :as verdict]
   [skein.inspect.why :as why]
   [skein.inspect.words :as words])
  (:import
   (java.io File IOException PushbackReader Writer)
   (java.nio.charset StandardCharsets)
   (skein.inspect.rt Registry)))

(set! *warn-on-reflection* true)

;;;; On and off

(defn level
  "Returns how much the inspector records: :off for nothing, :registry for what waits where, or :events, which also records when each
  step began and ended."
  []
  (let [registry (Registry/get)]
    (cond (.recorder registry) :events, (.isOn registry) :registry, :else :off)))

(defn start!
  "Switches the inspector on. It sees blocks that are made from now on, and older blocks after their next step. Returns `level`.

  - options:
    - :level  :events also records steps, for `timeline`. Each step then takes about 100 ns more, and the recorded steps take
              up to 30 MB. :registry stops the recording. Without this option the level stays as it is; at first it is
              :registry"
  ([] (start! nil))
  ([options]
   (let [{:keys [level]} (check/options "start!" options {:level [#{:registry :events} ":registry or :events"]})
         registry (Registry/get)]
     (.start registry)
     (when level (.record registry (= :events level))))
   (level)))

(defn stop!
  "Switches the inspector off, and deletes what it has recorded. Returns nil."
  []
  (.stop (Registry/get))
  (verdict/forget!)
  nil)

(defn- check-on []
  (when-not (.isOn (Registry/get))
    (error/fail! :skein/inspect-off "The inspector is off, so it knows no blocks. Call (skein.inspect/start!) first." {})))

;;;; Snapshots

(defn snapshot
  "Returns the blocks, threads and channels of this process as one map, all data:

  - :pid        the number of the process
  - :at-ms      when the snapshot was taken, in ms since 1970
  - :blocks     the blocks that have not ended, see `blocks`
  - :threads    the threads that wait in a channel, or without a time limit for a lock that a thread holds
  - :channels   those in which a block or thread waits, and those with a label
  - :scopes     the open ones that contain a block, or a thread that waits in a channel
  - :folds      the running folds of skein.fold that have taken more than a millisecond
  - :failures   the last exceptions that no code has taken: {:at-ms :thread :exception class-name :site}
  - :timers     how many timeouts have neither fired nor been closed
  - :memory     the heap in MB, with its garbage: {:used :max}
  - :elsewhere  how many other threads wait in a call of the program, so not those of a pool that have no task; only from
                heap files. Heap files of a JDK before 24 lack virtual threads
  - :starved    nil, or {:ms :threads} if no virtual thread has got a carrier thread for 5 s or more; :threads has those
                that hold the carrier threads: {:name :tid :site}
  - :collected  blocks that were garbage before they had ended: {:count n, :blocks the last 1024,
                :groups `[{:blocks [id] :then {:blocks :channels}}]`}. The blocks of a group waited for one another when :prove
                of `deadlocks` found them; :then has them and their channels as they were

  The keys of a thread are :name :tid :virtual? :site :waits :since-ms. :cancellable? is true if it is in a scope or a similar
  construct that could cancel it. :block is the block that it runs, if its step has taken 500 ms or more. The :waits of a
  thread that waits for a lock are `[{:op :lock :lock name :held-by {:thread name :tid n}}]`, and it has no :since-ms. Virtual
  threads that wait for locks are known only from heap files.

  The keys of a channel:

  - :id            a number
  - :kind          :chan, :timeout, :limiter of skein.async.limit, :result of a block or thread, :future, or :scope for the
                   one in which the body of a scope waits for its children
  - :label         see `label!` of skein.async; for a limiter without one, its name
  - :buffer        {:type :count :capacity}
  - :takes :puts   who waits, the longest first: {:block id}, {:thread name :tid n}, with :block if a block blocks the
                   thread, {:callback name}, or {:older site} for a block that was parked before the inspector was switched on
  - :closed?       whether it is closed
  - :thread        for the result of a `thread` or `io-thread`, the thread: {:thread name :tid :state :site}
  - :block         for a result, the block, unless it has ended; :collected? is true if it can never end
  - :remaining-ms  for a timeout

  The keys of a scope:

  - :id            a number
  - :label         its name, see `label!` of skein.async
  - :parent        the scope around it, if the inspector sees one
  - :body          who runs the body: {:block id} or {:thread name :tid n}
  - :children      the children that have not ended, oldest first, as in :body; {:begun? false} for one that has not begun.
                   In a cancelled scope, the threads of :body and :children have a :site
  - :remaining-ms  the time until its deadline, if it has one
  - :cancelled?    true if no child begins any more; :reason is :failure, :timeout or :outside unless cancel! did it
  - :cancelled-ms  how long ago the whole scope was cancelled
  - :failures      how many of its children and its body have failed

  The keys of a fold:

  - :thread :tid   the name and number of the thread that called the fold; :site: where that thread is now
  - :since-ms      how long ago the fold began
  - :done :total   how many units of the source are done, and how many there are; :total is nil if it is unknown
  - :unit          :elements or :bytes

  The snapshot of a heap file, see `read-snapshot`, also has :heap, the path, but no :pid. If nothing can be proven, :unproven
  is the reason. If the JVM is older than JDK 19, :old-jvm? is true. Throws :skein/inspect-off."
  []
  (check-on)
  (verdict/with-groups (snapshot/take-snapshot)))

(defn- snapshot? [x] (and (map? x) (contains? x :skein/snapshot)))

(defn- check-snapshot [x]
  (check/that "The snapshot" x (snapshot? x) "what snapshot or read-snapshot returns"))

(defn- check-options
  "Returns the options of `call`, checked by `known`; see skein.impl.check/options. A snapshot in their place is refused."
  [call options known]
  (check/that (str "The first argument of " call) options (not (snapshot? options))
              (str "its options; the snapshot comes last: (" call " {} snapshot)"))
  (check/options call options known))

(defn- said
  "Returns what was found in a snapshot, with sentences."
  [snapshot found]
  (let [ix (shape/index snapshot)] (mapv (partial words/with-sentence ix) found)))

(def ^:private without-snapshot
  "The entry of an option that says how to take a snapshot, where one is given."
  [(constantly false) "left out, as there is a snapshot"])

(def ^:private filters
  {:id [int? "the number of a block"]
   :state [#{:new :ready :running :parked} "one of :new, :ready, :running and :parked"]
   :op [#{:take :put} ":take or :put"]
   :site [string? "a string such as \"orders.clj:31\""]
   :older-ms check/time-option
   :limit [nat-int? "a whole number"]
   :sort [#{:age :since :runs} ":age, :since or :runs"]})

(defn- at? [place {{:keys [file line]} :site}]
  (let [here (str file ":" line), i (str/index-of here place)]
    (and i (or (zero? (long i)) (#{\/ \\} (nth here (dec (long i)))))
         (or (str/ends-with? here place) (= \: (nth here (+ (long i) (count place))))))))

(defn- selected [{:keys [id state op site older-ms limit] order :sort} blocks]
  (cond->> blocks
    id (filter (comp #{id} :id))
    state (filter (comp #{state} :state))
    op (filter (fn waits? [b] (some (comp #{op} :op) (:waits b))))
    site (filter (partial at? site))
    older-ms (filter (fn old? [b] (<= (check/milliseconds :older-ms older-ms) (long (:since-ms b -1)))))
    order (sort-by (fn greatest [b] (- (long (({:age :age-ms :since :since-ms :runs :runs} order) b 0)))))
    limit (take limit)
    true vec))

(defn blocks
  "Returns the blocks that have not ended, as maps:

  - :id        a number; texts call the block go-ID
  - :state     `:new`: it has not run. `:ready`: it is in a run queue, or has started another block that runs on its stack. :running
               or :parked
  - :site      where it parks, or parked last: {:file :line :column :form :op :in-try}. For a block of Skein itself, such as a
               pipeline's, the file and line are those of the call in the program, and :column is -1
  - :waits     if it is parked, `[{:op :take or :put, :channel id, :place n}]`, several for an alts!. :place is the block's position,
               from 1, among those that wait in the channel. For a port of another kind, {:op :take or :put, :foreign class-name}.
               If the thread under :on waits, also what it waits for, as the :waits of a thread
  - :label     the name of its result, see `label!` of skein.async
  - :since-ms  how long ago it began its last operation, or its last step if that was later, with an error of up to 10 ms
  - :age-ms    how long ago it was made, or first seen
  - :runs      how many steps it has run
  - :parent    the block that made it, or nil
  - :holds     the channels in its locals in which a block or thread waits
  - :result    the channel of its result, if a block or thread waits there
  - :cancellable? true if it is in a scope or a similar construct that could cancel it
  - :scope     the number of its innermost scope
  - :on        the thread of a step that has taken 500 ms or more: {:name :tid :state :site}; :state as in the JVM
  - :refused   how many operations in a row, up to the last one, have found the same port closed

  - options  :id, :state, :op and :site \"orders.clj\" or \"orders.clj:31\": only matching blocks; :older-ms: blocks that have
             waited at least that long; :sort by :age, :since or :runs, greatest first; :limit: at most that many"
  ([] (blocks nil))
  ([options] (selected (check-options "blocks" options filters) (:blocks (snapshot))))
  ([options snapshot]
   (selected (check-options "blocks" options filters) (:blocks (check-snapshot snapshot)))))

;;;; Waits

(defn why
  "Returns why `x` waits, following the chain of waits to its end: `{:says string, :chain [block or thread], :ends reason}`, and
  :could, what could end the last wait.

  - x  the number of a block, its result port, any channel, a Thread, or a name as in the texts: \"go-42\", \"chan-3\", \"main\"

  :ends says how the chain ends:

  - :nobody     no known block or thread could end the last wait; code that reaches the channel through a var still may
  - :timer      a timer will end it, or, outside of a `shield`, the deadline of a scope
  - :cycle      the chain returns to an earlier member
  - :several    several blocks, or children of a scope, could end the last wait; the chain follows none of them
  - :moves      the block or thread that could end it is running or ready, or waits outside of channels
  - :collected  the block that should end it was garbage. A heap file still has that block, and the chain goes on"
  ([x] (why x (snapshot)))
  ([x snapshot]
   (check/that "The first argument of why" x (not (snapshot? x)) "what waits: (why x snapshot)")
   (words/with-sentence (why/index (check-snapshot snapshot)) (why/why snapshot x))))

(defn graph
  "Returns `{:nodes #{node} :edges #{[from to what]}}`. A node is `[:block id]`, `[:thread tid]` or `[:channel id]`. The edges, by `what`:

  - :take :put  from a block or thread to the channel in which it waits
  - :lock       from a thread to the one that holds the lock for which it waits
  - :makes      from a channel to the block or thread whose result it is
  - :child      from the channel in which something waits for the end of a scope, to each child of that scope
  - :holds      from a block to a channel in its locals"
  ([] (graph (snapshot)))
  ([snapshot] (why/graph (check-snapshot snapshot))))

;;;; Deadlocks

(defn deadlocks
  "Returns reports on blocks and threads that can never continue, the surest first: {:verdict :kind :says}, and the blocks or threads.

  - :verdict:
    - :proven     the block was garbage before it had ended, or a heap file proves it
    - :certain    threads wait for each other's locks
    - :suspected  blocks wait for one another, according to their locals
  - :kind     :deadlock or :locks; for a collected block also :lost-value or :no-clean-up
  - :says     the report as a sentence

  options, for a snapshot that is taken now:

  - :prove  true: runs the garbage collector first. That proves a deadlock of blocks that nothing outside of it can reach. If a
            var, a thread or a timer holds one of the channels, some code could still use it, and nothing is proven.
            :heap: writes a heap file to the temporary folder, reads it and deletes it. That proves deadlocks of threads too, and
            needs no inspector. The process stops for a second or more while the file is written

  Only the last 1024 collected blocks are kept. Without :heap there is no report on earlier ones. Throws :skein/inspect-off,
  :skein/not-inspectable, :skein/file."
  ([] (deadlocks nil))
  ([options]
   (let [{:keys [prove]} (check-options "deadlocks" options {:prove [#{true false :heap} "true, false or :heap"]})]
     (when-not (= :heap prove) (check-on))
     (when (and (true? prove) (not (verdict/collect!)))
       (error/fail! :skein/not-inspectable "The garbage collector did not run when asked to; is -XX:+DisableExplicitGC set?" {}))
     (deadlocks nil (if (= :heap prove) (heap/of-this-process) (snapshot)))))
  ([options snapshot]
   (check-options "deadlocks" options {:prove without-snapshot})
   (said snapshot (verdict/deadlocks (check-snapshot snapshot)))))

(defn leaks
  "Returns the places of blocks that were garbage before they had ended: `[{:site :kind :count :last-ms}]`, the most frequent first.
  :kind is as in `deadlocks`, or :abandoned, which does no harm. :last-ms is how long ago the last of them began to wait. Only the
  last 1024 collected blocks are kept and counted."
  ([] (leaks (snapshot)))
  ([snapshot]
   (->> (verdict/collected (check-snapshot snapshot))
        (group-by (juxt (comp :site :block) :kind))
        (map (fn row [[[site kind] reports]]
               {:site site :kind kind :count (count reports)
                :last-ms (when-some [ages (seq (keep (comp :since-ms :block) reports))] (apply min ages))}))
        (sort-by (comp - :count))
        vec)))

(defn lints
  "Returns what looks wrong but is not proven, the most severe first: `[{:lint :severity :count :says}]`, with the :site, :channel or
  :scope that it is about.

  - :error:
    - :pending           768 or more takes or puts wait in a channel; at most 1024 may
    - :nil-loop          a block has taken nil from one closed channel 1000 times in a row
    - :never-started     a block was made more than 5 s ago and has not begun
    - :dropped-error     no code has taken an exception
    - :starved           no virtual thread has got a carrier thread for 5 s, and none computes: blocked threads hold them all
  - :warn:
    - :holds-lock        a thread has waited in a channel for 2 s and holds a lock that another thread waits for
    - :full              a buffer is full, and nobody has taken from it for 5 s
    - :retained-by-timer a timeout of more than a minute holds more than 100 blocks, or one site waits for more than 1000 such
                         timeouts
    - :ignores-cancel    a scope was cancelled more than 5 s ago, and a child or its body has not ended
    - :hog               a step has computed for 1 s or more while other blocks are ready to run
    - :put-after-close   100 puts or more in a row have found one channel closed
  - :info:
    - :blocked           a step has blocked its thread for 1 s or more; :warn if there are more than 64
    - :abandoned         more than 100 blocks waited at one place for a value that no code could put"
  ([] (lints (snapshot)))
  ([snapshot] (said snapshot (lints/lints (check-snapshot snapshot)))))

(defn growth
  "Returns the sites whose number of blocks grows, as `[{:site :from :to :says}]`. It grows if each snapshot has more blocks than the
  one before, and the last has at least 100 more than the first, and at least 20 % more. Takes the snapshots now, or is given them, the
  oldest first.

  options, for snapshots that are taken now:

  - :n         how many, at least 2; by default 6
  - :every-ms  the time between them; by default 10000"
  ([] (growth nil))
  ([options]
   (check/that "The first argument of growth" options (not (or (snapshot? options) (sequential? options)))
               "its options; snapshots come last: (growth {} snapshots)")
   (let [{:keys [n every-ms] :or {n 6 every-ms 10000}}
         (check/options "growth" options {:n [#(and (int? %) (< 1 (long %))) "a whole number, at least 2"]
                                          :every-ms check/time-option})]
     (growth nil (mapv (fn look [i]
                         (when (pos? (long i)) (Thread/sleep (check/milliseconds :every-ms every-ms)))
                         (snapshot))
                       (range n)))))
  ([options snapshots]
   (check-options "growth" options {:n without-snapshot :every-ms without-snapshot})
   (said nil (lints/growth (mapv check-snapshot (check/collection "snapshots of growth" snapshots))))))

;;;; Timelines and dumps

(def ^:private timeline-options
  {:last-ms check/time-option
   :block [int? "the number of a block"]})

(defn timeline
  "Returns when each block ran and waited, as `{:from-ms :slices [slice]}`, in order of time. :from-ms is in ms since 1970, and no
  slice begins before it. A slice is a map:

  - :kind    :run for a step, :wait for the time between two steps
  - :block   the number of the block
  - :site    as in `blocks`: for a wait, where the block waited; for a step, the operation after which it began, nil for the first
  - :at-us   when the slice began, in µs after :from-ms
  - :us      how long it took, in µs
  - :thread  the name of the thread that ran the step, and :tid its number; a worker's next thread has the same name
  - :ended   :done or :failed, for the last step of the block
  - :open?   true if the slice has not ended

  Slices of one block don't overlap. Steps on one thread overlap only if one contains the other, as when `async` starts a block.
  Only the last 65,536 starts and ends in each of 16 groups of threads are kept. A step whose start is no longer kept is left
  out. Throws :skein/inspect-off unless `level` is :events.

  - options:
    - :last-ms  how far back to look, 5000 by default
    - :block    the number of a block; other blocks are left out"
  ([] (timeline nil))
  ([options]
   (let [{:keys [last-ms block] :or {last-ms 5000}} (check/options "timeline" options timeline-options)
         recorder (.recorder (Registry/get))]
     (when-not recorder
       (error/fail! :skein/inspect-off "The steps of blocks are not recorded. Call (skein.inspect/start! {:level :events}) first." {}))
     (timeline/timeline recorder (check/milliseconds :last-ms last-ms) block))))

(defn- path? [x] (or (string? x) (instance? File x)))

(def ^:private target
  [#(or (path? %) (instance? Writer %)) "a path, a java.io.File or a java.io.Writer"])

(def ^:private dump-options
  {:to target
   :as [#{:text :json :edn} ":text, :json or :edn"]
   :what [#{:snapshot} ":snapshot, or :timeline without a snapshot"]})

(def ^:private timeline-dump-options
  (merge timeline-options {:to target, :as [#{:json} ":json"], :what [#{:timeline} ":timeline"]}))

(defn- write-to [to write]
  (if (path? to)
    (dump/to-file to write)
    (do (write to) (.flush ^Writer to)))
  nil)

(defn- dump-snapshot [{:keys [to as] :or {to *out*}} snapshot]
  (let [as (or as (if (path? to) (dump/format-of to) :text))]
    (write-to to (fn write [out] (dump/write snapshot out as)))))

(defn- dump-timeline [{:keys [to] :or {to *out*} :as options}]
  (let [slices (timeline (select-keys options (keys timeline-options)))]
    (write-to to (fn write [out] (timeline/write-chrome out slices)))))

(defn dump!
  "Writes a snapshot or a timeline. Returns nil.

  options:

  - :to    a path, a java.io.File or a java.io.Writer, which is flushed; by default `*out*`
  - :as    :text, which groups blocks by place, the oldest first, :json or :edn. By default as the name of the file ends,
           .json or .edn, or else :text
  - :what  :snapshot, the default; or :timeline, with the options of `timeline`. A timeline is JSON that ui.perfetto.dev and
           chrome://tracing open

  Throws :skein/file, :skein/inspect-off, and :skein/bad-argument, also if the name of the file ends in .hprof."
  ([] (dump! nil))
  ([options]
   (if (= :timeline (:what options))
     (dump-timeline (check/options "dump! of a timeline" options timeline-dump-options))
     (dump-snapshot (check-options "dump!" options dump-options) (snapshot))))
  ([options snapshot]
   (dump-snapshot (check-options "dump!" options dump-options) (check-snapshot snapshot))))

(defn metrics
  "Returns a snapshot as metrics, a string in the text format of OpenMetrics 1.0, for a scraper such as Prometheus: blocks by
  state, waits, scopes, timers, collected blocks, deadlocks and lints. Its content type is
  application/openmetrics-text; version=1.0.0; charset=utf-8."
  ([] (metrics (snapshot)))
  ([snapshot] (metrics/text (check-snapshot snapshot))))

(defn- heap-file? [path]
  (with-open [in (io/input-stream path)]
    (= "JAVA PROFILE" (String. (.readNBytes in 12) StandardCharsets/US_ASCII))))

(defn- read-dump [path]
  (let [fail (fn fail [why]
               (error/fail! [:skein/file :foreign]
                            (str path " is neither a heap file nor a dump of the inspector: " why
                                 " A dump that can be read is written to x.edn.")
                            {:path (str path)}))
        x (try (with-open [in (PushbackReader. (io/reader path))] (edn/read in))
               (catch RuntimeException _ (fail "it is not EDN.")))]
    (cond
      (not (snapshot? x)) (fail "it holds no snapshot.")
      (not= snapshot/version (:skein/snapshot x)) (fail (str "its version is " (:skein/snapshot x) "."))
      :else x)))

(defn read-snapshot
  "Returns the snapshot that `dump!` has written to an EDN file, or that is in a heap file, such as
  `jcmd PID GC.heap_dump -all FILE` writes.

  The process that wrote a heap file needs no preparation, not even this module. Its snapshot has no times. It has only blocks
  that are parked or that a thread runs, and only scopes whose end something waits for. A thread has :stuck? true if the file
  shows that no running code can reach what the thread waits for. Throws :skein/file."
  [path]
  (check/that "path of read-snapshot" path (path? path) "a string or a java.io.File")
  (try
    (if (heap-file? path) (heap/read-heap (str path)) (read-dump path))
    (catch IOException e
      (error/fail! [:skein/file (if (.exists (io/file path)) :unreadable :missing)]
                   (str "there is no file " path ", or it can't be read (" (ex-message e) ").") {:path (str path)}))))
