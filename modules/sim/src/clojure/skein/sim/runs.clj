;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.runs
  "One run of a body under a schedule, and a thread to run it on.

  A schedule is {:strategy {:kind ...} :slow? boolean :seed long :fault-at long}. :seed is the seed of
  random numbers. :fault-at is the point at which `everywhere` injects its fault. The strategy
  {:kind :listed :deviations [[choice value]]} takes the default in all other choices. The kinds :uniform,
  :pct, :pos and :reversed have :seed, :d and :k. The kind :reduced has a Reduction under :search.

  * `play` - runs a body, and returns the skein.sim.rt.Simulation; `schedule-of` returns what it chose
  * `supervised` - calls a function on a platform thread, and watches the runs there"
  {:no-doc true}
  (:require
   [clojure.test :as test]
   [skein.async :as a]
   [skein.impl.error :as error]
   [skein.sim.options :as options]
   [skein.sim.wrap :as wrap])
  (:import
   (clojure.lang Var)
   (skein.rt.block Failures Hooks)
   (skein.sim.rt Reduction Settings Settings$Leaks Simulation Strategy Strategy$Listed Strategy$Pct Strategy$Pos Strategy$Reversed Strategy$Uniform Task Trace Verdict Verdict$Kind)))

(set! *warn-on-reflection* true)

;; These frames are left out of stack traces.
(run! (fn add [part] (Failures/addMachinery (str "skein." part)))
      ["sim.rt." "sim.wrap$" "sim.runs$" "sim.explore$" "sim.shrink$" "sim.report$" "sim.story$" "sim$" "test$"])

(def fifo
  "The schedule in which every choice is the default."
  {:strategy {:kind :listed :deviations []} :slow? false :seed 0})

(defn- strategy ^Strategy [{:keys [kind deviations seed d k search]}]
  (case kind
    :reduced (.next ^Reduction search)
    :listed (Strategy$Listed. (int-array (map first deviations)) (int-array (map second deviations)))
    :reversed (Strategy$Reversed.)
    :uniform (Strategy$Uniform. (long seed))
    :pct (Strategy$Pct. (long seed) (int d) (int k))
    :pos (Strategy$Pos. (long seed))))

;; Code that is loaded when it is first used must not be loaded in a run.
(wrap/preview (a/chan))

(defn- settings
  ^Settings [{:keys [threads points time max-steps leaks drain-ms outside patient?]}
             {:keys [slow? seed fault-at]} events? describe]
  (Settings. (boolean threads) (contains? points :channels) (contains? points :atoms) (= :manual time)
             (boolean slow?) (long max-steps)
             (case leaks :none Settings$Leaks/NONE, :puts Settings$Leaks/PUTS, :all Settings$Leaks/ALL)
             (* 1000000 (long drain-ms)) (= :wait outside) 200000000
             (cond (not describe) 0, patient? 500000000, :else 100000000)
             (boolean events?) (long seed) (int (or fault-at 0)) describe wrap/preview))

(defn- collect
  "Receives what clojure.test reports in a run. The first failure ends the run."
  [{:keys [type] :as report}]
  (when-some [sim (Simulation/here)]
    (when (and (#{:fail :error} type) (not (.isEnding sim)))
      (.fail sim Verdict$Kind/ASSERTION report))))

(def ^:dynamic *faults*
  "Name -> what skein.sim/fault injects there."
  {})

(defn sighting
  "Returns the text that says that a run has come to the place of the fault called `fault-name`."
  [fault-name]
  (str "the fault " fault-name))

(def ^:dynamic *fault*
  "The fault that skein.sim/everywhere injects into a target."
  nil)

(defn bound
  "Returns a function that calls `body` with the current bindings. The function `report` gets what the
  body reports to clojure.test; by default a failure fails the run. nil: the reports go where they
  went before."
  ([options body] (bound options body collect))
  ([{:keys [faults fault]} body report]
   ;; The bindings are made once: to make them takes longer than a short run.
   (let [frame (with-bindings (cond-> {#'*faults* faults, #'*fault* fault}
                                report (assoc #'test/report report, #'test/*report-counters* nil))
                 (Var/cloneThreadBindingFrame))]
     (fn bound-body []
       (Var/resetThreadBindingFrame frame)
       (body)))))

;; Thread of `supervised` -> the Simulation that runs on it.
(defonce ^:private watched
  (java.util.concurrent.ConcurrentHashMap.))

(defn play
  "Runs `body` by `schedule` on this thread, and returns the finished Simulation. If it fails, calls
  `describe` with it before the remaining tasks are cancelled."
  (^Simulation [options schedule body] (play options schedule body false nil))
  (^Simulation [options schedule body events? describe]
   (let [sim (Simulation. (settings options schedule events? describe) (strategy (:strategy schedule)) body)]
     (.put ^java.util.concurrent.ConcurrentHashMap watched (Thread/currentThread) sim)
     (.run sim)
     sim)))

(defn deviations
  "Returns the choices of a run that were not the default, as [[choice value]]."
  [^Trace trace]
  (into [] (keep (fn [i] (let [value (.value trace i)] (when (pos? value) [i value])))) (range (.choices trace))))

(defn schedule-of
  "Returns `schedule` with the choices of its run `sim` as a list."
  [schedule ^Simulation sim]
  (assoc schedule :strategy {:kind :listed :deviations (deviations (.-trace sim))}))

(defn signature
  "Returns a value that is equal for two runs that fail in the same way, or nil if the run has not failed."
  [^Simulation sim]
  (when-some [^Verdict verdict (.verdict sim)]
    (let [kind (.kind verdict), cause (.cause verdict)]
      [kind (cond
              (map? cause) [(:file cause) (:line cause) (:expected cause)]
              (instance? Throwable cause) [(class cause) (first (Failures/userFrames cause))]
              (instance? Task cause) nil
              :else (when (= Verdict$Kind/NEVER kind) cause))])))

;;;; The thread

(defn- stack [^Thread thread]
  (vec (.getStackTrace thread)))

(defn- stuck!
  "Throws the error for a step that has taken too long on the thread `carrier`."
  [^Thread carrier ^Simulation sim {:keys [watchdog-ms threads]}]
  (let [^Task task (.running sim)
        thread (.threadOf sim task)
        pinned? (= Thread$State/BLOCKED (.getState carrier))
        frames (remove (fn [^StackTraceElement e] (Failures/isMachinery (.getClassName e))) (stack thread))]
    (error/fail! (if pinned? :skein/sim-unsupported :skein/sim-stuck)
                 (str "A step of " task " has taken " watchdog-ms " ms of real time, at "
                      (or (first frames) (first (stack thread)))
                      (if pinned?
                        ". It waits for a monitor, which pins a virtual thread before JDK 24; use a lock of java.util.concurrent."
                        ". Code that computes for so long needs a larger :watchdog-ms; a wait for something outside of the simulation can't be simulated.")
                      (when-not threads (str " With " options/opens ", waits in java.util.concurrent can be simulated.")))
                 {:task (str task) :stack (mapv str (stack thread))})))

(defn- watch
  "Waits until `carrier` has ended, and checks whether its runs continue."
  [^Thread carrier {:keys [watchdog-ms] :as options}]
  (loop [last-sim nil, last-steps -1, since (System/nanoTime)]
    (.join carrier 20)
    (when (.isAlive carrier)
      (let [^Simulation sim (.get ^java.util.concurrent.ConcurrentHashMap watched carrier)
            steps (if sim (.steps sim) -1)
            now (System/nanoTime)]
        (cond
          (or (nil? sim) (.isOver sim) (not (identical? sim last-sim)) (not= steps last-steps)) (recur sim steps now)
          (< (* 1000000 (long watchdog-ms)) (- now (long since))) (stuck! carrier sim options)
          :else (recur last-sim last-steps since))))))

(defn supervised
  "Calls `f` on a platform thread, on which `play` can be called. Returns its value or throws what
  it throws. If a step takes too long, throws :skein/sim-stuck, and the thread keeps running."
  [options f]
  (when (Simulation/here)
    (error/fail! :skein/sim-unsupported "A simulation can't run in a simulation. Call `check` and `run` of skein.sim outside of it." {}))
  (let [result (volatile! nil)
        f (bound-fn* f)
        carrier (Thread. (fn carry [] (vreset! result (try [(f) nil] (catch Throwable t [nil t])))) "skein-sim")]
    (.setDaemon carrier true)
    (Hooks/simulations 1)
    (wrap/install!)
    (try
      (.start carrier)
      (watch carrier options)
      (let [[value ^Throwable thrown] @result]
        (if thrown (throw thrown) value))
      (finally
        (.remove ^java.util.concurrent.ConcurrentHashMap watched carrier)
        (wrap/uninstall!)
        (Hooks/simulations -1)))))
