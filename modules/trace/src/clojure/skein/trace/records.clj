;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.records
  "Events joined to one record for each call, and the tree of calls."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.trace.text :as text])
  (:import
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(defn- begun [{:keys [id parent depth name file line args thread block t]}]
  (cond-> {:id id, :parent parent, :depth depth, :name name, :file file, :line line, :args args
           :thread thread, :t t, :outcome :running}
    block (assoc :block block)))

(defn- add-event [records {:keys [phase id value error elapsed-ns] :as event}]
  (if (= :call phase)
    (assoc records id (begun event))
    (if-let [r (get records id)]
      (assoc records id
             (case phase
               :return (assoc r :outcome :returned :value value :elapsed-ns elapsed-ns)
               :throw (assoc r :outcome :threw :error error :elapsed-ns elapsed-ns)
               :async-return (assoc r :async {:outcome :returned, :value value, :elapsed-ns elapsed-ns})
               :async-throw (assoc r :async {:outcome :threw, :error error, :elapsed-ns elapsed-ns})
               r))
      records)))

(defn records
  "Returns a map for each call in `events`, in the order in which they began."
  [events]
  (vec (vals (reduce add-event (sorted-map) events))))

(defn tree
  "Returns the records without a parent in `records`, each with its children under
  :children."
  [records]
  (let [known (into #{} (map :id) records)
        parent->children (group-by (comp known :parent) records)
        node (fn node [r] (assoc r :children (mapv node (parent->children (:id r)))))]
    (mapv node (parent->children nil))))

(defn- node-lines [{:keys [name args outcome value error elapsed-ns children] :as node} indent]
  (cons (str indent "(" (str/join " " (cons name args)) ") "
             (case outcome
               :returned (str "=> " value)
               :threw (str "! " (Failures/text error))
               :running "…")
             (when elapsed-ns (str "   " (text/elapsed-text elapsed-ns)))
             (when (:block node) (str "   go-" (:block node))))
        (mapcat (fn below [child] (node-lines child (str indent "│ "))) children)))

(defn lines
  "Returns a tree as lines of text."
  [tree]
  (mapcat (fn root [node] (node-lines node "")) tree))
