;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect
  "Shows which blocks and threads of this process wait, what they wait for, and which wait for ever.

  * `start!` `stop!` `on?` `level`
  * `snapshot` `blocks` `block` `channels` `threads` `scopes` `folds`: what exists now
  * `why`, `graph`: who waits for whom
  * `deadlocks`, `leaks`: blocks and threads that can never continue
  * `lints`, `growth`: what looks wrong
  * `dump`, `dump!`, `read-dump`: a snapshot as text, JSON or EDN
  * `timeline`, `timeline!`: when each block ran and waited, as data or as a file for Perfetto
  * `metrics`: numbers for a scraper
  * `read-heap`: a heap file as a snapshot
  * `mark`, `survivors`: blocks that were made after a mark and have not ended

  While the inspector is on, a block costs about a hundred bytes and a few nanoseconds more. Off, it costs nothing. The inspector
  keeps no block alive. It holds the ports of a block's last operation, and for an alts! the values to put, until the block's next
  operation, step or end.

  It shows the source of operations, the names of files, functions, threads, locks and classes, your labels, and numbers. It
  shows no value of the program, except for literals in the source of an operation.

      (start!)
      (on?)
      ;=> true"
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
   [skein.inspect.snapshot :as snapshot]
   [skein.inspect.timeline :as timeline]
   [skein.inspect.verdict :as verdict]
   [skein.inspect.why :as why])
  (:import
   (java.io File IOException PushbackReader Writer)
   (skein.inspect.rt Entry Registry)))

(set! *warn-on-reflection* true)

;;;; On and off

(defn on?
  "Returns whether the inspector is on."
  []
  (.isOn (Registry/get)))

(defn level
  "Returns how much the inspector records: :off for nothing, :registry for what waits where, or :events, which also records when each
  step began and ended."
  []
  (let [registry (Registry/get)]
    (cond (.recorder registry) :events, (.isOn registry) :registry, :else :off)))

(defn start!
  "Switches the inspector on. It sees blocks that are made from now on, and older blocks after their next step. Returns true.

  - options:
    - :level  :events also records steps, for `timeline`. Each step then takes about 100 ns more, and the recorded steps take
              up to 30 MB. :registry stops the recording. Without this option the level stays as it is; at first it is
              :registry"
  ([] (start! nil))
  ([options]
   (let [{:keys [level]} (check/options "start!" options {:level [#{:registry :events} ":registry or :events"]})
         registry (Registry/get)]
     (.start registry)
     (when level (.record registry (= :events level)))
     true)))

(defn stop!
  "Switches the inspector off, and deletes what it has recorded. Returns false."
  []
  (.stop (Registry/get))
  (verdict/forget!)
  false)

(defn- check-on []
  (when-not (on?)
    (error/fail! :skein/inspect-off "The inspector is off, so it knows no blocks. Call (skein.inspect/start!) first." {})))

;;;; Blocks, channels, threads

(defn snapshot
  "Returns the blocks, threads and channels of this process as one map, all data:

  - :pid        the number of the process
  - :at-ms      when the snapshot was taken, in ms since 1970
  - :blocks     the blocks that have not ended, see `blocks`
  - :threads    the threads that wait in a channel or for a lock, see `threads`
  - :channels   see `channels`
  - :scopes     see `scopes`
  - :folds      see `folds`
  - :failures   the last exceptions that no code has taken: {:at-ms :thread :exception class-name :site}
  - :timers     how many timeouts have neither fired nor been closed
  - :memory     the heap in MB, with its garbage: {:used :max}
  - :elsewhere  how many other threads wait in a call of the program, so not those of a pool that have no task; only from heap files.
                Heap files of a JDK before 24 lack virtual threads
  - :starved    nil, or {:ms :threads} if no virtual thread has got a carrier thread for 5 s or more; :threads has those that hold
                the carrier threads: {:name :tid :site}
  - :collected  blocks that were garbage before they had ended: {:count n, :blocks the last 1024,
                :groups `[{:blocks [id] :says text}]`}. The blocks of a group waited for one another when :prove of `deadlocks`
                found them

  The snapshot of a heap file, see `read-heap`, also has :heap, the path, but no :pid. If nothing can be proven, :unproven is the reason. If the
  JVM is older than JDK 19, :old-jvm? is true.
  The functions below take a snapshot if they are called without one. Throws :skein/inspect-off."
  []
  (check-on)
  (verdict/with-groups (snapshot/take-snapshot)))

(defn- snapshot? [x] (and (map? x) (contains? x :skein/snapshot)))

(defn- check-snapshot [x]
  (check/that :skein/bad-option "The snapshot" x (snapshot? x) "what snapshot, read-dump or read-heap returns"))

(defn- check-path [what x]
  (check/that :skein/bad-option what x (or (string? x) (instance? File x)) "a string or a java.io.File"))

(def ^:private filters
  {:state [#{:new :ready :running :parked} "one of :new, :ready, :running and :parked"]
   :op [#{:take :put} ":take or :put"]
   :site [string? "a string such as \"orders.clj:31\""]
   :older-ms [nat-int? "a whole number of ms"]
   :limit [nat-int? "a whole number"]
   :sort [#{:age :since :runs} ":age, :since or :runs"]})

(defn- at? [place {{:keys [file line]} :site}]
  (let [here (str file ":" line), i (str/index-of here place)]
    (and i (or (zero? (long i)) (#{\/ \\} (nth here (dec (long i)))))
         (or (str/ends-with? here place) (= \: (nth here (+ (long i) (count place))))))))

(defn- selected [{:keys [state op site older-ms limit] order :sort} blocks]
  (cond->> blocks
    state (filter (comp #{state} :state))
    op (filter (fn waits? [b] (some (comp #{op} :op) (:waits b))))
    site (filter (partial at? site))
    older-ms (filter (fn old? [b] (<= (long older-ms) (long (:since-ms b)))))
    order (sort-by ({:age (comp - :age-ms) :since (comp - :since-ms) :runs (comp - :runs)} order))
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
               If the thread under :on waits, also what it waits for, as in `threads`
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

  - options  :state, :op and :site \"orders.clj\" or \"orders.clj:31\": only matching blocks; :older-ms: blocks that have waited at
             least that long; :sort by :age, :since or :runs, greatest first; :limit: at most that many"
  ([] (blocks nil (snapshot)))
  ([x] (if (snapshot? x) (blocks nil x) (blocks x (snapshot))))
  ([options snapshot]
   (check/that :skein/bad-option "The first argument of blocks" options (not (snapshot? options))
               "its options: (blocks {:state :parked} snapshot)")
   (selected (check/options "blocks" options filters) (:blocks (check-snapshot snapshot)))))

(defn block
  "Returns the block with the number `id`, as in `blocks`. Throws :skein/no-such-block."
  ([id] (block (snapshot) id))
  ([snapshot id]
   (or (some (fn it [b] (when (= id (:id b)) b)) (:blocks (check-snapshot snapshot)))
       (error/fail! :skein/no-such-block (str "There is no block " (error/preview id) ": it has ended, never existed, or has taken no step since the inspector was started.")
                    {:block (error/preview id)}))))

(defn channels
  "Returns the channels in which a block or thread waits, and those with a label, as maps:

  - :id            a number
  - :kind          :chan, :timeout, :limiter of skein.async.limit, :result of a block or thread, :future, or :scope for the one in which the body of a scope waits for its children
  - :label         see `label!` of skein.async; for a limiter without one, its name
  - :buffer        {:type :count :capacity}
  - :takes :puts   who waits, the longest first: {:block id}, {:thread name :tid n}, with :block if a block blocks the thread,
                   {:callback name}, or {:older site} for a block that was parked before the inspector was switched on
  - :closed?       whether it is closed
  - :thread        for the result of a `thread` or `io-thread`, the thread: {:thread name :tid :state :site}
  - :block         for a result, the block; :collected? is true if that block can never end
  - :remaining-ms  for a timeout"
  ([] (channels (snapshot)))
  ([snapshot] (:channels (check-snapshot snapshot))))

(defn threads
  "Returns the threads that wait in a channel, virtual ones too: {:name :tid :virtual? :site :waits :since-ms}. :cancellable? is
  true if the thread is in a scope or a similar construct that could cancel it. :block is the block that it runs, if its step has
  taken 500 ms or more. Then come the platform threads that wait without a
  time limit for a lock that a thread holds. Their :waits is `[{:op :lock :lock name :held-by {:thread name :tid n}}]`. They have no :since-ms.
  Virtual threads that wait for locks are known only from heap files."
  ([] (threads (snapshot)))
  ([snapshot] (:threads (check-snapshot snapshot))))

(defn scopes
  "Returns the open scopes that contain a block, or a thread that waits in a channel, as maps:

  - :id            a number
  - :label         its name, see `label!` of skein.async
  - :parent        the scope around it, if the inspector sees one
  - :body          who runs the body: {:block id} or {:thread name :tid n}
  - :children      the children that have not ended, oldest first, as in :body; {:begun? false} for one that has not begun.
                   In a cancelled scope, the threads of :body and :children have a :site
  - :remaining-ms  the time until its deadline, if it has one
  - :cancelled?    true if no child begins any more; :reason is :failure, :deadline or :outside unless cancel! did it
  - :cancelled-ms  how long ago the whole scope was cancelled
  - :failures      how many of its children and its body have failed"
  ([] (scopes (snapshot)))
  ([snapshot] (:scopes (check-snapshot snapshot))))

(defn folds
  "Returns the running folds of skein.fold that have taken more than a millisecond, as maps:

  - :thread :tid  the name and number of the thread that called the fold; :site: where that thread is now
  - :since-ms     how long ago the fold began
  - :done :total  how many units of the source are done, and how many there are; :total is nil if it is unknown
  - :unit         :elements or :bytes"
  ([] (folds (snapshot)))
  ([snapshot] (:folds (check-snapshot snapshot))))

;;;; Waits

(defn why
  "Returns why `x` waits, following the chain of waits to its end: `{:says string, :chain [block or thread], :ends reason}`.

  - x  the number of a block, its result port, any channel, a Thread, or a name as in the texts: \"go-42\", \"chan-3\", \"main\"

  :ends says how the chain ends:

  - :nobody     no known block or thread could end the last wait; code that reaches the channel through a var still may
  - :timer      a timer will end it, or, outside of a `shield`, the deadline of a scope
  - :cycle      the chain returns to an earlier member
  - :several    several blocks, or children of a scope, could end the last wait; the chain follows none of them
  - :moves      the block or thread that could end it is running or ready, or waits outside of channels
  - :collected  the block that should end it was garbage. A heap file still has that block, and the chain goes on"
  ([x] (why (snapshot) x))
  ([snapshot x] (why/why (check-snapshot snapshot) x)))

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

  The argument is a snapshot, or options:

  - :prove  true: runs the garbage collector first. That proves a deadlock of blocks that nothing outside of it can reach. If a
            var, a thread or a timer holds one of the channels, some code could still use it, and nothing is proven.
            :heap: writes a heap file to the temporary folder, reads it and deletes it. That proves deadlocks of threads too, and
            needs no inspector. The process stops for a second or more while the file is written

  Only the last 1024 collected blocks are kept. Without :heap there is no report on earlier ones. Throws :skein/inspect-off,
  :skein/no-collector, :skein/not-a-heap-file."
  ([] (deadlocks nil))
  ([x]
   (if (snapshot? x)
     (verdict/deadlocks x)
     (let [{:keys [prove]} (check/options "deadlocks" x {:prove [#{true false :heap} "true, false or :heap"]})]
       (when-not (= :heap prove) (check-on))
       (when (and (true? prove) (not (verdict/collect!)))
         (error/fail! :skein/no-collector "The garbage collector did not run when asked to; is -XX:+DisableExplicitGC set?" {}))
       (verdict/deadlocks (if (= :heap prove) (heap/of-this-process) (snapshot)))))))

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
  ([snapshot] (lints/lints (check-snapshot snapshot))))

(defn growth
  "Returns the sites whose number of blocks grows, as `[{:site :from :to :says}]`. It grows if each snapshot has more blocks than the
  one before, and the last has at least 100 more than the first, and at least 20 % more. Takes snapshots now, or uses the given ones, the
  oldest first.

  - options:
    - :looks     how many snapshots, at least 2; by default 6
    - :every-ms  the time between them; by default 10000"
  ([] (growth nil))
  ([x]
   (if (and (sequential? x) (seq x))
     (lints/growth (mapv check-snapshot x))
     (let [{:keys [looks every-ms] :or {looks 6 every-ms 10000}}
           (check/options "growth" x {:looks [#(and (int? %) (< 1 (long %))) "a whole number, at least 2"] :every-ms check/time-option})]
       (lints/growth (mapv (fn look [i] (when (pos? (long i)) (Thread/sleep (long (check/milliseconds :every-ms every-ms)))) (snapshot))
                           (range looks)))))))

(defn mark
  "Returns a mark for the present moment, for `survivors`. Throws :skein/inspect-off."
  []
  (check-on)
  (.mark (Registry/get)))

(defn survivors
  "Runs the garbage collector, and returns the blocks that were made after `mark` and have not ended, as maps of `blocks`. A block
  that waits for something that only it can reach is garbage, and is left out. Throws :skein/inspect-off."
  [mark]
  (check/that :skein/bad-option "mark of survivors" mark (Registry/isMark mark) "what (mark) has returned")
  (check-on)
  (let [made (fn made [] (into #{} (comp (filter (fn after? [^Entry e] (Registry/isAfter e mark))) (map (fn id [^Entry e] (.id e))))
                               (.live (Registry/get))))]
    (if (empty? (made))
      []
      (do (verdict/collect!)
          (filterv (comp (made) :id) (blocks))))))

;;;; Dumps

(defn dump
  "Writes a snapshot to `out`, `*out*` by default, as :text, :json or :edn, and flushes it. The text groups blocks by place, the
  oldest first."
  ([] (dump *out* :text))
  ([out format] (dump (snapshot) out format))
  ([snapshot out format]
   (check-snapshot snapshot)
   (check/instance :skein/bad-option "out of dump" out Writer "a java.io.Writer")
   (check/that :skein/bad-option "format of dump" format (#{:text :json :edn} format) ":text, :json or :edn")
   (dump/write snapshot out format)
   (.flush ^Writer out)))

(defn dump!
  "Writes a snapshot to the file `path`: as JSON if its name ends in .json, as EDN if it ends in .edn, else as text. Returns the path.
  Throws :skein/file-unwritable, and :skein/bad-option if the name ends in .hprof."
  ([path] (dump! (snapshot) path))
  ([snapshot path]
   (check-snapshot snapshot)
   (let [format (dump/format-of (check-path "path of dump!" path))]
     (dump/to-file path (fn write [out] (dump snapshot out format))))))

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

(defn timeline!
  "Writes a `timeline` to the file `path`, as JSON that ui.perfetto.dev and chrome://tracing open. Returns the path. Throws
  :skein/inspect-off, :skein/file-unwritable.

  - options  as those of `timeline`"
  ([path] (timeline! nil path))
  ([options path]
   (check-path "path of timeline!" path)
   (let [slices (timeline options)]
     (dump/to-file path (fn write [out] (timeline/write-chrome out slices))))))

(defn metrics
  "Returns a snapshot as metrics, a string in the text format of OpenMetrics 1.0, for a scraper such as Prometheus: blocks by
  state, waits, scopes, timers, collected blocks, deadlocks and lints. Its content type is
  application/openmetrics-text; version=1.0.0; charset=utf-8."
  ([] (metrics (snapshot)))
  ([snapshot] (metrics/text (check-snapshot snapshot))))

(defn read-heap
  "Returns the snapshot in a heap file, such as `jcmd PID GC.heap_dump -all FILE` writes. The process that wrote the file needs no
  preparation, not even this module. `deadlocks`, `why`, `blocks` and so on take the snapshot. It has no times. It has only blocks
  that are parked or that a thread runs, and only scopes whose end something waits for. A thread has :stuck? true if the file shows
  that no running code can reach what the thread waits for. Throws :skein/not-a-heap-file."
  [path]
  (heap/read-heap (str (check-path "path of read-heap" path))))

(defn read-dump
  "Returns the snapshot that `dump!` has written to an EDN file. Throws :skein/not-a-dump."
  [path]
  (check-path "path of read-dump" path)
  (let [fail (fn fail [why]
               (error/fail! :skein/not-a-dump (str path " is not a dump of the inspector: " why) {:path (str path)}))
        x (try (with-open [in (PushbackReader. (io/reader path))] (edn/read in))
               (catch IOException e (error/fail! :skein/not-a-dump (str "there is no dump " path ", or it can't be read (" (ex-message e) ").") {:path (str path)}))
               (catch RuntimeException _ (fail "it is not EDN.")))]
    (cond
      (not (snapshot? x)) (fail "it holds no snapshot.")
      (not= snapshot/version (:skein/snapshot x)) (fail (str "its version is " (:skein/snapshot x) "."))
      :else x)))
