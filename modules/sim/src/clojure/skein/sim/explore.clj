;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.explore
  "Runs a body by many schedules, until one fails or the budget is spent.

  * `explore` - {:summary map :failure {:schedule :simulation :number} :unequal schedule}"
  {:no-doc true}
  (:require
   [skein.sim.runs :as runs])
  (:import
   (clojure.lang PersistentQueue)
   (skein.sim.rt Simulation Trace)))

(set! *warn-on-reflection* true)

;;;; Which schedule comes next
;;
;; A source is (fn [number state]) -> strategy or nil when there is no more. The state has
;; :seed, :choices the most that a run has had, :queue of lists of deviations to be tried,
;; and :last the trace of the last run.

(defn- listed [deviations]
  {:kind :listed :deviations deviations})

(defn- drawn
  "A source of strategies that draw random numbers."
  [kind more]
  (fn [number {:keys [seed choices]}]
    (merge {:kind kind :seed (+ (long seed) (long number)) :k choices} more)))

(defn- few-deviations
  "The source of all schedules with few deviations, fewest first; see `learn`."
  [_ {:keys [queue]}]
  (some-> (peek queue) listed))

(defn- next-in-order
  "The source of all schedules, depth first."
  [number {:keys [^Trace last]}]
  (if (zero? (long number))
    (listed [])
    (loop [i (dec (.choices last))]
      (when-not (neg? i)
        (let [value (inc (.value last i))]
          (if (< value (.count last i))
            (listed (conj (into [] (take-while (fn before? [[choice]] (< (long choice) i))) (runs/deviations last))
                          [i value]))
            (recur (dec i))))))))

(def ^:private turns
  "What :mix does in turn, after the default order and its reverse."
  [few-deviations (drawn :uniform nil) (drawn :pct {:d 2}) (drawn :pos nil) (drawn :pct {:d 3})])

(defn- mix [number state]
  (case (long number)
    0 (listed [])
    1 {:kind :reversed}
    (or ((turns (mod (long number) (count turns))) number state)
        ((drawn :uniform nil) number state))))

(defn- source [strategy]
  (case (if (vector? strategy) (strategy 0) strategy)
    :mix mix
    :fifo (fn [number _] (when (zero? (long number)) (listed [])))
    :reversed (fn [number _] (when (zero? (long number)) {:kind :reversed}))
    :random (drawn :uniform nil)
    :pct (drawn :pct {:d (strategy 1)})
    :pos (drawn :pos nil)
    :delay few-deviations
    :exhaustive next-in-order))

;;;; What is learnt of a run

(defn- longer
  "The lists of deviations that `deviations`, by which `trace` came about, can be extended to."
  [deviations ^Trace trace]
  (let [from (if-some [[choice] (peek deviations)] (inc (long choice)) 0)]
    (for [i (range from (.choices trace)), value (range 1 (.count trace i))]
      (conj deviations [i value]))))

(defn- requeue
  "Drops the list that has been tried from the queue, and adds what it can be extended to."
  [queue {:keys [kind deviations]} trace most room]
  (if (and (= :listed kind) (= deviations (peek queue)))
    (let [queue (pop queue)]
      (if (< (count deviations) (long most))
        (into queue (take (max 0 (- (long room) (count queue)))) (longer deviations trace))
        queue))
    queue))

(defn- learn [{:keys [most room] :as state} strategy ^Simulation sim]
  (let [trace (.-trace sim)]
    (-> state
        (assoc :last trace)
        (update :choices max (.choices trace))
        (update :queue requeue strategy trace most room)
        (update :steps + (.steps sim))
        (update :longest max (.steps sim))
        (update :virtual-ns max (.now sim))
        (update :sightings (partial merge-with #(or %1 %2)) (into {} (.sightings sim)))
        (update :hashes (fn count-hash [hashes] (assoc! hashes (.hash trace) (inc (long (get hashes (.hash trace) 0)))))))))

(defn- fresh [{:keys [seed strategy schedules]}]
  {:seed seed :choices 1 :queue (conj PersistentQueue/EMPTY []) :room (or schedules 100000) :last nil
   :most (if (and (vector? strategy) (= :delay (strategy 0))) (strategy 1) 2)
   :steps 0 :longest 0 :virtual-ns 0 :hashes (transient {})})

(defn- summary
  "What a check returns. :new-chance estimates the probability that one more schedule shows a run that
  differs from all before: the share of runs that were seen once (Good 1953)."
  [{:keys [steps longest virtual-ns hashes seed sightings]} n done?]
  (let [hashes (persistent! hashes)
        once (count (filter #(= 1 %) (vals hashes)))
        unseen (sort (keep (fn [[message seen?]] (when-not seen? message)) sightings))]
    (cond-> {:schedules n :distinct (count hashes) :steps steps :longest longest
             :virtual-ms (quot (long virtual-ns) 1000000)
             :new-chance (if (pos? (long n)) (/ (Math/round (* 1000.0 (/ once (double n)))) 1000.0) 1.0)
             :seed seed}
      (seq unseen) (assoc :never-seen (vec unseen))
      done? (assoc :all true :new-chance 0.0))))

;;;; The loop

(defn- schedule [{:keys [time seed]} strategy number drew?]
  {:strategy strategy :slow? (= :slow time) :seed (if drew? (+ (long seed) (long number)) 0)})

(defn- over? [{:keys [schedules seconds]} number start]
  (if seconds
    (< (* 1e9 (double seconds)) (- (System/nanoTime) (long start)))
    (<= (long schedules) (long number))))

(defn explore
  "Runs `body`, a function, by schedules as `options` say; on a thread of `runs/supervised`. Returns
  {:summary map}, with :failure {:schedule :simulation :number} or :unequal, a schedule by which two
  runs differed."
  [{:keys [strategy] :as options} body]
  (let [next-strategy (source strategy)
        start (System/nanoTime)
        drew? (do (runs/play options runs/fifo body) ; warm up: namespaces are loaded, caches are filled
                  (.drew (runs/play options runs/fifo body)))]
    (loop [number 0, state (fresh options)]
      (let [over (over? options number start)
            strategy (when-not over (next-strategy number state))]
        (if (nil? strategy)
          {:summary (summary state number (and (not over) (= :exhaustive (:strategy options))))}
          (let [schedule (schedule options strategy number drew?)
                sim (runs/play options schedule body)
                state (learn state strategy sim)]
            (cond
              (.verdict sim)
              {:summary (summary state (inc number) false)
               :failure {:schedule schedule :simulation sim :number (inc number)}}

              (and (< number 2) (not= (.hash (.-trace sim)) (.hash (.-trace (runs/play options schedule body)))))
              {:summary (summary state (inc number) false) :unequal schedule}

              :else (recur (inc number) state))))))))
