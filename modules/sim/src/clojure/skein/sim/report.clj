;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.report
  "Makes the report on a failing simulation: the error, its reason, the story, and the token.

  * `failure` - runs a schedule once more with its events kept, and returns what to report
  * `unequal` - the same for a schedule by which two runs differed"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.sim.runs :as runs]
   [skein.sim.story :as story]
   [skein.sim.subject :as subject]
   [skein.sim.token :as token]
   [skein.sim.waits :as waits])
  (:import
   (skein.rt.block Failures)
   (skein.sim.rt Outsider Simulation Task Trace Trace$Event Trace$Kind Verdict Verdict$Kind)))

(set! *warn-on-reflection* true)

(defn shrunk-from
  "Returns a phrase that says how far a schedule was shrunk."
  [before after]
  (cond
    (zero? (long after)) "fails in the default order"
    (= before after) (str "with " after (if (= 1 after) " deviation" " deviations") " from the default order")
    :else (str "shrunk from " before " deviations to " after)))

(defn- ms [ns] (quot (long ns) 1000000))

(defn- user-place
  "Returns the place in the user's code where `thrown` was made, or the innermost place if it was made elsewhere."
  [^Throwable thrown]
  (when-some [^StackTraceElement e (let [frames (Failures/userFrames thrown)] (or (subject/users-frame frames) (first frames)))]
    (str " at " (.getFileName e) ":" (.getLineNumber e))))

(defn- real-time-words
  "Returns the first line on a task that waits on the JVM's clock."
  [^Simulation sim name-of task]
  (let [site ((:sites (.description sim)) task)
        at (if site (str " at " (subject/place task site)) "")]
    (if (waits/for-transaction? site)
      (str (name-of task) " waits in a transaction" at ", for another that has changed or ensured the same ref and waits itself."
           " That can't be simulated. Let transactions wait for nothing else.")
      (str (name-of task) " waits on the JVM's clock" at ". Thread/sleep and waits with a time limit can't be simulated. Use"
           " skein.virtual/sleep, a timeout channel, or {:outside :wait}."))))

(def ^:private last-steps
  "The number of last steps that the report on a livelock covers."
  200)

(defn- busy
  "Returns a clause that says which tasks did the last steps."
  [^Simulation sim name-of]
  (let [events (take-last last-steps (.events (.-trace sim)))
        tasks (distinct (keep (fn [^Trace$Event e] (.task e)) events))]
    (str "the last were steps of " (str/join ", " (take 5 (map name-of tasks))))))

(defn- thrown-words [^Throwable thrown]
  (str (.getSimpleName (class thrown)) (when-some [message (ex-message thrown)] (str ", " (pr-str message) ","))
       (user-place thrown)))

(defn- assertion-words
  "Returns the first line for what `is` has reported to clojure.test."
  [{:keys [type expected actual file line]}]
  (str (error/preview expected)
       (if (= :error type) (str " throws " (thrown-words actual)) (str " does not hold" (when line (str ", at " file ":" line))))
       "."))

(defn- unput
  "Returns a clause about the value that the task still waits to put, or nil."
  [^Simulation sim name-of task]
  (when (some (fn puts? [{:keys [id tid waits]}] (and (= (name-of task) (or id tid)) (= [:put] (map :op waits))))
              (mapcat (:snapshot (.description sim)) [:blocks :threads]))
    (when-some [^Trace$Event e (last (filter (fn put? [^Trace$Event e] (and (identical? task (.task e)) (= Trace$Kind/PUT (.kind e))))
                                             (.events (.-trace sim))))]
      (str ": it still waits to put " (.value e) " on " (name-of (.on e)) ", and that value is lost"))))

(defn- outsider-words [name-of ^Outsider outsider]
  (let [task (some-> (.task outsider) name-of)
        at (if-some [place (subject/place (.task outsider) (.waited outsider))] (str " at " place) "")]
    (cond
      (.inObjectWait outsider)
      (str task " waits in Object.wait" at ", which can't be simulated. Use a condition of a lock of java.util.concurrent,"
           " a promise or a channel.")
      (.atDevice outsider)
      (str task " waits for input or output" at ", which is not simulated. Put a channel in its place, or allow it by"
           " {:outside :wait}.")
      :else
      (str (if-some [by (.by outsider)] (str "The thread " (.getName by) ", which is not simulated,") "A thread that is not simulated")
           " woke " (or task "a task of the simulation")
           (if (= "" at) (some-> (.where outsider) user-place) (str ", which waits" at))
           ". Start a virtual thread in its place, or allow it by {:outside :wait}."))))

(defn- words
  "Returns the error of a verdict and its first line."
  [^Simulation sim name-of]
  (let [^Verdict verdict (.verdict sim), cause (.cause verdict)]
    (condp = (.kind verdict)
      Verdict$Kind/ASSERTION
      {:skein/error :skein/sim-failed :words (assertion-words cause)}

      Verdict$Kind/EXCEPTION
      {:skein/error :skein/sim-failed :words (str "The body throws " (thrown-words cause) ".")}

      Verdict$Kind/UNCAUGHT
      {:skein/error :skein/sim-failed
       :words (str "An exception is neither caught nor taken: " (thrown-words cause) ".")}

      Verdict$Kind/NEVER
      {:skein/error :skein/sim-failed :words (str "It does not always hold: " cause ".")}

      Verdict$Kind/DEADLOCK
      {:skein/error :skein/sim-deadlock
       :words (str "Deadlock after " (.steps sim) " steps, at " (ms (.endedAt sim))
                   " ms: these tasks can never continue, and no timer is due.")}

      Verdict$Kind/LEAK
      {:skein/error :skein/sim-leak
       :words (str (name-of cause) " is left behind when the body has ended" (unput sim name-of cause) ". "
                   (name-of (.-parent ^Task cause)) " has spawned it.")}

      Verdict$Kind/LIVELOCK
      {:skein/error :skein/sim-livelock
       :words (str (.steps sim) " steps at " (ms (.endedAt sim)) " ms of virtual time, and no end; "
                   (busy sim name-of) ".")}

      Verdict$Kind/OUTSIDE
      {:skein/error :skein/sim-outside
       :words (if (instance? Outsider cause)
                (outsider-words name-of cause)
                (str "A block that is not simulated was woken in the simulation" (user-place cause) "."))}

      Verdict$Kind/REAL_TIME
      {:skein/error :skein/sim-outside :words (real-time-words sim name-of cause)}

      Verdict$Kind/NEEDS_OPENS
      {:skein/error :skein/sim-unsupported
       :words (str "A thread is started, or a block blocks," (user-place cause) ". " (ex-message cause))})))

(defn- foreign?
  "Returns whether a run has ended in a deadlock that a thread outside of the simulation could perhaps end."
  [^Simulation sim]
  (and (= Verdict$Kind/DEADLOCK (some-> (.verdict sim) .kind)) (:foreign? (.description sim))))

(defn- text [^Simulation sim name-of words origin whole?]
  (let [{:keys [snapshot]} (.description sim)]
    (str/join "\n" (concat [words origin]
                           (when (#{Verdict$Kind/DEADLOCK Verdict$Kind/LEAK} (.kind (.verdict sim)))
                             (waits/told snapshot))
                           (when (foreign? sim)
                             ["  Perhaps a thread that is not simulated, such as one of ForkJoinPool's, would end a wait: see the option :outside."])
                           (story/story sim name-of whole?)))))

(defn- named
  "Runs `schedule` with events. Returns [simulation names]."
  [options schedule body]
  (let [sim (runs/play options schedule body true waits/description)]
    [sim (or (:name-of (.description sim)) (subject/naming sim nil))]))

(defn- told
  "Returns the failure of a run. With the option :whole?, its story has all lines."
  [{:keys [whole?]} ^Simulation sim name-of schedule origin]
  (let [cause (.cause (.verdict sim))
        {:keys [words] :as error} (words sim name-of)]
    {:skein/error (:skein/error error)
     :token (token/write schedule (.hash (.-trace sim)))
     :text (text sim name-of words origin whole?)
     :snapshot (:snapshot (.description sim))
     :report (when (map? cause) cause)
     :thrown (cond (instance? Throwable cause) cause
                   (map? cause) (when (instance? Throwable (:actual cause)) (:actual cause)))
     :simulation sim}))

(defn- event-text [name-of ^Trace$Event e]
  (if (nil? e)
    "nothing"
    (str (some-> (.task e) name-of) " " (.kind e) (when (.on e) (str " " (if (vector? (.on e)) "ports" (name-of (.on e)))))
         (when (.value e) (str " " (.value e))))))

(defn- same? [^Trace$Event e ^Trace$Event f]
  (and (= (.kind e) (.kind f)) (= (str (.task e)) (str (.task f))) (= (.at e) (.at f)) (= (.value e) (.value f))))

(defn- by-what-is-not-simulated?
  "Returns whether a run has failed because a thread waited on the JVM's clock, or for a thread that is not simulated. If such a wait
  ends early enough, the run does not fail, so two runs by one schedule may differ."
  [[^Simulation sim]]
  (#{Verdict$Kind/REAL_TIME Verdict$Kind/OUTSIDE} (some-> ^Verdict (.verdict sim) .kind)))

(defn- difference
  "Returns the report on two runs by `schedule` that differ; each run is [simulation names]."
  [schedule [^Simulation a names-a] [^Simulation b names-b]]
  (let [as (vec (.events (.-trace a))), bs (vec (.events (.-trace b)))
        n (count (take-while true? (map same? as bs)))
        e ^Trace$Event (get as n), f ^Trace$Event (get bs n)]
    {:skein/error :skein/sim-not-deterministic
     :token (token/write (runs/schedule-of schedule a) (.hash (.-trace a)))
     :text (str "The same schedule gave two runs"
                (if (or e f)
                  (str " that differ. They agree in the first " n " events. Then, at " (ms (.at (or e f))) " ms: first "
                       (event-text names-a e) ", then " (event-text names-b f))
                  " that differed; two more of them, to see where, were equal")
                ".\nUsual causes: the clock or random numbers of the JVM; state from an earlier run; the order of a set of"
                " functions or channels; a thread that is not simulated.")
     :simulation a}))

(defn unequal
  "Returns what to report of `schedule`, which gave two runs that differ."
  [options schedule body]
  (let [runs [(named options schedule body) (named options schedule body)]]
    (if-some [[sim name-of] (some (fn [run] (when (by-what-is-not-simulated? run) run)) runs)]
      (told options sim name-of (runs/schedule-of schedule sim) "found by one of two runs by the same schedule")
      (apply difference schedule runs))))

(defn failure
  "Runs `body` by `schedule`, which fails, with events, and returns {:skein/error :text :token :report :thrown}."
  [options schedule body origin]
  (let [[sim :as first-run] (named options schedule body)
        ;; A pool's thread may still be busy with the work of earlier runs, so give it more time.
        [^Simulation sim name-of] (if (foreign? sim) (named (assoc options :patient? true) schedule body) first-run)]
    (if (.verdict sim)
      (told options sim name-of schedule origin)
      (unequal options schedule body))))

(defn replayed
  "Runs `body` by `schedule` with events. Returns {:simulation :text} and, if it fails, what `failure` does. `origin` says where
  the schedule comes from."
  [options schedule body origin]
  (let [[^Simulation sim name-of] (named options schedule body)]
    (if (.verdict sim)
      (told options sim name-of schedule origin)
      {:simulation sim :text (str/join "\n" (story/story sim name-of (:whole? options)))})))
