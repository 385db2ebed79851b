;; SPDX-License-Identifier: Apache-2.0
(ns skein.test
  "Fixtures of clojure.test for concurrent code, and tests by simulation.

  * `leak-free` fails a test whose blocks have not ended
  * `no-dropped-errors` fails a test with an exception that was neither caught nor taken
  * `deadline` fails a test that hangs, and shows its threads
  * `defsim` defines a test whose body `skein.sim/check` runs

  The fixtures are for tests on the real scheduler. A simulation checks all of this itself.

      (use-fixtures :each (no-dropped-errors) (leak-free) (deadline 5000))"
  (:require
   [clojure.string :as str]
   [clojure.test :as test]
   [skein.impl.check :as check]
   [skein.inspect :as inspect]
   [skein.sim :as sim])
  (:import
   (com.sun.management HotSpotDiagnosticMXBean HotSpotDiagnosticMXBean$ThreadDumpFormat)
   (java.io File)
   (java.lang.management ManagementFactory)
   (skein.rt.schedule Scheduler)
   (skein.rt.watch Failure Failures Failures$Uncaught)))

(set! *warn-on-reflection* true)

(defmacro defsim
  "Defines a test. `skein.sim/check` runs its body, with `options` if they are given. Throws
  :skein/bad-binding and :skein/bad-option."
  {:style/indent 1
   :arglists '([name options? & body])}
  [name & args]
  (check/that :skein/bad-binding "The name of defsim" name (simple-symbol? name) "a symbol")
  `(test/deftest ~name (sim/check ~@args)))

(defn- noting
  "Returns a function that calls `run`, and adds the vars of the tests that begin meanwhile to the atom `begun`. A
  fixture needs this, because clojure.test runs the fixture before it names the test."
  [begun run]
  (fn noting-run []
    (let [report test/report]
      (binding [test/report (fn note [{:keys [type] v :var :as m}]
                              (when (= :begin-test-var type) (swap! begun conj v))
                              (report m))]
        (run)))))

(defn- fail!
  "Reports a failure. If exactly one test has begun, it is that test's failure."
  [begun message actual]
  (let [v (when (= 1 (count begun)) (first begun))
        {:keys [file line]} (meta v)]
    (binding [test/*testing-vars* (if v (list v) test/*testing-vars*)]
      (test/do-report (cond-> {:type :fail :message message :expected 'nothing :actual actual}
                        file (assoc :file (.getName (File. (str file))) :line line))))))

(defn- eventually
  "Returns whether `done?` returns true within `ms`. The garbage collector runs before each call but the
  first. Several calls may be needed, since a worker's stack may still hold a block that is garbage."
  [ms done?]
  (let [end (+ (System/nanoTime) (* 1000000 (long ms)))]
    (loop [pause 1]
      (cond
        (done?) true
        (neg? (- end (System/nanoTime))) false
        :else (do (System/gc)
                  (Thread/sleep pause)
                  (recur (min 200 (* 2 pause))))))))

;;;; Blocks

(defn- left
  "Returns the places where blocks wait that were made since `mark` and have not ended."
  [mark ignore]
  (into [] (comp (map (fn place [{{:keys [file line op form]} :site}]
                        {:file file :line line :operation (some-> op symbol) :form form}))
                 (remove ignore))
        (inspect/survivors mark)))

(defn- left-by
  "Calls `run`, and returns `left` of its blocks after at most `grace-ms`. The inspector is on meanwhile."
  [run grace-ms ignore]
  (let [on? (inspect/on?)]
    (inspect/start!)
    (try
      (let [mark (inspect/mark)]
        (run)
        (if (eventually grace-ms #(empty? (left mark ignore))) [] (left mark ignore)))
      (finally (when-not on? (inspect/stop!))))))

;;;; Leaks

(defn- place [{:keys [operation form file line]}]
  (str (or form operation "a block that has not parked") " at " file ":" line))

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:grace-ms check/time-option, :ignore [ifn? "a function" :skein/not-a-function]})

(defn leak-free
  "Returns a fixture that fails a test if a block that the test has spawned has not ended. skein.inspect finds these blocks, and
  is on during the test. A block that waits in a channel that no other code can reach is garbage, not a leak.

  options, a map:

  - :grace-ms  how long after the test the blocks may end, by default 200
  - :ignore    predicate of the place where a block waits, {:file :line :operation :form}; such blocks are no leaks"
  ([] (leak-free nil))
  ([options]
   (let [{:keys [grace-ms ignore] :or {grace-ms 200 ignore (constantly false)}} (check/options "leak-free" options known)
         grace-ms (check/milliseconds :grace-ms grace-ms)]
     (fn leak-free-fixture [run]
       (let [begun (atom []), blocks (left-by (noting begun run) grace-ms ignore)]
         (when (seq blocks)
           (fail! @begun
                  (str (count blocks) (if (next blocks) " blocks have" " block has") " not ended:\n"
                       (str/join "\n" (map (fn [[b n]] (str "  " n " x " (place b))) (frequencies blocks))))
                  blocks)))))))

;;;; Errors

(defn- uncaught []
  (map (fn [^Failures$Uncaught u] (.thrown u)) (Failures/last)))

(defn- keeping-uncaught
  "Returns a function that calls `run`. Meanwhile exceptions that end a thread are kept, as Skein keeps its own. They still go to the
  default handler, or are printed as the JVM does without one."
  [run]
  (fn keeping-run []
    (let [default (Thread/getDefaultUncaughtExceptionHandler)]
      (Thread/setDefaultUncaughtExceptionHandler
        (reify Thread$UncaughtExceptionHandler
          (uncaughtException [_ thread thrown]
            (when-not (Failures/wasUncaught thrown) (Failures/uncaught thrown)) ; code may have taken it
            (if default
              (.uncaughtException default thread thrown)
              (do (.print System/err (str "Exception in thread \"" (.getName thread) "\" "))
                  (.printStackTrace thrown))))))
      (try (run) (finally (Thread/setDefaultUncaughtExceptionHandler default))))))

(defn no-dropped-errors
  "Returns a fixture that fails a test if an exception was neither caught nor taken. The exception has ended
  a block, a callback or a thread, or a future of skein.virtual whose result no code has asked for.

  skein.inspect is on during the test. After the test the fixture waits at most 200 ms for its blocks, and then 20 ms
  for all else. It can't report an exception of a block or a thread that ends later, as a thread on a busy machine may.
  So let a test wait for its threads and futures. The fixture also can't report an exception whose port or future the
  program still holds. Futures and agents of Clojure keep their exceptions to themselves."
  []
  (fn no-dropped-errors-fixture [run]
    (let [begun (atom [])
          before (set (map #(System/identityHashCode %) (concat (Failure/kept) (uncaught))))
          since (fn [thrown] (remove #(before (System/identityHashCode %)) thrown))
          look (fn []
                 (left-by (noting begun run) 200 (constantly false))
                 (eventually 20 #(seq (since (concat (Failure/kept) (uncaught))))) ; a thread or callback may still run
                 (eventually 2000 #(empty? (since (Failure/kept)))))] ; they are reported when their ports and futures are garbage-collected
      ((keeping-uncaught look))
      (doseq [thrown (since (uncaught))]
        (fail! @begun "an exception was neither caught nor taken" thrown)))))

;;;; Deadlines

(defn- threads
  "Returns the JDK's dump of all threads, virtual ones too, `first-thread` first. Threads with equal stacks are shown once, with
  their number."
  [^Thread first-thread]
  (let [file (File/createTempFile "threads" ".txt"), path (.getPath file)]
    (.delete file) ; the JDK writes to new files only
    (try
      (.dumpThreads ^HotSpotDiagnosticMXBean (ManagementFactory/getPlatformMXBean HotSpotDiagnosticMXBean)
                    path HotSpotDiagnosticMXBean$ThreadDumpFormat/TEXT_PLAIN)
      (let [stack #(str/replace % #"#\d+ \"|[0-9a-f]{8,}|\d{4}-\d\d-\d\dT\S+" "")
            other? #(not (str/starts-with? % (str "#" (.threadId first-thread) " ")))]
        (->> (str/split (slurp path) #"\n\n")
             (group-by (comp str/join rest str/split-lines stack))
             vals
             (sort-by (juxt #(every? other? %) count))
             (map (fn [alike] (str (count alike) " x " (first alike))))
             (str/join "\n")))
      (finally (.delete file)))))

(defn deadline
  "Returns a fixture that fails a test that has not ended after `ms` milliseconds, and shows what all
  threads do, the test's thread first. The test's thread is interrupted, and the fixture does not wait for its end.
  Throws :skein/bad-number."
  [ms]
  (check/milliseconds "ms of deadline" ms)
  (fn deadline-fixture [run]
    (let [ms (check/milliseconds "ms of deadline" ms)
          begun (atom []), late? (atom false), report test/report
          ^Thread thread (binding [test/report (fn in-time [m] ; a failure that the interrupt causes is not reported too
                                                 (when-not (and @late? (#{:fail :error} (:type m))) (report m)))]
                           (Thread. ^Runnable (bound-fn* (noting begun run)) "test-with-deadline"))]
      (.setDaemon thread true)
      (.start thread)
      (.join thread (max 1 ms)) ; 0 would be for ever
      (when (.isAlive thread)
        (reset! late? true)
        (fail! @begun (str "the test has not ended after " ms " ms. All threads:\n" (threads thread) "\n" (Scheduler/describe)) 'hangs)
        (.interrupt thread)))))
