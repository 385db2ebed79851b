;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.lints
  "Finds what looks wrong in a snapshot but is not proven. A rule is a function from a snapshot and its index to its findings,
  all data; `skein.inspect.words` makes sentences of them. Also finds the sites that have more blocks in each snapshot than
  in the one before."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]))

(set! *warn-on-reflection* true)

;;;; Limits

(def ^:const ^:private many-waiting "A channel with so many waits is reported. At most 1024 may wait." 768)
(def ^:const ^:private full-ms 5000)
(def ^:const ^:private holding-ms 2000)
(def ^:const ^:private long-timer-ms 60000)
(def ^:const ^:private many-at-a-timer 100)
(def ^:const ^:private many-timers 1000)
(def ^:const ^:private ignoring-ms 5000)
(def ^:const ^:private not-begun-ms 5000)
(def ^:const ^:private long-step-ms 1000)
(def ^:const ^:private many-blocked 64)
(def ^:const ^:private many-nils 1000)
(def ^:const ^:private many-refused-puts 100)
(def ^:const ^:private many-abandoned 100)

;;;; Rules

(defn- by-site
  "Returns [site [block]] pairs, the most frequent site first."
  [blocks]
  (sort-by (comp - count val) (group-by :site blocks)))

(defn- at
  "Returns the finding on blocks of one site: the first of them, and how many there are."
  [[site [{:keys [id]} & more :as blocks]] finding]
  (merge {:site site :block id :more (count more) :count (count blocks)} finding))

(defn- places
  "Returns the most frequent sites of the blocks among `parties`, as [[site n]]."
  [{:keys [blocks]} parties]
  (mapv (fn each [[site bs]] [site (count bs)]) (take 3 (by-site (keep (comp blocks :block) parties)))))

(defn- step-site [{:keys [on site]}]
  (or (:site on) site))

(defn- at-least [limit n] (<= (long limit) (long (or n 0))))

(defn- pending [_ ix]
  (for [c (vals (:channels ix)), [side op] [[:takes :take] [:puts :put]]
        :let [n (count (side c))] :when (at-least many-waiting n)]
    {:channel (:id c) :op op :count n :places (places ix (side c))}))

(defn- first-putters
  "Returns {channel-id block} for the channels whose first put is by a block, or by a callback that a block waits for."
  [blocks]
  (into {} (for [b blocks, {:keys [op channel place]} (:waits b) :when (and (= :put op) (= 1 place))] [channel b])))

(defn- full [{:keys [blocks]} {:keys [threads channels] :as ix}]
  (for [putters [(first-putters blocks)], {:keys [id buffer puts closed?]} (vals channels)
        :let [{:keys [count capacity]} buffer, {:keys [tid]} (first puts)
              {:keys [since-ms site] :as party} (if tid (threads tid) (putters id))]
        :when (and party capacity (= count capacity) (at-least full-ms since-ms))]
    (merge {:channel id :count (clojure.core/count puts) :ms since-ms :closed? closed? :site site}
           (if tid {:tid tid} {:block (:id party) :outlook (shape/outlook ix [party])}))))

(defn- holds-lock [{:keys [threads]} ix]
  (for [[holder waiting] (group-by (fn holder [t] (some (comp (:threads ix) :tid :held-by) (:waits t))) threads)
        :when (and (some :channel (:waits holder)) (at-least holding-ms (:since-ms holder holding-ms)))]
    {:site (:site holder) :count (count waiting) :holder holder :waiting waiting}))

(defn- retained-by-timer [{:keys [blocks]} {:keys [channels] :as ix}]
  (let [long-timer? (fn long-timer? [{:keys [kind remaining-ms]}]
                      (and (= :timeout kind) (< (long long-timer-ms) (long (or remaining-ms 0)))))
        retained? (fn retained? [b] (some (comp long-timer? channels :channel) (:waits b)))]
    (concat
      (for [{:keys [id takes remaining-ms] :as c} (vals channels)
            :when (and (long-timer? c) (< (long many-at-a-timer) (count takes)))]
        {:channel id :count (count takes) :ms remaining-ms :places (places ix takes)})
      (for [[_ bs :as group] (by-site (filter retained? blocks)) :when (< (long many-timers) (count bs))]
        (at group nil)))))

(defn- ignores-cancel [{:keys [scopes]} {:keys [blocks]}]
  (for [{:keys [id cancelled-ms children body]} scopes
        :when (and cancelled-ms (< (long ignoring-ms) (long cancelled-ms)))
        :let [who (remove (comp false? :begun?) (if (seq children) children [body]))]
        :when (seq who)]
    {:scope id :count (count who) :ms cancelled-ms
     :parties (mapv (fn placed [{:keys [block site] :as p}] (assoc p :at (or (some-> (blocks block) step-site) site))) who)}))

(defn- never-started [{:keys [blocks]} _]
  (for [[_ [{:keys [age-ms]}] :as group]
        (by-site (filter (fn waits? [{:keys [state age-ms]}] (and (= :new state) (< (long not-begun-ms) (long (or age-ms 0)))))
                         blocks))]
    (at group {:ms age-ms})))

(defn- long-steps
  "Returns findings on steps that have taken long, and compute or are blocked."
  [blocks computes?]
  (let [long? (fn long? [{:keys [on since-ms]}] (and on (at-least long-step-ms since-ms) (= computes? (= :runnable (:state on)))))]
    (for [[_ [b] :as group] (by-site (filter long? blocks))]
      (at group {:ms (:since-ms b) :at (step-site b)}))))

(defn- hog [{:keys [blocks]} _]
  (let [ready (count (filter (comp #{:new :ready} :state) blocks))]
    (when (pos? ready) (map (fn more [f] (assoc f :ready ready)) (long-steps blocks true)))))

(defn- blocked [{:keys [blocks]} ix]
  (for [{:keys [block more count] :as f} (long-steps blocks false) :let [{:keys [waits]} ((:blocks ix) block)]]
    (cond-> (assoc f :severity (if (< (long many-blocked) (long count)) :warn :info))
      (and (seq waits) (zero? (long more))) (assoc :waits waits))))

(defn- refused-at [blocks sign limit]
  (for [[_ bs :as group] (by-site (filter (fn refused? [{:keys [refused site]}]
                                            (and (at-least limit refused) (str/starts-with? (str (:op site)) sign)))
                                          blocks))]
    (at group {:count (reduce max (map :refused bs))})))

(defn- nil-loop [{:keys [blocks]} _] (refused-at blocks "<" many-nils))

(defn- put-after-close [{:keys [blocks]} _] (refused-at blocks ">" many-refused-puts))

(defn- dropped-error [{:keys [failures]} _]
  (let [place-of (fn place-of [{:keys [exception site thread]}] [exception (or site thread)])
        alike (group-by place-of failures)]
    (for [[f & more] (map alike (distinct (map place-of failures)))]
      (merge (select-keys f [:exception :site :thread]) {:count (inc (count more)) :more (count more)}))))

(defn- starved [{{:keys [threads] :as starved} :starved} _]
  (when starved
    [{:site (:site (first threads)) :count (count threads) :ms (:ms starved) :holders threads}]))

(defn- abandoned [{:keys [collected heap]} _]
  (for [[site bs] (by-site (remove (comp #{:put} :op) (:blocks collected))) :when (< (long many-abandoned) (count bs))]
    {:site site :count (count bs) :heap? (some? heap) :more? (< (count (:blocks collected)) (long (:count collected)))}))

(def ^:private rules
  "[lint severity rule]"
  [[:pending :error pending] [:nil-loop :error nil-loop] [:never-started :error never-started] [:dropped-error :error dropped-error]
   [:starved :error starved]
   [:holds-lock :warn holds-lock] [:full :warn full] [:retained-by-timer :warn retained-by-timer] [:ignores-cancel :warn ignores-cancel] [:hog :warn hog]
   [:put-after-close :warn put-after-close] [:blocked :info blocked] [:abandoned :info abandoned]])

(defn lints
  "Returns what the rules find in `snapshot`, see `skein.inspect/lints`."
  [snapshot]
  (let [ix (shape/index snapshot)]
    (into [] (mapcat (fn apply-rule [[lint severity rule]]
                       (map (fn found [m] (merge {:lint lint :severity severity} m)) (rule snapshot ix))))
          rules)))

;;;; Growth

(def ^:const ^:private least-growth 100)

(defn growth
  "Returns the sites at which each of `snapshots` has more blocks than the one before, see `skein.inspect/growth`."
  [snapshots]
  (let [counts (mapv (comp frequencies (partial map :site) :blocks) snapshots)
        before (first counts), after (peek counts)]
    (->> (for [[site n] after
               :let [n (long n), from (long (get before site 0))]
               :when (and (<= (long least-growth) (- n from)) (<= (* 1.2 from) n)
                          (apply < (map (fn at [c] (get c site 0)) counts)))]
           {:lint :growth :severity :warn :site site :from from :to n :counts (mapv (fn at [c] (get c site 0)) counts)})
         (sort-by (fn more [{:keys [from to]}] (- (long from) (long to))))
         vec)))
