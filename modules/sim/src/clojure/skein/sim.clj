;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim
  "Runs concurrent tests under many schedules, and replays a schedule that fails.

  * many schedules: `check`, `everywhere`; one: `run`, `with-virtual-time`, `replay`
  * in a body, time: `now-ms` `settle` `advance`; choices: `yield` `pick` `chance` `fault`
  * in a body, claims: `always` `sometimes`; notes in the story: `note`; names in it: `label!` of skein.async

  A body is evaluated again for each schedule. Its tasks are the body itself and the blocks,
  callbacks, timers and threads that it starts. They all run on one thread, and the simulation decides
  which of them runs. A task gives way to another where it waits, before a channel operation, and where
  it reads or changes an atom, a ref or an agent. Code between two such points runs without interruption, even if it
  takes a free lock.
  Input and output, platform threads and Thread/sleep are not simulated. If a body uses one of them, the
  report names it. See doc/simulation.md.

      (:value (run (skein.async/<!! (skein.async/timeout 3600000)) (now-ms)))
      ;=> 3600000"
  (:require
   [clojure.string :as str]
   [clojure.test :as test]
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.scope :as scope]
   [skein.sim.blind :as blind]
   [skein.sim.explore :as explore]
   [skein.sim.options :as options]
   [skein.sim.report :as report]
   [skein.sim.runs :as runs]
   [skein.sim.shrink :as shrink]
   [skein.sim.token :as token]
   [skein.sim.tokens :as tokens])
  (:import
   (java.util.concurrent Future)
   (skein.rt Channel)
   (skein.sim.rt Simulation Trace Trace$Kind)))

(set! *warn-on-reflection* true)

;;;; Inside

(defn now-ms
  "Returns the milliseconds since the simulation began, on its own clock. Outside of a simulation,
  returns the JVM's System/currentTimeMillis."
  []
  (if-some [sim (Simulation/here)]
    (quot (.now ^Simulation sim) 1000000)
    (System/currentTimeMillis)))

(defn settle
  "Waits until no other task can run at this time. Does nothing outside of a simulation."
  []
  (when-some [sim (Simulation/here)] (.settle ^Simulation sim)))

(defn advance
  "Moves the simulation's clock by `ms` milliseconds, or 0 if `ms` is negative, and waits until no other task can run. Does
  nothing outside of a simulation. With {:time :manual} time passes in no other way. Throws
  :skein/bad-argument."
  [ms]
  (let [ms (check/milliseconds "ms of advance" ms)]
    (when-some [sim (Simulation/here)] (.advance ^Simulation sim (* 1000000 ms)))))

(defn yield
  "Lets other tasks run first. Call it before code takes a lock, or changes a Java object that tasks share.
  Does nothing outside of a simulation."
  []
  (when-some [sim (Simulation/here)] (.rest ^Simulation sim)))

(defn pick
  "Returns an item of `coll`. `check` tries different ones, as it tries different schedules. Outside of a
  simulation, returns the first. Throws :skein/bad-argument if `coll` is empty."
  [coll]
  (let [items (vec (check/collection "coll of pick" coll)), sim (Simulation/here)]
    (cond
      (empty? items) (error/fail! :skein/bad-argument "pick needs a collection that is not empty." {})
      sim (items (.pick ^Simulation sim (count items)))
      :else (items 0))))

(defn chance
  "Returns true with probability `p`, else false. `check` tries both, and shrinks the choice to false if
  the run then still fails. Outside of a simulation, returns false. Throws :skein/bad-argument."
  [p]
  (check/number "p of chance" p "a number from 0 to 1" #(and (number? %) (<= 0.0 (double %) 1.0)))
  (if-some [sim (Simulation/here)]
    (.chance ^Simulation sim (double p))
    false))

(defn note
  "Adds a line with `xs` to the story of a failure. Returns nil."
  [& xs]
  (when-some [sim (Simulation/here)]
    (.note ^Simulation sim Trace$Kind/NOTE nil (str/join " " xs))))

(defn fault
  "Marks a place where a test may inject the fault `x`, with the option {:faults {name x}}. If `x` is
  a function, calls it. If `x` is an exception, throws it. Otherwise returns `x`. Returns nil when no
  fault is injected. If no run comes to a place with the name of a fault, the summary of `check` says so
  under :never-seen."
  [name]
  (when-some [sim (Simulation/here)]
    (let [x (get runs/*faults* name)]
      (when (some? x) (.sighted ^Simulation sim (runs/sighting name)))
      (when (and (some? x) (.chance ^Simulation sim 0.1))
        (.note ^Simulation sim Trace$Kind/FAULT nil (str name))
        (cond (instance? Throwable x) (throw x)
              (fn? x) (x)
              :else x)))))

(defn- inject
  "Injects `fault` into `x`."
  [fault x]
  (let [channel? (instance? Channel x)]
    (case fault
      :cancel (cond
                channel? (a/close! x)
                (instance? Future x) (future-cancel x)
                (instance? Thread x) (.interrupt ^Thread x)
                :else (scope/cancel! x))
      :close (a/close! x)
      :throw (if channel?
               (.close ^Channel x (ex-info "A fault of the simulation." {}))
               (scope/fork* x nil nil (fn fails [] (throw (ex-info "A fault of the simulation." {})))))
      :expire (.expire ^Simulation (Simulation/here))
      (fault x))))

(defn target
  "Makes `x` the target of the fault that `everywhere` injects. `x` is a scope, a port, a future or a
  thread. Returns `x`."
  [x]
  (when-some [sim (Simulation/here)]
    (let [fault runs/*fault*]
      (.target ^Simulation sim (fn fault-here [] (inject fault x)))))
  x)

(defn always
  "Claims that `pred`, a function without arguments, holds after each further step of the run. If it
  does not, the run fails with `message`. Returns nil. Throws :skein/bad-argument."
  [pred message]
  (check/function "pred of always" pred)
  (when-some [sim (Simulation/here)] (.claim ^Simulation sim pred (str message) true))
  nil)

(defn sometimes
  "Claims that `pred`, a function without arguments, holds after some step of at least one run. If it
  holds in none, the summary of `check` has `message` under :never-seen. Returns nil. Throws
  :skein/bad-argument."
  [pred message]
  (check/function "pred of sometimes" pred)
  (when-some [sim (Simulation/here)] (.claim ^Simulation sim pred (str message) false))
  nil)

;;;; Outside

(defn- in-test? [{:keys [report]}]
  (and (= :test report) (seq test/*testing-vars*)))

(defn- fails
  "Reports a failure to clojure.test if a test runs and the options don't say otherwise. Else throws it."
  [options {:keys [text token report thrown] :as failure} {:keys [file line]}]
  (let [error (:skein/error failure), in-test? (in-test? options)
        message (str text "\nagain: (skein.sim/replay " (pr-str token) " ...)   or   SKEIN_SIM=" token)]
    (cond
      (and in-test? report) (test/do-report (assoc report :message (str/join "\n" (remove nil? [message (:message report)]))))
      in-test? (test/do-report {:type :fail :file file :line line :message message
                                :expected 'no-failure :actual (or thrown error)})
      :else
      (let [failure (ex-info message {:skein/error error :token token})]
        ;; The body's exception is not the cause: a REPL prints only the message of the innermost cause, but the story is in this one.
        (when thrown (.addSuppressed ^Throwable failure thrown))
        (throw failure)))))

(defn- found
  "Shrinks the failure that exploration has found, and returns it as `report/failure` does."
  [options {:keys [schedule simulation number]} body]
  (let [short (shrink/shrink options schedule simulation body)
        before (count (runs/deviations (.-trace ^Simulation simulation)))]
    (report/failure options short body
                    (str "found by schedule " number
                         (when-some [n (:schedules options)] (when-not (:for-ms options) (str " of " n)))
                         " (seed " (:seed options) "), "
                         (report/shrunk-from before (count (get-in short [:strategy :deviations])))))))

(declare replay*)

(defn- replayed
  "Replays the token of the environment. In a test that the token does not fit, only prints a line that says so."
  [token options body site]
  (try
    (replay* token options body site)
    (catch clojure.lang.ExceptionInfo e
      (when-not (and (in-test? options) (= token (:differs (ex-data e)))) (throw e))
      (test/with-test-out
        (println (str "skipped: " (test/testing-vars-str site) ": SKEIN_SIM=" token
                      " is of another test, or this one has changed since."))))))

(defn- test-name []
  (symbol (first test/*testing-vars*)))

(defn- tokens-path
  "Returns the path of the file of failing tokens, or nil if there is none or no test runs."
  [options]
  (when (in-test? options) (:tokens options)))

(defn- fails-again
  "Replays the schedules that have failed before in this test. Returns {:summary :failure} for the first that
  fails, or nil."
  [options body]
  (when-some [path (tokens-path options)]
    (some (fn [token]
            (let [failure (report/replayed options (token/parse token) body (str "replayed from " path))]
              (when (:skein/error failure)
                {:summary (select-keys options [:seed]) :failure (assoc failure :token token)})))
          (tokens/of path (test-name)))))

(defn ^:no-doc check*
  "Does the work of `check`, for a body as a function. `site` is {:file :line}. `token` is that of the environment, or nil."
  ([options body site] (check* options body site (System/getenv "SKEIN_SIM")))
  ([options body site token]
   (let [options (options/checked options)]
     (if (seq token) ; a variable set to nothing is none
       (replayed token options body site)
       (let [options (update options :seed #(or % (rand-int Integer/MAX_VALUE)))
             body (runs/bound options body)
             {:keys [summary failure]}
             (runs/supervised options
               (fn exploring []
                 (or (fails-again options body)
                     (let [{:keys [summary failure unequal], schedules :first} (explore/explore options body)]
                       (cond
                         failure {:summary summary :failure (found options failure body)}
                         unequal {:summary summary :failure (report/unequal options unequal body)}
                         :else {:summary (blind/seen summary options schedules body)})))))]
         (when-some [path (when failure (tokens-path options))]
           (tokens/add! path (test-name) (:token failure)))
         (cond
           failure (fails options failure site)
           (in-test? options) (test/do-report {:type :pass}))
         (cond-> summary failure (assoc :failure (:skein/error failure) :token (:token failure))))))))

(defn ^:no-doc checked
  "Returns `options` with the defaults for what is missing, as the functions behind the macros want
  them. Throws :skein/bad-argument."
  [options]
  (options/checked options))

(defn- site [form]
  {:file (some-> ^String *file* java.io.File. .getName) :line (or (:line (meta form)) @Compiler/LINE)}) ; a macro's form, as of defsim, may have none

(defn ^:no-doc no-options
  "Returns `x`, the value of the first form in the body of `what`. Throws :skein/bad-argument if it is a map of options."
  [what x]
  (check/no-options what x options/known (str "Give them a name: (let [options ...] (" what " options ...)).")))

(defn- split-options
  "Returns [options body] of the arguments of a macro, whose options may be left out. Throws :skein/bad-argument unless there is a body.
  A symbol alone is not a body of a check: it names options whose body was forgotten. Such a test would always pass."
  [what args]
  (let [[options body] (if (or (map? (first args)) (and (next args) (symbol? (first args))))
                         [(first args) (rest args)]
                         [nil args])]
    (when (or (empty? body) (and (nil? options) (not= "run" what) (not-any? coll? body)))
      (error/fail! :skein/bad-argument
                   (str what " has no code to run in " (error/preview (cons (symbol what) args))
                        ". Options come first, as a map or a symbol, or are left out. Then comes the body.")
                   {:argument (error/preview args)}))
    [options (if (and (nil? options) (next body) (seq? (first body)))
               (cons `(no-options ~what ~(first body)) (rest body))
               body)]))

(defmacro check
  "Evaluates the body under many schedules, and fails if it fails under one of them. The body fails if
  it throws, if an `is` does not hold, or if an exception is neither caught nor taken. It also fails on a
  deadlock, a leak or a livelock, or if two runs of one schedule differ. In a test of clojure.test the
  failure is reported once; elsewhere it is thrown. The failure shows a short schedule that fails, as a
  story and as a token for `replay`.

  Returns a summary: {:schedules :distinct :steps :longest :virtual-ms :new-chance :seed}, with :all
  true when no schedule is left, and :lite true if threads are not simulated. :new-chance estimates the probability
  that one more schedule gives a run unlike all before. Schedules differ only in the order of waits and
  :points. The use of a free lock, a queue or a ConcurrentHashMap is not a point. Where its order matters,
  call `yield` before it. If runs show that there is something that the check can't see, the summary has :blind
  in place of :all: a map of reasons to places, see doc/simulation.md.

  options, a map or a symbol for one; may be left out. Any other form is a part of the body, and fails if it gives options and
  more forms follow:

  - :schedules   how many, by default 1000; or :for-ms, for how long
  - :seed        a number from which all random choices follow; by default a new one each time, which
                 the report shows
  - :strategy    :mix, the default, :random or `[:pct d]`. :exhaustive: all orders of the points.
                 :reduced: as :exhaustive, but only one of several orders that differ only in the order
                 of steps of blocks that share no port, atom or promise
  - :points      where a task gives way without waiting, by default #{:channels :atoms}; :atoms stands for volatiles,
                 refs, agents and promises too
  - :time        :jump, the default: the clock jumps to the next timer when no task can run. :slow:
                 steps take time too, so that a timeout can come first. :manual: by `advance` only
  - :leaks       :puts, the default: a put that still waits at the end is a failure. :all: every
                 wait is. :none
  - :drain-ms    how much time passes by itself once the body has ended, so that blocks which wait for timers
                 go on; by default 10000
  - :max-steps   a run with more steps is a livelock; by default 100000
  - :faults      {name x} for `fault`
  - :outside     what to do about threads that are not simulated. :fail, the default. :wait: wait for
                 them
  - :threads     :auto, the default; :none: without virtual threads
  - :tokens      the path of a file. In a test of clojure.test, a schedule that fails is added to it, and those in it are
                 replayed first
  - :watchdog-ms how long one step may take, in real time; by default 10000
  - :report      :test, the default: in a test of clojure.test reports to it. :throw: throws there too, so that the call is
                 a property of test.check

  Environment: SKEIN_SIM=token replays a schedule; SKEIN_SIM_SEED and SKEIN_SIM_FOR_MS set options.

      (:schedules (check {:schedules 10} (assert (= 1 (skein.async/<!! (skein.async/go 1))))))
      ;=> 10

  Throws :skein/bad-argument, and as failures :skein/sim-failed, :skein/sim-deadlock,
  :skein/sim-leak, :skein/sim-livelock, :skein/sim-not-deterministic, :skein/sim-outside, :skein/sim-unsupported; :skein/sim-stuck for a step that does not end."
  {:style/indent 0
   :arglists '([options? & body])}
  [& args]
  (let [[options body] (split-options "check" args)]
    `(check* ~options (fn body# [] ~@body) '~(site &form))))

(defn- fault-points
  "Runs `body` without a fault. Returns how many points there are for one, or a failure."
  [options body]
  (runs/play options runs/fifo body) ; warm up
  (let [sim (runs/play options runs/fifo body)]
    (cond
      (.verdict sim) (report/failure options runs/fifo body "without a fault")
      (zero? (.points sim))
      (error/fail! :skein/bad-argument
                   "The body has no target for faults, or nothing happens after it. Call (skein.sim/target x) in the body." {})
      :else (.points sim))))

(defn- fails-at
  "Runs `body` with a fault at point `k` of `n`, by some schedules. Returns a failure, or nil."
  [{:keys [schedules seed fault] :as options} body k n]
  (loop [i 0]
    (when (< i (long schedules))
      (let [schedule (assoc runs/fifo :fault-at k :strategy (if (zero? i)
                                                              {:kind :listed :deviations []}
                                                              {:kind :uniform :seed (+ (long seed) i)}))
            sim (runs/play options schedule body)]
        (if (.verdict sim)
          (report/failure options (shrink/shrink options schedule sim body) body
                          (str (if (keyword? fault) fault "the fault") " at point " k " of " n))
          (recur (inc i)))))))

(defn ^:no-doc everywhere*
  "Does the work of `everywhere`, for a body as a function."
  [options body site]
  (let [options (options/checked (merge {:schedules 1 :seed 0} options))
        body (runs/bound options body)
        {:keys [points failure]}
        (runs/supervised options
                         (fn everywhere []
                           (let [n (fault-points options body)]
                             (if (map? n)
                               {:points 0 :failure n}
                               {:points n :failure (some #(fails-at options body % n) (range 1 (inc (long n))))}))))]
    (cond
      failure (fails options failure site)
      (in-test? options) (test/do-report {:type :pass}))
    (cond-> {:points points :schedules (* (long points) (long (:schedules options)))}
      failure (assoc :failure (:skein/error failure) :token (:token failure)))))

(defmacro everywhere
  "Counts the points of a run of the body after its call of (target x). Then runs the body once for each
  of these points, with a fault there. Fails as `check` does. Returns {:points :schedules}.

  options, a map, those of `check` and

  - :fault      :cancel, the default: cancels a scope's children or a future, interrupts a thread, or
                closes a port. :close: closes a port. :throw: closes a port with an exception, or makes
                a child of a scope fail. :expire: lets the next timer fire. Or a function of the target
  - :schedules  how many for each point, by default 1

  Throws :skein/bad-argument when the body has no target."
  {:style/indent 0
   :arglists '([options? & body])}
  [& args]
  (let [[options body] (split-options "everywhere" args)]
    `(everywhere* ~options (fn body# [] ~@body) '~(site &form))))

(defn- one
  "Runs `body` by a schedule. Returns what `report/replayed` does."
  [options schedule body origin]
  (runs/supervised options (fn once [] (report/replayed options schedule body origin))))

(defn ^:no-doc run*
  "Does the work of `run`, for a body as a function."
  [options body]
  (let [options (options/checked options)
        schedule (assoc runs/fifo :slow? (= :slow (:time options))
                        :strategy (if (:seed options)
                                    {:kind :uniform :seed (:seed options)}
                                    {:kind :listed :deviations []}))
        body (runs/bound options body nil)
        {:keys [^Simulation simulation text thrown snapshot] :as result} (one options schedule body
                                                                           (if (:seed options) (str "in a random order (seed " (:seed options) ")") "in the default order"))
        error (:skein/error result)
        trace (.-trace simulation)]
    (cond-> {:steps (.steps simulation) :virtual-ms (quot (.endedAt simulation) 1000000)
             :token (token/write (runs/schedule-of schedule simulation) (.hash trace))
             :events (vec (.events trace))}
      (nil? error) (assoc :value (.value simulation))
      error (assoc :failure error :text text :snapshot snapshot)
      thrown (assoc :thrown thrown))))

(defmacro run
  "Evaluates the body once in a simulation, in the default order, or in a random order given by :seed.
  Returns {:value :steps :virtual-ms :token :events}. If the body fails, :failure and :text replace
  :value, with :thrown if it threw an exception. :snapshot is what then waited, for `skein.inspect`. For options see `check`."
  {:style/indent 0
   :arglists '([options? & body])}
  [& args]
  (let [[options body] (split-options "run" args)]
    `(run* ~options (fn body# [] ~@body))))

(defn ^:no-doc with-virtual-time*
  "Does the work of `with-virtual-time`, for a body as a function."
  [body]
  (let [{:keys [value failure text token thrown]} (run* {:leaks :none :drain-ms 0} body)]
    (cond
      thrown (throw thrown)
      failure (error/fail! failure text {:token token})
      :else value)))

(defmacro with-virtual-time
  "Evaluates the body once in a simulation, in the default order. Waiting takes no time. Returns the
  body's value, or throws its exception, or the failure if it did not end.

      (with-virtual-time (skein.async/<!! (skein.async/timeout 10800000)) (now-ms))
      ;=> 10800000"
  {:style/indent 0}
  [& body]
  `(with-virtual-time* (fn body# [] ~@body)))

(defn ^:no-doc replay*
  "Does the work of `replay`, for a body as a function."
  [token options body site]
  (let [{:keys [fingerprint strategy] :as schedule} (token/parse token)
        {:keys [^Simulation simulation text] :as result} (one (assoc options :whole? true) schedule (runs/bound options body) "replayed")
        error (:skein/error result)
        now (token/fingerprint (.hash ^Trace (.-trace simulation)))]
    (cond
      error (fails options (assoc result :token token) site)
      (not= fingerprint now)
      (error/fail! :skein/bad-token
                   (str "The schedule " token " is of another program, or this one has changed since: its run differs, and "
                        "does not fail. Choices of the run: " (.choices (.-trace simulation))
                        (when-some [[choice] (peek (:deviations strategy))] (str "; the schedule needs " (inc (long choice))))
                        "."
                        (when-not (:threads options)
                          (str " This run does not simulate threads. If the one that printed the token did, it needs " options/opens " here, too.")))
                   {:token token :differs token})
      :else (println text))
    {:value (.value simulation) :steps (.steps simulation) :failure error}))

(defmacro replay
  "Evaluates the body under the schedule of `token`, which a failure of `check` has printed, and fails
  in the same way, with the whole story. Prints it if the run does not fail. Throws :skein/bad-token if `token` is
  not a token, or belongs to another program. `options` are those of `check`."
  {:style/indent 1
   :arglists '([options? token & body])}
  [& args]
  (let [[options [token & body]] (if (map? (first args)) [(first args) (rest args)] [nil args])]
    `(replay* ~token (checked ~options) (fn body# [] ~@body) '~(site &form))))
