;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.programs-test
  "Programs in which something can never continue, which must be reported, and live programs, for which nothing may be reported."
  (:require
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a :refer [<! <!! >! >!! alts! chan go go-loop timeout]]
   [skein.async.limit :as limit]
   [skein.async.spi :as p]
   [skein.async.streams :as st]
   [skein.deadline :refer [await-port deadline-ms]]
   [skein.fold :as fold]
   [skein.inspect :as inspect]
   [skein.inspect.shape :as shape]
   [skein.inspect.watched :as watched]
   [skein.scope :as scope])
  (:import
   (java.lang.ref Cleaner)
   (java.util WeakHashMap)
   (java.util.concurrent CountDownLatch TimeUnit)
   (java.util.concurrent.locks ReentrantLock)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(defn- proven
  "Returns the proofs for blocks of this file, as sorted [kind form] pairs."
  []
  (sort (for [{:keys [verdict kind block]} (inspect/deadlocks {:prove true})
              :when (and (= :proven verdict) (watched/here? "programs_test.clj" block))]
          [kind (:form (:site block))])))

(defn- abandoned []
  (inspect/deadlocks {:prove true})
  (sort (for [{:keys [kind site]} (inspect/leaks) :when (= :abandoned kind)] (:form site))))

(defmacro ^:private named
  "Runs the body, which lets go of all its channels, and asserts that just the blocks `expected` are then proven."
  [expected & body]
  `(do ((fn program# [] ~@body nil))
       (is (= ~expected (watched/eventually #(let [found# (proven)] (when (<= (count ~expected) (count found#)) found#)))))))

;;;; Programs with deadlocks

(deftest two-blocks-with-crossed-puts
  (named '([:lost-value "(>! x 2)"] [:lost-value "(>! y 2)"])
    (let [x (chan 1) y (chan 1)]
      (go (>! x 1) (>! x 2) (<! y))
      (go (>! y 1) (>! y 2) (<! x)))))

(deftest a-ring-of-crossed-puts
  (doseq [n [3 5]]
    (named (repeat n [:lost-value "(>! mine 1)"])
      (let [chs (vec (repeatedly n chan))]
        (dotimes [i n]
          (let [mine (chs i) others (chs (mod (inc i) n))]
            (go (>! mine 1) (<! others))))))
    (watched/fresh (fn []))
    (inspect/start!)))

(deftest a-thread-that-waits-for-a-stuck-block
  (let [thread (volatile! nil)]
    (named '([:deadlock "(<! y)"] [:lost-value "(>! x 2)"])
      (let [t (Thread. (fn wait-for-it []
                         (try (<!! (let [x (chan 1) y (chan)]
                                     (go (>! x 1) (>! x 2) (>! y 1))
                                     (go (<! y) (<! x))))
                              (catch InterruptedException _))))]
        (.setDaemon t true)
        (.setName t "waits-for-it")
        (vreset! thread t)
        (.start t)))
    (let [{:keys [says awaited-by]} (first (filter (comp #{:deadlock} :kind) (inspect/deadlocks)))]
      (is (= ["waits-for-it"] (map :thread awaited-by)))
      (is (re-find #"programs_test\.clj:\d+ \(<! y\), can never continue" says))
      (is (re-find #"thread waits-for-it waits for its result only" says)))
    (testing "and why says the same"
      (is (= :collected (:ends (inspect/why @thread)))))
    (.interrupt ^Thread @thread)
    (.join ^Thread @thread)))

(deftest the-putters-of-a-pipeline-whose-last-stage-returned
  (named '([:lost-value "(>! a 2)"] [:lost-value "(>! b v)"])
    (let [a (chan) b (chan)]
      (go (>! a 1) (>! a 2))
      (go-loop [] (when-some [v (<! a)] (>! b v) (recur)))
      (go :returned))))

(deftest a-finally-clause-that-never-runs
  (named '([:no-clean-up "(<! never)"])
    (let [never (chan)]
      (go (try (<! never) (finally (println "never")))))))

(deftest unservable-takes-are-only-counted
  ((fn program []
     (let [x (chan) y (chan) own (promise)]
       (go (alts! [x y]))
       (deliver own (go (<! @own))))))
  (is (= '("(<! (clojure.core/deref own))" "(alts! [x y])")
         (watched/eventually #(let [found (abandoned)] (when (= 2 (count found)) found)))))
  (is (= [] (inspect/deadlocks))))

(deftest a-mult-and-a-pub-with-an-unread-tap
  ((fn program []
     (let [in (chan) m (a/mult in)]
       (a/tap m (chan))
       (go (>! in :mult) (>! in :again)))
     (let [in (chan) p (a/pub in identity)]
       (a/sub p :pub (chan))
       (go (>! in :pub) (>! in :pub) (>! in :pub)))))
  (is (= [[:lost-value "(>! in :again)"] [:lost-value "(>! in :pub)"]]
         (watched/eventually #(let [found (proven)] (when (<= 2 (count found)) found))))))

(defn- transfer [from to begun go-on]
  (go (let [x (<! from)]
        (>! begun true)
        (<! go-on)
        (let [y (<! to)]
          (>! from y)
          (>! to x)))))

(defn- transfers-that-wait-for-each-other []
  (let [a (doto (chan 1) (a/offer! 1)), b (doto (chan 1) (a/offer! 2)), begun (chan), go-on (chan)
        both (a/into [] (a/merge [(transfer a b begun go-on) (transfer b a begun go-on)]))]
    (dotimes [_ 2] (<!! begun))
    (a/close! go-on)
    (try (<!! both) (catch InterruptedException _))))

(deftest a-report-on-a-collected-block-names-those-that-it-waited-for
  ;; If the collector runs before :prove, nobody knows who waited for whom. So the program runs anew each time.
  (let [told (fn told []
               (let [t (doto (Thread. ^Runnable transfers-that-wait-for-each-other) .start)]
                 (try
                   (watched/eventually #(= 4 (count (inspect/blocks {:state :parked}))))
                   (some (fn of-thread [{:keys [awaited-by says]}] (when (some (comp #{(.threadId t)} :tid) awaited-by) (str says)))
                         (inspect/deadlocks {:prove true}))
                   (finally (.interrupt t) (.join t)))))
        says (watched/eventually #(let [says (str (told))] (when (re-find #"waited for one another" says) says)))]
    (is (= 2 (count (re-seq #"programs_test\.clj:\d+ \(<! to\), has waited" (str says)))))))

(deftest platform-threads-that-hold-each-others-locks
  (let [a (ReentrantLock.) b (ReentrantLock.) both (CountDownLatch. 2)
        cross (fn [^ReentrantLock mine ^ReentrantLock other]
                (doto (Thread. (fn cross []
                                 (.lock mine)
                                 (.countDown both)
                                 (.await both)
                                 (try (.lockInterruptibly other) (catch InterruptedException _))))
                  (.setDaemon true)
                  .start))
        threads [(cross a b) (cross b a)]
        {:keys [says] :as report} (watched/eventually #(first (filter (comp #{:certain} :verdict) (inspect/deadlocks))))]
    (is (= [:locks 2] [(:kind report) (count (:threads report))]))
    (is (re-find #"programs_test\.clj:\d+ .*, waits for .*ReentrantLock.* holds" (str says)))
    (run! (fn [^Thread t] (.interrupt t) (.join t)) threads)
    (is (= [] (filter (comp #{:certain} :verdict) (inspect/deadlocks))))))

(deftest a-lock-and-a-channel
  (let [lock (Object.) jobs (chan) held (CountDownLatch. 1)
        start (fn start [f] (doto (Thread. ^Runnable f) (.setDaemon true) .start))
        takes (start (fn takes [] (locking lock (.countDown held) (<!! jobs))))
        puts (start (fn puts [] (.await held) (locking lock (>!! jobs 1))))
        tid (fn tid [^Thread t] (.threadId t))
        waits (fn waits [snapshot t] (some (fn its [w] (when (= (tid t) (:tid w)) (first (:waits w)))) (:threads snapshot)))
        snapshot (watched/eventually #(let [s (inspect/snapshot)] (when (and (:channel (waits s takes)) (:lock (waits s puts))) s)))]
    (is (= (tid takes) (:tid (:held-by (waits snapshot puts)))))
    (is (contains? (:edges (inspect/graph snapshot)) [[:thread (tid puts)] [:thread (tid takes)] :lock]))
    (let [{:keys [says chain ends]} (inspect/why puts snapshot)]
      (is (= [[(tid puts) (tid takes)] :nobody] [(map :tid chain) ends]))
      (is (re-find #"programs_test\.clj:\d+ .*, waits for java\.lang\.Object@\S+, which thread \S+ holds\. thread \S+, programs_test\.clj:\d+ " says)))
    (let [long-ago (update snapshot :threads (partial mapv #(assoc % :since-ms 3000)))
          [{:keys [says] :as lint} & others] (filter (comp #{:holds-lock} :lint) (inspect/lints long-ago))]
      (is (= [nil :warn 1] [others (:severity lint) (:count lint)]))
      (is (re-find #"has waited 3\.0 s for chan-\d+\. It holds a lock meanwhile\. thread \S+, programs_test" says)))
    (a/offer! jobs 0)
    (is (= 1 (<!! jobs)))
    (run! (fn [^Thread t] (.join t)) [takes puts])))

(deftest blocks-of-a-pipeline
  (let [in (chan) out (chan), ^long line (:line (meta #'blocks-of-a-pipeline))
        _ (a/pipeline 2 out (map inc) in)
        fed (a/onto-chan! in (range 20))
        blocks (watched/eventually
                 #(let [blocks (inspect/blocks {:op :put, :site "programs_test.clj"})]
                    (when (= 3 (count blocks)) blocks)))]
    (testing "their places are the calls of the program"
      (is (= {(+ line 2) 2, (+ line 3) 1} (frequencies (map (comp :line :site) blocks))))
      (is (= #{"pipeline.clj" "ops.clj"} (into #{} (map #(second (re-find #", in (\w+\.clj):\d+ \(>! " (:form (:site %))))) blocks))))
    (testing "they do not seem to wait for one another"
      (is (= {} (shape/closed-set (shape/index (inspect/snapshot)) 0))))
    (is (= (range 1 21) (await-port (a/into [] out))))
    (is (nil? (await-port fed)))))

(deftest blocks-of-other-namespaces-of-skein
  (let [in (chan), ^long line (:line (meta #'blocks-of-other-namespaces-of-skein))
        batches (st/batch 2 in), permits (limit/rate-limiter 1000)]
    (is (= [(+ line 2) (+ line 2)]
           (watched/eventually (fn both [] (let [lines (filter #{(+ line 2)} (map (comp :line :site) (inspect/blocks {:site "programs_test.clj"})))]
                                             (when (= 2 (count lines)) lines)))))
        "their places are the calls of the program")
    (run! a/close! [in permits])
    (is (nil? (await-port batches)))))

(deftest threads-that-give-up-on-each-others-locks
  (let [a (ReentrantLock.) b (ReentrantLock.) both (CountDownLatch. 2)
        cross (fn [^ReentrantLock mine ^ReentrantLock other]
                (doto (Thread. (fn cross []
                                 (.lock mine)
                                 (.countDown both)
                                 (.await both)
                                 (try (.tryLock other 10 TimeUnit/MINUTES) (catch InterruptedException _))))
                  (.setDaemon true)
                  .start))
        threads [(cross a b) (cross b a)]]
    (watched/eventually #(and (.hasQueuedThreads a) (.hasQueuedThreads b)
                              (every? (fn [^Thread t] (= Thread$State/TIMED_WAITING (.getState t))) threads)))
    (is (= [] (inspect/deadlocks)))
    (run! (fn [^Thread t] (.interrupt t) (.join t)) threads)))

(def ^:private held "Channels of a program that a person at the REPL could still use." (atom nil))

(deftest waits-held-by-a-var-are-only-suspected
  (let [x (chan 1) y (chan 1)]
    (reset! held [x y])
    (go (>! x 1) (>! x 2) (<! y))
    (go (>! y 1) (>! y 2) (<! x)))
  (let [{:keys [blocks says]} (watched/eventually #(first (filter (comp #{:suspected} :verdict) (inspect/deadlocks))))]
    (is (= ["(>! x 2)" "(>! y 2)"] (watched/forms blocks)))
    (is (re-find #"They seem to wait for one another" says))
    (is (= [] (proven)))
    (testing "and why follows the chain round"
      (is (= :cycle (:ends (inspect/why (:id (first blocks)))))))
    (let [[x y] @held]
      (<!! x)
      (<!! y)
      (is (watched/eventually #(empty? (filter (partial watched/here? "programs_test.clj") (inspect/blocks))))))
    (reset! held nil)))

;;;; Live programs

(deftest ^:silent idle-connections
  (let [connections (vec (repeatedly 1000 chan)), replies (chan 1000)
        servers (mapv (fn [c] (go-loop [] (when-some [v (<! c)] (>! replies v) (recur)))) connections)]
    (watched/silent connections)
    (run! #(>!! % :echo) connections)
    (dotimes [_ 1000] (<!! replies))
    (watched/silent connections)
    (run! a/close! connections)
    (run! await-port servers)))

(deftest ^:silent a-loop-that-waits-in-a-var
  (reset! held (chan))
  (let [served (go-loop [n 0] (if (<! @held) (recur (inc n)) n))]
    (watched/silent @held)
    (>!! @held 1)
    (a/close! @held)
    (is (= 1 (await-port served)))))

(deftest ^:silent a-choice-with-a-timer
  (let [port ((fn program [] (let [work (chan)] (go (alts! [work (timeout (watched/silent-ms 600000))])))))]
    (watched/silent port)))

(deftest ^:silent a-pipeline-at-full-speed
  (let [in (chan 1) out (chan 1) stop (atom false)]
    (a/pipeline 4 out (map inc) in)
    (let [fed (go-loop [n 0] (if @stop (do (a/close! in) n) (do (>! in n) (recur (inc n)))))
          taken (go-loop [n 0] (if (<! out) (recur (inc n)) n))]
      (watched/silent [in out])
      (reset! stop true)
      (is (= (await-port fed) (await-port taken))))))

(deftest ^:silent slow-readers-of-a-mult
  (let [in (chan) m (a/mult in) taps (vec (repeatedly 3 #(a/tap m (chan))))
        readers (mapv (fn [tap] (go-loop [n 0] (if (<! tap) (do (<! (timeout 5)) (recur (inc n))) n))) taps)
        stop (atom false)
        fed (go-loop [n 0] (if @stop (do (a/close! in) n) (do (>! in :v) (recur (inc n)))))]
    (watched/silent taps)
    (reset! stop true)
    (is (= (repeat 3 (await-port fed)) (map await-port readers)))))

(deftest ^:silent ports-of-another-kind
  (let [handlers (atom [])
        foreign (fn foreign [] (reify p/ReadPort (take! [_ handler] (swap! handlers conj handler) nil)))
        ports (mapv (fn [port] (go (first (alts! [port (chan)])))) (repeatedly 20 foreign))]
    (watched/eventually #(= 20 (count @handlers)))
    (watched/silent ports)
    (doseq [^java.util.concurrent.locks.Lock h @handlers]
      (.lock h)
      (let [call (try (p/commit h) (finally (.unlock h)))] (call :served)))
    (is (= (repeat 20 :served) (map await-port ports)))))

;; Checks RG2 and RG3: a block that has ended stands in no list, and was not collected.
(deftest ^:silent blocks-that-come-and-go
  (let [stop (atom false)
        churn (a/thread (loop [n 0] (if @stop n (do (run! <!! (mapv (fn [i] (go (<! (go i)))) (range 100))) (recur (+ n 100))))))]
    (watched/silent churn)
    (reset! stop true)
    (is (pos? (long (await-port churn))))
    (is (= [] (filter (partial watched/here? "programs_test.clj") (inspect/blocks))))))

(deftest ^:silent many-timers
  (let [fired (CountDownLatch. 100000)]
    (dotimes [i 100000] (go (<! (timeout (+ (watched/silent-ms 1500) (rem i 1000)))) (.countDown fired)))
    (watched/silent fired)
    (is (.await fired deadline-ms TimeUnit/MILLISECONDS))))

(deftest ^:silent blocked-workers
  (let [stop (atom false)
        blocked (mapv (fn [_] (go (while (not @stop) (Thread/sleep 50)) :freed)) (range 32))]
    (watched/silent blocked)
    (reset! stop true)
    (is (= (repeat 32 :freed) (map await-port blocked)))))

(deftest ^:silent scopes-that-are-cancelled
  (let [stop (atom false)
        opened (a/thread (loop [n 0]
                           (if @stop
                             n
                             (do (try (scope/scope [sc {:timeout-ms 1}] (scope/fork sc (<!! (chan))))
                                      (catch Exception _))
                                 (recur (inc n))))))]
    (watched/silent opened)
    (reset! stop true)
    (is (pos? (long (await-port opened))))))

(deftest ^:silent what-a-cleaner-a-weak-map-or-a-thread-local-can-resume
  (let [cleaned (promise) weak (WeakHashMap.) key (Object.) local (ThreadLocal.)
        trigger (volatile! (Object.))]
    (let [c (chan)] (.register (Cleaner/create) @trigger (fn [] (a/put! c :cleaned))) (go (deliver cleaned (<! c))))
    (let [c (chan)] (.put weak key c) (go (<! c)))
    (let [c (chan)] (.set local c) (go (<! c)))
    (watched/silent [trigger key])
    (a/close! (.get weak key))
    (a/close! (.get local))
    (vreset! trigger nil)
    (is (= :cleaned (watched/eventually #(do (System/gc) (deref cleaned 1 nil)))))))

(deftest ^:silent a-fold-that-reports-its-progress
  (let [stop (atom false), progress (chan (a/sliding-buffer 1))
        told (go-loop [n 0] (if (<! progress) (recur (inc n)) n))
        folded (a/thread (fold/fold {:on-progress (fn [p] (a/put! progress p))} fold/count
                                    (take-while (fn [_] (not @stop)) (iterate inc 0))))]
    (watched/silent progress)
    (watched/eventually #(seq (:folds (inspect/snapshot))))
    (reset! stop true)
    (is (pos? (long (await-port folded))))
    (a/close! progress)
    (is (pos? (long (await-port told))))))

(defn- told-of
  "Returns [kind-of-leak report] for the block at `form`, which was collected."
  [form]
  (watched/eventually
    #(let [reports (inspect/deadlocks {:prove true})]
       (when-some [{:keys [kind]} (first (filter (comp #{form} :form :site) (inspect/leaks)))]
         [kind (first (filter (comp #{form} :form :site :block) reports))]))))

(deftest a-thread-that-waits-for-a-stuck-block-or-a-timer
  (let [over (chan)
        done (a/thread (nil? (first (a/alts!! [(go (<! (chan))) over]))))]
    (is (= [:abandoned nil] (told-of "(<! (chan))")))
    (a/close! over)
    (is (true? (await-port done))))
  (let [timed (a/thread (nil? (first (a/alts!! [((fn [] (let [never (chan)] (go (<! never))))) (timeout 3000)]))))]
    (is (= [:abandoned nil] (told-of "(<! never)")))
    (is (true? (await-port timed)))))

(deftest a-block-that-waits-for-a-stuck-block-or-another
  (let [release (chan)
        done (go (first (alts! [(go (<! (chan))) (go (<! release))])))]
    (is (= [:abandoned nil] (told-of "(<! (chan))")))
    (>!! release :released)
    (is (= :released (await-port done)))))

(deftest a-thread-in-a-scope-that-waits-for-a-stuck-block
  (let [done (a/thread (try (scope/scope [_ {:timeout-ms 3000}] (<!! (go (<! (chan)))))
                            (catch java.util.concurrent.TimeoutException e (:skein/error (ex-data e)))))]
    (is (= [:abandoned nil] (told-of "(<! (chan))")))
    (is (= :skein/timeout (await-port done)))))

(deftest a-block-in-a-scope-that-waits-for-a-stuck-block
  (let [done (a/thread (try (scope/scope [s {:timeout-ms 3000}]
                              (let [stuck (go (<! (chan)))] (scope/go s (<! stuck))))
                            (catch java.util.concurrent.TimeoutException e (:skein/error (ex-data e)))))]
    (is (= [:abandoned nil] (told-of "(<! (chan))")))
    (is (= :skein/timeout (await-port done)))))

(deftest a-callback-for-the-result-of-a-stuck-block
  (let [port (go (<! (chan)))]
    (a/label! port "called back") ; so that the snapshot has it
    (a/take! port (fn [_]))
    (is (= [:abandoned nil] (told-of "(<! (chan))")))))
