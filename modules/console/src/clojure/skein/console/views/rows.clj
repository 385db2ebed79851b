;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.rows
  "Rows of tables, of which the page gets a window at a time.

  * `row` of a block; `window` of rows; a block that is `gone`
  * `sorted` blocks, the `least` of many; `oldest-first`"
  {:no-doc true}
  (:require
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-window "Rows in one reply." 200)

(defn window
  "Returns up to `n` rows from `from` on, each mapped by `f`, and the number of all rows."
  [rows {:keys [from n]} f]
  (let [from (max 0 (min (long (or from 0)) (count rows)))
        to (min (count rows) (+ from (min (long (or n 60)) (long max-window))))]
    {:total (count rows) :from from :rows (mapv f (subvec rows from to))}))

(defn oldest-first
  "Returns a sort key for waiting blocks and threads: the oldest wait is first."
  [party]
  (- (long (:since-ms party 0))))

(defn state
  "Returns the state of a block. A heap file may show that it blocks its thread for ever."
  [block]
  (if (:stuck? block) :stuck (:state block)))

(defn row
  "Returns a block as a row of a table."
  [ix {:keys [id site since-ms age-ms runs parent waits] :as block}]
  {:id id :name (words/who block) :state (some-> (state block) name) :since since-ms :age age-ms :runs runs :parent parent
   :op (some-> (first waits) :op name) :waits (when (seq waits) (words/waits ix block))
   :file (:file site) :line (:line site) :column (:column site) :form (:form site) :place (words/place (dissoc site :form)) :in-try (:in-try site)})

(defn gone
  "Returns the block `id` if it was collected, or if no code can reach it; otherwise nil."
  [{:keys [snapshot]} id]
  (some (fn it [b] (when (= id (:id b)) (assoc b :state (words/gone snapshot)))) (:blocks (:collected snapshot))))

(defn least
  "Returns the `n` elements of `xs` with the least `(by x)`, in order. Does not sort the others."
  [n by xs]
  (mapv peek (reduce (fn keep-least [best x]
                       (let [entry [(by x) x]]
                         (if (and (= n (count best)) (<= (long (first (peek best))) (long (first entry))))
                           best
                           (vec (take n (sort-by first (conj best entry)))))))
                     [] xs)))

(defn sorted
  "Returns blocks or channels sorted by a key. Computes each key once; `sort-by` would compute it at each comparison."
  [key xs]
  (let [pairs (object-array (map (fn pair [x] [(key x) x]) xs))]
    (java.util.Arrays/sort pairs (comparator (fn before? [a b] (neg? (compare (nth a 0) (nth b 0))))))
    (mapv (fn of [pair] (nth pair 1)) pairs)))
