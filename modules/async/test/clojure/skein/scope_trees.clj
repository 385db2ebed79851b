;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope-trees
  "Random trees of scopes with failures, cancels and deadlines, checked while they run:

  * what a scope forked has ended when the scope has
  * nothing begins or ends twice
  * the exception that a scope throws is one of its own, and has the others suppressed
  * no cancellation arrives in a shield

      ./skein trees [SEEDS] [NODES]       1000 trees of 1000 nodes by default

  A node is {:kind :ms :wait :shields? :fails? :cancels? :deadline-ms :children ...counters};
  it opens a scope, starts its children in it, waits, and then may fail."
  (:require
   [skein.arguments :as arguments]
   [skein.async :as a]
   [skein.scope :as s])
  (:import
   (java.util Random)
   (java.util.concurrent CancellationException)
   (java.util.concurrent.atomic AtomicInteger)
   (skein.rt.scope Region)))

(set! *warn-on-reflection* true)

;;;; Trees

(defn- chance [^Random random p] (< (.nextDouble random) (double p)))

(defn- node [^Random random {:keys [failures never deadlines cancels]}]
  {:begun (AtomicInteger.) :ended (AtomicInteger.) :thrown (atom nil)
   :kind ([:fork :go :async] (.nextInt random 3))
   :ms (.nextInt random 4)
   :wait (if (chance random never) :never ([:none :none :park :sleep :deref] (.nextInt random 5)))
   :shields? (chance random 0.1)
   :fails? (chance random failures)
   :cancels? (chance random cancels)
   :deadline-ms (when (chance random deadlines) (.nextInt random 20))})

(defn- attach
  "Returns the nodes as one tree. `parents` has the index of each node's parent."
  [nodes parents]
  (let [children (group-by #(nth parents %) (range 1 (count nodes)))
        ;; A parent's index is smaller than its child's, so the last nodes are built first.
        built (reduce (fn [built i]
                        (assoc built i (assoc (nth nodes i) :children (mapv built (children i)))))
                      {} (reverse (range (count nodes))))]
    (built 0)))

(defn tree
  "Returns a tree of `n` nodes from `seed`. With every fourth seed, nothing goes wrong in the tree."
  [seed n]
  (let [random (Random. seed)
        calm? (zero? (mod (long seed) 4))
        rates (if calm?
                {:failures 0 :never 0 :deadlines 0 :cancels 0}
                ;; Mostly small, so that much of the tree has begun before something goes wrong.
                (zipmap [:failures :never :deadlines :cancels]
                        (repeatedly #(* 0.1 (Math/pow (.nextDouble random) 5)))))
        fanout (inc (.nextInt random 20))
        parents (mapv (fn [i] (if (zero? (long i)) nil (max 0 (- (long i) 1 (.nextInt random (int (min (long i) fanout)))))))
                      (range n))]
    (cond-> (assoc (attach (vec (repeatedly n #(node random rates))) parents) :kind :fork)
      calm? (assoc :calm? true)
      (not calm?) (assoc :deadline-ms 60))))

;;;; Running one

(def ^:dynamic *sleep*
  "How a node sleeps for so many ms, in a thread or a block."
  (fn sleep [ms] (Thread/sleep (long ms))))

(defn- fault! [faults node text]
  (swap! faults conj [text (dissoc node :children)]))

(defn- fault-of? [thrown] (instance? clojure.lang.ExceptionInfo thrown))

(defn- begin! [faults {:keys [^AtomicInteger begun] :as node}]
  (when-not (= 1 (.incrementAndGet begun)) (fault! faults node "begun twice")))

(defn- end! [faults {:keys [^AtomicInteger ended] :as node}]
  (when-not (= 1 (.incrementAndGet ended)) (fault! faults node "ended twice")))

(defn- check-children [faults {:keys [children] :as node}]
  (doseq [{:keys [^AtomicInteger begun ^AtomicInteger ended] :as child} children]
    (when-not (= (.get begun) (.get ended)) (fault! faults node (str "outlived by a child, " (:kind child))))))

(defn- child-faults [{:keys [children]}]
  (filter fault-of? (map (comp deref :thrown) children)))

(defn- returned! [faults node]
  (check-children faults node)
  (when (seq (child-faults node)) (fault! faults node "returned though a child had failed")))

(defn- right-error?
  "Returns whether the scope of `node` may throw `thrown`, and the other failures in it are suppressed exceptions of `thrown`."
  [{:keys [own deadline-ms] :as node} ^Throwable thrown]
  (let [below (child-faults node)
        held (into #{thrown} (.getSuppressed thrown))]
    (cond
      (not (fault-of? thrown)) (s/cancelled?)
      (identical? thrown @own) (every? held below)
      (some #(identical? thrown %) below) (every? held below)
      (= :skein/deadline-passed (:skein/error (ex-data thrown))) (and (some? deadline-ms)
                                                                   (every? held (cond->> below @own (cons @own)))))))

(defn- threw! [faults node thrown]
  (check-children faults node)
  (reset! (:thrown node) thrown)
  (when-not (right-error? node thrown) (fault! faults node (str "threw " thrown))))

(defn- fail! [{:keys [own]}]
  (throw (reset! own (ex-info "meant" {}))))

(defmacro ^:private shielded
  "Waits by `<!` in a scope behind a shield. Adds a fault if the wait does not end normally."
  [faults node <!]
  `(s/shield
     (try
       (s/scope [s#]
         (let [child# (s/go s# (a/<! (a/timeout (:ms ~node))) :through)]
           (when-not (= :through (~<! child#)) (fault! ~faults ~node "cancelled in a shield"))))
       (catch Throwable t# (fault! ~faults ~node (str "cancelled in a shield: " t#))))))

(defmacro ^:private life
  "The code of `node`, whose parks are written as `<!`: `a/<!` in a block, else `a/<!!`."
  [faults node start-all <!]
  `(let [faults# ~faults
         node# (assoc ~node :own (atom nil))]
     (begin! faults# node#)
     (try
       (let [v# (s/scope [s# (select-keys node# (when (:deadline-ms node#) [:deadline-ms]))]
                  (let [handles# (~start-all faults# s# node#)]
                    (case (:wait node#)
                      :none nil
                      :park (~<! (a/timeout (:ms node#)))
                      :sleep (*sleep* (:ms node#))
                      :deref (deref (promise) (:ms node#) nil)
                      :never (~<! (a/chan)))
                    (when (:shields? node#) (shielded faults# node# ~<!))
                    (when (:fails? node#) (fail! node#))
                    (if (:cancels? node#)
                      (do (s/cancel! s#) 1)
                      (loop [handles# handles# total# 1]
                        (if-some [h# (first handles#)]
                          (recur (rest handles#) (+ total# (long (or (if (future? h#) @h# (~<! h#)) 0))))
                          total#)))))]
         (returned! faults# node#)
         v#)
       (catch Throwable t#
         (threw! faults# node# t#)
         (throw t#))
       (finally
         (try
           (~<! (a/timeout 0))
           (catch InterruptedException _#) ; cancelled as late as here
           (catch CancellationException _#))
         (end! faults# node#)))))

(defn- start-all [faults s {:keys [children]}]
  (mapv (fn start [node]
          (case (:kind node)
            :fork (s/fork s (life faults node start-all a/<!!))
            :go (s/go s (life faults node start-all a/<!))
            :async (s/async s (life faults node start-all a/<!))))
        children))

(defn faults
  "Runs `tree`, of `n` nodes. Returns what went wrong, as [text node]s."
  [{:keys [calm?] :as tree} n]
  (let [faults (atom [])
        outcome (try (life faults tree start-all a/<!!) (catch Throwable t t))]
    (when (and calm? (not= n outcome)) (fault! faults tree (str "gave " outcome)))
    (when-not (or (number? outcome) (fault-of? outcome) (Region/isInterruption outcome))
      (fault! faults tree (str "threw " outcome)))
    @faults))

(def ^:private usage "./skein trees [SEEDS [NODES]]")

(defn -main
  "Runs the trees of the seeds from 0; exits with 1 at the first fault."
  [& [seeds nodes]]
  (let [seeds (arguments/positive usage parse-long seeds 1000) nodes (arguments/positive usage parse-long nodes 1000)
        start (System/nanoTime)]
    (dotimes [seed seeds]
      (when-some [found (seq (faults (tree seed nodes) nodes))]
        (println "seed" seed "has faults:")
        (run! prn (take 10 found))
        (System/exit 1))
      (when (zero? (long (mod (inc seed) 100)))
        (println (inc seed) "trees," (quot (- (System/nanoTime) start) 1000000000) "s")))
    (println "no faults in" seeds "trees of" nodes)
    (shutdown-agents)))
