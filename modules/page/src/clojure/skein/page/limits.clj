;; SPDX-License-Identifier: Apache-2.0
(ns skein.page.limits
  "Limits what a bad client can take from a server: the requests at once, the time for each, the streams, and the wrong tokens.

  * `limits` makes the state, `executor` runs requests within the limits, `stop!` ends them
  * `read!` `begin-stream!` `sending` `end-stream!` `wrong-token!` report the progress of a request

  The JDK's own limits are properties of the whole JVM, which belongs to the program."
  {:no-doc true}
  (:import
   (java.util Map$Entry)
   (java.util.concurrent ConcurrentHashMap ConcurrentLinkedQueue Executor RejectedExecutionException Semaphore TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:const ^:private max-requests "The most requests at once, including streams." 16)
(def ^:const ^:private max-streams 8)
(def ^:const ^:private reading-ms "Time to send a request." 10000)
(def ^:const ^:private replying-ms "Time to read a reply, or an event of a stream." 60000)
(def ^:const ^:private giving-way-ms "How long a new request waits for the oldest incomplete one to end." 1000)
(def ^:const ^:private sweep-ms 500)
(def ^:const ^:private max-wrong "Wrong tokens per minute." 20)

(defn limits
  "Returns the state of one server's limits. A test may set a different :replying-ms."
  [options]
  {:replying-ms (:replying-ms options replying-ms)
   :requests (Semaphore. max-requests)
   :streams (Semaphore. max-streams)
   :running (ConcurrentHashMap.) ; thread -> when it is interrupted, in ns; for a stream between its events, in a year
   :reading (ConcurrentLinkedQueue.) ; the threads whose request has not come yet, oldest first
   :sweeper (atom nil)
   :wrong (atom {:since (System/nanoTime) :count 0})
   :failure (atom nil)})

(defn- until! [{:keys [^ConcurrentHashMap running]} ms]
  (.put running (Thread/currentThread) (+ (System/nanoTime) (* 1000000 (long ms)))))

(defn read!
  "Notes that this thread has read its request."
  [{:keys [^ConcurrentLinkedQueue reading replying-ms] :as limits}]
  (.remove reading (Thread/currentThread))
  (until! limits replying-ms))

(def ^:const ^:private never-ms (* 1000 60 60 24 365))

(defn begin-stream!
  "Begins a stream, which has no deadline between its events. Returns whether it may begin."
  [{:keys [^Semaphore streams] :as limits}]
  (let [begins? (.tryAcquire streams)]
    (when begins? (until! limits never-ms))
    begins?))

(defn sending
  "Calls `f`, which sends an event of a stream. Interrupts it if the reader takes too long."
  [{:keys [replying-ms] :as limits} f]
  (until! limits replying-ms)
  (f)
  (until! limits never-ms))

(defn end-stream!
  "Notes that the stream of this thread has ended."
  [{:keys [^Semaphore streams]}]
  (.release streams))

(defn wrong-token!
  "Counts a wrong token. Returns whether there were too many in this minute."
  [{:keys [wrong]}]
  (let [now (System/nanoTime)
        {:keys [count]} (swap! wrong (fn add [{:keys [since] :as m}]
                                       (if (< 60000000000 (- now (long since))) {:since now :count 1} (update m :count inc))))]
    (< (long max-wrong) (long count))))

(defn failed!
  "Keeps an exception for `failure`."
  [{:keys [failure]} t]
  (reset! failure t))

(defn failure
  "Returns the last exception that a route has thrown, or nil."
  [{:keys [failure]}]
  @failure)

(defn- interrupt-late! [^ConcurrentHashMap running]
  (doseq [^Map$Entry e (.entrySet running)
          :when (neg? (- (long (.getValue e)) (System/nanoTime)))]
    (.interrupt ^Thread (.getKey e)))) ; which closes its connection

(defn- sweep! [{:keys [running]}]
  (try (while true
         (Thread/sleep (long sweep-ms))
         (interrupt-late! running))
       (catch InterruptedException _))) ; the server stops

(defn- begin?
  "Returns whether one more request may run. If there are too many, interrupts the oldest request that is still incomplete, so that
  incomplete requests can't shut the user out."
  [{:keys [^Semaphore requests ^ConcurrentLinkedQueue reading]}]
  (or (.tryAcquire requests)
      (when-some [^Thread oldest (.poll reading)]
        (.interrupt oldest)
        (.tryAcquire requests giving-way-ms TimeUnit/MILLISECONDS))))

(defn- run-request! [{:keys [^Semaphore requests ^ConcurrentHashMap running ^ConcurrentLinkedQueue reading] :as limits} ^Runnable task]
  (let [thread (Thread/currentThread)]
    (try
      (until! limits reading-ms)
      (.add reading thread)
      (.run task)
      (finally
        (.remove reading thread)
        (.remove running thread)
        (.release requests)))))

(defn- thread-builder
  "Returns a builder of threads for requests. Before Java 24 the JDK's server pins the carrier thread of a virtual thread while it waits
  for a request, so a few incomplete requests would take all carrier threads."
  ^java.lang.Thread$Builder []
  (if (< (.feature (Runtime/version)) 24)
    (.daemon (Thread/ofPlatform))
    (Thread/ofVirtual)))

(defn executor
  "Returns an executor that runs each request on a new thread and interrupts requests that are late. It throws if there are too many
  requests; the server then closes the connection."
  ^Executor [{:keys [sweeper] :as limits}]
  (reset! sweeper (.start (thread-builder) (fn sweep [] (sweep! limits))))
  (reify Executor
    (execute [_ task]
      (when-not (begin? limits) (throw (RejectedExecutionException. "There are too many requests at once.")))
      (.start (thread-builder) (fn request [] (run-request! limits task))))))

(defn stop!
  "Ends all requests that run."
  [{:keys [^ConcurrentHashMap running sweeper]}]
  (run! (fn [^Thread t] (.interrupt t)) (cons @sweeper (.keySet running))))
