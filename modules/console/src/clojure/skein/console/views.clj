;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.views
  "What the page shows of a look, as data for JSON: sentences, and a window of rows. All functions take a look, see
  `skein.console.looks`.

  * `overview`, `problems`: what is wrong, the surest first
  * `sites`, `blocks`, `channels`, `threads`: windows of rows
  * `block`, `channel`: one of them
  * `scopes`: the tree of them"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.console.looks :refer [cached]]
   [skein.console.query :as query]
   [skein.impl.error :as error]
   [skein.inspect :as inspect]
   [skein.inspect.shape :as shape]
   [skein.inspect.why :as why]
   [skein.inspect.words :as words]))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-window "Rows in one reply." 200)

(defn- window
  "The rows from `from` on, each shown by `f`, and how many there are."
  [rows {:keys [from n]} f]
  (let [from (max 0 (min (long (or from 0)) (count rows)))
        to (min (count rows) (+ from (min (long (or n 60)) (long max-window))))]
    {:total (count rows) :from from :rows (mapv f (subvec rows from to))}))

(defn- oldest-first [party] (- (long (:since-ms party 0))))

;;;; Problems

(defn- parties
  "The numbers of the blocks that a report is about."
  [{:keys [block blocks awaited-by]}]
  (vec (distinct (keep :id (cons block blocks)))))

(defn- place-of [{:keys [site block blocks threads]}]
  (or site (:site (or block (first blocks) (first threads)))))

(defn- finding [{:keys [verdict kind lint severity says channel] :as report}]
  (let [site (place-of report)]
    (cond-> {:rank (name (or verdict severity)) :kind (name (or kind lint)) :says says :blocks (parties report)}
      site (assoc :site site :place (words/place site))
      channel (assoc :channel channel))))

(defn- findings
  "Deadlocks, then lints, then what grows; those of one place and kind together."
  [{:keys [deadlocks lints]} growth]
  (let [all (concat (map finding deadlocks) (map finding lints)
                    (map (fn grows [g] (finding (assoc g :severity :warn :lint :growth))) growth))]
    (->> (group-by (juxt :rank :kind :place) all)
         vals
         (map (fn alike [[f & more]] (cond-> f more (assoc :more (count more) :blocks (into (:blocks f) (comp (mapcat :blocks) (take 20)) more)))))
         (sort-by (comp {"proven" 0 "certain" 1 "error" 2 "suspected" 3 "warn" 4 "info" 5} :rank)))))

(defn- nearest
  "Of the lines around a place, those that fit beside a sentence."
  [lines]
  (when-some [here (some (fn n [l] (when (:here? l) (:n l))) lines)]
    (filterv (fn near? [{:keys [n]}] (<= (abs (- (long n) (long here))) 2)) lines)))

(defn problems
  "Returns {:findings :leaks :failures}: what is wrong, the surest first, with source."
  [{:keys [snapshot] :as look} growth lines]
  (cached look [:problems growth]
    (fn make []
      {:unproven (:unproven snapshot)
       :findings (mapv (fn with-source [i f] (cond-> f (and (< (long i) 12) (:site f)) (assoc :source (nearest (lines (:site f))))))
                       (range) (findings look growth))
       :leaks (mapv (fn leak [l] (assoc l :place (words/place (:site l)))) (take 50 (inspect/leaks snapshot)))
       :failures (vec (reverse (map (fn failure [f] (assoc f :place (some-> (:site f) words/place))) (:failures snapshot))))})))

;;;; Rows

(defn- row
  "A block as a row of a table."
  [ix {:keys [id state site since-ms age-ms runs parent waits] :as block}]
  {:id id :name (words/block-name id) :state (some-> state name) :since since-ms :age age-ms :runs runs :parent parent
   :op (some-> (first waits) :op name) :waits (when (seq waits) (words/waits ix block))
   :file (:file site) :line (:line site) :column (:column site) :form (:form site) :place (words/place (dissoc site :form)) :in-try (:in-try site)})

(def ^:private orders
  {"since" oldest-first
   "age" (fn age [b] (- (long (:age-ms b 0))))
   "runs" (fn runs [b] (- (long (:runs b 0))))
   "id" :id
   "state" (juxt (comp str :state) oldest-first)
   "site" (juxt (comp str :file :site) (comp #(or % 0) :line :site) oldest-first)})

(defn- order [sort-by-name]
  (or (orders (or (not-empty sort-by-name) "since"))
      (error/fail! :skein/bad-filter (str "Rows can't be sorted by \"" sort-by-name "\", but by " (str/join ", " (sort (keys orders))) ".") {})))

(defn- chosen [{:keys [snapshot index] :as look} q]
  (if (str/blank? q)
    (:blocks snapshot)
    (cached look [:chosen q]
      (fn choose [] (filterv (query/predicate q index) (:blocks snapshot))))))

(defn- least
  "The first `n` of `xs` by a number, in its order; the others are not sorted."
  [n by xs]
  (mapv peek (reduce (fn keep-least [best x]
                       (let [entry [(by x) x]]
                         (if (and (= n (count best)) (<= (long (first (peek best))) (long (first entry))))
                           best
                           (vec (take n (sort-by first (conj best entry)))))))
                     [] xs)))

(defn- sorted
  "Blocks by a key, in linear memory; the sort of a vector by a key would compute the key at each comparison."
  [key blocks]
  (let [pairs (object-array (map (fn pair [b] [(key b) b]) blocks))]
    (java.util.Arrays/sort pairs (comparator (fn before? [a b] (neg? (compare (nth a 0) (nth b 0))))))
    (mapv (fn block [pair] (nth pair 1)) pairs)))

(defn blocks
  "Returns a window of the blocks that the filter :q chooses, in the order :sort."
  [{:keys [index] :as look} {:keys [q sort] :as options}]
  (window (cached look [:blocks q sort] (fn make [] (sorted (order sort) (chosen look q))))
          options (partial row index)))

(defn- group [ix before [site bs]]
  (let [oldest (apply max-key (fn since [b] (long (:since-ms b 0))) bs)
        n (count bs)]
    (assoc (row ix oldest)
           :count n
           :states (update-keys (frequencies (map :state bs)) name)
           :grew (when before (- n (long (get before site 0)))))))

(defn sites
  "Returns a window of the places at which blocks are that the filter :q chooses: how many, their states, and the oldest. The place at
  which the oldest has waited longest is first."
  [{:keys [index] :as look} before {:keys [q sort] :as options}]
  (window (cached look [:sites q sort]
            (fn make []
              (let [groups (map (partial group index before) (group-by :site (chosen look q)))]
                (vec (sort-by (if (= "count" sort) (comp - :count) (fn since [g] (- (long (or (:since g) 0))))) groups)))))
          options identity))

(defn- waiter [ix {:keys [block] :as party}]
  (let [b (when block ((:blocks ix) block))]
    (cond-> {:name (words/waiting-party party) :block block}
      b (merge (select-keys (row ix b) [:place :form :since :state])))))

(defn- channel-row [ix {:keys [id kind label buffer takes puts closed? block remaining-ms] :as c}]
  (let [since (fn since [{:keys [block tid]}] (long (:since-ms (if block ((:blocks ix) block) ((:threads ix) tid)) 0)))]
    {:id id :name (words/channel-name (dissoc c :buffer)) :kind (name (or kind :chan)) :label label :closed closed? :block block
     :collected (:collected? c) :remaining remaining-ms
     :buffer (when buffer {:type (str (:type buffer)) :count (:count buffer) :capacity (:capacity buffer)})
     :takes (count takes) :puts (count puts)
     :oldest (reduce max 0 (map since (concat (take 1 takes) (take 1 puts))))}))

(defn- fullness [{{:keys [count capacity]} :buffer}]
  (if (and count capacity (pos? (long capacity))) (/ (double count) (double capacity)) 0.0))

(defn channels
  "Returns a window of the channels in which somebody waits or that have labels, in the order :sort: waiters, fill or oldest."
  [{:keys [snapshot index] :as look} {:keys [q sort] :as options}]
  (window (cached look [:channels q sort]
            (fn make []
              (->> (:channels snapshot)
                   (map (partial channel-row index))
                   (filter (fn named? [c] (or (str/blank? q) (str/includes? (str/lower-case (:name c)) (str/lower-case q)))))
                   (sort-by (case sort
                              "fill" (comp - fullness)
                              "waiters" (fn many [c] (- (+ (long (:takes c)) (long (:puts c)))))
                              (juxt (complement :collected) (fn timer? [c] (= "timeout" (:kind c))) (fn old [c] (- (long (:oldest c)))))))
                   vec)))
          options identity))

(defn channel
  "Returns one channel with its first waiters and who holds it, or nil."
  [{:keys [snapshot index]} id]
  (when-some [c ((:channels index) id)]
    (assoc (channel-row index c)
           :says (:says (why/of-channel index id))
           :taking (mapv (partial waiter index) (take 100 (:takes c)))
           :putting (mapv (partial waiter index) (take 100 (:puts c)))
           :holders (mapv (partial row index) (keep (:blocks index) (take 100 (sort (get-in index [:holders id]))))))))

(defn threads
  "Returns a window of the threads that wait in a channel, the oldest wait first, and those that hold each other's locks."
  [{:keys [snapshot index]} options]
  (assoc (window (vec (sort-by oldest-first (:threads snapshot))) options
                 (fn shown [{:keys [name tid virtual? site since-ms stuck?] :as t}]
                   {:name (words/thread-name name tid) :tid tid :virtual virtual? :since since-ms :stuck stuck?
                    :place (some-> site words/place) :waits (words/waits index t)
                    :channel (some :channel (:waits t))}))
         :locks (:locks snapshot)))

;;;; One block

(def ^:const ^:private max-chain 64)

(defn- up-from
  "The chain of who awaits the result of a block, and who awaits that, as far as each has one."
  [{:keys [index]} block]
  (loop [{:keys [result]} block, seen #{}, chain []]
    (let [takes (:takes ((:channels index) result))
          up (some (:blocks index) (keep :block takes))]
      (if (or (empty? takes) (seen result) (<= (long max-chain) (count chain)))
        chain
        (recur (or up {}) (conj seen result) (conj chain (mapv (partial waiter index) (take 20 takes))))))))

(defn- spawned-by [{:keys [index]} block]
  (->> (iterate (fn parent [b] ((:blocks index) (:parent b))) block)
       rest
       (take-while some?)
       (take max-chain)
       (mapv (partial row index))))

(defn- gone
  "What is known of a block that was collected, or nil."
  [{:keys [snapshot]} id]
  (some (fn it [b] (when (= id (:id b)) (assoc b :state :collected))) (:blocks (:collected snapshot))))

(defn block
  "Returns the block `id`: why it waits, in sentences, its source, who awaits it and who made it; or nil."
  [{:keys [snapshot index deadlocks] :as look} id lines]
  (when-some [b (or ((:blocks index) id) (gone look id))]
    (let [{:keys [says chain ends]} (inspect/why snapshot id)]
      (merge (row index b)
             {:says says
              :ends (name ends)
              :chain (mapv (partial row index) (filter :id chain))
              :report (some (fn mine [r] (when (some #{id} (parties r)) (dissoc (finding r) :source))) deadlocks)
              :source (lines (:site b))
              :on (when-some [on (:on b)]
                    {:name (:name on) :state (some-> (:state on) name) :place (some-> (:site on) words/place) :source (lines (:site on))})
              :waits-in (vec (for [{:keys [channel op place]} (:waits b) :when channel]
                               (assoc (channel-row index ((:channels index) channel {:id channel})) :op (name op) :in-queue place)))
              :holds (mapv (fn held [c] (channel-row index ((:channels index) c {:id c}))) (:holds b))
              :awaited (up-from look b)
              :spawned-by (spawned-by look b)
              :made (mapv (partial row index) (take 20 (filter (fn child? [c] (= id (:parent c))) (:blocks snapshot))))
              :scope (:scope b) :cancellable (:cancellable? b) :refused (:refused b)}))))

;;;; Scopes

(defn- party-row [ix {:keys [block thread tid begun? older]}]
  (cond
    block (row ix ((:blocks ix) block {:id block :state :done}))
    thread {:name (words/thread-name thread tid) :tid tid}
    older {:name "older than the inspector" :place (words/place older)}
    (false? begun?) {:name "has not begun"}
    :else {:name "unknown"}))

(defn scopes
  "Returns the open scopes, each after the one around it, with :depth; of many children the first."
  [{:keys [snapshot index] :as look}]
  (cached look :scopes
    (fn make []
      (let [all (:scopes snapshot)
            known (into #{} (map :id) all)
            inside (group-by (fn around [s] (known (:parent s))) all)
            view (fn view [depth {:keys [id body children remaining-ms cancelled? reason cancelled-ms failures]}]
                   {:id id :depth depth :body (party-row index body) :n (count children)
                    :children (mapv (partial party-row index) (take 20 children))
                    :remaining remaining-ms :cancelled cancelled? :reason (some-> reason name) :cancelled-ms cancelled-ms :failures failures})
            walk (fn walk [depth s] (cons (view depth s) (mapcat (partial walk (inc (long depth))) (inside (:id s)))))]
        {:total (count all) :rows (vec (take 500 (mapcat (partial walk 0) (sort-by (fn stuck [s] (- (long (:cancelled-ms s 0)))) (inside nil)))))}))))

;;;; All of it

(defn counts
  "Returns how many there are of what, for the head of the page."
  [{:keys [snapshot deadlocks lints]} growth]
  (let [{:keys [blocks threads channels scopes timers collected]} snapshot]
    {:blocks (count blocks) :states (update-keys (frequencies (map :state blocks)) name)
     :threads (count threads) :channels (count channels) :scopes (count scopes) :timers timers :collected (:count collected)
     :ranks (merge-with + (update-keys (frequencies (map :verdict deadlocks)) name)
                        (update-keys (frequencies (map :severity lints)) name)
                        (when (seq growth) {"warn" (count growth)}))}))

(defn- headline
  "The first sentence of the page."
  [{:keys [ranks blocks]}]
  (let [n (+ (long (ranks "proven" 0)) (long (ranks "certain" 0)))
        [wrong maybe] (map (fn sum [ks] (reduce + (map #(ranks % 0) ks))) [["error"] ["suspected" "warn"]])]
    (cond
      (pos? n) (if (= 1 n) "One wait can never end." (str n " waits can never end."))
      (pos? (long wrong)) (if (= 1 wrong) "There is one error." (str "There are " wrong " errors."))
      (pos? (long maybe)) (if (= 1 maybe) "One thing looks wrong." (str maybe " things look wrong."))
      (zero? (long blocks)) "No blocks are seen."
      :else "Nothing looks wrong.")))

(defn overview
  "Returns what is wrong, the three oldest waits, folds under way, and the most frequent places."
  [{:keys [snapshot index] :as look} growth lines]
  (cached look [:overview growth]
    (fn make []
      (let [{:keys [findings unproven]} (problems look growth lines)
            waiting (filter (comp seq :waits) (concat (:blocks snapshot) (:threads snapshot)))]
        {:headline (headline (counts look growth))
         :unproven (or unproven
                       (when (:was-off? snapshot)
                         (str "The inspector of this process was off until you came. It sees a block at the block's next step; "
                              "./skein ps PID --heap and heap files show older ones too.")))
         :findings (vec (take 8 findings))
         :more (max 0 (- (count findings) 8))
         :oldest (mapv (fn shown [p] {:says (words/says index p) :since (:since-ms p) :block (:id p)})
                       (least 3 oldest-first waiting))
         :folds (mapv (fn shown [{:keys [thread tid site since-ms done total unit]}]
                        {:name (words/thread-name thread tid) :tid tid :place (some-> site words/place) :since since-ms :done done :total total :unit (name unit)})
                      (take 5 (sort-by oldest-first (:folds snapshot))))
         :sites (:rows (sites look nil {:sort "count" :n 8}))}))))
