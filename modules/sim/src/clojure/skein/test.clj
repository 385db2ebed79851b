;; SPDX-License-Identifier: Apache-2.0
(ns skein.test
  "Fixtures of clojure.test for concurrent code, and tests by simulation.

  * `leak-free` fails a test whose blocks have not ended
  * `no-dropped-errors` fails a test in which an exception was neither caught nor taken
  * `deadline` fails a test that hangs, and shows its threads
  * `defsim` defines a test whose body `skein.sim/check` runs
  * `timed` returns a channel that gives values after pauses

  The fixtures are for tests on the real scheduler. A simulation checks all of this itself.

      (use-fixtures :each (no-dropped-errors) (leak-free) (deadline 5000))"
  (:require
   [clojure.string :as str]
   [clojure.test :as test]
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.survivors :as survivors]
   [skein.sim :as sim]
   [skein.sim.blind :as blind]
   [skein.sim.dump :as dump])
  (:import
   (clojure.lang Compiler)
   (java.io File)
   (skein.rt Failure Uncaught Uncaught$Report)
   (skein.rt.block Failures)
   (skein.rt.schedule Scheduler)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.inspect.rt.") ; its thread runs no code of the program

(defn ^:no-doc told
  "Prints what a check in a test has not seen, if there is something. Returns the summary of the check."
  [summary]
  (when-some [blind (:blind summary)]
    (test/with-test-out
      (println (str (some-> (first test/*testing-vars*) symbol) " does not see all: " (blind/text blind)))))
  summary)

(defmacro defsim
  "Defines a test. `skein.sim/check` runs its body, with `options` if they are given. If the summary of the check has :blind, the
  test prints a line that says what the check has not seen. Throws :skein/bad-argument."
  {:style/indent 1
   :arglists '([name options? & body])}
  [name & args]
  (check/that "The name of defsim" name (simple-symbol? name) "a symbol")
  `(test/deftest ~name (told (sim/check ~@args))))

(defn timed
  "Returns a channel that gives each value after its pause in milliseconds, and then closes. The pause begins when the value
  before has been taken. For tests in virtual time.

      (sim/with-virtual-time (a/<!! (a/into [] (timed 0 :a, 3600000 :b))))
      ;=> [:a :b]"
  [& pauses-and-values]
  (check/number "The number of arguments of timed" (count pauses-and-values) "even: pairs of a pause and a value" even?)
  (let [ch (a/chan)]
    (a/go
      (doseq [[pause-ms v] (partition 2 pauses-and-values)]
        (a/<! (a/timeout pause-ms))
        (a/>! ch v))
      (a/close! ch))
    ch))

(defn- check-called
  "Throws :skein/bad-argument if `x`, the argument of the function `name`, is a test: then clojure.test has called it as a fixture."
  [name x]
  (when (fn? x)
    (error/fail! :skein/bad-argument (str name " is no fixture, but a function that returns one. Call it, as in (use-fixtures :each ("
                                       name (when (= "deadline" name) " 5000") ")).")
                 {:argument (error/preview x)})))

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
  "Returns the places where blocks wait that were made since `mark` and have not ended. For a block that has never parked, that is
  where its thread is, if it has been there for some time."
  [mark ignore]
  (into [] (comp (map (fn place [{:keys [site on]}]
                        (let [{:keys [file line op form]} (if (:line site) site (or (:site on) site))]
                          {:file file :line line :operation (some-> op symbol) :form form})))
                 (remove ignore))
        (survivors/survivors mark)))

(defn- left-by
  "Calls `run`, and returns `left` of its blocks after at most `grace-ms`. The inspector is on meanwhile."
  [run grace-ms ignore]
  (let [off? (= :off (inspect/level))]
    (inspect/start!)
    (try
      (let [mark (survivors/mark)]
        (run)
        (if (eventually grace-ms #(empty? (left mark ignore))) [] (left mark ignore)))
      (finally (when off? (inspect/stop!))))))

;;;; Leaks

(defn- place [{:keys [operation form file line]}]
  (str (or form operation "a block that has not parked") " at " file (when line (str ":" line))))

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:grace-ms check/time-option, :ignore [ifn? "a function"]})

(defn leak-free
  "Returns a fixture that fails a test if a block that the test has spawned has not ended. skein.inspect finds these blocks, and
  is on during the test. A block that waits in a channel that no other code can reach is garbage, not a leak. Threads, such as those
  of `thread`, `io-thread` and `future` of skein.virtual, are not looked for.

  options, a map:

  - :grace-ms  how long after the test the blocks may end, by default 200
  - :ignore    predicate of the place where a block waits, {:file :line :operation :form}; such blocks are no leaks"
  ([] (leak-free nil))
  ([options]
   (check-called "leak-free" options)
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
  (map (fn [^Uncaught$Report u] (.thrown u)) (Uncaught/last)))

(defn- keeping-uncaught
  "Returns a function that calls `run`. Meanwhile exceptions that end a thread are kept, as Skein keeps its own. They still go to the
  default handler, or are printed as the JVM does without one."
  [run]
  (fn keeping-run []
    (let [default (Thread/getDefaultUncaughtExceptionHandler)]
      (Thread/setDefaultUncaughtExceptionHandler
        (reify Thread$UncaughtExceptionHandler
          (uncaughtException [_ thread thrown]
            (when-not (Uncaught/has thrown) (Uncaught/keep thrown)) ; not twice: code may have taken it since
            (if default
              (.uncaughtException default thread thrown)
              (do (.print System/err (str "Exception in thread \"" (.getName thread) "\" "))
                  (.printStackTrace thrown))))))
      (try (run) (finally (Thread/setDefaultUncaughtExceptionHandler default))))))

(defn no-dropped-errors
  "Returns a fixture that fails a test if an exception was neither caught nor taken. The exception has ended
  a block, a callback or a thread, or a future of skein.virtual whose result no code has asked for.

  skein.inspect is on during the test. After the test the fixture waits at most 200 ms for its blocks, and then 20 ms
  for all else. So let a test wait for its threads and futures: what throws later is reported as a failure of the test that
  is running then, or not at all. The fixture does not report an exception of a future or an agent of
  Clojure."
  {:arglists '([])}
  [& [test]]
  (check-called "no-dropped-errors" test)
  (fn no-dropped-errors-fixture [run]
    (let [begun (atom [])
          before (set (map #(System/identityHashCode %) (concat (Failure/kept) (uncaught))))
          since (fn [thrown] (remove #(before (System/identityHashCode %)) thrown))
          look (fn []
                 (left-by (noting begun run) 200 (constantly false))
                 (eventually 20 #(seq (since (concat (Failure/kept) (uncaught))))) ; a thread or callback may still run
                 (eventually 2000 #(empty? (since (Failure/kept)))))] ; they are reported within a second
      ((keeping-uncaught look))
      (doseq [thrown (since (uncaught))]
        (fail! @begun "an exception was neither caught nor taken; perhaps work that an earlier test has started threw it" thrown)))))

;;;; Deadlines

(defn- machinery?
  "Returns whether a line of a stack trace is of Clojure, the JDK or Skein. Before JDK 25 the lines have no \"at\"."
  [line]
  (let [[_ module class-name] (re-find #"^\s+(?:at )?(\S+/)?(\S+)\.[^.(]+\(" line)]
    (or (nil? class-name) (some->> module (re-find #"^(java|jdk)\.")) (Failures/isMachinery class-name))))

(defn- stack
  "Returns the lines of a thread's dump up to the outermost call of the program's code, or nil if there is none."
  [text]
  (let [[head & frames] (str/split-lines text)
        inner (reverse (drop-while machinery? (reverse frames)))]
    (when (seq inner)
      (into [(str/replace head #" \d{4}-\d\d-\d\dT\S+" "")] inner))))

(defn- threads
  "Returns the stacks of the threads that run code of the program, except this thread, `first-thread` first. Threads with equal
  stacks are shown once, with their number."
  [^Thread first-thread]
  (->> (dissoc (dump/threads) (.threadId (Thread/currentThread)))
       (keep (fn [[id text]] (when-some [lines (stack text)] [(= id (.threadId first-thread)) lines])))
       (group-by (fn alike [[_ lines]] (str/replace (str/join (rest lines)) #"@[0-9a-f]+" "")))
       vals
       (sort-by (fn [alike] [(not-any? first alike) (count alike)]))
       (map (fn [alike] (str (count alike) " x " (str/join "\n" (second (or (first (filter first alike)) (first alike)))))))
       (str/join "\n")))

(defn- waiting-place
  "Returns where the thread is, such as \"in skein.async/<!! at app_test.clj:12\", or nil if it runs no code of the program."
  [^Thread thread]
  (let [users? (fn [^StackTraceElement e] (not (or (Failures/isMachinery (.getClassName e)) (neg? (.getLineNumber e)))))
        [inner [^StackTraceElement user]] (split-with (complement users?) (.getStackTrace thread))]
    (when user
      (str (when-some [^StackTraceElement called (last inner)]
             (let [class-name (.getClassName called)]
               (str "in " (if (str/includes? class-name "$") (Compiler/demunge class-name) (str class-name "." (.getMethodName called))) " ")))
           "at " (.getFileName user) ":" (.getLineNumber user)))))

(defn- report-of
  "Returns what `deadline` says of a test that hangs on `thread`."
  [ms thread]
  (let [workers (Scheduler/describe)]
    (str "the test has not ended after " ms " ms."
         (when-some [place (waiting-place thread)] (str " It is " place "."))
         "\nThreads that run code of the program:\n" (threads thread)
         (when (re-find #"(inbox|queued) [1-9]" workers) (str "\nBlocks wait for a worker:\n" workers)))))

(defn deadline
  "Returns a fixture that fails a test that has not ended after `ms` milliseconds. It shows where the test is, and what
  the threads that run the program's code are doing. The test's thread is interrupted, and the fixture does not wait for its end.
  Throws :skein/bad-argument."
  [ms]
  (check-called "deadline" ms)
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
        (fail! @begun (report-of ms thread) 'hangs)
        (.interrupt thread)))))
