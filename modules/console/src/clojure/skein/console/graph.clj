;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.graph
  "Lays out the graph of who waits for whom: nodes in layers along the waits.

  * `drawn` returns the whole graph, or the part around one node

  If there are more than 150 nodes, the blocks of one place become one node. The layer of a node is the length of the longest path
  of waits to it. Two sweeps order each layer by the mean position of the neighbours. Ties are decided by name, so the drawing
  stays the same as long as the waits do."
  {:no-doc true}
  (:require
   [skein.console.looks :refer [cached]]
   [skein.inspect.words :as words])
  (:import
   (java.util HashMap)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-nodes 150)

;;;; Nodes and edges

(defn- name-of
  "Returns the name of a node or an edge, to sort by."
  [[a b what]]
  (if what [(name-of a) (name-of b) (name what)] (str (name a) "-" b)))

(defn- suspects
  "Returns {node mark} for the blocks and threads in the reports. The mark is the verdict, of the surest report; or \"awaits\" for what
  waits only for the result of such a block. Of a thread that does so, a heap may show that it waits for ever too."
  [{:keys [deadlocks index]}]
  (let [reported (for [{:keys [verdict block blocks threads]} deadlocks
                       node (concat (map (fn b [b] [:block (:id b)]) (cond->> blocks block (cons block)))
                                    (map (fn t [t] [:thread (:tid t)]) threads))]
                   [node (name verdict)])
        awaiting (for [{:keys [verdict awaited-by]} deadlocks, {:keys [block tid]} awaited-by]
                   (if block
                     [[:block block] "awaits"]
                     [[:thread tid] (if (:stuck? ((:threads index) tid)) (name verdict) "awaits")]))]
    (into {} (reverse (concat reported awaiting))))) ; the first counts

(defn- gone
  "Returns {id block} for the collected blocks of a look."
  [{:keys [snapshot] :as look}]
  (cached look :gone (fn make [] (into {} (map (juxt :id identity)) (:blocks (:collected snapshot))))))

(defn- party
  "Returns the block or thread of a node, or nil."
  [{:keys [index] :as look} [kind id]]
  (case kind
    :block (or ((:blocks index) id) ((gone look) id))
    :thread ((:threads index) id)
    nil))

(defn- edges-from
  "Returns the edges [from to what] that begin at a node: to the channels in which a block or thread waits or that a block holds, from a
  thread to the one that holds the lock for which it waits, from a channel to the block whose result it is, or from a scope to its
  children."
  [{:keys [index] :as look} [kind id :as node]]
  (if (= :channel kind)
    (if-some [maker (:block ((:channels index) id))]
      [[node [:block maker] :makes]]
      (for [{:keys [block tid]} (:children ((:scopes index) id))
            :let [child (if block [:block block] [:thread tid])] :when (party look child)]
        [node child :child]))
    (let [{:keys [waits holds]} (party look node)]
      (concat (for [{:keys [op channel]} waits :when channel] [node [:channel channel] op])
              (for [{:keys [held-by]} waits :when held-by] [node [:thread (:tid held-by)] :lock])
              (for [c holds] [node [:channel c] :holds])))))

(defn- neighbours
  "Returns the nodes next to a node, in both directions."
  [{:keys [index snapshot] :as look} [kind id :as node]]
  (let [result (fn result [] ((cached look :results (fn make [] (into {} (keep (fn of [{:keys [id block]}] (when block [block id]))) (:channels snapshot)))) id))]
    (concat (map second (edges-from look node))
            (when-some [scope ((:channels index) (:scope (party look node)))] [[:channel (:id scope)]])
            (case kind
              :channel (let [{:keys [takes puts]} ((:channels index) id)]
                         (concat (for [{:keys [block tid]} (concat takes puts) :when (or block tid)] (if block [:block block] [:thread tid]))
                                 (map (fn holder [b] [:block b]) ((:holders index) id))))
              :block (when-some [c (result)] [[:channel c]])
              :thread (for [{:keys [tid waits]} (:threads snapshot) :when (some (comp #{id} :tid :held-by) waits)] [:thread tid])))))

(defn- connected
  "Returns the nodes at most `hops` edges away from those in `from`."
  [look from hops]
  (loop [near (set from), last-ones near, i 0]
    (if (or (= i hops) (empty? last-ones))
      near
      (let [more (into #{} (comp (mapcat (partial neighbours look)) (remove near)) last-ones)]
        (recur (into near more) more (inc i))))))

(defn- all-nodes
  "Returns the blocks and threads that wait, the channels in which they wait, and the collected blocks whose results are awaited."
  [{:keys [snapshot]}]
  (concat (map (fn node [b] [:block (:id b)]) (:blocks snapshot))
          (map (fn node [t] [:thread (:tid t)]) (filter (comp seq :waits) (:threads snapshot)))
          (map (fn node [c] [:channel (:id c)])
               (filter (fn waits? [{:keys [takes puts]}] (or (seq takes) (seq puts))) (:channels snapshot)))
          (map (fn node [c] [:block (:block c)]) (filter :collected? (:channels snapshot)))))

(defn- node-of [s]
  (when-some [[_ kind id] (some->> s (re-matches #"(block|channel|thread)-(\d{1,18})"))]
    [(keyword kind) (parse-long id)]))

(defn- collapsed
  "Returns a function from a node to the node that stands for it. One node stands for all blocks of a place, for their results, and for
  the channels without a label in which they wait."
  [{:keys [index]}]
  (let [places (HashMap.) ; a `memoize` would hash a list for each node
        place (fn place [site] (.computeIfAbsent places site (fn make [site] [:site (words/place site)])))
        of-channel (fn of-channel [{:keys [label block takes puts]}]
                     (or block (when-not label (or (:block (first takes)) (:block (first puts))))))]
    (fn stands-for [[kind id :as node]]
      (if-some [b ((:blocks index) (case kind :block id, :channel (of-channel ((:channels index) id)), nil))]
        (place (:site b))
        node))))

(defn- described [{:keys [index] :as look} suspects counts [kind id :as node]]
  (let [b (when (= :block kind) (party look node))
        t (when (= :thread kind) (party look node))]
    (cond-> {:key (name-of node) :kind (name kind) :id id :n (counts node 1)}
      (suspects node) (assoc :verdict (suspects node))
      b (assoc :name (words/who b) :place (words/place (:site b)))
      t (assoc :name (words/thread-name (:name t) id) :place (some-> (:site t) words/place))
      (= :channel kind) (assoc :name (words/channel-name ((:channels index) id {:id id})))
      (= :site kind) (merge (zipmap [:name :place] (re-seq #"[^ (]+|\(.*" id)))
      (and (= :block kind) (nil? b)) (assoc :name (words/block-name id))
      (and (= :thread kind) (nil? t)) (assoc :name (str "thread " id)))))

;;;; Layout

(defn- layers
  "Returns {node layer}: one more than the highest layer of its predecessors. Edges that close a cycle don't count."
  [nodes edges]
  (let [out (group-by first edges)
        state (atom {:done #{} :order ()})
        visit (fn visit [node path]
                (when-not (or (contains? (:done @state) node) (contains? path node))
                  (doseq [[_ to] (out node)] (visit to (conj path node)))
                  (swap! state (fn add [s] (-> s (update :done conj node) (update :order conj node))))))]
    (run! (fn from [n] (visit n #{})) nodes)
    (let [order (distinct (:order @state))
          position (zipmap order (range))]
      (reduce (fn place [m node]
                (reduce (fn push [m [_ to]]
                          (if (< (long (position node)) (long (position to)))
                            (assoc m to (max (long (m to 0)) (inc (long (m node 0)))))
                            m))
                        (update m node (fnil identity 0)) (out node)))
              {} order))))

(defn- swept
  "Returns the layers, each ordered by the mean position of its nodes' neighbours in the layer before."
  [layers neighbours]
  (reduce (fn order [done layer]
            (let [places (zipmap (peek done) (range))
                  mean (fn mean [i node]
                         (let [ps (keep places (neighbours node))]
                           (if (seq ps) (/ (double (reduce + ps)) (count ps)) (double i))))]
              (conj done (mapv second (sort-by first (map-indexed (fn keyed [i n] [[(mean i n) i] n]) layer))))))
          [(first layers)] (rest layers)))

(defn- placed
  "Returns {node [layer position]}."
  [nodes edges]
  (let [layer (layers nodes edges)
        by-layer (into (sorted-map) (group-by layer nodes))
        both (merge-with into (update-vals (group-by first edges) (partial mapv second)) (update-vals (group-by second edges) (partial mapv first)))
        down (swept (vec (vals by-layer)) both)
        up (vec (rseq (swept (vec (rseq down)) both)))]
    (into {} (for [[l ns] (map-indexed vector up), [i n] (map-indexed vector ns)] [n [l i]]))))

(defn drawn
  "Returns {:nodes [{:key :kind :name :verdict :layer :at}] :edges [[from to what]] :total}.

  of    a node such as \"block-42\", which is drawn with all nodes at most :hops away; nil draws the nodes of the reports
        and their neighbours, or all nodes if there are no reports"
  [look {:keys [of hops]}]
  (let [suspects (suspects look)
        centre (node-of of)
        near (cond
               centre (connected look [centre] (min 6 (long hops)))
               (seq suspects) (connected look (take 20 (sort-by name-of (keys suspects))) 2)
               :else (all-nodes look))
        inside? (if (set? near) near (constantly true))
        stands-for (if (< (long max-nodes) (count near)) (collapsed look) identity)
        counts (reduce (fn count-it [m [kind :as node]]
                         (let [n (stands-for node)] ; of a place only its blocks count
                           (assoc m n (+ (long (get m n 0)) (if (and (= :channel kind) (not (identical? n node))) 0 1)))))
                       {} near)
        between (fn between [[a b what]]
                  (when (inside? b)
                    (let [a (stands-for a), b (stands-for b)] (when (not= a b) [a b what]))))
        edges (sort-by name-of (into #{} (comp (mapcat (partial edges-from look)) (keep between)) near))
        nodes (vec (take max-nodes (sort-by (fn many [n] [(- (long (counts n))) (name-of n)]) (keys counts))))
        shown (set nodes)
        edges (filterv (fn shown? [[a b]] (and (shown a) (shown b))) edges)
        places (placed nodes (remove (fn holds? [[_ _ what]] (= :holds what)) edges))]
    {:of of
     :total (count near)
     :reported (boolean (and (nil? centre) (seq suspects)))
     :nodes (mapv (fn node [n] (let [[layer at] (places n [0 0])]
                                 (assoc (described look suspects counts n) :layer layer :at at)))
                  nodes)
     :edges (mapv (fn edge [[a b what]] [(name-of a) (name-of b) (name what)]) edges)}))
