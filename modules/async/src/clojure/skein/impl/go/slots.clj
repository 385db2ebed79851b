;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.slots
  "Where blocks begin that can be resumed or jumped to, and which locals must be
  in the frame there. `assign` adds to a program

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
  (:require
   [skein.impl.go.size :as size]
   [skein.impl.go.types :as types]
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn targets
  "The blocks that a block's exit may go to."
  [{[op a b c] :exit}]
  (case op
    :jump [a]
    :branch [b c]
    :switch (cons b (map second (vals c)))
    :park [c]
    []))

(defn exit-forms
  "The forms that a block's exit evaluates."
  [{[op a b c] :exit}]
  (case op
    :jump b
    :branch [a]
    :switch [(second a)]
    :park b
    :return [a]))

(defn- handlers-of [block] (when-let [h (:handler block)] [h]))

;;;; Arms

(defn- reachable
  "The ids of the blocks that can be reached, each before those that it alone
  leads to (reverse postorder)."
  [{:keys [blocks entry]}]
  (loop [todo [[:visit entry]], seen #{}, order ()]
    (if-let [[action id] (peek todo)]
      (cond
        (= :done action) (recur (pop todo) seen (conj order id))
        (seen id) (recur (pop todo) seen order)
        :else (let [b (nth blocks id)
                    kids (concat (handlers-of b) (rseq (vec (targets b))))]
                (recur (into (conj (pop todo) [:done id]) (map (fn visit [k] [:visit k])) kids) (conj seen id) order)))
      (vec order))))

(defn- block-size [block]
  (reduce (fn part [^long n form] (+ n (size/of form))) 30 (concat (map second (:code block)) (exit-forms block))))

(defn- forced-arms
  "Entry, blocks entered by the frame's driver, and blocks with several predecessors."
  [{:keys [blocks entry]} ids]
  (let [n-ins (frequencies (mapcat (fn outs [id] (targets (nth blocks id))) ids))]
    (into #{entry}
          (filter (fn arm? [id]
                    (or (#{:resume :catch :boxed} (:kind (nth blocks id))) (< 1 (long (n-ins id 0))))))
          ids)))

(defn- arms
  "[arms bytes]: the forced arms and those that are cut off because their
  predecessor's arm is full; and how large the code from each block on is."
  [{:keys [blocks] :as program} ids]
  (let [forced (forced-arms program ids)
        fit (fn fit [[arms sizes ^long total] kid]
              (let [n (long (sizes kid))]
                (if (< (+ total n) size/max-arm)
                  [arms sizes (+ total n)]
                  [(conj arms kid) sizes total])))
        place (fn place [[arms sizes] id]
                (let [b (nth blocks id)
                      [arms sizes total] (reduce fit [arms sizes (block-size b)] (remove forced (targets b)))]
                  [arms (assoc sizes id total)]))]
    (reduce place [forced {}] (rseq ids))))

;;;; Liveness

(defn- defined [block]
  (into (vec (:params block)) (mapcat types/bound) (:code block)))

(defn- used [block locals]
  (reduce (fn form [acc f] (types/locals-in acc f locals))
          #{} (concat (map second (:code block)) (exit-forms block))))

(defn- live-out [blocks live block]
  (let [ins (map (fn in [id] (reduce disj (live id #{}) (:params (nth blocks id))))
                 (concat (targets block) (handlers-of block)))]
    (if (seq ins)
      (let [[most & others] (sort-by (comp - count) ins)] (reduce into most others))
      #{})))

(defn- live-in
  "The locals live at the start of a block, its parameters among them."
  [block out uses]
  (reduce conj (reduce disj out (drop (count (:params block)) (defined block))) uses))

(defn- liveness [blocks ids uses]
  (let [free (fn free [id]
               (let [b (nth blocks id)] (reduce disj (uses id) (drop (count (:params b)) (defined b)))))
        frees (zipmap ids (map free ids))
        step (fn step [live id]
               (let [b (nth blocks id)]
                 (assoc live id (live-in b (live-out blocks live b) (frees id)))))]
    (loop [live {}]
      (let [next-live (reduce step live (rseq ids))]
        ;; Only a loop leads back to a block whose needs were not known yet.
        (if (or (= live next-live) (not-any? (fn loop? [id] (= :loop (:kind (nth blocks id)))) ids))
          next-live
          (recur next-live))))))

(defn in-frame
  "The locals that must be in slots when block `id` begins as an arm."
  [{:keys [blocks live]} id]
  (let [{:keys [kind params]} (nth blocks id)]
    (if (#{:resume :catch} kind) (reduce disj (live id) params) (live id))))

(defn- kept-for
  "The locals that a jump to the arm `to` finds in their slots: all but the
  parameters that it sets anew."
  [program [op _ args] to]
  (let [params (:params (nth (:blocks program) to))]
    (if (= :jump op)
      (reduce disj (in-frame program to) (keep (fn anew [[p arg]] (when (not= p arg) p)) (map vector params args)))
      (in-frame program to))))

(defn- over-arms
  "{id value}, where the value of a block is made by `f` from its id and the
  values of the blocks that stand inside its arm after it."
  [{:keys [blocks arm?]} ids f]
  (reduce (fn block [m id] (assoc m id (f id (into [] (comp (remove arm?) (map m)) (targets (nth blocks id))))))
          {} (rseq ids)))

(defn- needed-in-frame [{:keys [blocks arm?] :as program} id inner]
  (let [{:keys [handler exit] :as b} (nth blocks id)
        kept (into (if handler [(in-frame program handler)] [])
                   (comp (filter arm?) (map (fn kept [to] (kept-for program exit to))))
                   (targets b))]
    (reduce into #{} (concat kept inner))))

;;;; Slots

(defn- stretches
  "{symbol [first last]}: between which arms, by position, a local is live."
  [program]
  (reduce (fn arm [m [i id]]
            (reduce (fn sym [m s] (assoc m s [(first (get m s [i])) i])) m (in-frame program id)))
          {} (map-indexed vector (:arms program))))

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
        uses (zipmap ids (map (fn use [id] (used (nth blocks id) locals)) ids))
        program (assoc program
                       :arm? arm?, :arms (filterv arm? ids), :bytes bytes
                       :live (liveness blocks ids uses))]
    (assoc program
           :used (over-arms program ids (fn use [id inner] (reduce into (uses id) inner)))
           :needed (over-arms program ids (fn need [id inner] (needed-in-frame program id inner))))))

(defn assign
  "Returns `program` with the keys described above. `outer` maps the locals of the
  code around the block to LocalBindings."
  [{:keys [blocks] :as program} outer]
  (let [ids (reachable program)
        defs (types/definitions blocks ids)
        program (with-liveness program ids (merge outer defs))
        stretches (stretches program)
        in-order (sort-by (comp first val) stretches)
        types (types/types defs outer (map key in-order))
        places (allot stretches (comp kind types))]
    (assoc program
           :slots (into {} (map (fn placed [[sym place]] [sym (slot (types sym) place)])) places)
           :sizes (reduce (fn grow [m [_ [k i]]] (update m k max (inc (long i)))) {:object 0 :long 0} places))))
