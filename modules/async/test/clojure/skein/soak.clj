;; SPDX-License-Identifier: Apache-2.0
(ns skein.soak
  "Mixes everything for a while and then counts: what was accepted must have been received,
  and nothing may be left waiting.

      ./skein clojure -m skein.soak [MINUTES]       10 by default

  Ends with 0 when all counters balance. Not part of the tests."
  (:require
   [skein.arguments :as arguments]
   [skein.async :as a :refer [<! <!! >! >!! alts! async go go-loop]])
  (:import
   (java.util Random)
   (java.util.concurrent CountDownLatch)
   (java.util.concurrent.atomic AtomicBoolean LongAdder)
   (skein.rt Channel)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

(def ^:private counters
  "Name -> LongAdder: sums of what was put and taken, and how often each thing was done."
  (into {} (map (fn [k] [k (LongAdder.)]))
        [:put :taken :blocked :nested :timeouts :interrupts :alts :failures :failures-seen]))

(defn- add! [k ^long n] (.add ^LongAdder (counters k) n))

(defn- producer
  "Puts random numbers in every possible way until `stop`."
  [ports ^AtomicBoolean stop seed]
  (let [random (Random. seed)]
    (go (while (not (.get stop))
          (let [n (inc (.nextInt random 1000))
                port (nth ports (.nextInt random (count ports)))]
            (case (.nextInt random 5)
              0 (when (>! port n) (add! :put n))
              1 (when (true? (a/offer! port n)) (add! :put n))
              2 (let [[done _] (alts! [[port n] (a/timeout 1)])]
                  (when (true? done) (add! :put n))
                  (add! :alts 1))
              3 (when (>!! port n) (add! :put n))
              4 (do (Thread/sleep 0 (.nextInt random 500000)) (add! :blocked 1)))))
        :done)))

(defn- consumer
  "Takes until all ports are closed and empty."
  [ports seed]
  (let [random (Random. seed)]
    (go-loop [open (vec ports)]
      (if (seq open)
        (let [[v port] (if (zero? (.nextInt random 10)) (a/alts!! open) (alts! open))]
          (if (nil? v)
            (recur (filterv #(not (identical? % port)) open))
            (do (add! :taken v) (recur open))))
        :done))))

(defn- interrupted-taker
  "A thread that takes and is interrupted all the time."
  [ports ^AtomicBoolean stop]
  (let [taker (Thread/startVirtualThread
                (fn []
                  (while (not (.get stop))
                    (try
                      (when-some [v (first (a/alts!! (conj ports (a/timeout 5))))] (add! :taken v))
                      (catch InterruptedException _ (add! :interrupts 1))))))]
    (go (while (not (.get stop)) (<! (a/timeout 1)) (.interrupt taker))
        :done)))

(defn- nested [n]
  (async (if (pos? (long n)) (inc (long (<! (nested (dec (long n)))))) (do (<! (a/timeout 0)) 0))))

(defn- others
  "Nested blocks, failures and timeouts."
  [^AtomicBoolean stop]
  (go (while (not (.get stop))
        (assert (= 300 (<! (nested 300))))
        (add! :nested 1)
        (add! :failures 1)
        (try (a/<? (async (<! (a/timeout 1)) (throw (ex-info "meant" {}))))
             (catch clojure.lang.ExceptionInfo _ (add! :failures-seen 1)))
        (assert (nil? (<! (a/timeout 2))))
        (add! :timeouts 1))
      :done))

(defn- sum [k] (.sum ^LongAdder (counters k)))

(defn- balanced? [ports]
  (and (= (sum :put) (sum :taken))
       (= (sum :failures) (sum :failures-seen))
       (pos? (long (sum :put)))
       (every? (fn [^Channel c] (= [0 0] [(.takerCount c) (.putterCount c)])) ports)))

(defn- all-done? [blocks]
  (let [latch (CountDownLatch. (count blocks))]
    (doseq [b blocks] (a/take! b (fn [v] (when (= :done v) (.countDown latch)))))
    (.await latch 60 java.util.concurrent.TimeUnit/SECONDS)))

(defn- report []
  (println (into (sorted-map) (map (fn [k] [k (sum k)])) (keys counters))
           "timers" (Timeout/outstanding))
  (flush))

(defn -main
  "Runs for `minutes`; exits with 1 when something is lost or stuck."
  [& [minutes]]
  (let [seconds (long (* 60 (double (arguments/positive "./skein soak [MINUTES]" parse-double minutes 10.0))))
        ports [(a/chan) (a/chan 1) (a/chan 64) (a/chan 8 (map identity))]
        stop (AtomicBoolean.)
        producers (mapv #(producer ports stop %) (range 40))
        helpers (conj (mapv (fn [_] (others stop)) (range 8)) (interrupted-taker ports stop))
        consumers (mapv #(consumer ports %) (range 40))]
    (println "soaking for" seconds "s on" (Scheduler/workers) "workers")
    (dotimes [i seconds]
      (Thread/sleep 1000)
      (when (zero? (long (mod (inc i) 30))) (report)))
    (.set stop true)
    (let [stopped? (all-done? (into producers helpers))
          _ (run! a/close! ports)
          ended? (all-done? consumers)]
      (report)
      (when-not (and stopped? ended?) (println "stuck:\n" (Scheduler/describe)))
      (println (if (and stopped? ended? (balanced? ports)) "balanced" "NOT BALANCED"))
      (shutdown-agents)
      (System/exit (if (and stopped? ended? (balanced? ports)) 0 1)))))
