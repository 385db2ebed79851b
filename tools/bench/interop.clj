;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench interop
(ns bench.interop
  "Compares the parts that core.async lacks with the plainest code for the same, in one JVM: the median of
  seven rounds after three to warm up, and the ratio. Then real rates of rate limiters."
  (:require
   [skein.async :as a :refer [<! <!! >! alts! go go-loop]]
   [skein.async.flow :as flow]
   [skein.async.interop :as interop]
   [skein.async.limit :as limit]
   [skein.async.reactive :as reactive]
   [skein.async.streams :as st])
  (:import
   (java.util.concurrent CompletableFuture Flow$Publisher Flow$Subscriber Semaphore SubmissionPublisher)))

(set! *warn-on-reflection* true)

(load-file "tools/bench/timing.clj")
(refer 'bench.timing)

(defn- row [what value other other-value]
  (println (format "%-44s %8.0f ns   %-34s %8.0f ns   x%.2f" what value other other-value
                   (/ (double value) (double other-value)))))

(defmacro ^:private in-block
  "Returns a function that evaluates the body `n` times in a block."
  [n & body]
  `(fn [] (<!! (go (dotimes [~'_ ~n] ~@body) :done))))

(def ^:private ^:const n 100000)

;;;; Futures

(defn- future-figures []
  (let [done (CompletableFuture/completedFuture 1)
        pending (CompletableFuture.)
        kept (doto (a/promise-chan) (a/put! 1))
        [c d] [(a/chan 1) (a/chan)]]
    (row "take from a future that is done" (per-item n (in-block n (<! done)))
         "take from a promise-chan" (per-item n (in-block n (<! kept))))
    (row "alts! of a value and a pending future" (per-item n (in-block n (>! c 1) (alts! [c pending])))
         "alts! of a value and a channel" (per-item n (in-block n (>! c 1) (alts! [c d]))))
    (row "a future that another block completes"
         (per-item n (in-block n (let [f (CompletableFuture.)] (go (.complete f 1)) (<! f))))
         "a block's result" (per-item n (in-block n (<! (go 1)))))
    (row "->future of a port that has a value" (per-item n (in-block n (.join (interop/->future kept))))
         "take from a promise-chan" (per-item n (in-block n (<! kept))))))

;;;; Streams

(defn- numbers
  "Returns a channel that gives n numbers."
  []
  (let [c (a/chan 100)]
    (go-loop [i 0] (if (< i n) (do (>! c i) (recur (inc i))) (a/close! c)))
    c))

(defn- drain [ch]
  (<!! (go-loop [] (when (some? (<! ch)) (recur)))))

(defn- consume
  "Subscribes to a publisher, requests everything, and waits for the end."
  [^Flow$Publisher publisher produce]
  (let [end (promise)]
    (.subscribe publisher (reify Flow$Subscriber
                            (onSubscribe [_ s] (.request s Long/MAX_VALUE))
                            (onNext [_ _])
                            (onError [_ t] (deliver end t))
                            (onComplete [_] (deliver end :complete))))
    (produce)
    @end))

(defn- submit-all [^SubmissionPublisher p]
  (dotimes [i n] (.submit p i))
  (.close p))

(defn- stream-figures []
  (let [piped (per-item n #(drain (a/pipe (numbers) (a/chan 100))))]
    (row "publisher to a subscriber that does nothing" (per-item n #(consume (reactive/publisher (numbers)) (fn [])))
         "the same of the JDK" (per-item n #(let [p (SubmissionPublisher.)] (consume p (fn [] (submit-all p))))))
    (row "publisher to subscriber to channel"
         (per-item n #(let [to (a/chan 100)]
                        (.subscribe (reactive/publisher (numbers)) (reactive/subscriber {:window 128} to))
                        (drain to)))
         "pipe" piped)
    (row "->values, reduced on a thread" (per-item n #(reduce (fn [_ v] v) nil (interop/->values (numbers))))
         "<!! in a loop" (per-item n #(let [c (numbers)] (loop [] (when (some? (<!! c)) (recur))))))
    (row "batch of 100" (per-item n #(drain (st/batch 100 (numbers))))
         "a channel with partition-all" (per-item n #(drain (a/pipe (numbers) (a/chan 1 (partition-all 100))))))))

;;;; Work

(defn- work-figures []
  (let [semaphore (Semaphore. 1)
        limiter (limit/concurrency-limiter 1)]
    (doseq [ordered? [true false]]
      (row (str "pmap of 2" (when-not ordered? ", as they are done"))
           (per-item n #(drain (st/pmap {:n 2 :ordered? ordered?} inc (numbers))))
           "pipeline of 2" (per-item n #(let [to (a/chan)] (a/pipeline 2 to (map inc) (numbers)) (drain to)))))
    (row "with-permit" (per-item n (in-block n (limit/with-permit limiter nil)))
         "the JDK's Semaphore" (per-item n (in-block n (.acquire semaphore) (.release semaphore))))
    (row "gate, :drop, full" (per-item n (let [g (st/gate :drop (doto (a/chan 1) (a/put! 1)))] (in-block n (>! g 1))))
         "dropping buffer, full" (per-item n (let [c (a/chan (a/dropping-buffer 1))] (in-block n (>! c 1)))))))

(defn- flow-figure []
  (let [step (flow/process (flow/lift1->step identity) {:workload :io})
        out (a/chan 10)
        last-step (flow/process (flow/map->step {:describe (fn [] {:ins {:in ""}})
                                                 :init (fn [_] {::flow/out-ports {:port out}})
                                                 :transform (fn [s _ m] [s {:port [m]}])})
                                {:workload :io})
        g (flow/create-flow {:procs {:a {:proc step} :b {:proc step} :c {:proc last-step}}
                             :conns [[[:a :out] [:b :in]] [[:b :out] [:c :in]]]})
        hop (fn [from] (let [to (a/chan 10)] (a/io-thread (loop [] (when-some [v (a/<!! from)] (a/>!! to v) (recur)))) to))]
    (flow/start g)
    (flow/resume g)
    (row "a message through a flow of three"
         (per-item n #(do (flow/inject g [:a :in] (range n)) (dotimes [_ n] (<!! out))))
         "through three threads and channels"
         (per-item n #(let [c (a/chan 10), end (-> c hop hop hop)]
                        (a/onto-chan! c (range n))
                        (dotimes [_ n] (<!! end)))))
    (flow/stop g)))

;;;; Rates

(def ^:private ^:const rate-seconds 10)

(defn- real-rate
  "Returns a channel of the permits a second that a limiter gave in ten seconds."
  [rate]
  (let [limiter (limit/rate-limiter {:rate rate :burst (max 1 (/ rate 10))})] ; makes up for 100 ms
    (a/io-thread
      (<!! limiter)
      (let [start (System/nanoTime)
            permits (long (* rate-seconds (double rate)))]
        (dotimes [_ permits] (<!! limiter))
        (/ (* 1e9 permits) (- (System/nanoTime) start))))))

(defn- stalls
  "Returns an atom of the ms that the machine took from this process: a thread sleeps for 1 ms at a time, and counts delays of more
  than 20 ms."
  []
  (let [stalled-ms (atom 0)]
    (doto (Thread. (fn [] (loop [before (System/nanoTime)]
                            (Thread/sleep 1)
                            (let [now (System/nanoTime)
                                  late-ms (quot (- now before) 1000000)]
                              (when (< 20 late-ms) (swap! stalled-ms + late-ms))
                              (recur now)))))
      (.setDaemon true)
      (.start))
    stalled-ms))

(defn- rate-figures []
  (let [rates [40 140 150 950 1500]
        stalled-ms (stalls)
        measured (mapv real-rate rates)]
    (doseq [[rate real] (map vector rates (mapv <!! measured))]
      (println (format "rate-limiter %5d/s: %9.2f/s in %d s, off by %.3f %%" rate real rate-seconds
                       (* 100.0 (Math/abs (- 1.0 (/ (double real) (double rate))))))))
    (println "this process did not run for" @stalled-ms "ms of these")))

(println "Java" (System/getProperty "java.version") "," (.availableProcessors (Runtime/getRuntime)) "processors")
(future-figures)
(stream-figures)
(work-figures)
(flow-figure)
(rate-figures)
(shutdown-agents)
