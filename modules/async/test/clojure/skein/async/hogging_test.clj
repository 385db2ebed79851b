;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.hogging-test
  "Blocks that keep their threads, because they compute, spin or are pinned, stop no other, nor other virtual threads."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! go]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.scope :as s]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CountDownLatch ForkJoinPool ForkJoinWorkerThread TimeUnit)
   (java.util.concurrent.atomic AtomicBoolean)
   (skein.rt.schedule Pinned Scheduler)))

(set! *warn-on-reflection* true)

(defn- spin-until [^AtomicBoolean stop]
  (while (not (.get stop)) (Thread/onSpinWait)))

(defn- yield-until [^AtomicBoolean stop]
  (while (not (.get stop)) (Thread/yield)))

(deftest computing-blocks-do-not-stop-the-others
  (let [stop (AtomicBoolean.)
        hogs (vec (repeatedly (* 2 (Scheduler/workers)) #(go (spin-until stop) :stopped)))
        answers (vec (repeatedly 10 #(go (<! (a/timeout 1)) :answer)))]
    (is (= (repeat 10 :answer) (map await-port answers)) "while all workers compute")
    (.set stop true)
    (is (every? #{:stopped} (map await-port hogs)))))

(deftest blocks-that-wait-for-a-later-block-by-spinning
  (doseq [[how spin] {"spins" spin-until, "yields" yield-until}
          :let [stop (AtomicBoolean.)]]
    (testing how
      (let [spinners (vec (repeatedly (+ 18 (Scheduler/workers)) #(go (spin stop) :stopped)))]
        (try (is (= :set (await-port (go (.set stop true) :set))))
             (finally (.set stop true)))
        (is (every? #{:stopped} (map await-port spinners)))))))

(deftest pinned-blocks-do-not-stop-the-others
  (let [n 40
        all-in (CountDownLatch. n)
        release (CountDownLatch. 1)
        pinned (vec (repeatedly n #(go (Pinned/run (fn [] (.countDown all-in) (.await release))) :released)))]
    (try (is (true? (within-deadline (.await all-in 30 TimeUnit/SECONDS))) "all of them run")
         (is (= :on-time (await-port (go (<! (a/timeout 1)) :on-time))))
         (finally (.countDown release)))
    (is (every? #{:released} (map await-port pinned)))
    (is (= :virtual (await-port (go (<! (a/timeout 200))
                                    (if (.isVirtual (Thread/currentThread)) :virtual :platform))))
        "workers go back to virtual threads")))

(deftest timers-fire-while-workers-and-carriers-spin
  (let [stop (AtomicBoolean.)
        spinners (vec (repeatedly 4 #(Thread/startVirtualThread (fn [] (spin-until stop)))))
        hogs (vec (repeatedly 4 #(go (spin-until stop))))
        fired (promise)]
    (a/take! (a/timeout 20) (fn [_] (deliver fired :fired)))
    (is (= :fired (deref fired 20000 :late)))
    (.set stop true)
    (run! #(.join ^Thread %) spinners)
    (run! await-port hogs)))

(defn- ^ForkJoinPool scheduler
  "Returns the JDK's scheduler of virtual threads, which has a carrier thread by now."
  []
  (some (fn [^Thread thread]
          (when (and (instance? ForkJoinWorkerThread thread) (= "CarrierThreads" (some-> (.getThreadGroup thread) .getName)))
            (.getPool ^ForkJoinWorkerThread thread)))
        (keys (Thread/getAllStackTraces))))

(defn- own-parallelism
  "Returns the scheduler's parallelism without what an earlier test may have raised it by."
  []
  (int (Integer/getInteger "jdk.virtualThreadScheduler.parallelism" (.availableProcessors (Runtime/getRuntime)))))

(defn- await-parallelism
  "Returns whether the scheduler's parallelism becomes n before the deadline."
  [n]
  (true? (within-deadline (loop []
                            (or (= n (.getParallelism (scheduler)))
                                (do (Thread/sleep 1) (recur)))))))

(def ^:private starts
  "How a virtual thread is started: functions of the function that it runs."
  {"plain" #(Thread/startVirtualThread %)
   "io-thread" #(a/io-thread (%))
   "v/future" #(v/future (%))
   "fork" #(s/scope [sc] (s/fork sc (%)) nil)})

(defn- compute-beside
  "Calls `f` while n blocks compute. Each calls `before` first."
  [n before f]
  (let [stop (AtomicBoolean.)
        begun (CountDownLatch. n)
        hogs (vec (repeatedly n #(go (before) (.countDown begun) (spin-until stop) :stopped)))]
    (try (is (true? (within-deadline (.await begun 30 TimeUnit/SECONDS))) "all of them compute")
         (f)
         (finally (.set stop true)))
    (is (every? #{:stopped} (map await-port hogs)))))

(deftest other-virtual-threads-run-beside-computing-blocks
  (let [own (own-parallelism)]
    (doseq [n [(Scheduler/workers) (+ 10 (Scheduler/workers))]
            [how before] {"at once" (fn []), "when they have blocked" #(Thread/sleep 1)}]
      (compute-beside n before
                      #(doseq [[kind start] starts]
                         (testing (str kind " beside " n " blocks that compute " how)
                           (let [ran (CountDownLatch. 1)]
                             (within-deadline (start (fn [] (.countDown ran))))
                             (is (true? (within-deadline (.await ran 30 TimeUnit/SECONDS)))))))))
    (is (await-parallelism own) "the scheduler gets its parallelism back")))

(deftest a-parallelism-that-the-program-sets-stays
  (let [own (own-parallelism)]
    (try
      (compute-beside (+ 2 own) (fn [])
                      (fn []
                        (.join (Thread/startVirtualThread (fn []))) ; there are more carriers now
                        (.setParallelism (scheduler) (+ 7 own))))
      (is (await-parallelism (+ 7 own)))
      (finally (.setParallelism (scheduler) own)))))

(deftest no-carrier-is-lent-if-a-property-says-so
  (is (= "true"
         (fresh-jvm/output
           ["-Dskein.lend-carriers=false" "-Djdk.virtualThreadScheduler.parallelism=2"]
           ["-e" (pr-str '(do (require '[skein.async :as a])
                              (dotimes [_ 10] (a/go (loop [] (recur))))
                              (a/<!! (a/go :after-the-monitor-has-acted))
                              (println (every? (fn [thread]
                                                 (or (not (instance? java.util.concurrent.ForkJoinWorkerThread thread))
                                                     (= 2 (.getParallelism (.getPool thread)))))
                                               (keys (Thread/getAllStackTraces))))
                              (System/exit 0)))]))))
