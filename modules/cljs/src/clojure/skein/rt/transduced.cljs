;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.transduced
  "A buffer that values reach through a transducer. What a channel asks of a buffer is in
  `skein.rt.channel`."
  {:no-doc true}
  (:require
   [skein.rt.channel :as channel]
   [skein.rt.scheduler :as scheduler]))

;; `step`: function of buffer and value, and of buffer at the end; nil when that has been.
(deftype Transduced [buffer ^:mutable step]
  Object
  (size [_] (.size buffer))
  (full [_] (.full buffer))
  (shift [_] (.shift buffer))
  (add [_ x] (reduced? (step buffer x)))
  (end [_]
    (if (nil? step)
      false
      (let [f step]
        (set! step nil)
        (f buffer)
        (.end buffer)
        true))))

(defn- step-of
  "Returns the function of buffer and value that `xform` makes of adding to a buffer. What it
  throws goes to `ex-handler`, whose result is added unless it is nil."
  [xform ex-handler]
  (let [add (fn ([b] b) ([b v] (when (nil? v) (channel/nil-put!)) (.add b v) b))
        step (if xform (xform add) add)
        failed (fn [b thrown]
                 (let [v ((or ex-handler scheduler/report) thrown)]
                   (when (some? v) (add b v))
                   b))]
    (fn
      ([b] (try (step b) (catch :default e (failed b e))))
      ([b v] (try (step b v) (catch :default e (failed b e)))))))

(defn transduced
  "Returns a buffer that puts values into `buffer` through the transducer `xform`, or nil. What it throws
  goes to `ex-handler`, or nil: see skein.async/chan."
  [buffer xform ex-handler]
  (Transduced. buffer (step-of xform ex-handler)))
