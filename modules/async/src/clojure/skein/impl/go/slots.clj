;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.slots
  "Finds the blocks that can be resumed or jumped to, and the locals that must be in the frame
  there. `assign` adds to a program

      :outs     [[id ...] ...]  for each block: the blocks that its exit may go to
      :arms     [id ...]        blocks that begin an arm of the emitted case, also as
                                the set :arm?; the others are written inside their only
                                predecessor
      :live     {id #{symbol}}  for every reachable block: the locals, its
                                parameters among them, whose values it needs
      :needed   {id #{symbol}}  the locals that must stay in the frame while block id
                                runs: for a later arm, or for its handler
      :used     {id #{symbol}}  the locals that the code from block id to the end of its
                                arm mentions
      :bytes    {id n}          about how much bytecode that is
      :slots    {symbol {:kind :object or :long, :index n, :primitive class or nil, :tag symbol or nil}}
      :sizes    {:object n :long n}  slots in use

  A local has a slot if it is live where an arm begins. Two locals share a slot
  if they are never live in the same range of arms. A local that is live in a handler
  is live in all blocks that the handler protects."
  {:no-doc true}
  (:require
   [skein.impl.go.size :as size]
   [skein.impl.go.types :as types]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn- targets
  "Returns a vector of the blocks that a block's exit may go to."
  [block]
  (let [exit (:exit block)]
    (case (nth exit 0 nil)
      :jump [(nth exit 1)]
      :branch [(nth exit 2) (nth exit 3)]
      :switch (into [(nth exit 2)] (map second) (vals (nth exit 3)))
      :park [(nth exit 3)]
      [])))

(defn- over-forms
  "Reduces the forms of a block with `f`: those of its code, then those that its exit evaluates."
  [f init block]
  (let [acc (reduce (fn entry [acc e] (f acc (nth e 1))) init (:code block))
        exit (:exit block)]
    (case (nth exit 0 nil)
      (:jump :park) (reduce f acc (nth exit 2))
      (:branch :return) (f acc (nth exit 1))
      :switch (f acc (second (nth exit 1)))
      acc)))

;;;; Arms

(defn- reachable
  "Returns the ids of the reachable blocks in reverse postorder: each before those that it alone
  leads to. An id is on the list `todo` twice. The second time, as -1 - id, the blocks after it
  have been visited."
  [{:keys [blocks outs entry]}]
  (let [seen (boolean-array (count blocks))]
    (loop [todo (list entry), order ()]
      (if-let [id (peek todo)]
        (let [id (long id)
              todo (pop todo)]
          (cond
            (neg? id) (recur todo (conj order (- -1 id)))
            (aget seen id) (recur todo order)
            :else (let [handler (:handler (nth blocks id))
                        todo (conj todo (- -1 id))]
                    (aset seen id true)
                    (recur (into (if handler (conj todo handler) todo) (rseq (nth outs id))) order))))
        (vec order)))))

(defn- block-size ^long [block]
  (over-forms (fn part [^long n form] (+ n (size/of form))) 30 block))

(defn- forced-arms
  "Entry, blocks entered by the frame's driver, and blocks with several predecessors."
  [{:keys [blocks outs entry]} ids]
  (let [n-ins (int-array (count blocks))]
    (run! (fn outs-of [id] (run! (fn in [^long to] (aset n-ins to (inc (aget n-ins to)))) (nth outs id))) ids)
    (into #{entry}
          (filter (fn arm? [^long id]
                    (or (< 1 (aget n-ins id)) (contains? #{:resume :catch :boxed} (:kind (nth blocks id))))))
          ids)))

(defn- arms
  "Returns [arms bytes]: the forced arms and those that are cut off because their predecessor's
  arm is full, and the size of the code from each block on."
  [{:keys [blocks outs] :as program} ids]
  (let [forced (forced-arms program ids)
        place (fn place [[arms sizes] id]
                (loop [kids (seq (nth outs id)), arms arms, total (block-size (nth blocks id))]
                  (if kids
                    (let [kid (first kids)
                          after (if (contains? forced kid) total (+ total (long (sizes kid))))]
                      (if (or (= after total) (< after size/max-arm))
                        (recur (next kids) arms after)
                        (recur (next kids) (conj arms kid) total)))
                    [arms (assoc sizes id total)])))]
    (reduce place [forced {}] (rseq ids))))

;;;; Liveness

(defn- used [block locals]
  (over-forms (fn form [acc f] (types/locals-in acc f locals)) #{} block))

(defn- without [syms more]
  (reduce disj syms more))

(defn- without-bound
  "`syms` without those that the block's code binds."
  [syms block]
  (reduce (fn entry [acc e] (without acc (types/bound e))) syms (:code block)))

(defn- union [a b]
  (if (< (count a) (count b)) (into b a) (into a b)))

(defn- live-out [{:keys [blocks outs]} live id]
  (let [add (fn add [acc to] (union acc (without (live to #{}) (:params (nth blocks to)))))
        acc (reduce add #{} (nth outs id))]
    (if-let [handler (:handler (nth blocks id))] (add acc handler) acc)))

(defn- liveness
  "{id #{symbol}}: the locals live at the start of each block, its parameters among them."
  [{:keys [blocks] :as program} ids uses]
  (let [frees (reduce (fn free [m id] (assoc m id (without-bound (uses id) (nth blocks id)))) {} ids)
        step (fn step [live id]
               (assoc live id (into (without-bound (live-out program live id) (nth blocks id)) (frees id))))
        loops? (some (fn loop? [id] (= :loop (:kind (nth blocks id)))) ids)]
    (loop [live {}]
      (let [next-live (reduce step live (rseq ids))]
        ;; Only a loop leads back to a block whose needs were not known yet.
        (if (or (not loops?) (= live next-live))
          next-live
          (recur next-live))))))

(defn in-frame
  "The locals that must be in slots when block `id` begins as an arm."
  [{:keys [blocks live]} id]
  (let [{:keys [kind params]} (nth blocks id)]
    (case kind
      (:resume :catch) (without (live id) params)
      (live id))))

(defn- kept-for
  "Returns the locals that a jump to the arm `to` finds in their slots: all but the parameters
  that it sets."
  [program exit to]
  (let [kept (in-frame program to)]
    (if (= :jump (nth exit 0))
      (let [args (nth exit 2)]
        (reduce-kv (fn anew [acc i p] (if (= p (nth args i)) acc (disj acc p))) kept (:params (nth (:blocks program) to))))
      kept)))

(defn- over-arms
  "{id #{symbol}}: the union of what `f` returns for a block and for the blocks after it inside its arm."
  [{:keys [outs arm?]} ids f]
  (reduce (fn block [m id]
            (assoc m id (reduce (fn inner [acc to] (if (contains? arm? to) acc (union acc (m to)))) (f id) (nth outs id))))
          {} (rseq ids)))

(defn- needed-in-frame [{:keys [blocks outs arm?] :as program} id]
  (let [{:keys [handler exit]} (nth blocks id)]
    (reduce (fn kept [acc to] (if (contains? arm? to) (union acc (kept-for program exit to)) acc))
            (if handler (in-frame program handler) #{})
            (nth outs id))))

;;;; Slots

(defn- stretches
  "{symbol [first last]}: between which arms, by position, a local is live."
  [program]
  (reduce-kv (fn arm [m i id]
               (reduce (fn sym [m s] (assoc m s [(first (get m s [i])) i])) m (in-frame program id)))
             {} (:arms program)))

(defn- lowest-free [taken]
  (first (remove (set taken) (range))))

(defn- allot
  "Gives each local the lowest slot of its kind that is free for its stretch: [symbol slot] pairs."
  [stretches kind-of]
  (let [step (fn place [[out active] [sym [from to]]]
               (let [kind (kind-of sym)
                     active (filterv (fn overlaps? [[_ until]] (<= (long from) (long until))) active)
                     index (lowest-free (keep (fn [[[k i] _]] (when (= k kind) i)) active))]
                 [(conj out [sym [kind index]]) (conj active [[kind index] to])]))]
    (first (reduce step [[] []] (sort-by (fn [[s [from to]]] [from to (name s)]) stretches)))))

(defn- slot [lb [kind index]]
  {:kind kind, :index index, :primitive (infer/primitive-class lb), :tag (infer/class-tag lb)})

(defn- kind [lb]
  (let [p (infer/primitive-class lb)]
    (if (and p (not= p Boolean/TYPE)) :long :object)))

(defn- with-liveness
  "`program` with all but the slots."
  [{:keys [blocks] :as program} ids locals]
  (let [[arm? bytes] (arms program ids)
        uses (reduce (fn use [m id] (assoc m id (used (nth blocks id) locals))) {} ids)
        program (assoc program
                       :arm? arm?, :arms (filterv arm? ids), :bytes bytes
                       :live (liveness program ids uses))]
    (assoc program
           :used (over-arms program ids uses)
           :needed (over-arms program ids (fn need [id] (needed-in-frame program id))))))

(defn assign
  "Returns `program` with the keys described above. `outer` maps the locals of the
  code around the block to LocalBindings."
  [{:keys [blocks] :as program} outer]
  (let [program (assoc program :outs (mapv targets blocks))
        ids (reachable program)
        defs (types/definitions blocks ids)
        program (with-liveness program ids (merge outer defs))
        stretches (stretches program)
        in-order (sort-by (comp first val) stretches)
        types (types/types defs outer (map key in-order))
        places (allot stretches (comp kind types))]
    (assoc program
           :slots (into {} (map (fn placed [[sym place]] [sym (slot (types sym) place)])) places)
           :sizes (reduce (fn grow [m [_ [k i]]] (update m k max (inc (long i)))) {:object 0 :long 0} places))))
