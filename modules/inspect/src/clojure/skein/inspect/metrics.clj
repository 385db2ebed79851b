;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.metrics
  "A snapshot as metrics, in the text format of OpenMetrics 1.0. No label has more values in a larger program."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.lints :as lints]
   [skein.inspect.verdict :as verdict]))

(set! *warn-on-reflection* true)

(defn- counted
  "Returns [[{label value} n]] for the values `all`: how often each occurs in `xs`."
  [label all xs]
  (let [n (frequencies xs)] (for [x all] [{label (name x)} (n x 0)])))

(defn- families
  "Returns [[name type help [[labels value]]]]."
  [{:keys [blocks threads channels scopes folds collected timers] :as snapshot}]
  [["skein_blocks" "gauge" "Blocks that have not ended."
    (counted :state [:new :ready :running :parked] (map :state blocks))]
   ["skein_waiting" "gauge" "Waits of blocks and threads in channels; an alts has several."
    (counted :op [:take :put] (keep :op (mapcat :waits (concat blocks (remove :block threads)))))]
   ["skein_waiting_threads" "gauge" "Threads that wait in a channel or for a lock." [[nil (count threads)]]]
   ["skein_waited_channels" "gauge" "Channels in which something waits, or that have a label." [[nil (count channels)]]]
   ["skein_scopes" "gauge" "Open scopes that have a block or a waiting thread." [[nil (count scopes)]]]
   ["skein_folds" "gauge" "Folds under way that have taken more than a millisecond." [[nil (count folds)]]]
   ["skein_timers" "gauge" "Timeouts that have neither fired nor been closed." [[nil (or timers 0)]]]
   ["skein_blocks_collected" "counter" "Blocks that the garbage collector took before they had ended, since the inspector was started."
    [[nil (:count collected)]]]
   ["skein_deadlocks" "gauge" "Reports of blocks and threads that can never continue."
    (counted :verdict [:proven :certain :suspected] (map :verdict (verdict/deadlocks snapshot)))]
   ["skein_lints" "gauge" "What looks wrong." (counted :severity [:error :warn :info] (map :severity (lints/lints snapshot)))]])

(defn- sample [family type [labels value]]
  (str family (when (= "counter" type) "_total")
       (when labels (str "{" (str/join "," (map (fn pair [[k v]] (str (name k) "=\"" v "\"")) labels)) "}"))
       " " value "\n"))

(defn text
  "Returns the metrics of a snapshot."
  [snapshot]
  (str (str/join (for [[family type help samples] (families snapshot)]
                   (str "# TYPE " family " " type "\n# HELP " family " " help "\n" (str/join (map (partial sample family type) samples)))))
       "# EOF\n"))
