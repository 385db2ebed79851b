;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow-test
  (:require
   [clojure.datafy :refer [datafy]]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.flow :as flow]
   [skein.async.flow.spi :as spi]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.reloading :as reloading]
   [skein.scope :as s])
  (:import
   (clojure.lang ExceptionInfo)
   (java.util.concurrent CountDownLatch ExecutionException Executor Future TimeoutException)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- error-of [f]
  (try (f) (catch ExceptionInfo e (:skein/error (ex-data e)))))

(defn- running
  "Starts and resumes a flow; calls `f` with it and its channels, and stops it."
  [config f]
  (let [g (flow/create-flow config)
        {:keys [report-chan error-chan]} (flow/start g)]
    (try
      (is (true? (flow/resume g)))
      (f g report-chan error-chan)
      (finally (flow/stop g)))))

(defn- mapping [f]
  (flow/process (flow/lift1->step f)))

(def ^:private tell
  "A process that reports what it gets, with the input through which it came."
  (flow/process (flow/map->step {:describe (fn [] {:ins {:in "" :other ""}})
                                 :transform (fn [_ id msg] [nil {::flow/report [[id msg]]}])})))

(defn- next-n [n ch]
  (mapv (fn [_] (await-port ch)) (range n)))

;;;; Flows

(deftest messages-go-through-processes
  (running {:procs {:inc {:proc (mapping inc)} :odd {:proc (mapping #(when (odd? %) %))} :tell {:proc tell}}
            :conns [[[:inc :out] [:odd :in]] [[:odd :out] [:tell :in]]]}
           (fn [g report _]
             @(flow/inject g [:inc :in] (range 10))
             (is (= (map (fn [x] [:in x]) [1 3 5 7 9]) (next-n 5 report))))))

(deftest output-feeds-all-connections-and-input-gets-all
  (running {:procs {:a {:proc (mapping identity)} :b {:proc (mapping -)} :tell {:proc tell}}
            :conns [[[:a :out] [:tell :in]] [[:a :out] [:b :in]] [[:b :out] [:tell :in]]]}
           (fn [g report _]
             (flow/inject g [:a :in] [1 2])
             (is (= #{[:in 1] [:in 2] [:in -1] [:in -2]} (set (next-n 4 report)))))))

(deftest a-flow-belongs-to-no-scope
  (let [g (flow/create-flow {:procs {:a {:proc (mapping identity)} :tell {:proc tell}}
                             :conns [[[:a :out] [:tell :in]] [[:a :out] [:tell :other]]]})
        {:keys [report-chan]} (within-deadline (s/scope [sc] (s/in-scope sc (flow/start g))))]
    (try
      (flow/resume g)
      (flow/inject g [:a :in] [1])
      (is (= #{[:in 1] [:other 1]} (set (next-n 2 report-chan))))
      (finally (flow/stop g)))))

(deftest a-process-may-feed-itself
  (running {:procs {:count {:proc (flow/process
                                    (flow/map->step
                                      {:describe (fn [] {:ins {:in ""} :outs {:out ""}})
                                       :transform (fn [_ _ n]
                                                    [nil (if (pos? n) {:out [(dec n)]} {::flow/report [:done]})])}))}}
            :conns [[[:count :out] [:count :in]]]}
           (fn [g report _]
             (flow/inject g [:count :in] [1000])
             (is (= :done (await-port report))))))

(deftest a-step-may-address-an-input
  (running {:procs {:ask {:proc (flow/process (flow/map->step
                                                {:describe (fn [] {:ins {:in ""}})
                                                 :transform (fn [_ _ msg] [nil {[:tell :other] [msg]}])}))}
                    :tell {:proc tell}}}
           (fn [g report _]
             (flow/inject g [:ask :in] [1])
             (is (= [:other 1] (await-port report))))))

(deftest signals-reach-the-processes-that-select-them
  (let [listener (fn [select] (flow/process (flow/map->step
                                              {:describe (fn [] {:ins {:in ""} :signal-select select})
                                               :transform (fn [_ id msg] [nil {::flow/report [[select id msg]]}])})))]
    (running {:procs {:one {:proc (listener #{:tick})}
                      :two {:proc (listener #{:tick :tock})}
                      :deaf {:proc (listener nil)}
                      :caster {:proc (mapping identity)}
                      :source {:proc (flow/process
                                       (flow/map->step {:describe (fn [] {:ins {:in ""}})
                                                        :transform (fn [_ _ m] [nil {[::flow/cast :tock] [m]}])}))}}}
             (fn [g report _]
               (flow/inject g [::flow/cast :tick] [1])
               (is (= #{[#{:tick} :tick 1] [#{:tick :tock} :tick 1]} (set (next-n 2 report))))
               (flow/inject g [:source :in] [2])
               (is (= [#{:tick :tock} :tock 2] (await-port report)))))))

(deftest messages-to-unconnected-outputs-are-dropped
  (running {:procs {:lonely {:proc (mapping identity)} :tell {:proc tell}}}
           (fn [g report _]
             @(flow/inject g [:lonely :in] (range 100))
             @(flow/inject g [:tell :in] [:still-alive])
             (is (= [:in :still-alive] (await-port report))))))

(deftest channels-have-their-options
  (running {:procs {:tell {:proc tell :chan-opts {:in {:buf-or-n 1 :xform (map (fn [x] (if (= x 2) (throw boom) x)))}}}}}
           (fn [g report error]
             (flow/inject g [:tell :in] [1 2 3])
             (is (= [[:in 1] [:in 3]] (next-n 2 report)))
             (is (= [boom :tell :in] ((juxt ::flow/ex ::flow/pid ::flow/cid) (await-port error)))))))

;;;; Life

(def ^:private counter
  "Counts messages in its state, and reports each change of status."
  (flow/process (fn
                  ([] {:ins {:in ""} :outs {} :params {:from ""}})
                  ([{:keys [from] ::flow/keys [pid]}] {:n from :pid pid :changes []})
                  ([state change] (update state :changes conj change))
                  ([state _ _] [(update state :n inc) nil]))))

(defn- eventually
  "The answer of the process once it satisfies `ok?`."
  [g pid ok?]
  (within-deadline (loop []
                     (let [answer (flow/ping-proc g pid)]
                       (if (ok? answer) answer (recur))))))

(deftest processes-begin-paused-and-report-their-status
  (let [g (flow/create-flow {:procs {:c {:proc counter :args {:from 10}}}})]
    (flow/start g)
    (try
      (flow/inject g [:c :in] [:x])
      (let [{::flow/keys [pid status state count ins outs]} (flow/ping-proc g :c)]
        (is (= [:c :paused {:n 10 :pid :c :changes []} 0 [:in] {}] [pid status state count (keys ins) outs])))
      (flow/resume-proc g :c)
      (is (= [:running {:n 11 :pid :c :changes [::flow/resume]} 1]
             ((juxt ::flow/status ::flow/state ::flow/count) (eventually g :c #(= 1 (::flow/count %))))))
      (is (true? (flow/pause-proc g :c)))
      (flow/pause-proc g :c)
      (is (= [::flow/resume ::flow/pause] (:changes (::flow/state (eventually g :c #(= :paused (::flow/status %))))))
          "pausing what is paused changes nothing")
      (is (= {:c :paused} (update-vals (flow/ping g) ::flow/status)))
      (finally (flow/stop g)))))

(deftest a-flow-starts-again-from-the-beginning
  (let [g (flow/create-flow {:procs {:c {:proc counter :args {:from 0}}}})
        {:keys [report-chan error-chan]} (flow/start g)]
    (is (= {:report-chan report-chan :error-chan error-chan :already-running true} (flow/start g)))
    (flow/resume g)
    (flow/inject g [:c :in] [1 2 3])
    (eventually g :c #(= 3 (::flow/count %)))
    (is (true? (flow/stop g)))
    (is (nil? (flow/stop g)))
    (is (= [nil nil] [(await-port report-chan) (await-port error-chan)]))
    (is (= :skein/flow-not-running (error-of #(flow/ping g)) (error-of #(flow/resume g))
           (error-of #(flow/inject g [:c :in] [1]))))
    (flow/start g)
    (is (= 0 (:n (::flow/state (flow/ping-proc g :c)))))
    (flow/stop g)))

(deftest a-stopped-process-gets-its-transition
  (let [stopped (promise)
        g (flow/create-flow {:procs {:p {:proc (flow/process
                                                 (flow/map->step {:describe (fn [] {:ins {:in ""}})
                                                                  :transition (fn [s change]
                                                                                (when (= ::flow/stop change)
                                                                                  (deliver stopped :released))
                                                                                s)
                                                                  :transform (fn [s _ _] [s nil])}))}}})]
    (flow/start g)
    (flow/stop g)
    (is (= :released (deref stopped 30000 :late)))))

(deftest a-paused-process-puts-nothing
  (let [out (a/chan)
        g (flow/create-flow {:procs {:p {:proc (flow/process
                                                 (flow/map->step
                                                   {:describe (fn [] {:ins {:in ""}})
                                                    :init (fn [_] {::flow/out-ports {:port out}})
                                                    :transform (fn [s _ n] [s {:port (range n)}])}))}}})]
    (flow/start g)
    (try
      (flow/resume g)
      (flow/inject g [:p :in] [3])
      (is (= 0 (await-port out)))
      (flow/pause g)
      (eventually g :p #(= :paused (::flow/status %)))
      (is (nil? (a/poll! out)))
      (flow/resume g)
      (is (= [1 2] (next-n 2 out)))
      (finally (flow/stop g)))))

(deftest ports-of-the-state-are-inputs-and-may-be-filtered
  (let [source (a/chan) gate (a/chan)
        step (flow/map->step
               {:describe (fn [] {})
                :init (fn [_] {::flow/in-ports {:source source :gate gate}, ::flow/input-filter #{:gate}})
                :transform (fn [s id msg] [(if (= :gate id) (dissoc s ::flow/input-filter) s)
                                           {::flow/report [[id msg]]}])})]
    (running {:procs {:p {:proc (flow/process step)}}}
             (fn [_ report _]
               (a/>!! gate :open)
               (is (= [:gate :open] (await-port report)))
               (a/close! gate)
               (is (= [:gate nil] (await-port report)) "once")
               (a/>!! source 1)
               (is (= [:source 1] (await-port report)))))))

(deftest inputs-are-read-in-turn
  (let [seen (atom [])
        g (flow/create-flow {:procs {:p {:proc (flow/process
                                                 (flow/map->step {:describe (fn [] {:ins {:a "" :b ""}})
                                                                  :transform (fn [_ id _] (swap! seen conj id) nil)}))}}})]
    (flow/start g)
    (try
      @(flow/inject g [:p :a] (range 10))
      @(flow/inject g [:p :b] (range 10))
      (flow/resume g)
      (eventually g :p #(= 20 (::flow/count %)))
      (is (= (take 20 (cycle (take 2 @seen))) @seen))
      (finally (flow/stop g)))))

;;;; Errors

(deftest a-step-that-throws-is-reported-and-continues
  (running {:procs {:p {:proc (mapping (fn [x] (if (= 2 x) (throw boom) x)))} :tell {:proc tell}}
            :conns [[[:p :out] [:tell :in]]]}
           (fn [g report error]
             (flow/inject g [:p :in] [1 2 3])
             (is (= [[:in 1] [:in 3]] (next-n 2 report)))
             (is (= [boom :p :in 2 :running] ((juxt ::flow/ex ::flow/pid ::flow/cid ::flow/msg ::flow/status)
                                              (await-port error)))))))

(deftest bad-outputs-are-reported
  (running {:procs {:p {:proc (flow/process (flow/map->step {:describe (fn [] {:ins {:in ""} :outs {:out ""}})
                                                             :transform (fn [_ _ out] [nil out])}))}
                    :tell {:proc tell}}
            :conns [[[:p :out] [:tell :in]]]}
           (fn [g _ error]
             (flow/inject g [:p :in] [{:nowhere [1]} {[:no :one] [1]} {:out [nil]}])
             (is (= [:skein/bad-argument :skein/bad-argument]
                    (mapv #(:skein/error (ex-data (::flow/ex %))) (next-n 2 error))))
             (is (instance? AssertionError (::flow/ex (await-port error)))))))

(deftest start-throws-what-init-throws
  (let [g (flow/create-flow {:procs {:p {:proc (flow/process (flow/map->step {:describe (fn [] {})
                                                                              :init (fn [_] (throw boom))
                                                                              :transform (fn [_ _ _])}))}}})]
    (is (identical? boom (try (flow/start g) (catch Exception e e))))
    (is (= :skein/flow-not-running (error-of #(flow/pause g))))))

(deftest bad-definitions-are-refused
  (let [p (mapping identity)]
    (is (= (repeat 5 :skein/bad-argument)
           (mapv (fn [config] (error-of #(flow/create-flow config)))
                 [{:procs {:a {:proc p}} :conns [[[:a :out] [:b :in]]]}
                  {:procs {:a {:proc p}} :conns [[[:a :in] [:a :out]]]}
                  {:procs {:a {:proc identity}}}
                  {:procs {:a {:proc (flow/process (flow/map->step {:describe (fn [] {:ins {:x ""} :outs {:x ""}})
                                                                    :transform (fn [_ _ _])}))}}}
                  {:procs {} :io-exec :io}])))
    (is (thrown-with-msg? ExceptionInfo #"invalid connection" (flow/create-flow {:procs {} :conns [[[:a :b] [:c :d]]]})))
    (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
           (mapv error-of [#(flow/map->step {:describe (fn [])}) #(flow/process identity {:workload :lazy})
                           #(flow/process 1) #(flow/futurize inc :exec :lazy) #(flow/lift*->step 1) #(flow/lift1->step 1)])))
    (is (= (repeat 4 :skein/bad-argument)
           (mapv error-of [#(flow/create-flow {:other 1}) #(flow/process identity {:other 1}) #(flow/futurize inc :other 1)
                           #(flow/map->step {:describe (fn [] {}) :transform (fn [_ _ _]) :other 1})])))
    (running {:procs {:a {:proc p}}}
             (fn [g _ _]
               (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
                      (mapv error-of [#(flow/pause-proc g :b) #(flow/resume-proc g :b) #(flow/ping-proc g :b)
                                      #(flow/inject g [:a :x] [1])])))
               (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
                      (mapv error-of [#(flow/inject g [:a :in] 5) #(flow/ping-proc g :a :timeout-ms "1")
                                      #(flow/ping-proc g :a :other 1) #(flow/ping g :other 1)])))))))

(deftest what-is-no-flow-is-refused
  (is (= (repeat 8 :skein/bad-argument)
         (mapv error-of [#(flow/start 1) #(flow/stop 1) #(flow/pause 1) #(flow/resume 1) #(flow/pause-proc 1 :p)
                         #(flow/resume-proc 1 :p) #(flow/ping-proc 1 :p) #(flow/inject 1 [:p :in] [1])]))))

;;;; Threads

(deftest steps-run-on-the-threads-of-their-workload
  (let [thread-of (fn [opts] (running {:procs {:p {:proc (flow/process
                                                           (flow/map->step
                                                             {:describe (fn [] {:ins {:in ""}})
                                                              :transform (fn [_ _ _] [nil {::flow/report [(Thread/currentThread)]}])})
                                                           opts)}}}
                                      (fn [g report _]
                                        (flow/inject g [:p :in] [1])
                                        (await-port report))))]
    (is (.isVirtual ^Thread (thread-of {:workload :io})))
    (is (= ["async-mixed" "async-compute"]
           (mapv (fn [opts] (second (re-find #"^(.*)-\d+$" (.getName ^Thread (thread-of opts)))))
                 [nil {:workload :compute}])))))

(deftest a-flow-may-have-its-own-executors
  (let [used (atom 0)
        exec (reify Executor (execute [_ r] (swap! used inc) (Thread/startVirtualThread r)))]
    (running {:procs {:p {:proc tell}} :mixed-exec exec}
             (fn [g report _]
               (flow/inject g [:p :in] [1])
               (is (= [:in 1] (await-port report)))))
    (is (= 1 @used))))

(deftest a-computation-that-takes-too-long-is-an-error
  (let [hold (CountDownLatch. 1)]
    (running {:procs {:p {:proc (flow/process (flow/lift1->step (fn [x] (when (= :slow x) (.await hold)) x))
                                              {:workload :compute :compute-timeout-ms 1})}
                      :tell {:proc tell}}
              :conns [[[:p :out] [:tell :in]]]}
             (fn [g _ error]
               (flow/inject g [:p :in] [:slow])
               (is (instance? TimeoutException (::flow/ex (await-port error))))))
    (.countDown hold)))

(deftest futurized-functions-return-futures
  (is (= [3 3 3] [@((flow/futurize +) 1 2) @((flow/futurize + :exec :compute) 1 2) @((flow/futurize + {:exec :io}) 1 2)]))
  (let [used (atom false)
        exec (reify Executor (execute [_ r] (reset! used true) (Thread/startVirtualThread r)))]
    (is (= [16 true] [@((flow/futurize #(* % %) :exec exec) 4) @used])))
  (is (identical? boom (ex-cause (try (.get ^Future ((flow/futurize (fn [] (throw boom)))))
                                      (catch ExecutionException e e))))))

(deftest steps-and-flows-are-data
  (let [step (flow/map->step {:describe (fn [] {:ins {:in "x"} :workload :io}) :transform (fn [_ _ _])})
        p (flow/process step)]
    (is (= {:ins {:in "x"} :workload :io :step step} (datafy p)))
    (is (= {:ins {:in "x"} :workload :io} (spi/describe p)))
    (is (= {:procs {:p {:args {:x 1} :chan-opts nil :desc {:ins {:in "x"} :workload :io}}} :conns nil :running false}
           (datafy (flow/create-flow {:procs {:p {:proc p :args {:x 1}}}})))))
  (testing "a step may say what a ping shows of its state"
    (running {:procs {:p {:proc (flow/process (fn ([] {:ping-map-fn #(select-keys % [:shown])})
                                                ([_] {:shown 1 :hidden 2})
                                                ([s _] s)
                                                ([s _ _] [s nil])))}}}
             (fn [g _ _] (is (= {:shown 1} (::flow/state (flow/ping-proc g :p))))))))

(deftest flows-from-before-a-reload-work
  (is (= []
         (reloading/faults
           '[[skein.async.flow :as flow] [skein.async.flow.spi :as spi]]
           '[(run! (fn [n] (require n :reload)) '[skein.async.flow.spi skein.async.flow])
             (require 'skein.async.flow :reload-all)]
           '[[:flow
              (let [got (promise)
                    g (flow/create-flow {:procs {:inc {:proc (flow/process (flow/lift1->step inc))}
                                                 :got {:proc (flow/process (flow/map->step {:describe (fn [] {:ins {:in ""}})
                                                                                            :transform (fn [_ _ v] (deliver got v) [nil nil])}))}}
                                         :conns [[[:inc :out] [:got :in]]]})]
                (flow/start g)
                [g got])
              (fn [[g got]] (flow/resume g) @(flow/inject g [:inc :in] [1]) [@got (set (keys (flow/ping g))) (flow/stop g)])
              [2 #{:inc :got} true]]
             [:launcher
              (let [launcher (flow/process (flow/lift1->step inc))]
                (reify spi/ProcLauncher
                  (describe [_] (spi/describe launcher))
                  (start [_ context] (spi/start launcher context))))
              (fn [launcher]
                (let [g (flow/create-flow {:procs {:inc {:proc launcher}}})]
                  (flow/start g)
                  [(set (keys (flow/ping g))) (flow/stop g)]))
              [#{:inc} true]]]))))
