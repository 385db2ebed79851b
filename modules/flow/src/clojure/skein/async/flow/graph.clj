;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.graph
  "A flow: its processes, the channels between them, and the channels that control them. A
  definition is checked and kept as a plan. Starting a flow makes channels and processes; stopping
  it forgets them.

      {:procs {pid {:launcher, :args, :chan-opts, :description}}
       :conns {[pid out] #{[pid in]...}}
       :execs {:mixed executor...}}"
  {:no-doc true}
  (:require
   [clojure.core.protocols :as protocols]
   [skein.async :as a]
   [skein.async.flow :as-alias flow]
   [skein.async.flow.process :as process]
   [skein.async.flow.spi :as spi]
   [skein.async.spi :as impl]
   [skein.impl.async.hubs :as hubs]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [defprotocol-once]])
  (:import
   (java.util.concurrent Executor)
   (skein.rt Buffers$Dropping Buffers$Fixed Buffers$Sliding NilPut Region)))

(set! *warn-on-reflection* true)

(def ^:private ^:const default-buffer 10)
(def ^:private ^:const report-buffer 100)
(def ^:private ^:const control-buffer 100)

;;;; The plan

(defn- bad-flow [message data]
  (error/fail! :skein/bad-argument message data))

(defn- check-ids [pid {:keys [ins outs] :as description}]
  (when-not (every? (some-fn nil? map?) [description ins outs])
    (bad-flow (str "Process " (error/preview pid) " must describe itself by a map with :ins and :outs, maps of ids, but returns "
                   (error/preview description) ".")
              {:pid pid}))
  (when-some [shared (not-empty (filterv (partial contains? ins) (keys outs)))]
    (bad-flow (str "Process " (error/preview pid) " uses an id for an input and for an output: " (error/preview shared) ".")
              {:pid pid :ids shared})))

(def ^:private known
  "Key of a definition -> what its value must be; see skein.impl.check/options."
  (let [executor [any? "an Executor"]]
    {:procs [map? "a map {pid definition}"]
     :conns [coll? "a collection of connections"]
     :mixed-exec executor, :io-exec executor, :compute-exec executor}))

(def ^:private known-of-proc
  {:proc [any? "a process"]
   :args [map? "a map {param value}"]
   :chan-opts [map? "a map {id options}"]})

(def ^:private known-of-channel
  {:buf-or-n [some? "a buffer or a number"]
   :xform [ifn? "a transducer"]})

(defn- check-chan-opts [pid chan-opts]
  (doseq [[id options] chan-opts]
    (check/options (str "the channel " (error/preview [pid id])) options known-of-channel)))

(defn- plan-proc [pid definition]
  (let [{:keys [proc args chan-opts]} (check/options (str "process " (error/preview pid)) definition known-of-proc)]
    (check-chan-opts pid chan-opts)
    (when-not (satisfies? spi/ProcLauncher proc)
      (bad-flow (str "The :proc of " (error/preview pid) " must be a process, such as (process step-fn), but is "
                     (error/preview proc) ".")
                {:pid pid}))
    (let [description (spi/describe proc)]
      (check-ids pid description)
      {:launcher proc :args args :chan-opts chan-opts :description description})))

(defn- plan-conns [procs conns]
  (let [known? (fn [direction coord]
                 (and (vector? coord)
                      (= 2 (count coord))
                      (contains? (get-in procs [(coord 0) :description direction]) (coord 1))))]
    (reduce (fn [plan conn]
              (let [[from to] (when (sequential? conn) conn)]
                (when-not (and (known? :outs from) (known? :ins to))
                  (bad-flow (str "invalid connection: " (error/preview conn)
                                 ". A connection is [[pid out] [pid in]], an output and an input of the flow's processes.")
                            {:conn conn}))
                (update plan from (fnil conj #{}) to)))
            {} conns)))

(defn- plan-exec [[workload exec]]
  (when-not (or (nil? exec) (instance? Executor exec))
    (bad-flow (str "The " workload " executor must be a java.util.concurrent.Executor, but is " (error/preview exec) ".")
              {:workload workload}))
  [workload (or exec (process/executor workload))])

(defn- plan [config]
  (let [{:keys [procs conns mixed-exec io-exec compute-exec]} (check/options "create-flow" config known)
        procs (into {} (map (fn [[pid proc]] [pid (plan-proc pid proc)])) procs)]
    {:procs procs
     :conns (plan-conns procs conns)
     :execs (into {} (map plan-exec) {:mixed mixed-exec :io io-exec :compute compute-exec})}))

;;;; The channels of a run

(defn- buffer-of-a-run
  "Returns a new buffer like that of the definition: a buffer belongs to one channel, and each start makes new channels."
  [buf-or-n]
  (condp instance? buf-or-n
    Buffers$Sliding (a/sliding-buffer (.capacity ^Buffers$Sliding buf-or-n))
    Buffers$Dropping (a/dropping-buffer (.capacity ^Buffers$Dropping buf-or-n))
    Buffers$Fixed (a/buffer (.capacity ^Buffers$Fixed buf-or-n))
    (or buf-or-n default-buffer)))

(defn- report-to [error-chan more]
  (fn failed [t]
    (a/put! error-chan (assoc more ::flow/ex t))
    nil))

(defn- make-channel [error-chan [pid id] {:keys [buf-or-n xform]}]
  (let [buffer (buffer-of-a-run buf-or-n)]
    (if xform
      (a/chan buffer xform (report-to error-chan {::flow/pid pid ::flow/cid id ::flow/xform xform}))
      (a/chan buffer))))

(defn- coords [procs direction]
  (for [[pid {:keys [description chan-opts]}] procs, id (keys (direction description))]
    [[pid id] (get chan-opts id)]))

(defn- connect
  "Returns the channel of an output. For one input of another process, it is that input's channel. For several inputs,
  or an input of the same process, it is a mult's. Returns nil if nothing is connected."
  [make in-chans conns [[pid :as out] options]]
  (let [ins (conns out)]
    (cond
      (empty? ins) nil
      (and (= 1 (count ins)) (not= pid (ffirst ins))) (in-chans (first ins))
      :else (let [ch (make out options)
                  hub (a/mult ch)]
              (run! (fn [in] (a/tap hub (in-chans in))) ins)
              ch))))

(defn- selects [signal-select]
  (filter (fn [[id _]] (and signal-select (signal-select id)))))

(defn- make-channels [{:keys [procs conns]}]
  (let [error-chan (a/chan (a/sliding-buffer report-buffer))
        make (partial make-channel error-chan)
        in-chans (into {} (map (fn [[coord options]] [coord (make coord options)])) (coords procs :ins))
        signal-hub (a/mult (a/chan default-buffer))
        tap-signals (fn [pid {:keys [description]}]
                      (a/tap signal-hub (a/chan (a/sliding-buffer report-buffer)
                                                (selects (:signal-select description))
                                                (report-to error-chan {::flow/pid pid ::flow/cid ::flow/signals}))))]
    {:error error-chan
     :report (a/chan (a/sliding-buffer report-buffer))
     :ins in-chans
     :outs (into {} (map (fn [[coord :as out]] [coord (connect make in-chans conns out)])) (coords procs :outs))
     :cast (hubs/muxch* signal-hub)
     :signals (into {} (map (fn [[pid proc]] [pid (tap-signals pid proc)])) procs)
     :controls (update-vals procs (fn [_] (a/chan control-buffer)))
     :stopped (a/chan)}))

(defn- cast-port
  "Returns a port whose messages go to all processes that select the signal."
  [ch signal-id]
  (reify impl/WritePort
    (put! [_ message handler]
      (when (nil? message) (throw (NilPut/refused)))
      (impl/put! ch [signal-id message] handler))))

(defn- write-channel [{:keys [ins outs] cast-chan :cast} [pid id :as coord]]
  (cond
    (= ::flow/cast pid) (cast-port cast-chan id)
    (contains? ins coord) (ins coord)
    (contains? outs coord) (outs coord)
    :else (error/fail! :skein/bad-argument
                       (str "can't resolve channel: the flow has no input or output " (error/preview coord) ".")
                       {:coord coord})))

(defn- resolver [channels execs]
  (reify spi/Resolver
    (get-write-chan [_ coord] (write-channel channels coord))
    (get-exec [_ workload] (execs workload))))

;;;; Commands

(defn- send-command
  "Puts a command on the control channels by `send`."
  [{:keys [controls]} send to more]
  (doseq [[pid control] controls :when (or (= ::flow/all to) (= pid to))]
    (send control (assoc more ::flow/to to))))

(defn- start-procs [{:keys [procs]} {:keys [ins outs signals controls error report] :as channels} found]
  (try
    (doseq [[pid {:keys [launcher args description]}] procs
            :let [own (fn [chans ids] (into {} (map (fn [id] [id (chans [pid id])])) (keys ids)))]]
      (spi/start launcher
                 {:pid pid :args args :resolver found
                  :ins (assoc (own ins (:ins description))
                              ::flow/control (controls pid) ::flow/signals (signals pid))
                  :outs (assoc (own outs (:outs description)) ::flow/error error ::flow/report report)}))
    (catch Throwable t
      (send-command channels a/put! ::flow/all {::flow/command ::flow/stop})
      (throw t))))

(defprotocol-once Graph
  "A flow, started or not. Its operations are documented in skein.async.flow."
  (start [flow] "See `skein.async.flow/start`.")
  (stop [flow] "See `skein.async.flow/stop`.")
  (command [flow to command] "Sends a command to the process `to`, or ::flow/all. Returns true.")
  (ping [flow to timeout-ms] "Returns {pid answer} of those that answer in time.")
  (inject [flow coord msgs] "See `skein.async.flow/inject`."))

(defn- not-running []
  (error/fail! :skein/flow-not-running "The flow is not running. Start it first." {}))

(defn- running [run]
  (or @run (not-running)))

(defn- start-flow [plan run]
  (if-some [{:keys [report error]} @run]
    {:report-chan report :error-chan error :already-running true}
    (let [{:keys [report error] :as channels} (make-channels plan)
          found (resolver channels (:execs plan))]
      (start-procs plan channels found)
      (reset! run (assoc channels :resolver found))
      {:report-chan report :error-chan error})))

(defn- stop-flow [run]
  (when-some [{:keys [report error stopped] :as channels} @run]
    (reset! run nil)
    (send-command channels a/put! ::flow/all {::flow/command ::flow/stop})
    (run! a/close! [error report stopped])
    true))

(defn- check-pid [{:keys [procs]} to]
  (when-not (or (= ::flow/all to) (contains? procs to))
    (error/fail! :skein/bad-argument (str "The flow has no process " (error/preview to) ".") {:pid to})))

(defn- ping-flow
  "Pings processes. Uses offer!, so that pings of a process in a long step don't pile up."
  [channels to timeout-ms]
  (let [n (if (= ::flow/all to) (count (:controls channels)) 1)
        reply (a/chan (max 1 n))
        limit (a/timeout timeout-ms)]
    (send-command channels a/offer! to {::flow/command ::flow/ping ::flow/reply reply})
    (loop [answers {}]
      (if (= n (count answers))
        (do (a/close! limit) answers)
        (let [[answer _] (a/alts!! [reply limit] :priority true)]
          (if answer
            (recur (assoc answers (::flow/pid answer) answer))
            answers))))))

(defn- inject-messages
  "Returns a future of all puts, which fails if the flow is stopped before they are done."
  [{:keys [resolver stopped]} coord messages]
  (let [ch (spi/get-write-chan resolver coord)]
    (process/task (spi/get-exec resolver :io)
                  (fn inject []
                    (when ch
                      (doseq [message messages]
                        (when (identical? stopped (second (a/alts!! [[ch message] stopped] :priority true)))
                          (not-running))))))))

(defn create
  "Returns a flow; see `skein.async.flow/create-flow`."
  [config]
  (let [{:keys [procs] :as plan} (plan config)
        run (atom nil)
        lock (Object.)]
    (reify
      protocols/Datafiable
      (datafy [_] {:procs (update-vals procs (fn [{:keys [args chan-opts description]}]
                                               {:args args :chan-opts chan-opts :desc description}))
                   :conns (:conns config)
                   :running (some? @run)})
      Graph
      ;; A flow ends by `stop`. So its mults must not end with a scope.
      (start [_] (locking lock (with-bindings {Region/CHILD nil} (start-flow plan run))))
      (stop [_] (locking lock (stop-flow run)))
      (command [_ to command]
        (check-pid plan to)
        (send-command (running run) a/put! to {::flow/command command})
        true)
      (ping [_ to timeout-ms]
        (check-pid plan to)
        (ping-flow (running run) to timeout-ms))
      (inject [_ coord msgs] (inject-messages (running run) coord msgs)))))
