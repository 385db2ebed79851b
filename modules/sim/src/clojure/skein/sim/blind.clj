;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.blind
  "What a check has not seen, as far as its runs tell.

  * `seen` - adds that to the summary of a check
  * `text` - the same in words

  It runs a few of the schedules once more, with their events. So it does not see what happens in other
  schedules alone, nor a Java object for which no thread has to wait, nor a time or a random number that
  reaches no point."
  {:no-doc true}
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [skein.sim.runs :as runs]
   [skein.sim.subject :as subject]
   [skein.sim.waits :as waits])
  (:import
   (skein.rt.block Failures)
   (skein.sim.rt Simulation Task Task$Kind Trace$Event Trace$Kind)))

(set! *warn-on-reflection* true)

(def ^:const schedules "How many of the first schedules of a check are looked at." 3)

(defn- events [^Simulation sim]
  (.events (.-trace sim)))

(defn- result
  "Returns the port of the task's result, or nil."
  [^Task task]
  (some-> task .frame .port))

(def ^:private touching
  "The kinds of events in which a task touches what they are about."
  #{Trace$Kind/TAKE Trace$Kind/PUT Trace$Kind/ALTS Trace$Kind/POLL Trace$Kind/OFFER Trace$Kind/CLOSE
    Trace$Kind/AT Trace$Kind/SEND Trace$Kind/DEREF Trace$Kind/CLOSING})

(defn- touched
  "Returns {task set of what it touches}. A block touches its result; that the body takes it does not
  count, since the body takes it when the block has ended."
  [^Simulation sim]
  (let [spawned (for [^Trace$Event e (events sim) :when (= Trace$Kind/SPAWN (.kind e))] (.on e))
        results (into #{} (keep result) spawned)
        main? (fn [^Task t] (= Task$Kind/MAIN (.-kind t)))]
    (reduce (fn [touched ^Trace$Event e]
              (let [things (subject/collect-ports (.on e))]
                (update touched (.task e) (fnil into #{})
                        (if (main? (.task e)) (remove results things) things))))
            (into {} (map (fn [t] [t (into #{} (keep identity) [(result t)])])) spawned)
            (filter (fn [^Trace$Event e] (touching (.kind e))) (events sim)))))

(defn- lives
  "Returns {task [first last]}: the numbers of the events between which a task lives that was spawned."
  [sim]
  (reduce-kv (fn [lives i ^Trace$Event e]
               (condp = (.kind e)
                 Trace$Kind/SPAWN (assoc lives (.on e) [i Long/MAX_VALUE])
                 Trace$Kind/END (if (lives (.task e)) (assoc-in lives [(.task e) 1] i) lives)
                 lives))
             {} (vec (events sim))))

(defn- action?
  "Returns whether a task is the action of an agent, which touches the agent."
  [^Task task]
  (some-> (.-work task) class .getName (= "clojure.lang.Agent$Action")))

(defn- alone
  "Returns {name place} of the blocks and threads that touch nothing that another task touches, while
  another such one lives."
  [sim]
  (let [touched (touched sim)
        users (frequencies (mapcat val touched))
        lives (lives sim)
        alone (filter (fn [^Task t]
                        (and (#{Task$Kind/GO Task$Kind/THREAD} (.-kind t))
                             (not (action? t))
                             (every? #(= 1 (users %)) (touched t))))
                      (keys lives))
        meet? (fn [t u]
                (let [[t0 t1] (lives t), [u0 u1] (lives u)]
                  (and (not= t u) (< (long t0) (long u1)) (< (long u0) (long t1)))))]
    (into {} (comp (filter (fn [t] (some #(meet? t %) alone)))
                   (map (fn [^Task t] [(str t) (subject/place (.-parent t) (.site t))])))
          alone)))

(defn- java-waits
  "Returns the places where the user's code waits in java.util.concurrent, or for a monitor. A wait for
  the end of a thread is none: the simulation knows that end."
  [sim]
  (for [^Trace$Event e (events sim)
        :when (= Trace$Kind/PARK (.kind e))
        :let [waiting (waits/waiting-class (.site e))]
        :when (and waiting (not (Failures/isMachinery waiting)) (not (waits/joins? (.site e))))]
    (subject/place (.task e) (.site e))))

(defn- comparable [^Trace$Event e]
  (let [value (.value e)] (when-not (str/includes? (str value) "#object") value)))

(defn- unrepeatable
  "Returns the first place where two runs by one schedule have different values."
  [a b]
  (first (keep identity (map (fn [^Trace$Event e ^Trace$Event f]
                               (when (not= (comparable e) (comparable f))
                                 [(subject/place (.task e) (.site e))]))
                             (subject/events a) (subject/events b)))))

(defn- blind
  "Returns a map of reasons to places, which is empty if there is none. `again` is a second run by the
  schedule of the first of `sims`."
  [{:keys [threads points]} again sims]
  (let [alone (when (and threads (= #{:channels :atoms} points)) (map alone sims))
        always (when alone (reduce set/intersection (map (comp set keys) alone)))
        places (fn [xs] (vec (sort (distinct (remove nil? xs)))))]
    (into {} (remove (comp empty? val))
          {:no-common-point (places (map (or (first alone) {}) always))
           :java-wait (places (mapcat java-waits sims))
           :not-repeatable (places (unrepeatable (first sims) again))})))

(defn seen
  "Adds to the `summary` of a check of `body` what its runs by `schedules` have not seen, under :blind.
  Then it is not claimed that they are all schedules."
  [summary options schedules body]
  (let [play (fn [schedule] (runs/play options schedule body true nil))
        sims (mapv play schedules)
        again (do (Thread/sleep 2) (play (first schedules)))] ; the clock must have moved in between
    (if-some [blind (when (every? #(nil? (.verdict ^Simulation %)) (cons again sims))
                      (not-empty (blind options again sims)))]
      (-> summary (assoc :blind blind) (dissoc :all))
      summary)))

(defn text
  "Returns the value of :blind in words."
  [{:keys [no-common-point java-wait not-repeatable]}]
  (let [list #(str/join ", " %)]
    (str/join
      "; "
      (cond-> []
        no-common-point (conj (str "tasks that " (list no-common-point) " spawns share no point"))
        java-wait (conj (str "threads wait for Java objects at " (list java-wait)))
        not-repeatable (conj (str "two runs differ in a value at " (list not-repeatable)))))))
