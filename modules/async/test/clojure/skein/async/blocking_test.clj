;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.blocking-test
  "Go blocks may block: the others continue, on few platform threads."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! go go-loop]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (java.lang.management ManagementFactory)
   (java.net InetAddress ServerSocket Socket)
   (java.util.concurrent CountDownLatch Semaphore)
   (java.util.concurrent.atomic AtomicBoolean AtomicLong)))

(set! *warn-on-reflection* true)

(defn- platform-threads [] (.getThreadCount (ManagementFactory/getThreadMXBean)))

(deftest a-block-may-wait-for-a-later-block
  (dotimes [_ 100]
    (let [p (promise)
          waiting (go @p)]
      (go (deliver p 1))
      (is (= 1 (await-port waiting))))))

(deftest a-block-handed-a-value-runs-although-its-waker-blocks
  (let [c (a/chan) p (promise)
        taker (go (deliver p (<! c)))
        putter (go (>! c 1) @p)]
    (is (= 1 (await-port putter)))
    (await-port taker)))

(defn- ping-pong
  "Plays ping-pong until `stop` is set. Returns a port of the longest pause between two rounds, in ns."
  [^AtomicBoolean stop]
  (let [there (a/chan) back (a/chan)]
    (go-loop [] (when (some? (<! there)) (>! back 1) (recur)))
    (go-loop [last-round (System/nanoTime) longest 0]
      (if (.get stop)
        (do (a/close! there) longest)
        (do (>! there 1)
            (<! back)
            (let [now (System/nanoTime)]
              (recur now (max longest (- now last-round)))))))))

(defn- blocked-blocks
  "Starts n blocks that each call `block`, and waits for all. Returns how many platform threads were added."
  [n block]
  (let [before (platform-threads)
        stop (AtomicBoolean.)
        played (ping-pong stop)
        latch (CountDownLatch. n)
        peak (AtomicLong.)]
    (dotimes [i n]
      (go (block i)
          (.accumulateAndGet peak (platform-threads) (fn [^long x ^long y] (max x y)))
          (.countDown latch)))
    (within-deadline (.await latch))
    (.set stop true)
    (await-port played)
    (- (.get peak) before)))

(defn- most-threads
  "Returns how many platform threads n blocks may add. Before JDK 24 a monitor pins, and a pinned block may cost one."
  [how n]
  (if (and (= "monitor" how) (< (.feature (Runtime/version)) 24)) (+ 8 (long n)) 8))

(defn- check-blocks
  "Asserts how many platform threads 1000 blocks add. (blocker n) returns the function that each of n blocks
  calls. Two blocks run first, so that the JDK and the runtime have started carriers, pollers and timers."
  [how blocker]
  (testing how
    (blocked-blocks 2 (blocker 2))
    (is (<= (blocked-blocks 1000 (blocker 1000)) (most-threads how 1000)) "platform threads added")))

(defn- soon [f] (a/take! (a/timeout 200) (fn [_] (f))))

(deftest a-thousand-blocks-block-at-once
  (check-blocks "sleep" (fn [_] (fn [_] (Thread/sleep 200))))
  (check-blocks "deref" (fn [_] (let [p (promise)] (soon #(deliver p 1)) (fn [_] @p))))
  (check-blocks "<!!" (fn [_] (fn [_] (<!! (a/timeout 200)))))
  (check-blocks "semaphore" (fn [n] (let [s (Semaphore. 0)]
                                      (soon #(.release s n))
                                      (fn [_] (.acquire s)))))
  (check-blocks "monitor" (fn [_] (let [monitor (Object.)]
                                    (a/thread (locking monitor (Thread/sleep 200)))
                                    (fn [_] (locking monitor 1))))))

(defn- answer-all
  "Accepts n connections, and only then sends a byte to each."
  [^ServerSocket server n]
  (let [sockets (vec (repeatedly n #(.accept server)))]
    (doseq [^Socket s sockets] (.write (.getOutputStream s) 7))
    (run! #(.close ^Socket %) sockets)))

(deftest a-thousand-blocks-read-sockets
  (with-open [server (ServerSocket. 0 1100 (InetAddress/getLoopbackAddress))]
    (check-blocks "socket"
                  (fn [n]
                    (a/io-thread (answer-all server n))
                    (fn [_]
                      (with-open [s (Socket. (.getInetAddress server) (.getLocalPort server))]
                        (.read (.getInputStream s))))))))

(deftest ten-thousand-blocks-sleep
  (let [before (platform-threads)
        c (a/chan 10000)]
    (dotimes [i 10000] (go (Thread/sleep 50) (>! c i)))
    (is (= (quot (* 10000 9999) 2) (await-port (a/go (loop [s 0 n 0] (if (= n 10000) s (recur (+ s (long (<! c))) (inc n))))))))
    (is (<= (- (platform-threads) before) 8))))

(deftest blocking-and-parking-mix-in-one-block
  (let [c (a/chan)]
    (go (dotimes [i 50] (Thread/sleep 1) (>! c i)) (a/close! c))
    (is (= (range 50)
           (await-port (go (loop [seen []]
                             (if-some [v (<!! c)]
                               (do (<! (a/timeout 0)) (recur (conj seen v)))
                               seen))))))))
