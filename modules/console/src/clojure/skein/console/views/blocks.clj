;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views.blocks
  "The blocks of a look.

  * `sites`, `blocks`: windows of rows
  * `block`: one of them"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.console.looks :refer [cached]]
   [skein.console.query :as query]
   [skein.console.views.channels :as channels]
   [skein.console.views.problems :as problems]
   [skein.console.views.rows :as rows]
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(def ^:private orders
  {"since" rows/oldest-first
   "age" (fn age [b] (- (long (:age-ms b 0))))
   "runs" (fn runs [b] (- (long (:runs b 0))))
   "id" :id
   "state" (juxt (comp str :state) rows/oldest-first)
   "site" (juxt (comp str :file :site) (comp #(or % 0) :line :site) rows/oldest-first)})

(defn- order [sort-by-name]
  (or (orders (or (not-empty sort-by-name) "since"))
      (error/fail! :skein/bad-argument (str "Rows can't be sorted by \"" sort-by-name "\", only by " (str/join ", " (sort (keys orders))) ".") {})))

(defn- chosen [{:keys [snapshot index] :as look} q]
  (if (str/blank? q)
    (:blocks snapshot)
    (cached look [:chosen q]
      (fn choose [] (filterv (query/predicate q index) (:blocks snapshot))))))

(defn blocks
  "Returns a window of the blocks that the filter :q chooses, in the order :sort."
  [{:keys [index] :as look} {:keys [q sort] :as options}]
  (rows/window (cached look [:blocks q sort] (fn make [] (rows/sorted (order sort) (chosen look q))))
    options (partial rows/row index)))

(defn- group [ix before [site bs]]
  (let [oldest (apply max-key (fn since [b] (long (:since-ms b 0))) bs)
        n (count bs)]
    (assoc (rows/row ix oldest)
           :count n
           :states (update-keys (frequencies (map rows/state bs)) name)
           :grew (when before (- n (long (get before site 0)))))))

(defn sites
  "Returns a window of the places of the blocks that the filter :q chooses: the number of blocks, their states, and the oldest block.
  The place with the oldest wait is first."
  [{:keys [index] :as look} before {:keys [q sort] :as options}]
  (rows/window (cached look [:sites q sort]
                 (fn make []
                   (let [groups (map (partial group index before) (group-by :site (chosen look q)))]
                     (vec (sort-by (if (= "count" sort) (comp - :count) (fn since [g] (- (long (or (:since g) 0))))) groups)))))
    options identity))

;;;; One block

(def ^:const ^:private max-chain 64)

(defn- up-from
  "Returns the waiters for the result of a block, the waiters for theirs, and so on."
  [{:keys [index]} block]
  (loop [{:keys [result]} block, seen #{}, chain []]
    (let [takes (:takes ((:channels index) result))
          up (some (:blocks index) (keep :block takes))]
      (if (or (empty? takes) (seen result) (<= (long max-chain) (count chain)))
        chain
        (recur (or up {}) (conj seen result) (conj chain (mapv (partial channels/waiter index) (take 20 takes))))))))

(defn- spawned-by [{:keys [index]} block]
  (->> (iterate (fn parent [b] ((:blocks index) (:parent b))) block)
       rest
       (take-while some?)
       (take max-chain)
       (mapv (partial rows/row index))))

(defn block
  "Returns the block `id`, with the reason why it waits, its source, its waiters and its parents; or nil."
  [{:keys [snapshot index deadlocks] :as look} id lines]
  (when-some [b (or ((:blocks index) id) (rows/gone look id))]
    (let [{:keys [says chain ends]} (inspect/why id snapshot)]
      (merge (rows/row index b)
             {:says says
              :ends (name ends)
              :chain (mapv (partial rows/row index) (filter :id chain))
              :report (some (fn mine [r] (when (some #{id} (problems/parties r)) (dissoc (problems/finding r) :source))) deadlocks)
              :source (lines (:site b))
              :on (when-some [on (:on b)]
                    {:name (:name on) :state (some-> (:state on) name) :place (some-> (:site on) words/place) :source (lines (:site on))})
              :waits-in (vec (for [{:keys [channel op place]} (:waits b) :when channel]
                               (assoc (channels/channel-row index ((:channels index) channel {:id channel})) :op (name op) :in-queue place)))
              :holds (mapv (fn held [c] (channels/channel-row index ((:channels index) c {:id c}))) (:holds b))
              :awaited (up-from look b)
              :spawned-by (spawned-by look b)
              :made (mapv (partial rows/row index) (take 20 (filter (fn child? [c] (= id (:parent c))) (:blocks snapshot))))
              :scope (:scope b) :cancellable (:cancellable? b) :refused (:refused b)}))))
