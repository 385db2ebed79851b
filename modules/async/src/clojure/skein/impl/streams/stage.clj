;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.streams.stage
  "What the operators of skein.async.streams share: a block that closes its output, and a timer.

  The clock is that of skein.rt.schedule.Scheduler/nanoTime, so an operator works in a simulation."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.port :as port])
  (:import
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

(defmacro operator
  "Starts a block with the body, and returns its output, a channel that the body knows as `out`. The
  output closes when the block ends: as the port that the body returns, with the body's exception,
  or with that of a cancellation. A body ends, and returns nil, when a put finds the output closed."
  {:style/indent 1}
  [[out] & body]
  `(let [~out (a/chan)]
     (port/closing (a/go (port/close-as! ~out (do ~@body))) ~out)
     ~out))

(defmacro emit
  "Puts `x` on `out`. Returns whether the operator goes on. Nil is no value: it is left out."
  [out x]
  `(let [x# ~x] (or (nil? x#) (a/>! ~out x#))))

;;;; Time

(defn now
  "Returns the time in nanoseconds."
  ^long []
  (Scheduler/nanoTime))

(defn nanos
  "Returns the time `x`, a number of milliseconds or a Duration, in nanoseconds; `what` names the argument."
  ^long [what x]
  (* 1000000 (check/milliseconds what x)))

(defn period
  "Like `nanos`, but at least one millisecond."
  ^long [what x]
  (max 1000000 (nanos what x)))

(defn disarm
  "Cancels the timer in the cell `timer`, if it has one."
  [timer]
  (some-> @timer a/close!)
  (vreset! timer nil))

(defn arm
  "Sets the timer for the time `due`. There is none if that is over. Returns the timer, a channel
  that closes, or nil."
  [timer ^long due]
  (disarm timer)
  (vreset! timer (when (pos? (- due (now))) (Timeout/at due))))

(defmacro with-timer
  "Evaluates the body with `timer`, a cell for the one timer of an operator, and cancels that at the end."
  {:style/indent 1}
  [[timer] & body]
  `(let [~timer (volatile! nil)]
     (try ~@body (finally (disarm ~timer)))))

(defmacro sleep-until
  "Waits until the time `due`."
  [timer due]
  `(when (arm ~timer ~due) (a/<! @~timer)))

(defn following
  "Returns the first multiple of `step` since `start` that is after `t`."
  ^long [^long start ^long step ^long t]
  (+ t (- step (long (mod (- t start) step)))))
