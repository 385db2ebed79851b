;; SPDX-License-Identifier: Apache-2.0
(ns skein.scope-trees
  "Random trees of scopes with failures, cancels and deadlines, checked while they run:

  * what a scope forked has ended when the scope has
  * nothing begins or ends twice
  * the exception that a scope throws is one of its own, and has the others suppressed
  * no cancellation arrives in a shield
  * code that blocks is interrupted by no more than what can end it, and nothing waits for ever
  * at the end, the thread is not interrupted, and is in no scope

      ./skein trees [SEEDS] [NODES]       1000 trees of 1000 nodes by default

  A node is {:kind :ms :wait :shields? :fails? :cancels? :timeout-ms :errand :children ...counters};
  it opens a scope, starts its children in it, does its errand, waits, and then may fail."
  (:require
   [skein.arguments :as arguments]
   [skein.async :as a]
   [skein.scope :as s]
   [skein.virtual :as v])
  (:import
   (java.util Random)
   (java.util.concurrent CancellationException)
   (java.util.concurrent.atomic AtomicInteger)
   (skein.rt Cancellable Channel Region)
   (skein.rt.scope VirtualFuture)))

(set! *warn-on-reflection* true)

;;;; Trees

(defn- chance [^Random random p] (< (.nextDouble random) (double p)))

(defn- pick [^Random random xs] (nth xs (.nextInt random (count xs))))

(defn- node [^Random random {:keys [failures never deadlines cancels]}]
  {:begun (AtomicInteger.) :ended (AtomicInteger.) :thrown (atom nil)
   :kind ([:fork :go :async] (.nextInt random 3))
   :ms (.nextInt random 4)
   :wait (if (chance random never) :never ([:none :none :park :sleep :deref] (.nextInt random 5)))
   :shields? (chance random 0.1)
   :fails? (chance random failures)
   :cancels? (chance random cancels)
   :timeout-ms (when (chance random deadlines) (.nextInt random 20))})

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
      (not calm?) (assoc :timeout-ms 60))))

;;;; Errands

(defn- errand
  "Returns what a function of a node does before the node waits: blocks, in blocks on the node's own thread, with
  limits of time, and on other threads. `ends?`: something ends it if it waits for ever."
  [^Random random depth ends?]
  (let [ms (.nextInt random 4)
        part (fn part [ends?] (errand random (dec (long depth)) ends?))]
    (case (int (if (zero? (long depth)) 0 (.nextInt random 14)))
      (0 1) [:wait (if (and ends? (chance random 0.5)) :never (pick random [:sleep :take :deref])) ms]
      2 [:both (part ends?) (part ends?)]
      (3 4 5) [:async (part ends?) (chance random 0.3) (chance random 0.5)]
      6 [:child (part ends?)]
      7 [:put (part ends?)]
      8 [:timeout ms (part true)]
      9 [:scope ms (part true)]
      10 [:retry ms (part true)]
      11 [(pick random [:race :any]) (part ends?) (part true)]
      12 [(pick random [:all :run]) ms (part true)]
      13 [:future ms (part true)])))

(defn with-errands
  "Returns `tree` with errands from `seed` in a third of its nodes."
  [tree seed]
  (let [random (Random. seed)]
    (letfn [(add [node]
              (cond-> (update node :children (partial mapv add))
                (chance random 0.3) (assoc :errand (errand random 5 (and (not (:calm? tree)) (chance random 0.2))))))]
      (add tree))))

;;;; Running one

(def ^:dynamic *sleep*
  "How a node sleeps for so many ms, in a thread or a block."
  (fn sleep [ms] (Thread/sleep (long ms))))

(defn- fault! [faults node text]
  (swap! faults conj [text (dissoc node :children)]))

(defn- fault-of? [thrown] (and (instance? clojure.lang.IExceptionInfo thrown) (not (instance? CancellationException thrown))))

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
  [{:keys [own timeout-ms] :as node} ^Throwable thrown]
  (let [below (child-faults node)
        held (into #{thrown} (.getSuppressed thrown))]
    (cond
      (not (fault-of? thrown)) (s/cancelled?)
      (identical? thrown @own) (every? held below)
      (some #(identical? thrown %) below) (every? held below)
      (= :skein/timeout (:skein/error (ex-data thrown))) (and (some? timeout-ms)
                                                           (every? held (cond->> below @own (cons @own)))))))

(defn- threw! [faults node thrown]
  (check-children faults node)
  (reset! (:thrown node) thrown)
  (when-not (right-error? node thrown) (fault! faults node (str "threw " thrown))))

(defn- interruptions
  "Returns how many of some short waits are interrupted."
  [n]
  (count (filter (fn interrupted? [_] (try (Thread/sleep 0 100000) false (catch InterruptedException _ true))) (range n))))

(defn- wait!
  "Blocks. Adds a fault if it is interrupted more often than by each of the `sources` once."
  [{:keys [faults node sources]} how ms]
  (try
    (case how
      :sleep (Thread/sleep (long ms))
      :take (a/<!! (a/timeout ms))
      :deref (deref (promise) ms nil)
      :never (a/<!! (a/chan)))
    (catch InterruptedException e
      (let [seen (inc (long (interruptions (+ 2 (long sources)))))]
        (when (< (long sources) seen) (fault! faults node (str "interrupted " seen " times by " sources))))
      (throw e))))

(defmacro ^:private ending
  "Evaluates the body, which a limit may end with an exception of this :skein/error."
  [error & body]
  `(try ~@body (catch Exception e# (when-not (= ~error (:skein/error (ex-data e#))) (throw e#)))))

(defn- failing-after [ms]
  (fn failing [] (Thread/sleep (long ms)) (throw (ex-info "meant" {:skein/error ::meant}))))

(defn- await-end
  "Waits for the end of the thread, interrupted or not."
  [^Thread thread]
  (loop [interrupted? false]
    (cond
      (not (try (.join thread) true (catch InterruptedException _ false))) (recur true)
      interrupted? (.interrupt (Thread/currentThread)))))

(defn- run!!
  "Does an errand. `node-thread?`: on a thread that only the node's cancellation and limits interrupt."
  [{:keys [s sources node-thread?] :as context} [what x y z]]
  (let [limited (update context :sources inc)
        elsewhere (assoc context :sources 1 :node-thread? false)]
    (case what
      :wait (wait! context x y)
      :both (do (run!! context x) (run!! context y))
      :async (let [caller (Thread/currentThread)
                   p (a/async
                       (try
                         (run!! context x)
                         (catch Throwable t (when-not y (throw t))))
                       (when z
                         (a/<! (a/timeout 1))
                         (when-not (identical? caller (Thread/currentThread)) ; it did park
                           (wait! (assoc context :sources 0) :sleep 1))))]
               (.thrown ^Channel p))
      :child (s/async s (try (run!! (if node-thread? context limited) x) (catch Throwable _)))
      :put (a/>!! (a/chan 1 (map (fn step [v] (run!! context x) v)) (fn handled [_])) 1)
      :timeout (ending :skein/timeout (v/with-timeout x (run!! limited y)))
      :scope (ending :skein/timeout (s/scope [t {:timeout-ms x}] (s/fork t (a/<!! (a/chan))) (run!! limited y)))
      :retry (ending :skein/timeout (v/retry {:attempts 2 :backoff-ms 0 :timeout-ms x} (fn [] (run!! limited y))))
      :race (v/race (fn [] (run!! elsewhere x)) (fn [] (run!! elsewhere y)))
      :any (v/any (fn [] (run!! elsewhere x)) (fn [] (run!! elsewhere y)))
      :all (ending ::meant (v/all (fn [] (run!! elsewhere y)) (failing-after x)))
      :run (ending ::meant (v/prun! 2 (fn call [f] (f)) [(fn [] (run!! elsewhere y)) (failing-after x)]))
      :future (let [f (v/future (run!! elsewhere y))]
                (try
                  (Thread/sleep (long x))
                  (finally
                    (future-cancel f)
                    (await-end (.thread ^VirtualFuture f))))))))

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
       (let [v# (s/scope [s# (select-keys node# (when (:timeout-ms node#) [:timeout-ms]))]
                  (let [handles# (~start-all faults# s# node#)]
                    (some->> (:errand node#) (run!! {:faults faults# :node node# :s s# :sources (if (:calm? node#) 0 1)
                                                     :node-thread? true}))
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
    (when (Thread/interrupted) (fault! faults tree "left its thread interrupted"))
    (when (Cancellable/innermost) (fault! faults tree "left its thread in a scope"))
    @faults))

(def ^:private longest-ms 60000)

(def ^:private usage "./skein trees [SEEDS [NODES]]")

(defn -main
  "Runs the trees of the seeds from 0; exits with 1 at the first fault."
  [& [seeds nodes]]
  (let [seeds (arguments/positive usage parse-long seeds 1000) nodes (arguments/positive usage parse-long nodes 1000)
        start (System/nanoTime)]
    (dotimes [seed seeds]
      (when-some [found (seq (deref (future (faults (with-errands (tree seed nodes) seed) nodes)) longest-ms [["hangs"]]))]
        (println "seed" seed "has faults:")
        (run! prn (take 10 found))
        (System/exit 1))
      (when (zero? (long (mod (inc seed) 100)))
        (println (inc seed) "trees," (quot (- (System/nanoTime) start) 1000000000) "s")))
    (println "no faults in" seeds "trees of" nodes)
    (shutdown-agents)))
