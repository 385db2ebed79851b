;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.process-test
  "Processes whose functions throw, block, or are interrupted at the worst moment."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.flow :as flow]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.util.concurrent CountDownLatch ExecutorService Executors)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- with-process
  "Starts and resumes a flow of one process, :p, and calls `f` with it and its channels."
  [step opts f]
  (let [g (flow/create-flow {:procs {:p {:proc (flow/process step opts)}}})
        {:keys [report-chan error-chan]} (flow/start g)]
    (try
      (flow/resume g)
      (f g report-chan error-chan)
      (finally (flow/stop g)))))

(defn- step [parts]
  (flow/map->step (merge {:describe (fn [] {:ins {:in ""}})} parts)))

(defn- eventually [g ok?]
  (within-deadline (loop []
                     (let [answer (flow/ping-proc g :p)]
                       (if (ok? answer) answer (recur))))))

(defn- paused? [answer]
  (= :paused (::flow/status answer)))

(deftest a-command-obeyed-between-puts-counts-even-if-one-fails
  (let [out (a/chan)
        failing (fn [] (lazy-seq (cons 1 (lazy-seq (cons 2 (lazy-seq (throw boom)))))))
        changes (promise)
        p (step {:init (fn [_] {::flow/out-ports {:port out}})
                 :transition (fn [s change] (when (= ::flow/stop change) (deliver changes :stopped)) s)
                 :transform (fn [s _ msg] [(assoc s :last msg) {:port (failing)}])})]
    (with-process p nil
      (fn [g _ error]
        (flow/inject g [:p :in] [:x])
        (is (= 1 (await-port out)))
        (testing "a process that is paused while it puts, and whose output throws once it is resumed, keeps its new state"
          (flow/pause g)
          (is (= :x (:last (::flow/state (eventually g paused?)))))
          (flow/resume g)
          (is (= 2 (await-port out)))
          (is (identical? boom (::flow/ex (await-port error))))
          (is (= [:running :x] ((juxt ::flow/status (comp :last ::flow/state)) (flow/ping-proc g :p)))))
        (testing "stopped while it puts, it ends"
          (flow/inject g [:p :in] [:y])
          (is (= 1 (await-port out)))
          (flow/stop g)
          (is (= :stopped (deref changes 30000 :late))))))))

(deftest pause-holds-when-a-later-output-is-wrong
  (let [out (a/chan)
        p (step {:init (fn [_] {::flow/out-ports {:port out}})
                 :transform (fn [s _ _] [s (array-map :port [1] :nowhere [2])])})]
    (with-process p nil
      (fn [g _ error]
        (flow/inject g [:p :in] [:x])
        (eventually g #(= 1 (::flow/count %)))
        (flow/pause g)
        (eventually g paused?)
        (flow/resume g)
        (is (= 1 (await-port out)))
        (flow/pause g)
        (is (= :skein/bad-argument (:skein/error (ex-data (::flow/ex (await-port error))))))
        (is (paused? (eventually g paused?)))))))

(deftest a-process-whose-filter-throws-reads-nothing-and-obeys
  (let [asked (CountDownLatch. 1)
        p (step {:init (fn [_] {::flow/input-filter (fn [_] (.countDown asked) (throw boom))})
                 :transition (fn [s change] (if (= ::flow/pause change) (dissoc s ::flow/input-filter) s))
                 :transform (fn [s _ msg] [s {::flow/report [msg]}])})]
    (with-process p nil
      (fn [g report error]
        (flow/inject g [:p :in] [:x])
        (is (identical? boom (::flow/ex (await-port error))))
        (is (nil? (a/poll! report)))
        (flow/pause g)
        (flow/resume g)
        (is (= :x (await-port report)) "without the filter it reads again")))))

(deftest a-ping-that-fails-costs-no-message
  (let [out (a/chan)
        p (fn ([] {:ins {:in ""} :ping-map-fn (fn [_] (throw boom))})
            ([_] {::flow/out-ports {:port out}})
            ([s _] s)
            ([s _ n] [s {:port (range n)}]))]
    (with-process p nil
      (fn [g _ error]
        (flow/inject g [:p :in] [3])
        (is (= 0 (await-port out)))
        (is (= [:running false] ((juxt ::flow/status #(contains? % ::flow/state)) (flow/ping-proc g :p))))
        (is (= [boom :ping] ((juxt ::flow/ex ::flow/op) (await-port error))))
        (is (= [1 2] [(await-port out) (await-port out)]))))))

(deftest a-step-that-rejects-the-end-of-an-input-is-reported-once
  (let [source (doto (a/chan) a/close!)
        p (step {:init (fn [_] {::flow/in-ports {:source source}})
                 :transform (fn [s _ msg] (if (nil? msg) (throw boom) [s {::flow/report [msg]}]))})]
    (with-process p nil
      (fn [g report error]
        (is (= [boom :source nil] ((juxt ::flow/ex ::flow/cid ::flow/msg) (await-port error))))
        (flow/inject g [:p :in] [1])
        (is (= 1 (await-port report)))
        (is (nil? (a/poll! error)))))))

(deftest a-transition-that-throws-still-counts
  (let [p (step {:transition (fn [_ _] (throw boom))
                 :transform (fn [s _ msg] [s {::flow/report [msg]}])})]
    (with-process p nil
      (fn [g report error]
        (is (= [boom :transition] ((juxt ::flow/ex ::flow/op) (await-port error))))
        (flow/inject g [:p :in] [1])
        (is (= 1 (await-port report)))))))

(deftest ports-of-the-state-must-be-ports
  (doseq [ports [{::flow/in-ports {:x 1}} {::flow/out-ports {:x :y}}]]
    (let [g (flow/create-flow {:procs {:p {:proc (flow/process (step {:init (fn [_] ports)
                                                                      :transform (fn [s _ _] [s nil])}))}}})]
      (is (= :skein/bad-argument
             (try (flow/start g) (catch ExceptionInfo e (:skein/error (ex-data e)))))))))

;;;; Interrupts: an executor that is shut down ends the processes that run on it

(defn- interrupted-while
  "Runs a process on an executor of its own, calls `reach` with its flow, and shuts the executor down. Returns
  whether the process was told to stop and its thread has ended."
  [transform reach]
  (let [^ExecutorService exec (Executors/newCachedThreadPool)
        told (promise)
        p (flow/process (step {:transition (fn [s change] (when (= ::flow/stop change) (deliver told true)) s)
                               :transform transform}))
        g (flow/create-flow {:procs {:p {:proc p}} :mixed-exec exec})]
    (flow/start g)
    (try
      (flow/resume g)
      (reach g)
      (.shutdownNow exec)
      [(deref told 30000 :late) (.awaitTermination exec 30 java.util.concurrent.TimeUnit/SECONDS)]
      (finally (flow/stop g)))))

(deftest an-interrupted-process-ends
  (testing "while it waits for a message"
    (is (= [true true] (interrupted-while (fn [s _ _] [s nil]) (fn [g] (flow/ping g))))))
  (testing "in its step"
    (let [inside (CountDownLatch. 1)]
      (is (= [true true] (interrupted-while (fn [_ _ _] (.countDown inside) (.await (CountDownLatch. 1)))
                                            (fn [g]
                                              (flow/inject g [:p :in] [1])
                                              (.await inside)))))))
  (testing "while it puts"
    (let [inside (CountDownLatch. 1)
          full (fn [s _ _] [s {[:p :in] (do (.countDown inside) (repeat 1))}])]
      (is (= [true true] (interrupted-while full (fn [g]
                                                   (flow/inject g [:p :in] [1])
                                                   (.await inside))))))))

(deftest a-computation-is-interrupted-when-its-time-is-up
  (let [seen (promise)
        p (step {:transform (fn [_ _ _]
                              (try (.await (CountDownLatch. 1))
                                   (catch InterruptedException e (deliver seen :interrupted) (throw e))))})]
    (with-process p {:workload :compute :compute-timeout-ms 5}
      (fn [g _ error]
        ;; A computation is not begun if its time is up before a thread gets to it.
        (within-deadline (while (not (realized? seen)) @(flow/inject g [:p :in] [1])))
        (is (instance? java.util.concurrent.TimeoutException (::flow/ex (await-port error))))
        (is (= :interrupted @seen))
        (is (= :running (::flow/status (flow/ping-proc g :p))) "the process goes on")))))
