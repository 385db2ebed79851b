;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.async
  "What tracing gets from the runtime: the end of a block whose port a traced call has returned, and
  the code that spawned a block."
  {:no-doc true}
  (:require
   [skein.trace.call :as call])
  (:import
   (skein.rt Channel Result Result$Watcher)
   (skein.rt.block Failures Hooks SpawnTraces)))

(set! *warn-on-reflection* true)

(defn await-end!
  "Reports how the block of `port` ends, as a part of the call `c`. Takes nothing from the port: if the block
  has ended, reports the value that the next taker will get."
  [c ^Channel port]
  (when-not (Result/watch port (reify Result$Watcher
                                 (ended [_ value error] (call/ended c value error))))
    (call/ended c (Result/kept port) (Failures/of port))))

(defonce ^:private spawn-traces (atom nil))

(defn set-spawn-traces!
  "Sets whether every block records the code that spawned it. Returns `on?`."
  [on?]
  (locking spawn-traces
    (when-some [observer @spawn-traces] (Hooks/remove observer))
    (reset! spawn-traces (when on? (doto (SpawnTraces.) (Hooks/add)))))
  on?)
