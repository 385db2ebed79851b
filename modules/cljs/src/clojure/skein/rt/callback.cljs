;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.callback
  "A waiter that calls a function with the outcome, from the run queue."
  {:no-doc true}
  (:require
   [skein.rt.scheduler :as scheduler]))

(deftype Callback [f ^:mutable v ^:mutable x]
  Object
  (live [_] true)
  (deliver [this value]
    (set! v value)
    (scheduler/submit this))
  (run [_]
    (when (some? f)
      (try (f v) (catch :default e (scheduler/report e))))))

(defn callback
  "Returns a waiter that calls `f`, or does nothing if `f` is nil."
  [f]
  (Callback. f nil nil))

(def scratch
  "The waiter for operations that never wait."
  (Callback. nil nil nil))
