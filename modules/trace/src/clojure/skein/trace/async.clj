;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.async
  "Data that tracing gets from the runtime: the ends of blocks whose ports traced calls return, and
  the spawners of blocks."
  {:no-doc true}
  (:require
   [skein.trace.call :as call])
  (:import
   (skein.rt Hooks Port Port$Watcher)
   (skein.rt.watch Failures SpawnTraces)))

(set! *warn-on-reflection* true)

(defn await-end!
  "Reports how the block of `port` ends, as a part of the call `c`. Takes nothing from the port: of
  a block that has ended, the value is what the next taker will get."
  [c ^Port port]
  (when-not (.watch port (reify Port$Watcher
                           (ended [_ value error] (call/ended c value error))))
    (call/ended c (.kept port) (Failures/of port))))

(def ^:private spawn-traces (atom nil))

(defn set-spawn-traces!
  "Has every block note who spawned it, or no longer. Returns `on?`."
  [on?]
  (locking spawn-traces
    (when-some [probe @spawn-traces] (Hooks/removeProbe probe))
    (reset! spawn-traces (when on? (doto (SpawnTraces.) (Hooks/addProbe)))))
  on?)
