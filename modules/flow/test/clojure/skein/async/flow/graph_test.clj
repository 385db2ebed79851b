;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.graph-test
  "Flows that are started again, stopped amid traffic, asked while they are busy, or defined
  badly."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.flow :as flow]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (clojure.lang ExceptionInfo)
   (java.util.concurrent CountDownLatch ExecutionException Executor Future RejectedExecutionException)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- error-of [f]
  (try (f) (catch ExceptionInfo e (:skein/error (ex-data e)))))

(defn- step [parts]
  (flow/map->step (merge {:describe (fn [] {:ins {:in ""}})} parts)))

(def ^:private tell
  (flow/process (step {:transform (fn [_ _ msg] [nil {::flow/report [msg]}])})))

(defn- blocked-by [^CountDownLatch entered ^CountDownLatch hold]
  (flow/process (step {:transform (fn [_ _ _] (.countDown entered) (.await hold) nil)})))

(deftest a-buffer-begins-empty-at-each-start
  (doseq [[buffer kept] [[(a/sliding-buffer 2) [2 3]] [(a/dropping-buffer 2) [1 2]] [2 [1 2]] [(a/buffer 2) [1 2]]]]
    (let [g (flow/create-flow {:procs {:tell {:proc tell :chan-opts {:in {:buf-or-n buffer}}}}})]
      (dotimes [_ 2]
        (let [{:keys [report-chan]} (flow/start g)
              n (if (= [2 3] kept) 3 2)]
          (within-deadline @(flow/inject g [:tell :in] (range 1 (inc (long n)))))
          (flow/resume g)
          (is (= kept [(await-port report-chan) (await-port report-chan)]))
          (flow/pause g)
          (within-deadline @(flow/inject g [:tell :in] [:left]))
          (flow/stop g))))))

(deftest pending-injections-fail-when-the-flow-stops
  (let [g (flow/create-flow {:procs {:tell {:proc tell :chan-opts {:in {:buf-or-n 1}}}}})
        _ (flow/start g)
        ^Future waiting (flow/inject g [:tell :in] [1 2 3])]
    (flow/stop g)
    (is (= :skein/flow-not-running
           (within-deadline (try (.get waiting)
                                 (catch ExecutionException e (:skein/error (ex-data (ex-cause e))))))))))

(deftest injections-may-be-cancelled
  (let [g (flow/create-flow {:procs {:tell {:proc tell :chan-opts {:in {:buf-or-n 1}}}}})
        {:keys [report-chan]} (flow/start g)
        ^Future waiting (flow/inject g [:tell :in] [1 2 3])]
    (try
      (within-deadline (while (zero? (long (get-in (flow/ping-proc g :tell) [::flow/ins :in :put-count])))))
      (.cancel waiting true)
      (within-deadline (while (pos? (long (get-in (flow/ping-proc g :tell) [::flow/ins :in :put-count])))))
      (flow/resume g)
      (within-deadline @(flow/inject g [:tell :in] [4]))
      (is (= [1 4] [(await-port report-chan) (await-port report-chan)]))
      (finally (flow/stop g)))))

(deftest nil-messages-are-refused
  (let [g (flow/create-flow {:procs {:tell {:proc tell}}})]
    (flow/start g)
    (try
      (is (instance? AssertionError
                     (within-deadline (try @(flow/inject g [:tell :in] [nil])
                                           (catch ExecutionException e (ex-cause e))))))
      (finally (flow/stop g)))))

(deftest a-busy-process-may-be-asked-any-number-of-times
  (let [entered (CountDownLatch. 1), hold (CountDownLatch. 1)
        g (flow/create-flow {:procs {:busy {:proc (blocked-by entered hold)} :tell {:proc tell}}})]
    (flow/start g)
    (try
      (flow/resume g)
      (flow/inject g [:busy :in] [1])
      (.await entered)
      (is (every? nil? (repeatedly 3000 #(flow/ping-proc g :busy :timeout-ms 0))))
      (is (= [:tell] (keys (flow/ping g :timeout-ms 8000))) "those that can, answer")
      (.countDown hold)
      (within-deadline (while (nil? (flow/ping-proc g :busy))))
      (finally (flow/stop g)))))

(deftest a-flow-may-be-empty
  (let [g (flow/create-flow {})]
    (flow/start g)
    (flow/resume g)
    (is (= {} (flow/ping g)))
    (is (true? (flow/stop g)))))

(deftest a-signal-filter-that-throws-is-reported
  (let [p (flow/process (step {:describe (fn [] {:signal-select (fn [_] (throw boom))}) :transform (fn [_ _ _])}))
        g (flow/create-flow {:procs {:p {:proc p}}})
        {:keys [error-chan]} (flow/start g)]
    (try
      (flow/inject g [::flow/cast :tick] [1])
      (is (= [boom :p ::flow/signals] ((juxt ::flow/ex ::flow/pid ::flow/cid) (await-port error-chan))))
      (finally (flow/stop g)))))

(deftest start-reports-an-executor-that-refuses
  (let [stopped (promise)
        first-of-two (flow/process (step {:transition (fn [s change] (deliver stopped change) s)
                                          :transform (fn [s _ _] [s nil])})
                                   {:workload :io})
        refusing (reify Executor (execute [_ _] (throw (RejectedExecutionException. "full"))))
        g (flow/create-flow {:procs (array-map :one {:proc first-of-two} :two {:proc tell}) :mixed-exec refusing})]
    (is (thrown? RejectedExecutionException (flow/start g)))
    (is (= ::flow/stop (deref stopped 30000 :late)) "what had been started is stopped")
    (is (= :skein/flow-not-running (error-of #(flow/ping g))))))

(deftest flows-of-many-threads-start-and-stop-once
  (let [g (flow/create-flow {:procs {:tell {:proc tell}}})
        starts (mapv (fn [_] (a/io-thread (if (:already-running (flow/start g)) :again :first))) (range 50))]
    (is (= {:first 1 :again 49} (frequencies (mapv await-port starts))))
    (let [stops (mapv (fn [_] (a/io-thread (or (flow/stop g) :was-stopped))) (range 50))]
      (is (= {true 1 :was-stopped 49} (frequencies (mapv await-port stops)))))))

(deftest a-thousand-processes-pass-a-message-on
  (let [n 1000
        on (flow/process (flow/lift1->step inc) {:workload :io})
        g (flow/create-flow {:procs (into {:tell {:proc tell}} (map (fn [i] [i {:proc on}])) (range n))
                             :conns (conj (mapv (fn [i] [[i :out] [(inc (long i)) :in]]) (range (dec n)))
                                          [[(dec n) :out] [:tell :in]])})
        {:keys [report-chan]} (flow/start g)]
    (try
      (flow/resume g)
      (flow/inject g [0 :in] [0])
      (is (= n (await-port report-chan)))
      (is (= (inc n) (count (flow/ping g :timeout-ms 30000))))
      (finally (flow/stop g)))))

(deftest malformed-definitions-are-refused
  (let [p {:proc tell}
        describing (fn [d] {:procs {:p {:proc (flow/process (step {:describe (fn [] d) :transform (fn [_ _ _])}))}}})]
    (testing "with a sentence, for any fault"
      (is (= (repeat 7 :skein/bad-argument)
             (mapv #(error-of (fn [] (flow/create-flow %)))
                   [{:procs {:p p} :conns [[:p :q]]}
                    {:procs {:p p} :conns [1]}
                    {:procs {:p p} :conns [[[:p :in :more] [:p :in]]]}
                    {:procs {:p nil}}
                    (describing {:ins [:a]})
                    (describing {:outs #{:a}})
                    (describing 1)]))))
    (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
           (mapv error-of [#(flow/process identity {:compute-timeout-ms "0"})
                           #(let [g (flow/create-flow {:procs {:p p}})]
                              (flow/start g)
                              (try (flow/ping g :timeout-ms "1") (finally (flow/stop g))))
                           #(flow/create-flow {:process {:p p}})
                           #(flow/create-flow {:procs {:p {:prok p}}})
                           #(flow/create-flow {:procs {:p (assoc p :chan-opts {:in {:buffer 1}})}})])))))
