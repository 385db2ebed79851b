;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.verdict
  "Who can never go on, and how sure that is.

  * :proven     nothing that goes on can reach the block or thread: the garbage collector has taken it, or a heap file shows it
  * :certain    the JVM has found that threads hold each other's locks
  * :suspected  blocks wait for one another, as far as their locals tell; a var or a closure may know more

  A report is {:verdict :kind :says} with the blocks or threads that it is about."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.shape :as shape]
   [skein.inspect.words :as words])
  (:import
   (skein.inspect.rt Registry)))

(set! *warn-on-reflection* true)

(def ^:const suspicion-ms
  "How long blocks must have waited to be suspected."
  2000)

;;;; Proven

(defn- bound
  "The blocks and threads that wait for results of collected blocks only, and that nothing around them could cancel, as
  the parties {:block id} and {:thread tid}. A timer, another port or a deadline could end any other wait."
  [{:keys [blocks threads channels]}]
  (let [stuck (into #{} (comp (filter :collected?) (map :id)) channels)
        bound? (fn bound? [{:keys [waits cancellable?]}]
                 (and (seq waits) (not cancellable?)
                      (every? (fn on-stuck? [{:keys [op channel]}] (and (= :take op) (stuck channel))) waits)))]
    (-> (into #{} (comp (filter :stuck?) (map (fn party [t] {:thread (:tid t)}))) threads)
        (into (comp (filter bound?) (map (fn party [b] {:block (:id b)}))) blocks)
        (into (comp (filter bound?) (map (fn party [t] {:thread (:tid t)}))) threads))))

(defn- awaiting
  "The parties that wait for the results of collected blocks, and for nothing else: {block-id [party]}."
  [{:keys [channels] :as snapshot}]
  (let [bound (bound snapshot)
        bound? (fn bound? [{:keys [block tid]}] (bound (if block {:block block} {:thread tid})))]
    (into {} (keep (fn of [{:keys [collected? block takes]}]
                     (when-some [parties (when collected? (seq (filter bound? takes)))] [block (vec parties)])))
          channels)))

(defn- fate
  "What the collection of a block means, given who waits for its result and for nothing else: those wait on; the value
  of its put is lost; its catch or finally clause has not run; or nobody minds."
  [{{:keys [in-try]} :site op :op} awaited-by]
  (cond
    (seq awaited-by) :deadlock
    in-try :no-clean-up
    (= :put op) :lost-value
    :else :abandoned))

(def ^:private meaning
  {:no-clean-up "Its catch or finally clause has not run."
   :lost-value "The value of its put is lost."
   :abandoned "It waited for a value that nobody could give."})

(defn- proven [ix awaited stuck {:keys [id site waits] :as block}]
  (let [awaited-by (awaited id)
        kind (fate block awaited-by)]
    (cond-> {:verdict :proven :kind kind :block block
             :says (str (words/block-name id) ", " (words/place site) (when (seq waits) (str ", waits " (words/waits ix block))) ", can never go on: nothing that does can reach it. "
                        (if awaited-by
                          (str (str/join ", " (map words/waiting-party awaited-by))
                               (if (next awaited-by) " wait" " waits")
                               " for its result only, which the block will never give."
                               (when-not (every? (comp stuck :tid) awaited-by)
                                 " A put on that port or its close could still end that, or an interrupt."))
                          (meaning kind)))}
      awaited-by (assoc :awaited-by awaited-by))))

(defn collected
  "Returns a report for each block of the snapshot that was collected before it had ended, oldest first. Its :kind is
  :deadlock if somebody waits for its result and nothing else, outside of any scope, :no-clean-up if a catch or finally
  clause was to run, :lost-value if it was to put one, else :abandoned."
  [snapshot]
  (let [stuck (into #{} (comp (filter :stuck?) (map :tid)) (:threads snapshot))]
    (mapv (partial proven (shape/index snapshot) (awaiting snapshot) stuck) (:blocks (:collected snapshot)))))

(defn- idles?
  "Whether this is the main thread and waits for no result: programs end their main function so, to stay alive."
  [{:keys [channels]} {:keys [name waits]}]
  (and (= "main" name) (not-any? (fn result? [{:keys [channel]}] (= :result (:kind (channels channel)))) waits)))

(defn- stuck-threads
  "Returns a report for each thread of which a heap file shows that nothing that goes on can reach what it waits for. One that
  waits for a block that can never go on is reported with that."
  [snapshot told]
  (let [ix (shape/index snapshot), told (into #{} (comp (mapcat :awaited-by) (map :tid)) told)]
    (for [{:keys [tid stuck?] :as thread} (:threads snapshot)
          :when (and stuck? (not (told tid)) (not (idles? ix thread)))]
      {:verdict :proven :kind :deadlock :threads [thread]
       :says (str (words/says ix thread) " Nothing that goes on can reach that, so it waits for ever.")})))

;;;; Certain

(defn lock-cycles
  "Returns a report if the snapshot has platform threads that hold each other's locks."
  [{:keys [locks]}]
  (when (seq locks)
    [{:verdict :certain :kind :locks :threads locks
      :says (str/join " " (map (fn says [{:keys [name tid lock held-by site]}]
                                 (str (words/thread-name name tid) ", " (words/place site) ", waits for " lock ", which " held-by " holds."))
                               locks))}]))

;;;; Suspected

(defn suspected
  "Returns a report for each set of blocks of the snapshot that wait for one another only, as far as their locals tell,
  for `suspicion-ms` or longer."
  [snapshot]
  (let [ix (shape/index snapshot)]
    (for [ids (shape/groups (shape/closed-set ix suspicion-ms))
          :let [blocks (mapv (:blocks ix) ids)]]
      {:verdict :suspected :kind :deadlock :blocks blocks
       :says (str (str/join " " (map (partial words/says ix) blocks))
                  (if (next blocks) " They seem to wait for one another." " It seems to wait for itself."))})))

;;;; All

(defn deadlocks
  "Returns the reports on what can't go on, the surest first; blocks that were abandoned while they waited for a value, as
  programs may do, are left out."
  [snapshot]
  (let [collected (collected snapshot)]
    (into [] cat [(remove (comp #{:abandoned} :kind) collected) (stuck-threads snapshot collected)
                  (lock-cycles snapshot) (suspected snapshot)])))

(defn collect!
  "Runs the garbage collector until it finds no more of what has not ended. Returns whether it ran."
  []
  (let [registry (Registry/get)]
    (loop [i 0]
      (let [before (.collectedCount registry)]
        (cond
          (not (.collect registry 20000)) false
          (and (< i 5) (or (zero? i) (< before (.collectedCount registry)))) (recur (inc i))
          :else true)))))
