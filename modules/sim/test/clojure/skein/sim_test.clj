;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim-test
  (:require
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as properties]
   [skein.async :as a :refer [<! <!! >! >!! chan go go-loop timeout]]
   [skein.async.limit :as limit]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.sim.options :as options]
   [skein.skip :refer [skip!]]
   [skein.test]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent CompletableFuture CountDownLatch LinkedBlockingQueue)
   (java.util.concurrent.atomic AtomicBoolean AtomicInteger)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defmacro ^:private failure
  "The failure of a check outside of a test, as [error message], or nil."
  [& args]
  `(binding [test/*testing-vars* nil]
     (try (sim/check ~@args) nil
          (catch clojure.lang.ExceptionInfo e# [(:skein/error (ex-data e#)) (ex-message e#)]))))

(defn- macro-error
  "The error with which a macro refuses `form`, or nil."
  [form]
  (try (macroexpand-1 form) nil
       (catch clojure.lang.Compiler$CompilerException e (:skein/error (ex-data (ex-cause e))))))

(defn- error-of [f]
  (try (f) nil (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))

;;;; Runs

(deftest a-run-returns-its-value-and-takes-no-time
  (is (= {:value :late :virtual-ms 3600000}
         (select-keys (sim/run (let [c (chan)] (go (<! (timeout 3600000)) (>! c :late)) (<!! c))) [:value :virtual-ms])))
  (is (= 0 (:virtual-ms (sim/run (go (<! (timeout 1000))) 1))) "the time is that of the body's end")
  (is (= 180 (sim/with-virtual-time (dotimes [_ 180] (<!! (timeout 1))) (sim/now-ms))))
  (is (= :skein/sim-deadlock (:failure (sim/run (<!! (chan)))))))

(deftest a-body-can-use-the-name-body
  (let [body (fn [] 3)]
    (is (= 3 (:value (sim/run (body))) (sim/with-virtual-time (body))))
    (is (= 2 (:schedules (sim/check {:schedules 2} (body)))))))

(deftest assertions-count-in-virtual-time
  (sim/with-virtual-time (is (= 1 (<!! (go 1))))))

(deftest the-seed-fixes-the-order
  (let [body (fn [seed] (:value (sim/run {:seed seed}
                                         (let [c (chan 10)]
                                           (dotimes [i 5] (go (>! c i)))
                                           (vec (repeatedly 5 #(<!! c)))))))]
    (is (= (body 3) (body 3)))
    (is (< 5 (count (set (map body (range 20))))))))

(deftest manual-time-moves-when-told
  (is (= [nil 5 :fired 10]
         (:value (sim/run {:time :manual}
                          (let [t (go (<! (timeout 10)) :fired)]
                            (sim/advance 5)
                            (let [before [(a/poll! t) (sim/now-ms)]]
                              (sim/advance 5)
                              (conj before (a/poll! t) (sim/now-ms)))))))))

(deftest settle-waits-until-no-task-can-run
  (is (= 5 (:value (sim/run (let [n (atom 0)] (go (dotimes [_ 5] (swap! n inc) (<! (go 1)))) (sim/settle) @n))))))

(deftest helpers-do-nothing-outside-a-simulation
  (is (nil? (sim/settle)))
  (is (nil? (sim/yield)))
  (is (= 1 (sim/pick [1 2])))
  (is (false? (sim/chance 1.0)))
  (is (nil? (sim/fault :disk))))

;;;; Threads

(deftest threads-are-simulated
  (testing "java.util.concurrent"
    (is (= [1 2 :done]
           (:value (sim/run {:seed 7}
                            (let [q (LinkedBlockingQueue.), latch (CountDownLatch. 1), f (CompletableFuture.)]
                              (virtual/future (.put q 1) (.await latch) (.complete f :done))
                              (Thread/startVirtualThread (fn [] (.put q 2) (.countDown latch)))
                              (let [got (sort [(.take q) (.take q)])] (conj (vec got) (.get f)))))))))
  (testing "futures, promises, agents, blocks that block"
    (is (= [1 3 10 7]
           (:value (sim/run {:seed 11}
                            (let [p (promise), ag (agent 0), c (go @p)]
                              (future (deliver p 7))
                              (send ag + 10)
                              (await ag)
                              [@(future 1) (reduce + (pmap identity [1 2])) @ag (<!! c)]))))))
  (testing "thread, io-thread, scopes, windows"
    (is (= [1 2 3 [0 1 2]]
           (:value (sim/run {:seed 5}
                            [(<!! (a/thread 1)) (<!! (a/io-thread 2)) (scope/scope [s] @(scope/fork s 3))
                             (virtual/pmap 2 identity (range 3))])))))
  (testing "deref with a time limit"
    (is (= [:late 5000] (:value (sim/run [(deref (promise) 5000 :late) (sim/now-ms)]))))))

(defn- both
  "Calls `f` on two threads, and returns when both have ended."
  [f]
  (run! deref [(virtual/future (f)) (virtual/future (f))]))

(deftest transactions-that-give-way-are-simulated
  (doseq [[what transact] {"reads an atom" (fn [a cfg] (alter a + @cfg) (alter a + @cfg))
                           "yields" (fn [a _] (sim/yield) (alter a inc) (sim/yield) (alter a inc) (sim/yield))
                           "ensures" (fn [a cfg] (ensure a) (alter a + @cfg) (sim/yield) (alter a inc))
                           "commutes" (fn [a cfg] (commute a (fn [n] (+ (long n) (long @cfg)))) (sim/yield) (commute a (fn [n] (+ (long n) (long @cfg)))))
                           "sets after a read" (fn [a cfg] (let [n (long @a)] (ref-set a (+ n (long @cfg) (long @cfg)))))}]
    (testing what
      (is (nil? (failure {:schedules 200}
                  (let [a (ref 0), cfg (atom 1)]
                    (both (fn [] (dosync (transact a cfg))))
                    (when-not (= 4 @a) (throw (ex-info "" {}))))))))))

(deftest refs-and-agents-are-points
  (testing "write skew"
    (is (= :skein/sim-failed
           (first (failure (let [a (ref 1), b (ref 1)
                                 leave (fn [from] (dosync (when (= 2 (+ (long @a) (long @b))) (alter from dec))))
                                 p (virtual/future (leave a)), q (virtual/future (leave b))]
                             [@p @q]
                             (when (= 0 @a @b) (throw (ex-info "both have left" {}))))))))
    (is (nil? (failure {:schedules 200}
                (let [a (ref 1), b (ref 1)
                      leave (fn [from] (dosync (when (= 2 (+ (long (ensure a)) (long (ensure b)))) (alter from dec))))
                      p (virtual/future (leave a)), q (virtual/future (leave b))]
                  [@p @q]
                  (when (= 0 @a @b) (throw (ex-info "both have left" {}))))))))
  (testing "a read outside of the transaction that writes"
    (is (= :skein/sim-failed
           (first (failure (let [a (ref 0)]
                             (both (fn [] (let [n @a] (dosync (ref-set a (inc (long n)))))))
                             (when-not (= 2 @a) (throw (ex-info "lost" {}))))))))
    (is (nil? (failure {:schedules 200}
                (let [a (ref 0)]
                  (both (fn [] (dosync (alter a inc))))
                  (when-not (= 2 @a) (throw (ex-info "lost" {}))))))))
  (testing "an agent that is read before it has acted"
    (let [[error story] (failure (let [ag (agent 0)]
                                   (send ag inc)
                                   (when-not (= 1 @ag) (throw (ex-info "early" {})))))]
      (is (= :skein/sim-failed error))
      (is (re-find #"main +sends to agent-1.*\n(.*\n)* .* reads agent-1 = 0" (str story))))
    (is (nil? (failure {:schedules 50} (let [ag (agent 0)]
                                         (send ag inc)
                                         (send-off ag inc)
                                         (await ag)
                                         (when-not (= 2 @ag) (throw (ex-info "early" {})))))))))

(deftest no-block-joins-the-transaction-of-a-body-without-threads
  (is (nil? (failure {:threads :none :schedules 50}
              (let [r (ref 0), added (go (dosync (alter r inc)))]
                (try (dosync (deref r) (sim/yield) (throw (ex-info "" {}))) (catch Exception _))
                (<!! added)
                (when-not (= 1 @r) (throw (ex-info "undone" {}))))))))

(deftest errors-of-transactions-are-found
  (testing "write skew"
    (is (= :skein/sim-failed (first (failure (let [a (ref 1), b (ref 1)
                                                   leave (fn [from] (dosync (when (= 2 (+ (long @a) (long @b))) (sim/yield) (alter from dec))))
                                                   p (virtual/future (leave a)), q (virtual/future (leave b))]
                                               [@p @q]
                                               (when (= 0 @a @b) (throw (ex-info "both have left" {})))))))))
  (testing "a transaction is tried again, and so changes an atom twice"
    (is (= :skein/sim-failed (first (failure (let [a (ref 0), tries (atom 0)]
                                               (both (fn [] (dosync (swap! tries inc) (sim/yield) (alter a inc))))
                                               (when-not (= 2 @tries) (throw (ex-info "tried again" {}))))))))))

(deftest a-transaction-that-waits-for-one-that-waits-is-refused
  (let [[error message] (failure (let [a (ref 0), c (chan)
                                       p (virtual/future (dosync (alter a inc) (<!! c)))]
                                   (sim/settle)
                                   (dosync (alter a inc))
                                   (>!! c 1)
                                   @p))]
    (is (= :skein/sim-outside error))
    (is (re-find #"^main waits in a transaction at sim_test.clj:\d+, for another that has changed or ensured the same ref and waits itself\. "
                 (str message)))))

(deftest without-threads-the-body-can-wait
  (is (= 3 (:value (sim/run {:threads :none} (let [c (chan)] (go (>! c 3)) (<!! c))))))
  (is (= 5 (:value (sim/run {:threads :none} (let [p (promise)] (go (<! (timeout 5)) (deliver p 5)) @p)))))
  (is (= :skein/sim-unsupported (:failure (sim/run {:threads :none} @(virtual/future 1)))))
  (is (= :skein/sim-unsupported (:failure (sim/run {:threads :none} (<!! (go (<!! (chan)))))))))

(deftest a-thread-in-lite-mode-is-refused-with-its-line
  (doseq [[error message] [(failure {:threads :none} (scope/scope [s] (scope/fork s 1)))
                           (failure {:threads :none} (scope/scope [s] (scope/go s (<! (chan))) (scope/fork s 1)))
                           (failure {:threads :none} (virtual/pmap 2 inc [1 2 3]))]]
    (is (= :skein/sim-unsupported error))
    (is (re-find #"^A thread is started, or a block blocks, at sim_test.clj:\d+. Without --add-opens " (str message)))))

(deftest both-modes-run-alike
  (let [tokens (fn [threads] (map #(:token (sim/run {:threads threads :seed %}
                                                    (let [c (chan)] (go (>! c 1)) (go (>! c 2)) [(<!! c) (<!! c)])))
                                  (range 10)))]
    (is (= (tokens :auto) (tokens :none)))))

;;;; Failures

(deftest failures-have-their-errors
  (is (= :skein/sim-failed (first (failure (throw (ex-info "no" {}))))))
  (is (= :skein/sim-failed (first (failure (go (throw (ex-info "no" {})))))))
  (is (= :skein/sim-failed (first (failure (virtual/future (throw (ex-info "no" {})))))))
  (is (= :skein/sim-failed (first (failure (is (= 1 2))))))
  (is (= :skein/sim-deadlock (first (failure (<!! (chan))))))
  (is (= :skein/sim-leak (first (failure (let [c (chan)] (go (>! c 1)) nil)))))
  (is (nil? (failure {:leaks :none :schedules 5} (let [c (chan)] (go (>! c 1)) nil))))
  (is (= :skein/sim-leak (first (failure {:leaks :all} (let [c (chan)] (go (<! c)) nil)))))
  (is (= :skein/sim-livelock (first (failure {:max-steps 500} (let [c (chan 1)] (go-loop [] (a/poll! c) (recur)))))))
  (is (= :skein/sim-failed (first (failure {:max-steps 500} (do (is (= 1 2)) (loop [] (sim/yield) (recur)))))))
  (let [runs (atom 0)]
    (is (= :skein/sim-not-deterministic (first (failure (when (even? (long (swap! runs inc))) (<!! (go 1))))))))
  (is (= :skein/sim-outside (first (failure (Thread/sleep 5))))))

;; On a busy machine a short sleep may be over before its thread has stopped, and then no run sees it.
(deftest a-sleep-that-only-some-runs-see-is-named
  (let [runs (atom 0)]
    (is (= :skein/sim-outside (first (failure (when (even? (long (swap! runs inc))) (Thread/sleep 5))))))))

(defn- returns-early
  "Ends after 3 ms, and leaves a block that puts its reply after `ms`."
  [ms]
  (let [reply (chan)]
    (go (<! (timeout ms)) (>! reply :late))
    (a/alts!! [reply (timeout 3)])))

(deftest timers-run-when-the-body-has-ended
  (is (= :skein/sim-leak (first (failure {:schedules 5} (returns-early 5)))))
  (is (nil? (failure {:schedules 5 :drain-ms 0} (returns-early 5))))
  (is (nil? (failure {:schedules 5 :drain-ms 1000} (returns-early 2000))))
  (is (= :skein/sim-failed (first (failure {:schedules 5} (go (<! (timeout 5)) (throw (ex-info "later" {})))))))
  (testing "not for ever"
    (let [ticks (atom 0)]
      (is (nil? (failure {:schedules 2 :max-steps 100} (go-loop [] (<! (timeout 1)) (swap! ticks inc) (recur)))))
      (is (pos? @ticks))))
  (testing "a time limit that is not reached passes no time"
    (is (= 3 (:virtual-ms (sim/check {:schedules 5} (a/alts!! [(go (<! (timeout 3))) (timeout 500)]))))))
  (is (= 0 (sim/with-virtual-time (go (<! (timeout 5)) (throw (ex-info "later" {}))) (sim/now-ms)))))

(deftest a-permit-that-nobody-takes-is-no-leak
  (is (nil? (failure {:schedules 5} (limit/rate-limiter 10) nil)))
  (is (= :skein/sim-leak (first (failure {:leaks :all} (limit/rate-limiter 10) nil)))))

(deftest the-story-is-what-a-repl-prints
  (let [thrown (ex-info "wrong" {})
        failure (binding [test/*testing-vars* nil] (try (sim/check (throw thrown)) nil (catch clojure.lang.ExceptionInfo e e)))]
    (is (nil? (ex-cause failure)) "a REPL prints the innermost cause")
    (is (= [thrown] (vec (.getSuppressed ^Throwable failure))))))

(deftest lite-mode-is-named-in-the-summary
  (is (= [true nil] (map :lite [(sim/check {:schedules 1 :threads :none} 1) (sim/check {:schedules 1} 1)]))))

(deftest an-endless-step-is-reported-with-its-line
  (let [stop (AtomicBoolean.)
        compute (fn [] (when-not (.get stop) (recur)))]
    (try
      (doseq [[task threads [error message]]
              [["main" :auto (failure {:watchdog-ms 100} (compute))]
               ["main" :none (failure {:watchdog-ms 100 :threads :none} (compute))]
               ["go-1" :auto (failure {:watchdog-ms 100} (<!! (go (compute))))]
               ["go-1" :none (failure {:watchdog-ms 100 :threads :none} (<!! (go (compute))))]
               ["thread-1" :auto (failure {:watchdog-ms 100} @(virtual/future (compute)))]]]
        (testing [task threads]
          (is (= :skein/sim-stuck error))
          (is (re-find (re-pattern (str "^A step of " task " has taken 100 ms of real time, at \\S+\\(sim_test.clj:\\d+\\)")) message))
          (is (= (= :none threads) (str/includes? message "With --add-opens")) "without threads, the message says what a wait in java.util.concurrent needs")))
      (finally (.set stop true)))))

(deftest a-difference-that-does-not-recur-is-reported
  (let [runs (AtomicInteger.)
        [error message] (failure (when (= 3 (.incrementAndGet runs)) (<!! (go 1))))]
    (is (= :skein/sim-not-deterministic error))
    (is (str/starts-with? message "The same schedule gave two runs that differed; two more of them, to see where, were equal.\n"))))

(deftest a-rethrown-exception-counts-as-delivered
  (let [fails (fn [] (throw (ex-info "x" {})))]
    (is (nil? (failure {:schedules 20} (try (a/<?? (go (fails))) (catch Exception _)))))
    (is (nil? (failure {:schedules 20} (try (a/<?? (a/thread (fails))) (catch Exception _)))))
    (is (nil? (failure {:schedules 20} (<!! (go (try (a/<? (go (fails))) (catch Exception _)))))))
    (doseq [[error message] [(failure {:schedules 20} (do (<!! (a/thread (fails))) nil))
                             (failure {:schedules 20} (let [c (go (fails))] (is (= 1 (<!! c)))))
                             (failure {:schedules 20} (do (go (fails)) (<!! (chan))))
                             (failure {:max-steps 2000} (do (go (fails)) (let [c (chan)] (loop [] (a/poll! c) (recur)))))]]
      (is (= :skein/sim-failed error))
      (is (str/starts-with? (str message) "An exception is neither caught nor taken: ExceptionInfo, \"x\",")))))

(deftest a-report-names-the-line
  (let [[_ deadlock] (failure (let [c (chan)] (<!! c)))
        [_ sleeps] (failure (Thread/sleep 5))]
    (is (re-find #"main, sim_test.clj:\d+, waits for chan-1\. Nobody has put on it" deadlock))
    (is (re-find #"at sim_test.clj:\d+" sleeps))))

(deftest a-report-at-a-repl-has-one-file-name
  (let [story (binding [test/*testing-vars* nil, *file* "NO_SOURCE_PATH", *source-path* "NO_SOURCE_FILE"]
                (eval '(try (skein.sim/check
                              (let [c (skein.async/chan)]
                                (skein.async/go (skein.async/>! c 1))
                                (throw (ex-info "x" {:got (skein.async/<!! c)}))))
                            (catch clojure.lang.ExceptionInfo e (ex-message e)))))]
    (is (re-find #"go-1 +>! chan-1 1, ends +NO_SOURCE" story))
    (is (= ["NO_SOURCE_FILE"] (distinct (re-seq #"NO_SOURCE_\w+" story))))))

(defn- outside
  "The message of the first :skein/sim-outside that `told` returns, in at most 50 calls. On a busy machine the thread that
  is not simulated may come too late for a run, which is then reported as a deadlock."
  [told]
  (some (fn [[error message]] (when (= :skein/sim-outside error) message)) (repeatedly 50 told)))

(deftest threads-from-outside-are-refused-or-awaited
  (let [over (AtomicBoolean.) ; a run may end before the thread has seen that the body waits
        waited-for? (fn [^Channel c] (pos? (.takerCount c)))
        other (fn [c] (doto (Thread. (fn [] (cond
                                              (waited-for? c) (a/>!! c 1)
                                              (.get over) nil
                                              :else (do (Thread/yield) (recur)))))
                        (.setDaemon true)
                        (.start)))]
    (try
      (is (re-find #"^The thread Thread-\d+, which is not simulated, woke main"
                   (str (outside #(failure (let [c (chan)] (other c) (<!! c)))))))
      (is (= 1 (:value (sim/run {:outside :wait} (let [c (chan)] (other c) (<!! c))))))
      (finally (.set over true)))))

(deftest waits-for-platform-threads-are-refused-with-their-line
  (let [pool (java.util.concurrent.ForkJoinPool/commonPool)
        runs? (fn [^Thread t] (not (#{Thread$State/WAITING Thread$State/TERMINATED} (.getState t))))]
    (is (re-find #"^The thread ForkJoinPool\S+, which is not simulated, woke main, which waits at sim_test.clj:\d+\. "
                 (str (outside #(failure (let [f (CompletableFuture.), main (Thread/currentThread)]
                                           (.execute pool (fn []
                                                            (while (runs? main) (Thread/onSpinWait))
                                                            (.complete f 1)))
                                           (.get f)))))))))

(deftest a-thread-of-a-pool-may-be-late-for-each-run
  (let [pool (java.util.concurrent.Executors/newSingleThreadExecutor)] ; the work of earlier runs comes first
    (try
      (is (string? (outside #(failure {:schedules 3} (let [f (CompletableFuture.)]
                                                       (.execute pool (fn [] (Thread/sleep 40) (.complete f 1)))
                                                       (.get f))))))
      (finally (.shutdown pool)))))

(deftest a-wait-that-a-platform-thread-ends-is-not-a-deadlock-of-no-task
  (let [pool (java.util.concurrent.ForkJoinPool/commonPool)
        woken [#(failure {:schedules 3} (let [p (promise)] (.start (Thread. (fn [] (deliver p 1)))) @p))
               #(failure {:schedules 3} (let [f (CompletableFuture.)] (.execute pool (fn [] (.complete f 1))) (.get f)))]]
    (is (= [] (for [fails woken, [error message] (repeatedly 50 fails)
                    :when (and (= :skein/sim-deadlock error) ; the machine is so busy that the thread came too late
                               (not (re-find #"\n  main +waits " message)))]
                message)))))

(deftest waits-in-object-wait-are-refused-with-their-line
  (if (< (.feature (Runtime/version)) 24)
    (skip! "before JDK 24 a thread that waits for a monitor keeps its carrier")
    (doseq [[waits [error message]]
            {"main" (failure (let [o (Object.)] (locking o (.wait o))))
             "thread-1" (failure @(virtual/future (let [o (Object.)] (locking o (.wait o)))))
             "main is notified" (failure (let [o (Object.)]
                                           (virtual/future (locking o (.notifyAll o)))
                                           (locking o (.wait o))))}]
      (testing waits
        (is (= :skein/sim-outside error))
        (is (re-find #"^(main|thread-1) waits in Object.wait at sim_test.clj:\d+, which can't be simulated" (str message)))))))

(deftest input-and-output-are-refused-with-their-line
  (let [accepts (fn [] (with-open [s (java.net.ServerSocket. 0)] (.accept s)))]
    (doseq [[error message] [(failure (accepts))
                             (failure (<!! (go (accepts))))
                             (failure (with-open [server (java.net.ServerSocket. 0)
                                                  client (java.net.Socket. "127.0.0.1" (.getLocalPort server))]
                                        (.read (.getInputStream client)))) ; a refused connection need not wait
                             (failure (.waitFor (doto (.start (ProcessBuilder. ["sleep" "60"])) .onExit)))]]
      (is (= :skein/sim-outside error))
      (is (re-find #"^(main|go-1) waits for input or output at sim_test.clj:\d+, which is not simulated" (str message))))))

(deftest sockets-work-after-a-simulation-waited-first
  (is (= "[:skein/sim-outside 7]"
         (fresh-jvm/output
           ["--add-opens" "java.base/java.lang=ALL-UNNAMED"]
           ["-e" (pr-str '(do (require '[skein.sim :as sim])
                              (let [echoed (fn []
                                             (with-open [server (java.net.ServerSocket. 0)]
                                               (let [read (java.util.concurrent.CompletableFuture.)
                                                     reader (Thread/startVirtualThread
                                                              (fn []
                                                                (with-open [s (.accept server)]
                                                                  (.complete read (.read (.getInputStream s))))))]
                                                 (with-open [s (java.net.Socket. "localhost" (.getLocalPort server))]
                                                   (while (not= Thread$State/WAITING (.getState reader)) (Thread/yield))
                                                   (.write (.getOutputStream s) 7)
                                                   (.get read 10 java.util.concurrent.TimeUnit/SECONDS)))))]
                                [(:failure (sim/run (with-open [s (java.net.ServerSocket. 0)] (.accept s)))) (echoed)])))]))))

(deftest a-failure-is-reported-once-in-a-test
  (let [reports (atom [])]
    (binding [test/report #(swap! reports conj %)]
      (sim/check (is (= 1 2)) (is (= 3 4))))
    (is (= [:fail] (map :type @reports)))
    (is (re-find #"^(?m)\(= 1 2\) does not hold, at sim_test.clj:\d+\.$" (:message (first @reports))) "first what has failed, then the story")
    (is (str/includes? (:message (first @reports)) "again: (skein.sim/replay \"k1."))
    (is (= '(= 1 2) (:expected (first @reports))))))

(deftest always-and-sometimes
  (is (= :skein/sim-failed (first (failure (let [n (atom 0)] (sim/always #(< (long @n) 3) "small") (go (dotimes [_ 5] (swap! n inc))))))))
  (is (= ["the fault :nmae"] (:never-seen (sim/check {:schedules 20 :faults {:name 1, :nmae 1}} (sim/fault :name)))))
  (is (= ["never"] (:never-seen (sim/check {:schedules 20} (sim/sometimes (constantly false) "never")
                                           (sim/sometimes (constantly true) "seen") (<!! (go 1)))))))

(deftest faults-are-injected
  (is (= :skein/sim-failed (first (failure {:faults {:disk (ex-info "full" {})}} (dotimes [_ 3] (sim/fault :disk)))))))

(deftest the-seed-fixes-random-numbers
  (is (= (:value (sim/run [(rand) (rand-int 10) (shuffle (range 5)) (random-uuid) (rand-nth [1 2 3])]))
         (:value (sim/run [(rand) (rand-int 10) (shuffle (range 5)) (random-uuid) (rand-nth [1 2 3])])))))

(deftest cancelled-everywhere
  (let [use-lease (fn [give-back?]
                    (binding [test/*testing-vars* nil]
                      (try
                        (sim/everywhere {:fault :cancel :schedules 3}
                          (let [free (atom 3)]
                            (scope/scope [s]
                              (sim/target s)
                              (scope/go s
                                (swap! free dec)
                                (if give-back?
                                  (try (<! (timeout 10)) (finally (swap! free inc)))
                                  (do (<! (timeout 10)) (swap! free inc)))))
                            (when-not (= 3 @free) (throw (ex-info "a lease is lost" {})))))
                        (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e))))))]
    (is (= :skein/sim-failed (use-lease false)))
    (is (< 3 (long (:points (use-lease true)))))
    (is (= :skein/bad-argument (error-of #(sim/everywhere (<!! (go 1))))))))

(deftest a-deadlock-in-a-scope-is-reported
  (doseq [threads [:auto :none]
          [error message] [(failure {:schedules 5 :threads threads} (scope/scope [s] (scope/go s (<! (chan)))))
                           (failure {:schedules 5 :threads threads} (scope/scope [s] (scope/in-scope s (go (<! (chan))) 1)))]]
    (is (= :skein/sim-deadlock error))
    (is (re-find #"go-1, sim_test.clj:\d+ .*, waits for chan-1\. " (str message)))))

(deftest a-time-limit-leaves-one-schedule
  (is (= 1 (:schedules (sim/check {:for-ms 0} (<!! (go 1)))))))

(deftest a-check-can-be-a-property-of-test-check
  (let [property (fn [f] (properties/for-all [n gen/nat] (sim/check {:report :throw, :schedules 2} (assert (= n (<!! (go (f n))))))))]
    (is (:pass? (check/quick-check 3 (property identity))))
    (is (= :skein/sim-failed (:skein/error (ex-data (:result (check/quick-check 3 (property inc)))))))))

;;;; Bad input

(deftest the-environment-sets-options
  (is (= [7 500] ((juxt :seed :for-ms) (options/checked {} {"SKEIN_SIM_SEED" "7", "SKEIN_SIM_FOR_MS" "500"}))))
  (is (= [3 500] ((juxt :seed :for-ms) (options/checked {:seed 3 :for-ms 9000} {"SKEIN_SIM_SEED" "7", "SKEIN_SIM_FOR_MS" "500"}))))
  (doseq [[name text] {"SKEIN_SIM_SEED" "-1", "SKEIN_SIM_FOR_MS" "soon"}]
    (is (= :skein/bad-argument (error-of #(options/checked {} {name text}))))))

(deftest a-token-of-the-environment-skips-other-tests
  (let [lost (fn [] (let [c (chan)] (go (>! c 1)) nil))
        token (:token (sim/run (lost)))
        told (fn [token body] ; in a test
               (let [reports (atom []), out (java.io.StringWriter.)]
                 (binding [test/report #(swap! reports conj (:type %)), test/*test-out* out]
                   (sim/check* {} body {:file "x_test.clj" :line 7} token))
                 [@reports (str/split-lines (str out))]))]
    (is (= [[:fail] [""]] (told token lost)))
    (is (= [[:pass] [""]] (told "" (fn [] 1))) "an empty variable is not a token")
    (is (= [[] [(str "skipped: (a-token-of-the-environment-skips-other-tests) (x_test.clj:7): SKEIN_SIM=" token
                     " is of another test, or this one has changed since.")]]
           (told token (fn [] (<!! (go 1))))))
    (is (= :skein/bad-token (error-of #(told "k1" lost))))))

(deftest options-that-a-form-gives-are-not-ignored
  (let [base {:schedules 1}, refused #"The first form in the body of (\w+) gives the options \{:schedules 1, :seed 2\}, which would be ignored"
        message (fn [f] (binding [test/*testing-vars* nil] (try (:text (f)) (catch clojure.lang.ExceptionInfo e (ex-message e)))))]
    (doseq [[what f] {"check" #(sim/check (merge base {:seed 2}) (<!! (go 1)))
                      "everywhere" #(sim/everywhere (merge base {:seed 2}) (sim/target (go 1)))
                      "run" #(sim/run (merge base {:seed 2}) (<!! (go 1)))}]
      (is (= what (second (re-find refused (str (message f)))))))
    (testing "other maps are values like others"
      (is (= {:seed 2} (:value (sim/run (merge {:seed 2})))))
      (is (= 1 (:value (sim/run (assoc {} :lives 3) 1)))))))

(deftest bad-input-is-refused
  (doseq [f [#(sim/check {:schedulez 1} 1) #(sim/check {:report :print} 1) #(sim/run {:other 1} 1)
             #(sim/everywhere {:other 1} 1) #(sim/replay {:other 1} "k1.aa:" 1)]]
    (is (= :skein/bad-argument (error-of f))))
  (is (= :skein/bad-argument (error-of #(sim/check {:schedules 0} 1))))
  (is (= :skein/bad-argument (error-of #(sim/check {:for-ms "1"} 1))))
  (is (= :skein/bad-token (error-of #(sim/replay "x" 1))))
  (doseq [p [nil "x" 7 -1 ##NaN]]
    (is (= :skein/bad-argument (error-of #(sim/chance p)))))
  (is (= :skein/bad-argument (error-of #(sim/advance "1"))))
  (is (= [:skein/bad-argument :skein/bad-argument] (map error-of [#(sim/pick []) #(sim/pick 5)])))
  (is (= :skein/bad-argument (error-of #(sim/always 5 "m"))))
  (is (= :skein/bad-argument (error-of #(sim/sometimes 5 "m"))))
  (doseq [form '[(skein.sim/check {:schedules 2}) (skein.sim/everywhere {}) (skein.sim/run {})
                 (skein.sim/check) (skein.sim/check options) (skein.sim/check 5 1)
                 (skein.sim/everywhere options) (skein.sim/run)]]
    (is (= :skein/bad-argument (macro-error form)) (pr-str form)))
  (is (= :skein/bad-argument (macro-error '(skein.test/defsim 5))))
  (is (= :skein/bad-token (error-of #(sim/replay "k9.aa:1" 1))))
  (is (= :skein/bad-token (error-of #(sim/replay "k1.aa:3" (<!! (go 1))))))
  (is (= [false true] (for [mode [:auto :none]]
                        (try (sim/replay {:threads mode} "k1.aa:3" (<!! (go 1)))
                             (catch Exception e (str/includes? (ex-message e) "--add-opens")))))
      "a schedule may need threads")
  (is (= :skein/sim-unsupported (:skein/error (ex-data (:thrown (sim/run (sim/run 1))))))))

;;;; Ends

(deftest a-failed-run-leaves-nothing-behind
  (let [cleaned (atom 0), before (Thread/activeCount)]
    (dotimes [_ 100]
      (sim/run (try (go (try (<! (chan)) (finally (swap! cleaned inc))))
                    (virtual/future (try (.take (LinkedBlockingQueue.)) (finally (swap! cleaned inc))))
                    (<!! (chan))
                    (finally (swap! cleaned inc)))))
    (is (= 300 @cleaned))
    (is (<= (Thread/activeCount) (+ 2 before)))
    (is (not (str/includes? (str clojure.lang.Agent/soloExecutor) "Joining")))))
