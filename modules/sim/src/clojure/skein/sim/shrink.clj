;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.shrink
  "Makes the schedule of a failing run shorter.

  * `shrink` - a schedule with fewer deviations that fails in the same way

  Source: A. Zeller and R. Hildebrandt, Simplifying and isolating failure-inducing input, 2002."
  {:no-doc true}
  (:require
   [skein.sim.runs :as runs])
  (:import
   (skein.sim.rt Simulation Trace)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-runs 500)
(def ^:const ^:private max-ns 2000000000)

(defn- without
  "Returns the deviations without those from `i` up to, but not including, `j`."
  [deviations i j]
  (into (subvec deviations 0 i) (subvec deviations j)))

(defn- shortest-prefix
  "Returns a short beginning of the deviations that still fails, found by halving."
  [fails deviations]
  (loop [kept deviations, n (quot (count deviations) 2)]
    (if-some [shorter (when (< n (count kept)) (fails (subvec kept 0 n)))]
      (recur shorter (quot (count shorter) 2))
      (let [longer (quot (+ n (count kept) 1) 2)]
        (if (< longer (count kept)) (recur kept longer) kept)))))

(defn- drop-parts
  "Returns the deviations without parts that the failure does not need. Tries large parts first, then smaller ones."
  [fails deviations]
  (loop [kept deviations, size (max 1 (quot (count deviations) 2)), from 0]
    (cond
      (<= (count kept) from) (if (= 1 size) kept (recur kept (quot size 2) 0))
      :else (if-some [shorter (fails (without kept from (min (count kept) (+ from size))))]
              (recur shorter size (min from (count shorter)))
              (recur kept size (+ from size))))))

(defn- lower-values
  "Replaces each value by 1 if the run then still fails."
  [fails deviations]
  (reduce (fn [kept i]
            (or (when (and (< i (count kept)) (< 1 (long (second (nth kept i)))))
                  (fails (assoc-in kept [i 1] 1)))
                kept))
          deviations (range (count deviations))))

(defn- one-deviation
  "Returns a single deviation from the default order with which the run fails, or nil. `default` is the trace of that order."
  [fails ^Trace default]
  (some fails (for [i (range (.choices default)), value (range 1 (.count default i))] [[i value]])))

(defn shrink
  "Returns a schedule by which `body` fails as `sim` did, whose schedule was `schedule`, with as few
  deviations as are found in 500 runs or 2 s. It leaves out deviations, and then tries single ones."
  [options schedule sim body]
  (let [wanted (runs/signature sim)
        start (System/nanoTime)
        n (volatile! 0)
        listed (runs/schedule-of schedule sim)
        by (fn by [deviations] (assoc-in listed [:strategy :deviations] deviations))
        fails (fn fails [deviations]
                (when (and (< (long @n) max-runs) (< (- (System/nanoTime) start) max-ns))
                  (vswap! n inc)
                  (let [sim (runs/play options (by deviations) body)]
                    (when (= wanted (runs/signature sim))
                      (let [done (runs/deviations (.-trace sim))]
                        (when (<= (count done) (count deviations)) done))))))
        all (get-in listed [:strategy :deviations])
        least (or (fails [])
                  (->> all (shortest-prefix fails) (drop-parts fails) (lower-values fails)))]
    (by (or (when (< 1 (count least)) (one-deviation fails (.-trace ^Simulation (runs/play options (by []) body))))
            least))))
