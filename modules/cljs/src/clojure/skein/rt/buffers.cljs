;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.buffers
  "The buffers of channels, and buffers of other libraries. `skein.rt.channel` says which methods
  a buffer must have."
  {:no-doc true}
  (:require
   [skein.rt.ring :as ring]))

;; Full with `cap` values; a transducer may add more.
(deftype Fixed [ring]
  Object
  (size [_] (.size ring))
  (full [_] (.full ring))
  (add [_ x]
    (.push ring x)
    false)
  (shift [_] (.shift ring))
  (end [_] false)
  ICounted
  (-count [_] (.size ring)))

(defn fixed
  "Returns a buffer that is full with `cap` values."
  [cap]
  (Fixed. (ring/ring cap)))

(deftype Dropping [ring]
  Object
  (size [_] (.size ring))
  (full [_] false)
  (add [_ x]
    (when-not ^boolean (.full ring) (.push ring x))
    false)
  (shift [_] (.shift ring))
  (end [_] false)
  ICounted
  (-count [_] (.size ring)))

(deftype Sliding [ring]
  Object
  (size [_] (.size ring))
  (full [_] false)
  (add [_ x]
    (when ^boolean (.full ring) (.shift ring))
    (.push ring x)
    false)
  (shift [_] (.shift ring))
  (end [_] false)
  ICounted
  (-count [_] (.size ring)))

(deftype Promise [^:mutable value]
  Object
  (size [_] (if (nil? value) 0 1))
  (full [_] false)
  (add [_ x]
    (when (nil? value) (set! value x))
    false)
  (shift [_] value)
  (end [_] false)
  ICounted
  (-count [_] (if (nil? value) 0 1)))

(defn unblocking?
  "Returns whether puts never wait on a channel with the buffer `b`."
  [b]
  (or (instance? Dropping b) (instance? Sliding b) (instance? Promise b)))

(def ^{:doc "Function that returns a buffer of another library as a channel needs it, or nil; nil if there is none."}
  other-buffer
  nil)

(defn own
  "Returns `b` as a channel needs it, or nil if it is not a buffer."
  [b]
  (cond
    (some? (.-full b)) b
    (some? other-buffer) (other-buffer b)))
