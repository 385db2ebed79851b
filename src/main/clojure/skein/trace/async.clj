;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.async
  "How blocks end whose ports traced calls return: `await-end!` has it told without taking
  the value, by a probe of the runtime that is installed while such blocks run."
  (:require [skein.trace.call :as call])
  (:import (java.util Map WeakHashMap)
           (skein.rt Failures Frame Port Probe Scheduler SpawnTraces)))

(set! *warn-on-reflection* true)

;; {port call}, guarded by itself; the probe is installed while it is not empty.
(def ^:private ^Map waiting (WeakHashMap.))

(declare probe)

(defn- forget!
  "The call that waits for `port` to close, once."
  [port]
  (locking waiting
    (let [c (.remove ^Map waiting port)]
      (when (and c (.isEmpty ^Map waiting)) (Scheduler/removeProbe probe))
      c)))

(defn- tell-end! [port value error]
  (when-some [c (forget! port)]
    (call/ended c value error)))

(def ^:private ^Probe probe
  (reify Probe
    (finished [_ frame value] (tell-end! (.port ^Frame frame) value nil))
    (failed [_ frame thrown] (tell-end! (.port ^Frame frame) nil thrown))))

(defn await-end!
  "Has it told, as of the call `c`, how the block of `port` ends."
  [c ^Port port]
  (locking waiting
    (when (.isEmpty ^Map waiting) (Scheduler/addProbe probe))
    (.put ^Map waiting port c))
  ;; It may have ended before the probe could see it.
  (when (.isClosed port)
    (tell-end! port (.kept port) (Failures/of port))))

(def ^:private spawn-traces (atom nil))

(defn set-spawn-traces!
  "Has every block note who spawned it, or no longer. Returns `on?`."
  [on?]
  (locking spawn-traces
    (when-some [probe @spawn-traces] (Scheduler/removeProbe probe))
    (reset! spawn-traces (when on? (doto (SpawnTraces.) (Scheduler/addProbe)))))
  on?)
