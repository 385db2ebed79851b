;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.scopes
  "The open scopes of a look, as a tree.

  * `scopes`"
  {:no-doc true}
  (:require
   [skein.console.looks :refer [cached]]
   [skein.console.views.rows :as rows]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(defn- party-row [{ix :index :as look} {:keys [block thread tid begun? older]}]
  (cond
    block (rows/row ix (or ((:blocks ix) block) (rows/gone look block) {:id block :state :done}))
    thread (let [t ((:threads ix) tid)]
             (cond-> {:name (words/thread-name thread tid) :tid tid}
               t (assoc :place (some-> (:site t) words/place) :waits (words/waits ix t))))
    older {:name "older than the inspector" :place (words/place older)}
    (false? begun?) {:name "has not begun"}
    :else {:name "unknown"}))

(defn scopes
  "Returns the open scopes, each after its parent, with :depth and its first 20 children."
  [{:keys [snapshot] :as look}]
  (cached look :scopes
    (fn make []
      (let [all (:scopes snapshot)
            known (into #{} (map :id) all)
            inside (group-by (fn around [s] (known (:parent s))) all)
            view (fn view [depth {:keys [id body children remaining-ms cancelled? reason cancelled-ms failures]}]
                   {:id id :depth depth :body (party-row look body) :n (count children)
                    :children (mapv (partial party-row look) (take 20 children))
                    :remaining remaining-ms :cancelled cancelled? :reason (some-> reason name) :cancelled-ms cancelled-ms :failures failures})
            walk (fn walk [depth s] (cons (view depth s) (mapcat (partial walk (inc (long depth))) (inside (:id s)))))]
        {:total (count all) :rows (vec (take 500 (mapcat (partial walk 0) (sort-by (fn stuck [s] (- (long (:cancelled-ms s 0)))) (inside nil)))))}))))
