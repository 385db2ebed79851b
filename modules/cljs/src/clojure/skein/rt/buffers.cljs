;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.buffers
  "The buffers that are never full, and what else may be one. A channel asks of a buffer what
  `skein.rt.ring/Ring` has: `size`, `full`, `add`, `shift` and `endBuffer`."
  (:require
   [skein.rt.ring :refer [Ring]]))

(deftype Dropping [ring]
  Object
  (size [_] (.size ring))
  (full [_] false)
  (add [_ x] (when-not ^boolean (.full ring) (.push ring x)))
  (shift [_] (.shift ring))
  (endBuffer [_])
  ICounted
  (-count [_] (.size ring)))

(deftype Sliding [ring]
  Object
  (size [_] (.size ring))
  (full [_] false)
  (add [_ x]
    (when ^boolean (.full ring) (.shift ring))
    (.push ring x))
  (shift [_] (.shift ring))
  (endBuffer [_])
  ICounted
  (-count [_] (.size ring)))

(deftype Promise [^:mutable value]
  Object
  (size [_] (if (nil? value) 0 1))
  (full [_] false)
  (add [_ x] (when (nil? value) (set! value x)))
  (shift [_] value)
  (endBuffer [_])
  ICounted
  (-count [_] (if (nil? value) 0 1)))

(defn unblocking?
  "Returns whether puts never wait on a channel with the buffer `b`."
  [b]
  (or (instance? Dropping b) (instance? Sliding b) (instance? Promise b)))

(defonce ^{:doc "Function that returns a buffer of another library as a channel needs it, or nil."}
  other-buffer
  (fn [_]))

(defn own
  "Returns `b` as a channel needs it, or nil if it is no buffer."
  [b]
  (if (or (instance? Ring b) (unblocking? b))
    b
    (other-buffer b)))
