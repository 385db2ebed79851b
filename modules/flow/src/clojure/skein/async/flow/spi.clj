;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.spi
  "The protocols between a flow and its processes, for writing a new kind of process. Most
  programs need only `skein.async.flow/process`. Like clojure.core.async.flow.spi of core.async
  1.10.870-alpha2. Below, ::flow/ stands for :skein.async.flow/."
  (:require
   [skein.impl.once :refer [defprotocol-once]]))

(set! *warn-on-reflection* true)

(defprotocol-once ProcLauncher
  "Describes and starts processes of one kind, any number of times. It holds no resource.

  A process starts with the status :paused, in which it takes no message and puts none. Wherever
  it waits, it also takes from its control channel, with priority. That channel carries commands:
  maps with ::flow/to, a process's id or ::flow/all, and ::flow/command:

  - ::flow/resume  be :running
  - ::flow/pause   be :paused
  - ::flow/stop    release everything and end
  - ::flow/ping    put a map with at least ::flow/pid and ::flow/status on the channel
                   ::flow/reply

  The process puts errors on the error channel and continues. It closes none of the channels
  that it was given."
  (describe [launcher]
    "Returns {:params {name doc}, :ins {id doc}, :outs {id doc}}. An optional :signal-select is
    a set or predicate of the ids of the signals that processes get.")
  (start [launcher context]
    "Starts a process. `context` is a map:

    - :pid       the process's id
    - :args      {param value}, from the flow's definition
    - :ins       {id channel}, with ::flow/control and with ::flow/signals, which carries
                 `[signal-id message]`
    - :outs      {id channel-or-nil}, nil where nothing is connected, with ::flow/error and
                 ::flow/report
    - :resolver  a Resolver"))

(defprotocol-once Resolver
  "Finds what a process may need besides its own channels."
  (get-write-chan [resolver coord]
    "Returns the channel of `[pid id]` to put on, or nil if nothing is connected. For
    `[::flow/cast signal-id]` returns a channel whose messages go to all processes that select the
    signal.")
  (get-exec [resolver workload]
    "Returns the java.util.concurrent.Executor for :mixed, :io or :compute work."))
