;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.flow.spi
  "What a flow needs of a process, for those who write a kind of process of their own. Most
  need `skein.async.flow/process` only. As clojure.core.async.flow.spi, of core.async
  1.10.870-alpha2; ::flow/ stands for :skein.async.flow/ below."
  (:require
   [skein.impl.once :refer [defprotocol-once]]))

(set! *warn-on-reflection* true)

(defprotocol-once ProcLauncher
  "Describes and starts processes of one kind, any number of times; holds no resource.

  A process starts :paused, in which status it takes no message and puts none. Whatever it
  waits for, it waits at the same time, and first of all, for its control channel. That
  brings commands, maps with ::flow/to, a process's id or ::flow/all, and ::flow/command:

  ::flow/resume  be :running        ::flow/stop  release everything and end
  ::flow/pause   be :paused         ::flow/ping  put a map with at least ::flow/pid and
                                                 ::flow/status on the channel ::flow/reply

  What goes wrong goes to the error channel, and the process goes on. It closes none of the
  channels that it was given."
  (describe [launcher]
    "Returns {:params {name doc}, :ins {id doc}, :outs {id doc}}, and with :signal-select a
    set or predicate of the ids of the signals that processes get.")
  (start [launcher context]
    "Starts a process. `context` is a map:

    :pid       the process's id
    :args      {param value}, from the flow's definition
    :ins       {id channel}, with ::flow/control; ::flow/signals brings [signal-id message]
    :outs      {id channel-or-nil}, nil where nothing is connected, with ::flow/error and
               ::flow/report
    :resolver  a Resolver"))

(defprotocol-once Resolver
  "Finds what a process may need besides its own channels."
  (get-write-chan [resolver coord]
    "The channel of [pid id] to put on, nil where nothing is connected; that of all who
    select the signal for [::flow/cast signal-id].")
  (get-exec [resolver workload]
    "The java.util.concurrent.Executor for :mixed, :io or :compute work."))
