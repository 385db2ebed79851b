;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.why
  "Why a block or thread waits: the chain from it to the one that should end its wait, and so on. `graph` returns all waits at
  once."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.shape :as shape]
   [skein.inspect.verdict :as verdict]
   [skein.inspect.words :as words])
  (:import
   (skein.inspect.rt ChannelNames Entry Entry$Fate)
   (skein.rt Channel Result)))

(set! *warn-on-reflection* true)

(defn- next-ones
  "Returns the blocks and threads that could end the wait of `party`: the thread that holds the lock, or the block that it
  runs, or its `helpers` and the children of the scope, with nil for a child that is not known to wait."
  [{:keys [blocks threads] :as ix} party]
  (let [known (fn known [{:keys [block tid]}] (or (blocks block) (threads tid)))]
    (if-some [{:keys [tid] :as holder} (some (some-fn :held-by :by) (:waits party))]
      (take 1 (keep identity (cons (known holder) (filter (fn runs? [b] (and tid (= tid (:tid (:on b))))) (vals blocks)))))
      (distinct
        (concat (map (some-fn blocks threads) (shape/helpers ix party))
                (shape/makers ix party)
                (map known (shape/children ix party)))))))

(defn- follow
  "Returns the chain that begins with `party`, and how it ends."
  [ix party]
  (loop [chain [party], seen #{party}]
    (let [party (peek chain)
          [h & others :as hs] (next-ones ix party)]
      (cond
        (empty? (:waits party)) [chain :moves]
        (every? (partial shape/hopeless? ix) (:waits party)) [chain :collected]
        (some (fn timer? [w] (= :timeout (:kind ((:channels ix) (:channel w))))) (:waits party)) [chain :timer]
        (empty? hs) [chain (if (shape/deadline ix party) :timer :nobody)]
        (or others (nil? h)) [chain :several]
        (seen h) [chain :cycle]
        :else (recur (conj chain h) (conj seen h))))))

(defn in-cycle?
  "Returns whether `party` waits for itself, directly or through others."
  [ix party]
  (let [[chain ends] (follow ix party)]
    (and (= :cycle ends) (= party (first (next-ones ix (peek chain)))))))

(defn- look
  "Returns what a heap may do about a chain: :prove that nothing can end it, or :show for what its last member waits."
  [{:keys [heap simulation]} {:keys [chain ends]}]
  (let [{:keys [tid state stuck?] :as party} (peek chain)]
    (cond
      (or heap simulation stuck?) nil
      (= :nobody ends) :prove
      (and (= :moves ends) (or (shape/blocked? party) (and tid (#{:waiting :timed_waiting :blocked} state)))) :show)))

(defn- of-party [ix party]
  (let [[chain ends] (follow ix party)]
    {:chain chain :ends ends :could (shape/outlook ix chain)}))

(defn of-channel
  "Returns who waits in the channel `id` and who holds it, as `why` does. `ix` is from `skein.inspect.shape/index`."
  [ix id]
  {:channel id :holders (sort (get-in ix [:holders id])) :chain [] :ends :channel})

(defn- of-collected
  "Returns the report on the block `id` if it was collected, or nil."
  [snapshot id]
  (when-some [report (some (fn its [r] (when (= id (:id (:block r))) r)) (verdict/collected snapshot))]
    {:report report :chain [(:block report)] :ends :collected}))

(defn- no-such [text x]
  (error/fail! :skein/bad-argument text {:block (error/preview x)}))

(defn- of-block [snapshot ix id]
  (or (of-collected snapshot id)
      (some->> ((:blocks ix) id) (of-party ix))
      (no-such (str "There is no block " (error/preview id) ": it has ended, never existed, or has taken no step since the"
                    " inspector was started.")
               id)))

(defn- of-scope
  "Returns why a scope has not ended: what its children wait for."
  [ix {:keys [children] :as scope}]
  (let [waiting (keep (fn child [{:keys [block tid]}] (or ((:blocks ix) block) ((:threads ix) tid))) children)]
    {:scope scope :children children :reasons (mapv (partial of-party ix) (take 5 waiting)) :chain [] :ends :several}))

(def ^:const ^:private max-named "How many names a message lists." 8)

(defn- nearest
  "Returns a sentence with the names in a snapshot that begin most like `x`."
  [{:keys [threads blocks channels]} x]
  (let [names (distinct (concat (map (fn thread [{:keys [name tid]}] (words/thread-name name tid)) threads)
                                (map (comp words/block-name :id) blocks)
                                (map words/channel-label (remove :block channels))))
        alike (fn alike [name] (count (take-while true? (map = x (str/replace name #"^thread " "")))))]
    (if (seq names)
      (str " It shows " (words/listed max-named (sort-by (comp - alike) names)) ".")
      " It shows nothing that waits.")))

(defn- of-name
  "Returns why the block, thread or channel that the texts call `x` waits. If several threads have that name, as a worker's
  next thread does, :reasons has all of them."
  [{:keys [threads channels] :as snapshot} ix x]
  (let [x (str/replace x #" \([^()]*\)$" "") ; as ps prints it: chan-3 (0/1)
        called? (fn called? [name tid] (#{x (str "thread " x)} (words/thread-name name tid)))
        found (or (seq (filter (fn it [{:keys [name tid]}] (called? name tid)) threads))
                  (filter (fn it [{:keys [label] {:keys [name tid]} :on}] (or (= x label) (when tid (called? name tid))))
                          (:blocks snapshot)))
        scope (some (fn it [s] (when (= x (words/channel-label (assoc s :kind :scope))) s)) (:scopes snapshot))
        channel (some (fn it [c] (when (= x (words/channel-label c)) (:id c))) channels)
        id (some-> (re-matches #"(?:the result of )?(?:go-)?(\d+)" x) second parse-long)]
    (cond
      (next found) (let [reasons (mapv (partial of-party ix) found)] (assoc (first reasons) :reasons reasons))
      (seq found) (of-party ix (first found))
      scope (of-scope ix scope)
      channel (of-channel ix channel)
      id (of-block snapshot ix id)
      :else (no-such (str "The snapshot shows no " (error/preview x) ". If there is a thread of that name, it runs, or waits for"
                          " something other than a channel." (nearest snapshot x)
                          (when (:heap snapshot) (str " " (words/thread-list snapshot) " lists all threads.")))
                     x))))

(defn index
  "Returns the index of a snapshot. A heap file still has the blocks that no code can reach, so a chain goes through them."
  [{:keys [heap collected] :as snapshot}]
  (shape/index (cond-> snapshot
                 heap (update :blocks into (map (fn stuck [b] (assoc b :stuck? true))) (:blocks collected)))))

(defn- of-any [snapshot ix x]
  (let [^Entry made-by (when (instance? Channel x) (Result/block x))]
    (cond
      (int? x) (of-block snapshot ix x)
      (string? x) (of-name snapshot ix x)
      (and made-by (not= Entry$Fate/GONE (.fate made-by))) (of-block snapshot ix (.id made-by))
      (instance? Channel x) (of-channel ix (ChannelNames/id x))
      (instance? Thread x) (let [tid (.threadId ^Thread x)]
                             (of-party ix ((:threads ix) tid {:name (.getName ^Thread x) :tid tid :waits [] :state :outside})))
      :else (no-such (str "why takes a block's number, a name that a dump has, a channel or a thread, but got "
                          (error/preview x) ".")
                     x))))

(defn why
  "Returns why `x` waits, see `skein.inspect/why`."
  [snapshot x]
  (let [ix (index snapshot), why (of-any snapshot ix x), look (look ix why)]
    (cond-> why look (assoc :look look))))

(defn graph
  "Returns {:nodes :edges} of a snapshot, see `skein.inspect/graph`."
  [{:keys [blocks threads channels scopes]}]
  (let [block (fn block [id] [:block id]), thread (fn thread [tid] [:thread tid]), channel (fn channel [id] [:channel id])
        nodes (-> #{}
                  (into (map (comp block :id)) blocks)
                  (into (map (comp thread :tid)) threads)
                  (into (map (comp channel :id)) channels))
        edges (concat
                (for [p (concat blocks threads), w (:waits p)
                      :let [from (if (:id p) (block (:id p)) (thread (:tid p)))] :when (:channel w)]
                  [from (channel (:channel w)) (:op w)])
                (for [b blocks, c (:holds b)] [(block (:id b)) (channel c) :holds])
                (for [t threads, {:keys [held-by]} (:waits t) :when held-by] [(thread (:tid t)) (thread (:tid held-by)) :lock])
                (for [{id :id, b :block, {:keys [tid]} :thread} channels
                      :let [maker (if b (block b) (nodes (thread tid)))] :when maker]
                  [(channel id) maker :makes])
                (for [{:keys [id children]} scopes, {:keys [tid] b :block} children
                      :let [scope (channel id), child (if b (block b) (thread tid))] :when (and (nodes scope) (nodes child))]
                  [scope child :child]))]
    {:nodes nodes :edges (set edges)}))
