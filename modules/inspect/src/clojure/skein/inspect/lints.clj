;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.lints
  "Finds what looks wrong in a snapshot but is not proven. A rule is a function from a snapshot to its findings. Also finds the
  sites that have more blocks in each snapshot than in the one before."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]
   [skein.inspect.words :as words]))

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

;;;; Parts of sentences

(defn- by-site
  "Returns [site [block]] pairs, the most frequent site first."
  [blocks]
  (sort-by (comp - count val) (group-by :site blocks)))

(defn- example [site blocks]
  (str (words/who (first blocks)) (when (next blocks) (str " and " (dec (count blocks)) " more")) ", " (words/place site)))

(defn- have [blocks] (if (next blocks) "have" "has"))

(defn- places [ix parties]
  (str/join ", " (map (fn each [[site blocks]] (str (count blocks) " at " (words/place site)))
                      (take 3 (by-site (keep (comp (:blocks ix) :block) parties))))))

(defn- step-place [{:keys [on site]}]
  (words/place (or (:site on) site)))

;;;; Rules

(defn- pending [_ ix]
  (for [c (vals (:channels ix)), [side op] [[:takes "takes"] [:puts "puts"]]
        :let [n (count (side c))] :when (<= (long many-waiting) n)]
    {:channel (:id c) :count n
     :says (str (words/channel-name c) ": " n " " op " wait, of at most 1024: " (places ix (side c))
                ". Further ones will be refused. Use a buffer, or fewer blocks.")}))

(defn- first-putters
  "Returns {channel-id block} for the channels whose first put is by a block, or by a callback that a block waits for."
  [blocks]
  (into {} (for [b blocks, {:keys [op channel place]} (:waits b) :when (and (= :put op) (= 1 place))] [channel b])))

(defn- full [{:keys [blocks]} ix]
  (for [first-putters [(first-putters blocks)], c (vals (:channels ix))
        :let [{:keys [count capacity]} (:buffer c), {:keys [tid]} (first (:puts c))
              {:keys [since-ms site] :as first-put} (if tid ((:threads ix) tid) (first-putters (:id c)))]
        :when (and first-put capacity (= count capacity) (<= (long full-ms) (long (or since-ms 0))))]
    {:channel (:id c) :count (clojure.core/count (:puts c))
     :says (str (words/channel-name c) (when (:closed? c) ", closed") ": nobody has taken from it for " (words/duration since-ms) ": "
                (if tid
                  (str (words/thread-name (:name first-put) tid) (when site (str ", " (words/place site))) ", waits to put.")
                  (str (example site [first-put]) ", waits to put. " (words/outlook ix [first-put]))))}))

(defn- holds-lock [{:keys [threads]} ix]
  (for [[holder waiting] (group-by (fn holder [t] (some (comp (:threads ix) :tid :held-by) (:waits t))) threads)
        :when (and (some :channel (:waits holder)) (<= (long holding-ms) (long (:since-ms holder holding-ms))))]
    {:site (:site holder) :count (count waiting)
     :says (str (words/says ix holder) " It holds a lock meanwhile. " (str/join " " (map (partial words/says ix) (take 5 waiting)))
                " If the wait in the channel needs such a thread, both wait for ever. Don't wait in a channel while you hold a lock.")}))

(defn- retained-by-timer [{:keys [blocks]} ix]
  (let [long-timer? (fn long-timer? [{:keys [kind remaining-ms]}] (and (= :timeout kind) (< (long long-timer-ms) (long (or remaining-ms 0)))))
        retained? (fn retained? [b] (some (fn on-timer? [{:keys [channel]}] (long-timer? ((:channels ix) channel))) (:waits b)))]
    (concat
      (for [c (vals (:channels ix)), :let [n (count (:takes c))] :when (and (long-timer? c) (< (long many-at-a-timer) n))]
        {:channel (:id c) :count n
         :says (str (words/channel-name c) " holds " n " blocks for " (words/duration (:remaining-ms c)) ": " (places ix (:takes c))
                    ". They can't be collected before that. Close the timeout when it is no longer needed.")})
      (for [[site bs] (by-site (filter retained? blocks)) :when (< (long many-timers) (count bs))]
        {:site site :count (count bs)
         :says (str (example site bs) ", each wait for a timer of more than a minute. Close the timeouts that are no longer needed.")}))))

(defn- who-and-where [ix {:keys [block site] :as party}]
  (let [at (if-some [b ((:blocks ix) block)] (step-place b) (some-> site words/place))]
    (str (words/waiting-party party) (when at (str " at " at)))))

(defn- ignores-cancel [{:keys [scopes]} ix]
  (for [{:keys [id cancelled-ms children body]} scopes
        :when (and cancelled-ms (< (long ignoring-ms) (long cancelled-ms)))
        :let [who (filter (fn begun? [p] (not= false (:begun? p))) (if (seq children) children [body]))]
        :when (seq who)]
    {:scope id :count (count who)
     :says (str "Scope " id " was cancelled " (words/duration cancelled-ms) " ago. "
                (str/join ", " (map (partial who-and-where ix) (take 5 who))) (when (next (drop 4 who)) (str " and " (- (count who) 5) " more"))
                (if (next who) " have not ended" " has not ended")
                ". A child gets its cancellation once. After that, its `catch` and `finally` must end by themselves. "
                "A step that computes must call `cancelled?`.")}))

(defn- never-started [{:keys [blocks]} _]
  (for [[site bs] (by-site (filter (fn waits? [{:keys [state age-ms]}] (and (= :new state) (< (long not-begun-ms) (long (or age-ms 0)))))
                                   blocks))]
    {:site site :count (count bs) :says (str (example site bs) ", made " (words/duration (:age-ms (first bs))) " ago, " (have bs) " not begun.")}))

(defn- long-steps [blocks computes?]
  (filter (fn long? [{:keys [on since-ms]}]
            (and on since-ms (<= (long long-step-ms) (long since-ms)) (= computes? (= :runnable (:state on)))))
          blocks))

(defn- hog [{:keys [blocks]} _]
  (let [waiting (count (filter (comp #{:new :ready} :state) blocks))]
    (for [[site bs] (when (pos? waiting) (by-site (long-steps blocks true)))]
      {:site site :count (count bs)
       :says (str (example site bs) ", " (have bs) " computed for " (words/duration (:since-ms (first bs))) " in one step, at "
                  (step-place (first bs)) ", while " (words/counted waiting "block" [" wants" " want"]) " to run. Split the step, or compute on a thread.")})))

(defn- blocked [{:keys [blocks]} ix]
  (for [[site bs] (by-site (long-steps blocks false))]
    {:site site :count (count bs) :severity (if (< (long many-blocked) (count bs)) :warn :info)
     :says (str (example site bs) (if (next bs) ", have blocked their threads for " ", has blocked its thread for ") (words/duration (:since-ms (first bs))) ", at "
                (step-place (first bs)) (when (and (seq (:waits (first bs))) (not (next bs))) (str ", waiting " (words/waits ix (first bs))))
                ". Other blocks run meanwhile. A block keeps its thread unless it waits with `<!`, `>!` or `alts!` in its own body.")}))

(defn- refused-at [blocks sign limit advice]
  (for [[site bs] (by-site (filter (fn refused? [{:keys [refused site]}] (and refused (<= (long limit) (long refused)) (str/starts-with? (str (:op site)) sign))) blocks))
        :let [n (reduce max (map :refused bs))]]
    {:site site :count n
     :says (str (example site bs) (if (next bs) ", have found one closed channel each, up to " ", has found the same channel closed ") n " times in a row. " advice)}))

(defn- nil-loop [{:keys [blocks]} _]
  (refused-at blocks "<" many-nils "End the loop when a take gives nil."))

(defn- put-after-close [{:keys [blocks]} _]
  (refused-at blocks ">" many-refused-puts "End the loop when a put gives false."))

(defn- dropped-error [{:keys [failures]} _]
  (let [place-of (fn place-of [{:keys [exception site thread]}] [exception (or site thread)])
        alike (group-by place-of failures)]
    (for [[{:keys [exception site thread]} :as fs] (map alike (distinct (map place-of failures)))]
      {:count (count fs) :site site
       :says (str "A " exception " on " (words/thread-name thread nil) (when site (str ", at " (words/place site)))
                  (if (next fs)
                    (str ", and " (dec (count fs)) " more of that place were neither caught nor taken.")
                    ", was neither caught nor taken."))})))

(defn- starved [{{:keys [ms threads] :as starved} :starved} _]
  (when starved
    [{:site (:site (first threads)) :count (count threads)
      :says (str "No virtual thread has got a carrier for " (words/duration ms) ". The carriers are held by "
                 (str/join "; " (map (fn holder [{:keys [name tid site]}] (str (words/thread-name name tid) ", " (words/place site))) (take 5 threads)))
                 ". Don't wait in class initializers or in native code on virtual threads.")}]))

(defn- abandoned [{:keys [collected heap]} _]
  (for [[site bs] (by-site (remove (comp #{:put} :op) (:blocks collected))) :when (< (long many-abandoned) (count bs))]
    {:site site :count (count bs)
     :says (str (when (< (count (:blocks collected)) (long (:count collected))) "at least ") (count bs) " blocks "
                (if heap "wait" "were collected while they waited") " at " (words/place site) ": no code " (if heap "can" "could") " put a value for them.")}))

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
           {:site site :from from :to n
            :says (str "The number of blocks at " (words/place site) " grows: " (str/join ", " (map (fn at [c] (get c site 0)) counts)) ".")})
         (sort-by (fn more [{:keys [from to]}] (- (long from) (long to))))
         vec)))
