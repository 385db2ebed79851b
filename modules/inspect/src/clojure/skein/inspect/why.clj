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
  "Returns the blocks and threads that could end the wait of `party`: the thread that holds the lock, or the block that it runs, or
  its `helpers` and the children of the scope, with nil for a child that is not known to wait."
  [{:keys [blocks threads] :as ix} party]
  (if-some [holder (some (comp :tid :held-by) (:waits party))]
    (take 1 (keep identity (cons (threads holder) (filter (comp #{holder} :tid :on) (vals blocks)))))
    (distinct
      (concat (map blocks (shape/helpers ix party))
              (shape/makers ix party)
              (map (fn child [{:keys [block tid]}] (or (blocks block) (threads tid))) (shape/children ix party))))))

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

(defn- ending [ix chain ends]
  (case ends
    :cycle (let [[waits it] (if (next chain) ["that they wait for one another" "them"] ["to wait for itself" "it"])]
             (str "It seems " waits "." (when (:stuck? (peek chain)) (str " No running code can reach " it "."))))
    :moves (when-not (or (next chain) (words/blocked? (first chain))) "It does not wait.")
    (words/outlook ix chain)))

(defn- of-party [ix party]
  (let [[chain ends] (follow ix party)]
    {:says (str/join " " (keep identity (concat (map (partial words/says ix) chain) [(ending ix chain ends)])))
     :chain chain
     :ends ends}))

(defn- parties [ps]
  (if (seq ps) (str/join ", " (map words/waiting-party ps)) "nobody"))

(defn of-channel
  "Returns a sentence on who waits in the channel `id` and who holds it, as `why` does. `ix` is from `skein.inspect.shape/index`."
  [ix id]
  (let [{:keys [takes puts closed?] :as c} ((:channels ix) id)
        holders (map words/block-name (sort (get-in ix [:holders id])))]
    {:says (if c
             (str (words/channel-name c) (when closed? ", closed") ": " (parties takes) " wait" (when-not (next takes) "s")
                  " to take, " (parties puts) " to put."
                  (when (seq holders) (str " The locals of " (str/join ", " holders) " hold it.")))
             (str "Nobody waits in " (words/channel-name {:id id}) "."))
     :chain []
     :ends :channel}))

(defn- of-collected
  "Returns the report on the block `id` if it was collected, or nil."
  [snapshot id]
  (when (some (comp #{id} :id) (:blocks (:collected snapshot)))
    (some (fn its [{:keys [says block]}] (when (= id (:id block)) {:says says :chain [block] :ends :collected}))
          (verdict/collected snapshot))))

(defn- of-block [snapshot ix id]
  (or (of-collected snapshot id)
      (some->> ((:blocks ix) id) (of-party ix))
      (error/fail! :skein/bad-argument (str "There is no block " (error/preview id) ": it has ended, never existed, or has taken no step since the inspector was started.")
                   {:block (error/preview id)})))

(defn- of-scope
  "Returns why a scope has not ended: what its children wait for."
  [ix {:keys [body children] :as scope}]
  (let [waiting (keep (fn child [{:keys [block tid]}] (or ((:blocks ix) block) ((:threads ix) tid))) children)]
    {:says (str/join " " (concat [(str (words/channel-name (assoc scope :kind :scope)) (when body (str " of " (words/waiting-party body))) ".")
                                  (words/of-children children)]
                                 (map (comp :says (partial of-party ix)) (take 5 waiting))))
     :chain []
     :ends :several}))

(def ^:const ^:private max-named "How many names a message lists." 8)

(defn- nearest
  "Returns a sentence with the names in a snapshot that begin most like `x`, or nil if there is none."
  [{:keys [threads blocks channels]} x]
  (let [names (distinct (concat (map (fn thread [{:keys [name tid]}] (words/thread-name name tid)) threads)
                                (map (comp words/block-name :id) blocks)
                                (map words/channel-label (remove :block channels))))
        alike (fn alike [name] (count (take-while true? (map = x (str/replace name #"^thread " "")))))
        more (- (count names) (long max-named))]
    (when (seq names)
      (str " It shows " (str/join ", " (take max-named (sort-by (comp - alike) names))) (when (pos? more) (str " and " more " more")) "."))))

(defn- of-name
  "Returns why the block, thread or channel that the texts call `x` waits. If several threads have that name, as a worker's next
  thread does, the sentences are on all of them."
  [{:keys [threads channels] :as snapshot} ix x]
  (let [x (str/replace x #" \([^()]*\)$" "") ; as ps prints it: chan-3 (0/1)
        called? (fn called? [name] (#{x (str "thread " x)} name))
        found (or (seq (filter (fn it [{:keys [name tid]}] (called? (words/thread-name name tid))) threads))
                  (filter (fn it [{:keys [label] {:keys [name tid]} :on}]
                            (or (= x label) (when tid (called? (words/thread-name name tid)))))
                          (:blocks snapshot)))
        scope (some (fn it [s] (when (= x (words/channel-label (assoc s :kind :scope))) s)) (:scopes snapshot))
        channel (some (fn it [c] (when (= x (words/channel-label c)) (:id c))) channels)]
    (cond
      (seq found) (assoc (of-party ix (first found)) :says (str/join " " (map (comp :says (partial of-party ix)) found)))
      scope (of-scope ix scope)
      channel (of-channel ix channel)
      :else (if-some [id (some-> (re-matches #"(?:the result of )?(?:go-)?(\d+)" x) second parse-long)]
              (of-block snapshot ix id)
              (error/fail! :skein/bad-argument
                           (str "The snapshot shows no " (error/preview x) ". If there is a thread of that name, it runs, or waits for something other than a channel."
                                (or (nearest snapshot x) " It shows nothing that waits.")
                                (when (:heap snapshot) (str " " (words/thread-list snapshot) " lists all threads.")))
                           {:block (error/preview x)})))))

(defn- index
  "Returns the index of a snapshot. A heap file still has the blocks that no code can reach, so a chain goes through them."
  [{:keys [heap collected] :as snapshot}]
  (shape/index (cond-> snapshot
                 heap (update :blocks into (map (fn stuck [b] (assoc b :stuck? true))) (:blocks collected)))))

(defn- with-pointer
  "Returns a report; where it ends at something that the snapshot does not show, with the commands that may show more."
  [{:keys [heap] :as snapshot} {:keys [ends chain] :as report}]
  (let [{:keys [tid state stuck?]} (peek chain)
        look (str " ./skein ps " (words/process snapshot) " --heap may ")
        more (cond
               (or heap stuck?) nil
               (= :nobody ends) (str look "prove that nothing can.")
               (and (= :moves ends) (or (and tid (#{:waiting :timed_waiting :blocked} state)) (words/blocked? (peek chain)))) (str look "show for what."))]
    (cond-> report more (update :says str more " " (words/thread-list snapshot) " lists all threads."))))

(defn- of-any [snapshot x]
  (let [ix (index snapshot)
        made-by (when (instance? Channel x) (Result/block x))]
    (cond
      (int? x) (of-block snapshot ix x)
      (string? x) (of-name snapshot ix x)
      (and made-by (not= Entry$Fate/GONE (.fate ^Entry made-by))) (of-block snapshot ix (.id ^Entry made-by))
      (instance? Channel x) (of-channel ix (ChannelNames/id x))
      (instance? Thread x) (of-party ix (or (some (fn it [t] (when (= (.threadId ^Thread x) (:tid t)) t)) (:threads snapshot))
                                            {:name (.getName ^Thread x) :tid (.threadId ^Thread x) :waits [] :state :outside}))
      :else (error/fail! :skein/bad-argument
                         (str "why takes a block's number, a name that a dump has, a channel or a thread, but got " (error/preview x) ".")
                         {:block (error/preview x)}))))

(defn why
  "Returns why `x` waits, see `skein.inspect/why`."
  [snapshot x]
  (with-pointer snapshot (of-any snapshot x)))

(defn graph
  "Returns {:nodes :edges} of a snapshot, see `skein.inspect/graph`."
  [{:keys [blocks threads channels scopes]}]
  (let [nodes (into #{} cat [(map (fn node [b] [:block (:id b)]) blocks)
                             (map (fn node [t] [:thread (:tid t)]) threads)
                             (map (fn node [c] [:channel (:id c)]) channels)])
        waits (fn waits [node party] (for [{:keys [op channel]} (:waits party) :when channel] [node [:channel channel] op]))
        edges (concat
                (mapcat (fn of [b] (concat (waits [:block (:id b)] b)
                                           (for [c (:holds b)] [[:block (:id b)] [:channel c] :holds])))
                        blocks)
                (mapcat (fn of [t] (waits [:thread (:tid t)] t)) threads)
                (for [t threads, {:keys [held-by]} (:waits t) :when held-by] [[:thread (:tid t)] [:thread (:tid held-by)] :lock])
                (for [{:keys [id block]} channels :when block] [[:channel id] [:block block] :makes])
                (for [{:keys [id thread]} channels :let [maker [:thread (:tid thread)]] :when (nodes maker)] [[:channel id] maker :makes])
                (for [{:keys [id children]} scopes, {:keys [block tid]} children
                      :let [scope [:channel id], child (if block [:block block] [:thread tid])]
                      :when (and (nodes scope) (nodes child))]
                  [scope child :child]))]
    {:nodes nodes :edges (set edges)}))
