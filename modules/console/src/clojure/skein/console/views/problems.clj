;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.problems
  "The findings of a look, the surest first.

  * `problems`
  * `finding` makes a row of a report, `parties` returns the blocks of a report"
  {:no-doc true}
  (:require
   [skein.console.looks :refer [cached]]
   [skein.inspect :as inspect]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(defn parties
  "Returns the numbers of the blocks that a report is about."
  [{:keys [block blocks threads]}]
  (vec (distinct (concat (keep :id (cons block blocks)) (keep :block threads)))))

(defn- place-of [{:keys [site block blocks threads]}]
  (or site (:site (or block (first blocks) (first threads)))))

(defn finding
  "Returns a report as the page shows it."
  [{:keys [verdict kind lint severity says channel] :as report}]
  (let [site (place-of report)]
    (cond-> {:rank (name (or verdict severity)) :kind (name (or kind lint)) :says says :blocks (parties report)}
      site (assoc :site site :place (words/place site))
      channel (assoc :channel channel))))

(defn findings
  "Returns deadlocks, lints and growing places, the surest first. Findings of one place and kind become one."
  [{:keys [deadlocks lints]} growth]
  (let [all (concat (map finding deadlocks) (map finding lints)
                    (map (fn grows [g] (finding (assoc g :severity :warn :lint :growth))) growth))]
    (->> (group-by (juxt :rank :kind :place) all)
         vals
         (map (fn alike [[f & more]] (cond-> f more (assoc :more (count more) :blocks (into (:blocks f) (comp (mapcat :blocks) (take 20)) more)))))
         (sort-by (comp {"proven" 0 "certain" 1 "error" 2 "suspected" 3 "warn" 4 "info" 5} :rank)))))

(defn- nearest
  "Returns the lines at most two away from a place."
  [lines]
  (when-some [here (some (fn n [l] (when (:here? l) (:n l))) lines)]
    (filterv (fn near? [{:keys [n]}] (<= (abs (- (long n) (long here))) 2)) lines)))

(defn problems
  "Returns {:findings :leaks :failures}; the first findings have source lines."
  [{:keys [snapshot] :as look} growth lines]
  (cached look [:problems growth]
    (fn make []
      {:unproven (:unproven snapshot)
       :findings (mapv (fn with-source [i f] (cond-> f (and (< (long i) 12) (:site f)) (assoc :source (nearest (lines (:site f))))))
                       (range) (findings look growth))
       :leaks (mapv (fn leak [l] (assoc l :place (words/place (:site l)))) (take 50 (inspect/leaks snapshot)))
       :failures (vec (reverse (map (fn failure [f] (assoc f :place (some-> (:site f) words/place))) (:failures snapshot))))})))
