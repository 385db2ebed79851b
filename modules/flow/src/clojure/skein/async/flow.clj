;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow
  "Processes made of plain functions, joined by channels, and controlled from one place. Like
  clojure.core.async.flow of core.async 1.10.870-alpha2, which is an alpha. Docstrings name the
  differences.

  * steps: `process`, from a function, `map->step`, `lift*->step`, `lift1->step`
  * a flow: `create-flow`, `start`, `stop`, `pause`, `resume`, `pause-proc`, `resume-proc`
  * messages and state: `inject`, `ping`, `ping-proc`, and the channels that `start` returns

  The library's keys are in this namespace: ::flow/stop is :skein.async.flow/stop.

      (let [double (process (lift1->step (fn [x] (* 2 x))))
            tell (process (map->step {:describe (fn [] {:ins {:in \"a number\"}})
                                      :transform (fn [s _ x] [s {::flow/report [x]}])}))
            g (create-flow {:procs {:double {:proc double} :tell {:proc tell}}
                            :conns [[[:double :out] [:tell :in]]]})
            {:keys [report-chan]} (start g)]
        (resume g)
        (inject g [:double :in] [21])
        (try (skein.async/<!! report-chan) (finally (stop g))))
      ;=> 42"
  (:require
   [skein.async.flow.graph :as graph]
   [skein.async.flow.process :as process]
   [skein.impl.check :as check]
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(defn create-flow
  "Returns a flow, not started, from a map:

  - :procs  {pid {:proc      a process
                  :args      {param value}, for its step
                  :chan-opts {id {:buf-or-n, :xform}}, as for `chan`; by default a buffer of 10}}
  - :conns  `[[[pid out] [pid in]] ...]`; an output that is connected several times gives each
            message to all its inputs, and an input gets the messages of all its outputs
  - :mixed-exec, :io-exec, :compute-exec  java.util.concurrent.Executors, instead of those
            of `thread` and `io-thread`

  Throws :skein/bad-argument."
  [config]
  (graph/create config))

(defn- flow
  "Returns `g`, or throws :skein/bad-argument unless it is a flow."
  [what g]
  (check/that (str "g of " what) g (satisfies? graph/Graph g) "a flow, as create-flow returns it"))

(def ^:private ping-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:timeout-ms check/time-option})

(defn start
  "Starts the flow with all processes paused. Returns {:report-chan, :error-chan}, channels that
  keep the last 100 messages. If the flow is already running, the map has :already-running true.
  If a step throws while it is initialized, throws that exception, and nothing runs."
  [g]
  (graph/start (flow "start" g)))

(defn stop
  "Ends each process after its current message, and closes the report and error channels. The
  flow can be started again, from the beginning. Returns true, or nil if it was not running."
  [g]
  (graph/stop (flow "stop" g)))

(defn pause
  "Pauses all processes: they take no message and put none. Returns true. Throws
  :skein/flow-not-running, as do `resume`, `pause-proc`, `resume-proc`, `ping`, `ping-proc` and `inject`."
  [g]
  (graph/command (flow "pause" g) ::all ::pause))

(defn resume
  "Resumes all processes. Returns true."
  [g]
  (graph/command (flow "resume" g) ::all ::resume))

(defn pause-proc
  "Pauses one process. Returns true. Throws :skein/bad-argument."
  [g pid]
  (graph/command (flow "pause-proc" g) pid ::pause))

(defn resume-proc
  "Resumes one process. Returns true. Throws :skein/bad-argument."
  [g pid]
  (graph/command (flow "resume-proc" g) pid ::resume))

(defn ping
  "Asks all processes for their status. Returns {pid answer} of the processes that answered.
  options, a map or keys and values as in core.async:

  - :timeout-ms  how long to wait for answers, by default 1000

  An answer is a map:

  - ::pid, ::status  the process's id; :paused or :running
  - ::state          the step's state, passed through the step's :ping-map-fn if it has one
  - ::count          how many messages the process has handled
  - ::ins, ::outs    {id channel-as-data}"
  [g & {:as options}]
  (graph/ping (flow "ping" g) ::all (:timeout-ms (check/options "ping" options ping-options) 1000)))

(defn ping-proc
  "Asks one process for its status; see `ping`. Returns the answer, or nil if none came in
  time. Throws :skein/bad-argument."
  [g pid & {:as options}]
  (get (graph/ping (flow "ping-proc" g) pid (:timeout-ms (check/options "ping-proc" options ping-options) 1000)) pid))

(defn inject
  "Puts messages on an input or output of a process. With `[::cast signal-id]`, gives them to all
  processes that select the signal. Returns a future that is done when all messages are
  accepted. It fails with :skein/flow-not-running if the flow is stopped first. Throws
  :skein/bad-argument."
  {:arglists '([g [pid io-id :as coord] msgs])}
  [g coord msgs]
  (check/that "coord of inject" coord (and (vector? coord) (= 2 (count coord))) "[pid io-id]")
  (check/collection "msgs of inject" msgs)
  (graph/inject (flow "inject" g) coord msgs))

(defn process
  "Returns a process for `create-flow`, from a step. A step is a function of four arities that
  uses no channels:

  - `()`              returns its description `{:params {name doc}, :ins {id doc}, :outs {id doc}}`;
                      may have :workload as below, :signal-select, a set or predicate of signal
                      ids, and :ping-map-fn, a function of the state for `ping` to show
  - `(args)`          returns the first state; args are the :args of the definition, with ::pid
  - `(state change)`  returns the state after a change: ::resume, ::pause or ::stop
  - `(state id msg)`  returns `[state outputs]`, for a message on an input or of a signal; outputs
                      is {id messages}, where id is an output, `[pid input]`, ::report, or
                      `[::cast signal-id]`. Messages must not be nil

  If the state is a map, it may have ::in-ports and ::out-ports, {id channel}, which are added
  to the process's ports when it begins. It may have ::input-filter, a predicate of ids: only
  those inputs are read. When an in-port has closed, the step gets nil for it, once.

  options, a map:

  - :workload            :mixed (the default) or :io: the step runs on the process's own thread,
                         a platform thread or a virtual one. :compute: each message is handled by
                         a task of its own, which must not block, on the executor for computing
  - :compute-timeout-ms  the longest that such a task may take, by default 5000

  An exception from a step goes to the error channel, in a map with ::ex, ::pid, ::cid, ::msg and
  ::state, and the process continues with its old state. If a lazy output throws, the process
  continues with the new state. If the process's thread is interrupted, the step gets ::stop, and
  the process ends. Differs from core.async's: inputs are read in turn, and a paused process puts
  none of its outputs. Throws :skein/bad-argument."
  ([step-fn] (process step-fn nil))
  ([step-fn options] (process/launcher step-fn options)))

(def ^:private step-parts
  "Part -> what it must be; see skein.impl.check/options."
  (let [function [ifn? "a function"]]
    {:describe function, :init function, :transition function, :transform function}))

(defn map->step
  "Returns a step from a map of its parts: :describe and :transform, optionally :init and
  :transition; see `process`. Throws :skein/bad-argument."
  [{:keys [describe init transition transform] :as parts}]
  (check/options "map->step" parts step-parts)
  (when-not (and describe transform)
    (error/fail! :skein/bad-argument "A step needs at least :describe and :transform." {}))
  (fn
    ([] (describe))
    ([args] (when init (init args)))
    ([state change] (if transition (transition state change) state))
    ([state id msg] (transform state id msg))))

(defn lift*->step
  "Returns a step that calls `f` with each message of its input :in. `f` returns a collection,
  whose values go to the output :out.

      ((lift*->step range) nil :in 2)
      ;=> [nil {:out (0 1)}]"
  [f]
  (check/function "f of lift*->step" f)
  (map->step {:describe (fn [] {:ins {:in "what the function is called with"}
                                :outs {:out "what it returns, one by one"}})
              :transform (fn [_ _ msg] [nil {:out (f msg)}])}))

(defn lift1->step
  "Like `lift*->step`, for a function that returns one value,
  or nil for none.

      ((lift1->step inc) nil :in 2)
      ;=> [nil {:out (3)}]"
  [f]
  (check/function "f of lift1->step" f)
  (lift*->step (fn [msg] (when-some [v (f msg)] (list v)))))

(defn futurize
  "Returns a function that calls `f` on another thread and returns a future of the result.

  - :exec  :mixed (the default), :io, :compute, or an Executor

  If `f` throws, the future throws an ExecutionException with that exception as its cause.
  Throws :skein/bad-argument.

      @((futurize + :exec :io) 1 2)
      ;=> 3"
  [f & {:as options}]
  (check/function "f of futurize" f)
  (let [{:keys [exec] :or {exec :mixed}} (check/options "futurize" options {:exec [some? "a workload or an Executor"]})
        executor (process/executor exec)]
    (fn [& args] (process/task executor (fn [] (apply f args))))))
