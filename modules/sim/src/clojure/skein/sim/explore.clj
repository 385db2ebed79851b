;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.explore
  "Runs a body under many schedules, until one fails or the budget is spent.

  * `explore` - {:summary map :failure {:schedule :simulation :number} :unequal schedule :first schedules}"
  {:no-doc true}
  (:require
   [skein.sim.blind :as blind]
   [skein.sim.runs :as runs])
  (:import
   (clojure.lang PersistentQueue)
   (skein.sim.rt Reduction RunTotals Simulation Trace)))

(set! *warn-on-reflection* true)

;;;; Which schedule comes next
;;
;; A source is a function of [number state] that returns a strategy, or nil when there is none left.
;; The state has :seed; :totals of all runs; :queue, the lists of deviations to be tried; :last, the
;; trace of the last run; and :search, the Reduction, which learns from each run.

(defn- listed [deviations]
  {:kind :listed :deviations deviations})

(defn- drawn
  "Returns a source of strategies that draw random numbers; `d` is for PCT."
  ([kind] (drawn kind 0))
  ([kind d]
   (fn [number {:keys [seed ^RunTotals totals]}]
     {:kind kind :seed (+ (long seed) (long number)) :d d :k (.choices totals)})))

(defn- few-deviations
  "The source of all schedules with few deviations, fewest first; see `requeue`."
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

(defn- next-that-differs
  "The source of all schedules, without those that differ only in the order of steps that touch nothing in common."
  [_ {:keys [^Reduction search]}]
  (when-not (.isDone search) {:kind :reduced :search search}))

(def ^:private turns
  "The strategies that :mix uses in turn, after the default order and its reverse."
  [few-deviations (drawn :uniform) (drawn :pct 2) (drawn :pos) (drawn :pct 3)])

(defn- mix [number state]
  (case (long number)
    0 (listed [])
    1 {:kind :reversed}
    (or ((turns (mod (long number) (count turns))) number state)
        ((turns 1) number state))))

(defn- source [strategy]
  (case strategy
    :mix mix
    :random (drawn :uniform)
    :exhaustive next-in-order
    :reduced next-that-differs
    (drawn :pct (strategy 1))))

;;;; Statistics

(defn- longer
  "Returns the lists that have one deviation more than `deviations`, after its last one. `trace` is of the run with `deviations`."
  [deviations ^Trace trace]
  (let [from (if-some [[choice] (peek deviations)] (inc (long choice)) 0)]
    (for [i (range from (.choices trace)), value (range 1 (.count trace i))]
      (conj deviations [i value]))))

(def ^:const ^:private max-deviations "The most deviations that :mix lists." 2)

(defn- requeue
  "Drops the list that has been tried from the queue, and adds the lists that are longer by one deviation."
  [queue {:keys [deviations]} trace {:keys [schedules]}]
  (if (= deviations (peek queue))
    (let [queue (pop queue)
          room (- (long (or schedules 100000)) (count queue))]
      (if (< (count deviations) max-deviations)
        (into queue (take (max 0 room)) (longer deviations trace))
        queue))
    queue))

(defn- learn
  "Returns the state after `sim`, a run by `strategy`. The totals are an object that changes: a new map would cost more than a
  short run."
  [{:keys [^RunTotals totals search] :as state} strategy ^Simulation sim options]
  (.add totals sim)
  (case (:kind strategy)
    :listed (assoc state :last (.-trace sim) :queue (requeue (:queue state) strategy (.-trace sim) options))
    :reduced (do (.learn ^Reduction search (.races sim) (.-trace sim)) state)
    state))

(defn- summary
  "Returns the summary of a check. :new-chance estimates the probability that one more schedule shows a run that
  differs from all before: the share of runs that were seen once (Good 1953)."
  [{:keys [^RunTotals totals seed]} {:keys [threads faults]} n done?]
  (let [sightings (into (zipmap (map runs/sighting (keys faults)) (repeat false)) (.sightings totals))
        unseen (sort (keep (fn [[message seen?]] (when-not seen? message)) sightings))]
    (cond-> {:schedules n :distinct (.distinct totals) :steps (.steps totals) :longest (.longest totals)
             :virtual-ms (quot (.virtualNanos totals) 1000000)
             :new-chance (if (pos? (long n)) (/ (Math/round (* 1000.0 (/ (.once totals) (double n)))) 1000.0) 1.0)
             :seed seed}
      (seq unseen) (assoc :never-seen (vec unseen))
      (not threads) (assoc :lite true)
      done? (assoc :all true :new-chance 0.0))))

;;;; The loop

(defn- schedule
  "Returns the next schedule. Each has random numbers of its own, unless the strategy derives a schedule from the runs before."
  [{:keys [time seed] :as options} strategy number drew?]
  {:strategy strategy :slow? (= :slow time)
   :seed (cond (not drew?) 0
               (#{:exhaustive :reduced} (:strategy options)) seed
               :else (+ (long seed) (long number)))})

(defn- over?
  "Returns whether `number` schedules are enough; without one, a body that fails would pass."
  [{:keys [schedules for-ms]} number start]
  (if for-ms
    (and (pos? (long number)) (<= (* 1000000 (long for-ms)) (- (System/nanoTime) (long start))))
    (<= (long schedules) (long number))))

(defn explore
  "Runs `body`, a function, by schedules as `options` say. Must be called on a thread of `runs/supervised`. Returns
  {:summary map}, with :failure {:schedule :simulation :number}, or :unequal, a schedule by which two
  runs differed, or else :first, the first schedules."
  [{:keys [strategy seed] :as options} body]
  (let [next-strategy (source strategy)
        start (System/nanoTime)
        drew? (do (runs/play options runs/fifo body) ; warm up: namespaces are loaded, caches are filled
                  (.drew (runs/play options runs/fifo body)))]
    (loop [number 0, state {:seed seed :totals (RunTotals.) :queue (conj PersistentQueue/EMPTY []) :last nil
                            :search (Reduction.) :first []}]
      (let [over (over? options number start)
            strategy (when-not over (next-strategy number state))]
        (if (nil? strategy)
          {:summary (summary state options number (and (not over) (#{:exhaustive :reduced} (:strategy options))))
           :first (:first state)}
          (let [schedule (schedule options strategy number drew?)
                sim (runs/play options schedule body)
                unequal? (and (< number 2) (not (.verdict sim)) ; before `learn`, after which the same schedule could run otherwise
                              (not= (.hash (.-trace sim)) (.hash (.-trace (runs/play options schedule body)))))
                state (cond-> (learn state strategy sim options)
                        (< number blind/schedules) (update :first conj (runs/schedule-of schedule sim)))]
            (cond
              (.verdict sim)
              {:summary (summary state options (inc number) false)
               :failure {:schedule schedule :simulation sim :number (inc number)}}

              unequal?
              {:summary (summary state options (inc number) false)
               :unequal (if (= :reduced (:kind strategy)) (runs/schedule-of schedule sim) schedule)}

              :else (recur (inc number) state))))))))
