;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.overview
  "The summary of a look.

  * `counts`, for the head of the page
  * `overview`"
  {:no-doc true}
  (:require
   [skein.console.looks :refer [cached]]
   [skein.console.views.blocks :as blocks]
   [skein.console.views.problems :as problems]
   [skein.console.views.rows :as rows]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(defn counts
  "Returns the counts for the head of the page. For a heap they are those that ps prints; :listed leaves out the blocks that no code can reach."
  [{:keys [snapshot deadlocks lints]} growth]
  (let [{:keys [blocks threads channels scopes timers memory collected heap]} snapshot
        gone (long (:count collected 0)), stuck (if heap gone 0)
        states (update-keys (frequencies (map rows/state blocks)) name)]
    {:blocks (+ (count blocks) stuck) :listed (count blocks)
     :states (cond-> states (pos? stuck) (update "stuck" (fnil + 0) stuck)) :collected (- gone stuck)
     :threads (count threads) :channels (count channels) :scopes (count scopes) :timers timers :memory memory
     :ranks (merge-with + (update-keys (frequencies (map :verdict deadlocks)) name)
                        (update-keys (frequencies (map :severity lints)) name)
                        (when (seq growth) {"warn" (count growth)}))}))

(defn- headline
  "Returns the first sentence of the page, and one on `threads` that wait if nothing is known to be wrong. `partly?` says that
  the inspector was off before, so it does not see all blocks."
  [{:keys [ranks blocks]} threads partly?]
  (let [n (+ (long (ranks "proven" 0)) (long (ranks "certain" 0)))
        [wrong maybe] (map (fn sum [ks] (reduce + (map #(ranks % 0) ks))) [["error"] ["suspected" "warn"]])]
    (cond
      (pos? n) (if (= 1 n) "One wait can never end." (str n " waits can never end."))
      (pos? (long wrong)) (if (= 1 wrong) "There is one error." (str "There are " wrong " errors."))
      (pos? (long maybe)) (if (= 1 maybe) "One thing looks wrong." (str maybe " things look wrong."))
      (and (zero? (long blocks)) (empty? threads)) "The inspector sees no blocks."
      (ranks "info") (str "Nothing is known to be wrong; see the note" (when (< 1 (long (ranks "info"))) "s") ".")
      :else (str "No problem found" (when partly? " in what is seen so far") "."
                 (when (seq threads)
                   (str " " (words/counted (count threads) "thread" [" waits" " wait"])
                        (when-some [ages (seq (keep :since-ms threads))]
                          (str (if (next threads) ", the longest for " ", for ") (words/duration (apply max ages))))
                        "."))))))

(defn overview
  "Returns the findings, the three oldest waits, the running folds, and the most frequent places."
  [{:keys [snapshot index] :as look} growth lines]
  (cached look [:overview growth]
    (fn make []
      (let [{:keys [findings unproven]} (problems/problems look growth lines)
            waiting (filter (comp seq :waits) (concat (:blocks snapshot) (:threads snapshot)))]
        {:headline (headline (counts look growth) (:threads snapshot) (:was-off? snapshot))
         :unproven (or unproven
                       (when (:was-off? snapshot)
                         (str "The inspector of this process was off until this console started. It sees a block after the block's next step; "
                              "./skein ps " (words/process snapshot) " --heap and heap files show older ones too.")))
         :findings (vec (take 8 findings))
         :more (max 0 (- (count findings) 8))
         :oldest (mapv (fn shown [p] {:says (words/says index p) :since (:since-ms p) :block (:id p)})
                       (rows/least 3 rows/oldest-first waiting))
         :folds (mapv (fn shown [{:keys [thread tid site since-ms done total unit]}]
                        {:name (words/thread-name thread tid) :tid tid :place (some-> site words/place) :since since-ms :done done :total total :unit (name unit)})
                      (take 5 (sort-by rows/oldest-first (:folds snapshot))))
         :sites (:rows (blocks/sites look nil {:sort "count" :n 8}))}))))
