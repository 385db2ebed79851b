;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.holders-test
  "Odd places in which a program can hold a channel. While something holds the channel, nothing may be reported on a block that waits
  in it. When the holder has gone, the block must be proven."
  (:require
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.async :as a :refer [<! chan go timeout]]
   [skein.deadline :refer [await-port]]
   [skein.inspect :as inspect]
   [skein.inspect.heap :as heap]
   [skein.inspect.watched :as watched])
  (:import
   (java.lang.management ManagementFactory)
   (java.lang.ref PhantomReference ReferenceQueue SoftReference WeakReference)
   (java.net InetAddress InetSocketAddress ServerSocket Socket)
   (java.nio.channels AsynchronousServerSocketChannel CompletionHandler Selector)
   (java.util Timer TimerTask WeakHashMap)
   (java.util.concurrent CompletableFuture ConcurrentHashMap CountDownLatch CyclicBarrier Executors ForkJoinPool LinkedBlockingQueue ScheduledThreadPoolExecutor Semaphore TimeUnit)
   (java.util.concurrent.locks LockSupport)
   (java.util.logging Handler Logger)
   (javax.management MBeanServerDelegate NotificationListener)
   (skein.inspect.rt Entry Entry$Fate)
   (skein.rt Operation Result)))

(set! *warn-on-reflection* true)

(use-fixtures :each watched/fresh)

(def ^:private by-name "Channels that a static map holds." (ConcurrentHashMap.))
(def ^:private in-a-var "A channel that a var holds." nil)

(defn- daemon ^Thread [f]
  (doto (Thread. ^Runnable f) (.setDaemon true) .start))

(defn- local-server ^ServerSocket []
  (ServerSocket. 0 1 (InetAddress/getLoopbackAddress)))

(defn- knock [^long port]
  (.close (Socket. (InetAddress/getLoopbackAddress) (int port))))

(defn- echo
  "Starts a process that writes what it reads."
  ^Process []
  (.start (ProcessBuilder. ^java.util.List (list "cat"))))

(defn- end-of [^Process p] (.close (.getOutputStream p)))

(defn- register-something []
  (let [server (ManagementFactory/getPlatformMBeanServer)
        name (javax.management.ObjectName. "skein.inspect:type=HoldersTest")]
    (.createMBean server "javax.management.timer.Timer" name)
    (.unregisterMBean server name)))

(def ^:private holders
  "{name [hold wake]}: `hold` is called with the function that serves the block, which alone has its channel, and returns what
  the test keeps; `wake` gets that, and has the function called."
  {:var [(fn [serve] (alter-var-root #'in-a-var (constantly serve)) nil) (fn [_] (in-a-var) (alter-var-root #'in-a-var (constantly nil)))]
   :static-map [(fn [serve] (.put ^ConcurrentHashMap by-name :it serve) nil) (fn [_] ((.remove ^ConcurrentHashMap by-name :it)))]
   :soft-reference-in-use ; the collector clears one that nobody has used for some minutes, and what waited there waits for ever
   [(fn [serve] (let [r (SoftReference. serve)] (daemon (fn [] (while (some? (.get r)) (Thread/sleep 100)))) r))
    (fn [^SoftReference r] (let [serve (.get r)] (.clear r) (serve)))]
   :value-of-a-weak-map [(fn [serve] (let [k (Object.)] [k (doto (WeakHashMap.) (.put k serve))]))
                         (fn [[k ^WeakHashMap m]] ((.get m k)))]
   :thread-local [(fn [serve] (doto (ThreadLocal.) (.set serve))) (fn [^ThreadLocal l] ((.get l)))]
   :phantom-reference [(fn [serve] (let [referent (volatile! (Object.)), queue (ReferenceQueue.)]
                                     [referent queue (proxy [PhantomReference clojure.lang.IFn] [@referent queue] (invoke [] (serve)))]))
                       (fn [[referent ^ReferenceQueue queue]]
                         (vreset! referent nil)
                         ((watched/eventually #(do (System/gc) (.remove queue 10)))))]
   :watch-of-an-atom [(fn [serve] (doto (atom 0) (add-watch :w (fn [& _] (serve))))) (fn [a] (swap! a inc))]
   :agents-action [(fn [serve] (let [go-on (promise)] (send-off (agent nil) (fn [_] @go-on (serve))) go-on)) (fn [p] (deliver p 1))]
   :future-of-clojure [(fn [serve] (let [go-on (promise)] (future @go-on (serve)) go-on)) (fn [p] (deliver p 1))]
   :thread-that-waits-for-a-latch [(fn [serve] (let [l (CountDownLatch. 1)] (daemon (fn [] (.await l) (serve))) l))
                                   (fn [^CountDownLatch l] (.countDown l))]
   :virtual-thread-that-waits-for-a-latch
   [(fn [serve] (let [l (CountDownLatch. 1)] (Thread/startVirtualThread (fn [] (.await l) (serve))) l))
    (fn [^CountDownLatch l] (.countDown l))]
   :parked-virtual-thread
   [(fn [serve] (let [stop (atom false)] [stop (Thread/startVirtualThread (fn [] (while (not @stop) (LockSupport/park)) (serve)))]))
    (fn [[stop t]] (reset! stop true) (LockSupport/unpark t))]
   :sleeping-virtual-thread [(fn [serve] (let [stop (atom false)] (Thread/startVirtualThread (fn [] (while (not @stop) (Thread/sleep 10)) (serve))) stop))
                             (fn [stop] (reset! stop true))]
   :sleeping-thread [(fn [serve] (let [stop (atom false)] (daemon (fn [] (while (not @stop) (Thread/sleep 10)) (serve))) stop))
                     (fn [stop] (reset! stop true))]
   :thread-in-a-monitor [(fn [serve] (let [m (Object.), stop (atom false)] (daemon (fn [] (locking m (while (not @stop) (.wait m))) (serve))) [m stop]))
                         (fn [[m stop]] (locking m (reset! stop true) (.notifyAll ^Object m)))]
   :thread-that-accepts [(fn [serve] (let [s (local-server)] (daemon (fn [] (with-open [s s] (.close (.accept s))) (serve))) (.getLocalPort s))) knock]
   :thread-that-selects [(fn [serve] (let [s (Selector/open)] (daemon (fn [] (with-open [s s] (.select s)) (serve))) s))
                         (fn [^Selector s] (.wakeup s))]
   :thread-in-native-code [(fn [serve] (let [p (echo)] (daemon (fn [] (.read (.getInputStream p)) (serve))) p)) end-of]
   :exit-of-a-process [(fn [serve] (let [p (echo)] (.thenRun (.onExit p) ^Runnable serve) (.getOutputStream p)))
                       (fn [^java.io.OutputStream out] (.close out))]
   :handler-of-a-socket
   [(fn [serve]
      (let [s (.bind (AsynchronousServerSocketChannel/open) (InetSocketAddress. (InetAddress/getLoopbackAddress) 0))]
        (.accept s nil (reify CompletionHandler (completed [_ _ _] (serve)) (failed [_ _ _])))
        (.getPort ^InetSocketAddress (.getLocalAddress s))))
    knock]
   :daemon-timer [(fn [serve] (let [stop (atom false), timer (Timer. true)]
                                (.schedule timer (proxy [TimerTask] [] (run [] (when @stop (serve) (.cancel timer)))) 10 10)
                                stop))
                  (fn [stop] (reset! stop true))]
   :scheduled-executor [(fn [serve] (let [stop (atom false), e (ScheduledThreadPoolExecutor. 1)]
                                      (.scheduleAtFixedRate e (fn [] (when @stop (serve) (.shutdown e))) 10 10 TimeUnit/MILLISECONDS)
                                      stop))
                        (fn [stop] (reset! stop true))]
   :queue-of-an-executor [(fn [serve] (let [l (CountDownLatch. 1), e (Executors/newSingleThreadExecutor)]
                                        (.execute e (fn [] (.await l)))
                                        (.execute e (fn [] (serve) (.shutdown e)))
                                        l))
                          (fn [^CountDownLatch l] (.countDown l))]
   :queue-of-a-fork-join-pool [(fn [serve] (let [l (CountDownLatch. 1), p (ForkJoinPool. 1)]
                                             (.execute p ^Runnable (fn [] (.await l)))
                                             (.execute p ^Runnable (fn [] (serve) (.shutdown p)))
                                             l))
                               (fn [^CountDownLatch l] (.countDown l))]
   :dependent-of-a-future [(fn [serve] (doto (CompletableFuture.) (.thenRun ^Runnable serve))) (fn [^CompletableFuture f] (.complete f 1))]
   :future-with-a-timeout [(fn [serve] (.thenRun (.completeOnTimeout (CompletableFuture.) 1 3 TimeUnit/SECONDS) ^Runnable serve) nil) (fn [_])]
   :callback-of-a-timer [(fn [serve] (a/take! (timeout 3000) (fn [_] (serve))) nil) (fn [_])]
   :local-of-another-block [(fn [serve] (let [c (chan)] (go (let [held {:deep [serve]}] (<! c) ((first (:deep held))))) c)) a/close!]
   :consumer-of-a-queue [(fn [serve] (let [q (LinkedBlockingQueue.)] (daemon (fn [] (.take q) (serve))) q)) (fn [^LinkedBlockingQueue q] (.put q 1))]
   :semaphore [(fn [serve] (let [s (Semaphore. 0)] (daemon (fn [] (.acquire s) (serve))) s)) (fn [^Semaphore s] (.release s))]
   :barrier [(fn [serve] (let [b (CyclicBarrier. 2)] (daemon (fn [] (.await b) (serve))) b)) (fn [^CyclicBarrier b] (.await b))]
   :management-bean
   [(fn [serve] (.addNotificationListener (ManagementFactory/getPlatformMBeanServer) MBeanServerDelegate/DELEGATE_NAME
                                          (reify NotificationListener (handleNotification [_ _ _] (serve))) nil nil))
    (fn [_] (register-something))]
   :context-class-loader [(fn [serve] (let [l (CountDownLatch. 1), t (Thread. (fn [] (.await l)))]
                                        (.setContextClassLoader t (proxy [ClassLoader clojure.lang.IFn] [] (invoke [] (serve))))
                                        (.start t)
                                        [l t]))
                          (fn [[^CountDownLatch l ^Thread t]] ((.getContextClassLoader t)) (.countDown l))]
   :exception-handler-of-a-thread
   [(fn [serve] (let [l (CountDownLatch. 1)]
                  (doto (Thread. (fn [] (.await l) (throw (InterruptedException.))))
                    (.setUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _] (serve))))
                    (.setDaemon true)
                    .start)
                  l))
    (fn [^CountDownLatch l] (.countDown l))]
   :shutdown-hook
   [(fn [serve] (let [hook (Thread. ^Runnable serve)] (.addShutdownHook (Runtime/getRuntime) hook) (WeakReference. hook)))
    (fn [^WeakReference r] (let [^Thread hook (.get r)] (.removeShutdownHook (Runtime/getRuntime) hook) (.run hook)))]})

(def ^:private gone
  "{name hold}: places that no longer hold a channel, or never did."
  {:weak-reference (fn [serve] (WeakReference. serve))
   :phantom-reference (fn [serve] (PhantomReference. serve (ReferenceQueue.)))
   :entry-that-was-removed (fn [serve] (.put ^ConcurrentHashMap by-name :gone serve) (.remove ^ConcurrentHashMap by-name :gone) nil)
   :thread-local-of-a-thread-that-ended (fn [serve] (let [l (ThreadLocal.)] (doto (Thread. (fn [] (.set l serve))) .start .join) l))
   :watch-that-was-removed (fn [serve] (doto (atom 0) (add-watch :w (fn [& _] (serve))) (remove-watch :w)))
   :timer-that-was-cancelled (fn [serve] (doto (Timer. true) (.schedule (proxy [TimerTask] [] (run [] (serve))) 600000) .cancel))
   :task-that-was-cancelled (fn [serve] (let [e (doto (ScheduledThreadPoolExecutor. 1) (.setRemoveOnCancelPolicy true))]
                                          (.cancel (.schedule e ^Runnable serve 10 TimeUnit/MINUTES) false)
                                          (.shutdown e)
                                          e))
   :executor-that-was-shut-down (fn [serve] (doto (ScheduledThreadPoolExecutor. 1) (.schedule ^Runnable serve 10 TimeUnit/MINUTES) .shutdownNow))
   :future-that-nobody-has (fn [serve] (.thenRun (CompletableFuture.) ^Runnable serve) nil)
   :hook-that-was-removed (fn [serve] (let [hook (Thread. ^Runnable serve)]
                                        (doto (Runtime/getRuntime) (.addShutdownHook hook) (.removeShutdownHook hook))
                                        nil))
   :local-of-a-block-that-nobody-can-serve (fn [serve] (go (<! (chan)) (serve)) nil)
   :thread-that-was-never-started (fn [serve] (Thread. ^Runnable serve) nil)})

(defn- waiting
  "Starts a block that waits in a channel that then only `hold` has. Returns [port kept]."
  [hold]
  (let [c (chan)]
    [(go (<! c)) (hold (fn serve [] (a/put! c :served)))]))

(defn- fate [port] (.fate ^Entry (Result/block port)))

(deftest ^:silent what-holds-a-channel-keeps-its-block-from-being-proven
  (let [held (into {} (map (fn [[name [hold]]] [name (waiting hold)])) holders)]
    (watched/eventually (fn [] (every? (fn [[port]] (= Operation/TAKE (.op ^Entry (Result/block port)))) (vals held))))
    (testing "by the collector"
      (watched/silent held)
      (is (= [] (for [[name [port]] held :when (= Entry$Fate/COLLECTED (fate port))] name))))
    (testing "by a heap file"
      (let [snapshot (heap/of-this-process)]
        (is (= [] (filter (fn ours? [{:keys [block threads]}] (or threads (watched/here? "holders_test.clj" block)))
                          (inspect/deadlocks nil snapshot))))
        (is (= [] (filter (comp (partial re-find #"holders_test") str :file :site) (inspect/leaks snapshot))))))
    (doseq [[name [port kept]] held]
      ((second (holders name)) kept)
      (is (= :served (await-port port)) name))))

(deftest released-holders-keep-nothing
  (let [let-go (into {} (map (fn [[name hold]] [name (waiting hold)])) gone)
        proven (fn [] (set (for [[name [port]] let-go :when (= Entry$Fate/COLLECTED (fate port))] name)))]
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (= (set (keys gone)) (proven))))
    (is (= (set (keys gone)) (proven)))))

(deftype ^:private Finalized [^CountDownLatch release serve]
  Object
  (finalize [_] (.await release) (serve)))

(deftest block-revived-by-a-finalizer-is-not-reported
  (let [release (CountDownLatch. 1)
        [port kept] (waiting (fn [serve] (volatile! (Finalized. release serve))))]
    (watched/eventually #(seq (inspect/blocks {:state :parked})))
    (vreset! kept nil)
    (watched/eventually #(do (inspect/deadlocks {:prove true}) (seq (inspect/leaks))))
    (.countDown release)
    (is (= :served (await-port port)))
    (is (= [[] 0] [(inspect/leaks) (:count (:collected (inspect/snapshot)))]))
    (is (= [] (inspect/blocks)))))
