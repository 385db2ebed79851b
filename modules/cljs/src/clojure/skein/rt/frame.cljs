;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.frame
  "Running blocks. A frame is a block's generator, its place in the run queue, the waiter of its
  operations, and the port of its result, in one object.

  The compiler emits, for a park, `take(frame, port) ? frame.v : yield`. A frame that parks is
  delivered once, is run by the scheduler, and gets the value as that of its yield."
  {:no-doc true}
  (:refer-clojure :exclude [take])
  (:require
   [skein.rt.channel :as channel]
   [skein.rt.failures :as failures]
   [skein.rt.port :as port]
   [skein.rt.scheduler :as scheduler]))

(deftype Frame [^:mutable generator ^:mutable v ^:mutable x
                ^:mutable done? ^:mutable result ^:mutable thrown
                ^:mutable waiter ^:mutable others ; takers of the result: the first, a channel for more
                ^:mutable reports?] ; what the block throws is reported at once, and not kept
  Object
  (live [_] true)
  (deliver [this value]
    (set! v value)
    (scheduler/submit this))
  (run [this]
    (let [value v]
      (set! v nil)
      (try
        (let [step (.next generator value)]
          (when ^boolean (.-done step)
            (set! generator nil)
            (.end this (.-value step))))
        (catch :default e (.fail this e)))))
  (fail [this e]
    (set! generator nil)
    (if ^boolean reports?
      (do (.end this nil)
          (scheduler/report e))
      (do (set! thrown (failures/keep-untaken e))
          (.end this nil))))
  ;; Gives `value` to the code that waits for the result. A block whose port has been closed continues.
  (end [this value]
    (when-not ^boolean done?
      (set! done? true)
      (set! result value)
      (when (some? waiter)
        (let [w waiter]
          (set! waiter nil)
          (when ^boolean (.live w)
            (set! result nil)
            (.deliver w value))))
      (when (some? others)
        (let [w others]
          (set! others nil)
          (when (and (some? result) ^boolean (.putNow w this result))
            (set! result nil))
          (.close w))))
    nil)
  ;; The port. It gives the result to its first taker, and nil to all others.
  (takeNow [_ w]
    (if ^boolean done?
      (do (set! (.-v w) result)
          (set! result nil)
          true)
      false))
  (takeLater [_ w]
    (when (and (nil? others) (some? waiter) ^boolean (.live waiter))
      (set! others (channel/channel nil)))
    (if (some? others)
      (.takeLater others w)
      (set! waiter w)))
  (putNow [_ w value]
    (when (nil? value) (channel/nil-put!))
    (set! (.-v w) false)
    true)
  (close [this] (.end this nil))
  (isClosed [_] done?)
  (failure [_] thrown))

;; The frame that is being made: it is passed to the generator, and then to `start`.
(def ^:private made nil)

(defn frame
  "Returns a new frame. Only for the compiler, together with `start`."
  []
  (set! made (Frame. nil nil nil false nil nil nil nil false)))

(defn start
  "Starts the frame that was made last, with `generator` as its body. Returns its port."
  [generator]
  (let [f made]
    (set! made nil)
    (set! (.-generator f) generator)
    (scheduler/submit f)
    f))

(defn start-reporting
  "Like `start`, but what the block throws is reported at once, as core.async does."
  [generator]
  (set! (.-reports? made) true)
  (start generator))

(defn start-now
  "Like `start`, but runs the frame at once up to its first park."
  [generator]
  (let [f made]
    (set! made nil)
    (set! (.-generator f) generator)
    (scheduler/run-now f)
    f))

(defn ^boolean take
  "Takes for the frame `f`: returns true with the value in `f.v`, or false, and `f` waits."
  [f port]
  (let [p (port/source port)]
    (if ^boolean (.takeNow p f)
      true
      (do (set! (.-v f) nil)
          (.takeLater p f)
          (and (identical? p scheduler/soonest) (scheduler/join f))))))

(defn ^boolean put
  "Puts for the frame `f`: returns true with the outcome in `f.v`, or false, and `f` waits."
  [f port x]
  (let [p (port/target port)]
    (if ^boolean (.putNow p f x)
      true
      (do (set! (.-v f) nil)
          (.putLater p f x)
          false))))
