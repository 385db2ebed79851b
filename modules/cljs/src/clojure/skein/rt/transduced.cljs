;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.transduced
  "A buffer that values reach through a transducer. `skein.rt.channel` says which methods a buffer
  must have."
  {:no-doc true}
  (:require
   [skein.rt.channel :as channel]
   [skein.rt.scheduler :as scheduler]))

;; `step`: function of buffer and value. At the end it is called with the buffer alone; after that it is nil.
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
  "Returns the reducing function that `xform` makes of adding to a buffer. `ex-handler` gets its
  exceptions; the handler's result is added unless it is nil."
  [xform ex-handler]
  (let [add (fn ([b] b) ([b v] (when (nil? v) (channel/nil-put!)) (.add b v) b))
        step (if xform (xform add) add)
        failed (fn [b thrown]
                 (try
                   (let [v ((or ex-handler scheduler/report) thrown)]
                     (when (some? v) (add b v)))
                   (catch :default e (scheduler/report e)))
                 b)]
    (fn
      ([b] (try (step b) (catch :default e (failed b e))))
      ([b v] (try (step b v) (catch :default e (failed b e)))))))

(defn transduced
  "Returns a buffer that puts values into `buffer` through the transducer `xform`, which may be nil.
  `ex-handler` gets the transducer's exceptions, and may be nil: see skein.async/chan."
  [buffer xform ex-handler]
  (Transduced. buffer (step-of xform ex-handler)))
