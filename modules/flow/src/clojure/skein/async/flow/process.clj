;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.process
  "The process of a flow that calls a step function: one loop, which waits for its control
  channel with priority.

      :paused  -> :running   ::flow/resume       :running -> :paused   ::flow/pause
      any      -> :exit      ::flow/stop

  The state of the loop is a map, `known`:

      {:status, :state, :count    the status; the step's state; messages handled
       :ins {id channel}          inputs, the least recently read first
       :outs {id channel-or-nil}}"
  {:no-doc true}
  (:require
   [clojure.core.protocols :as protocols]
   [skein.async :as a]
   [skein.async.flow :as-alias flow]
   [skein.async.flow.spi :as spi]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.port :as port]
   [skein.impl.threads :as threads])
  (:import
   (java.util.concurrent ExecutionException Executor FutureTask TimeUnit)))

(set! *warn-on-reflection* true)

(defn task
  "Calls `f` on `executor` with the caller's bindings. Returns the FutureTask."
  ^java.util.concurrent.FutureTask [^Executor executor f]
  (let [t (FutureTask. ^Callable (bound-fn* f))]
    (.execute executor t)
    t))

;;;; Commands

(def ^:private status-after
  {::flow/resume :running, ::flow/pause :paused, ::flow/stop :exit})

(defn- report-error [{:keys [error pid]} {:keys [status state count]} more]
  (a/>!! error (merge {::flow/pid pid ::flow/status status ::flow/state state ::flow/count count} more)))

(defn- shown-state
  "Returns the state for a ping, as a map. If the function for it throws, reports that, and
  returns {}."
  [{:keys [ping-map-fn] :as process} {:keys [state] :as known}]
  (try
    {::flow/state (if ping-map-fn (ping-map-fn state) state)}
    (catch Throwable t
      (report-error process known {::flow/op :ping ::flow/ex t})
      {})))

(defn- pong [{:keys [pid] :as process} {:keys [status count ins outs] :as known} reply]
  (a/put! reply (merge {::flow/pid pid
                        ::flow/status status
                        ::flow/count count
                        ::flow/ins (into {} (map (fn [[id ch]] [id (protocols/datafy ch)])) ins)
                        ::flow/outs (into {} (map (fn [[id ch]] [id (some-> ch protocols/datafy)])) outs)}
                       (shown-state process known))))

(defn- change-status [{:keys [step] :as process} known command status]
  (if (= status (:status known))
    known
    (let [changed (assoc known :status status)]
      (try
        (assoc changed :state (step (:state known) command))
        (catch Throwable t
          (report-error process known {::flow/op :transition ::flow/ex t})
          changed)))))

(defn- obey
  "Returns `known` after a message of the control channel; nil stops the process."
  [{:keys [pid] :as process} known {::flow/keys [to command reply] :as message}]
  (cond
    (nil? message) (assoc known :status :exit)
    (not (or (= to ::flow/all) (= to pid))) known
    (= ::flow/ping command) (do (pong process known reply) known)
    :else (if-some [status (status-after command)]
            (change-status process known command status)
            known)))

;;;; Messages

(defn- out-channel [{:keys [resolver report]} known out]
  (cond
    (= ::flow/report out) report
    (contains? (:outs known) out) (get (:outs known) out)
    (and (vector? out) (= 2 (count out))) (spi/get-write-chan resolver out)
    :else (error/fail! :skein/bad-argument
                       (str "The step's output has messages for " (error/preview out)
                            ", which is neither one of its :outs nor a [pid id].")
                       {:id out})))

(defn- send-message
  "Puts one message. Obeys commands while it waits, and puts nothing while it is paused."
  [{:keys [control] :as process} known ch message]
  (loop [known known]
    (case (:status known)
      :exit known
      :paused (recur (obey process known (a/<!! control)))
      (let [[v port] (a/alts!! [control [ch message]] :priority true)]
        (if (identical? port control)
          (recur (obey process known v))
          known)))))

(defn- send-outputs
  "Puts the outputs of a step. `latest` holds the latest `known`, since an output is often lazy
  and may throw after a command has been obeyed."
  [process latest outputs]
  (doseq [[out messages] outputs
          :let [ch (out-channel process @latest out)]
          :when ch
          message messages
          :while (not= :exit (:status @latest))]
    (vswap! latest (fn [known] (send-message process known ch message)))))

(defn- handle-message [{:keys [transform] :as process} known id message]
  (let [latest (volatile! (update known :count inc))
        report (fn [t] (report-error process @latest {::flow/cid id ::flow/msg message ::flow/op :step ::flow/ex t}))]
    (try
      (let [[state outputs] (transform (:state known) id message)]
        (vswap! latest assoc :state state)
        (send-outputs process latest outputs))
      (catch InterruptedException e
        (report e)
        (vswap! latest (fn [known] (change-status process known ::flow/stop :exit))))
      (catch Throwable t (report t)))
    @latest))

(defn- with-ports
  "Adds the ports in the step's state to those of the process."
  [known]
  (let [{::flow/keys [in-ports out-ports]} (when (map? (:state known)) (:state known))]
    (run! (fn [ch] (port/source "each of the ::flow/in-ports" ch)) (vals in-ports))
    (run! (fn [ch] (port/target "each of the ::flow/out-ports" ch)) (vals out-ports))
    (-> known (update :ins (fn [ins] (reduce conj ins in-ports))) (update :outs merge out-ports))))

(defn- readable
  "Returns the inputs that the state's filter accepts, or none if it throws, so that the process still reads commands."
  [process {:keys [ins state] :as known}]
  (if-some [wanted? (when (map? state) (::flow/input-filter state))]
    (try
      (filterv (fn [[id _]] (wanted? id)) ins)
      (catch Throwable t
        (report-error process known {::flow/op :input-filter ::flow/ex t})
        []))
    ins))

(defn- read-last
  "Moves the input `id` behind the others, or removes it if it has closed."
  [ins id closed?]
  (let [others (into [] (remove (fn [[i _]] (= id i))) ins)]
    (if closed? others (conj others (first (filter (fn [[i _]] (= id i)) ins))))))

(defn- run-once [{:keys [control signals] :as process} known]
  (if (= :paused (:status known))
    (obey process known (a/<!! control))
    (let [inputs (readable process known)
          [message port] (a/alts!! (into [control signals] (map second) inputs) :priority true)]
      (cond
        (identical? port control) (obey process known message)
        (identical? port signals) (handle-message process known (message 0) (message 1))
        :else (let [[id] (first (filter (fn [[_ ch]] (identical? ch port)) inputs))]
                (handle-message process (update known :ins read-last id (nil? message)) id message))))))

(defn- run-loop
  "Runs until the process is stopped or its thread is interrupted."
  [process known]
  (loop [known known]
    (let [after (try
                  (run-once process known)
                  (catch InterruptedException _ (change-status process known ::flow/stop :exit))
                  (catch Throwable t ; too many operations wait in a port of the user
                    (report-error process known {::flow/ex t})
                    known))]
      (when-not (= :exit (:status after)) (recur after)))))

;;;; The launcher

(defn- on-executor
  "Returns a function that calls `step` on the compute executor, with a time limit. It throws the step's exceptions."
  [step ^Executor executor timeout-ms]
  (fn transform [state id message]
    (let [t (task executor (fn [] (step state id message)))]
      (try
        (.get t (long timeout-ms) TimeUnit/MILLISECONDS)
        (catch ExecutionException e
          (let [cause (ex-cause e)] ; an interrupt of the other thread must not look like one of this thread
            (throw (if (or (nil? cause) (instance? InterruptedException cause)) e cause))))
        (finally (.cancel t true))))))

(defn- start-process [step {:keys [ping-map-fn]} workload timeout-ms {:keys [pid args ins outs resolver]}]
  (let [process {:pid pid :step step :resolver resolver :ping-map-fn ping-map-fn
                 :control (::flow/control ins) :signals (::flow/signals ins)
                 :error (::flow/error outs) :report (::flow/report outs)
                 :transform (if (= :compute workload)
                              (on-executor step (spi/get-exec resolver :compute) timeout-ms)
                              step)}
        known (with-ports {:status :paused :count 0
                           :state (step (assoc args ::flow/pid pid))
                           :ins (vec (dissoc ins ::flow/control ::flow/signals))
                           :outs (dissoc outs ::flow/error ::flow/report)})]
    (task (spi/get-exec resolver (if (= :compute workload) :io workload))
          (fn run [] (run-loop process known)))))

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:workload [#{:mixed :io :compute} ":mixed, :io or :compute"]
   :compute-timeout-ms check/time-option})

(defn launcher
  "Returns the launcher of `skein.async.flow/process`."
  [step options]
  (check/function "step-fn of process" step)
  (let [{:keys [workload compute-timeout-ms] :or {compute-timeout-ms 5000}} (check/options "process" options known)
        timeout-ms (check/milliseconds :compute-timeout-ms compute-timeout-ms)
        workload-of (fn [description] (or workload (:workload description) :mixed))]
    (reify
      protocols/Datafiable
      (datafy [_] (assoc (step) :step step :workload (workload-of (step))))
      spi/ProcLauncher
      (describe [_] (step))
      (start [_ context]
        (let [description (step)]
          (start-process step description (workload-of description) timeout-ms context))))))

(defn executor
  "Returns `exec` if it is an Executor, or the Executor for :mixed, :io or :compute. Throws
  :skein/bad-argument."
  ^java.util.concurrent.Executor [exec]
  (cond
    (instance? Executor exec) exec
    (#{:mixed :io :compute} exec) (threads/executor-for exec)
    :else (error/fail! :skein/bad-argument
                       (str "A workload must be :mixed, :io, :compute or an Executor, but is "
                            (error/preview exec) ".")
                       {:workload (error/preview exec)})))
