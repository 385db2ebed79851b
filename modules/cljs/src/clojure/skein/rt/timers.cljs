;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.timers
  "Timeouts: a heap of channels by the time at which they close, and one timer of the
  environment, for the earliest of them.

  T1. The time of an entry is no smaller than that of its parent, at (index - 1) / 2.
  T2. A timer is set if and only if the heap has entries; else it would keep a process alive."
  (:require
   [skein.rt.channel :as channel]
   [skein.rt.scheduler :as scheduler]))

(def ^:private longest-ms
  "The longest delay of setTimeout; longer ones are waited for in steps."
  2147483647)

(def ^:private heap #js [])
(def ^:private timer nil)    ; what setTimeout returned, or nil
(def ^:private timer-ms 0)   ; when it fires

(defn- place! [entry i]
  (aset heap i entry)
  (set! (.-index entry) i))

(defn- rise! [entry i]
  (let [parent (bit-shift-right (dec i) 1)]
    (if (and (pos? i) (< (.-at-ms entry) (.-at-ms (aget heap parent))))
      (do (place! (aget heap parent) i)
          (recur entry parent))
      (place! entry i))))

(defn- sink! [entry i]
  (let [n (alength heap)
        left (inc (* 2 i))
        right (inc left)
        child (if (and (< right n) (< (.-at-ms (aget heap right)) (.-at-ms (aget heap left)))) right left)]
    (if (and (< child n) (< (.-at-ms (aget heap child)) (.-at-ms entry)))
      (do (place! (aget heap child) i)
          (recur entry child))
      (place! entry i))))

(defn- remove! [entry]
  (let [i (.-index entry)]
    (when-not (neg? i)
      (set! (.-index entry) -1)
      (let [moved (.pop heap)]
        (when-not (identical? moved entry)
          (sink! moved i)
          (rise! moved (.-index moved)))))))

(declare fire)

(defn- set-timer!
  "Restores T2."
  []
  (if (zero? (alength heap))
    (when (some? timer)
      (js/clearTimeout timer)
      (set! timer nil))
    (let [at-ms (.-at-ms (aget heap 0))]
      (when (or (nil? timer) (< at-ms timer-ms))
        (when (some? timer) (js/clearTimeout timer))
        (set! timer-ms at-ms)
        (set! timer (js/setTimeout fire (js/Math.min longest-ms (js/Math.ceil (js/Math.max 0 (- at-ms (scheduler/now)))))))))))

(defn- fire []
  (set! timer nil)
  (let [now (scheduler/now)]
    (loop []
      (when (and (pos? (alength heap)) (<= (.-at-ms (aget heap 0)) now))
        (let [entry (aget heap 0)]
          (remove! entry)
          (.close (.-ch entry))
          (recur)))))
  (set-timer!))

;; What fills a timeout's channel; see skein.rt.channel. `index`: its place in the heap, or -1.
(deftype Entry [at-ms ^:mutable ch ^:mutable index]
  Object
  (ask [_])
  (stop [this]
    (when-not (neg? index)
      (remove! this)
      (when (zero? (alength heap)) (set-timer!)))))

(defn timeout
  "Returns a channel that closes after `delay-ms`; closing it cancels the timer."
  [delay-ms]
  (let [entry (Entry. (+ (scheduler/now) delay-ms) nil -1)
        ch (channel/channel nil entry)]
    (set! (.-ch entry) ch)
    (.push heap entry)
    (rise! entry (dec (alength heap)))
    (set-timer!)
    ch))
