;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.timers
  "Timeouts. Those that end in the same millisecond share a moment. The moments are in a heap, and
  there is one timer of the environment, for the earliest of them.

  T1. The time of a moment is no smaller than that of its parent, at (index - 1) / 2.
  T2. A timer is set if and only if the heap has moments. Otherwise it would keep a process alive.
  T3. A moment is in the heap, and in `moments`, if and only if one of its timeouts is live."
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error :as error]
   [skein.rt.channel :as channel]
   [skein.rt.scheduler :as scheduler]))

(def ^:private longest-ms
  "The longest delay of setTimeout; longer ones are waited for in steps."
  2147483647)

(def ^:private heap #js [])
(def ^:private moments (js/Map.)) ; by their time
(def ^:private timer nil)    ; what setTimeout returned, or nil
(def ^:private timer-ms 0)   ; when it fires

(defn- place! [moment i]
  (aset heap i moment)
  (set! (.-index moment) i))

(defn- rise! [moment i]
  (let [parent (bit-shift-right (dec i) 1)]
    (if (and (pos? i) (< (.-at-ms moment) (.-at-ms (aget heap parent))))
      (do (place! (aget heap parent) i)
          (recur moment parent))
      (place! moment i))))

(defn- sink! [moment i]
  (let [n (alength heap)
        left (inc (* 2 i))
        right (inc left)
        child (if (and (< right n) (< (.-at-ms (aget heap right)) (.-at-ms (aget heap left)))) right left)]
    (if (and (< child n) (< (.-at-ms (aget heap child)) (.-at-ms moment)))
      (do (place! (aget heap child) i)
          (recur moment child))
      (place! moment i))))

(defn- remove! [moment]
  (.delete moments (.-at-ms moment))
  (let [moved (.pop heap)]
    (when-not (identical? moved moment)
      (sink! moved (.-index moment))
      (rise! moved (.-index moved)))))

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
        (.end (aget heap 0))
        (recur))))
  (set-timer!))

;; The origin of the channels that close at `at-ms`; see skein.rt.channel. A channel that was closed earlier stays in
;; `channels`; `n-live` counts the others. `index` is the place in the heap, or -1.
(deftype Moment [at-ms channels ^:mutable n-live ^:mutable index]
  Object
  (ask [_])
  (end [this]
    (remove! this)
    (set! index -1)
    (dotimes [i (alength channels)]
      (.close (aget channels i))))
  (stop [this]
    (set! n-live (dec n-live))
    (when (and (zero? n-live) (not (== -1 index)))
      (remove! this)
      (when (zero? (alength heap)) (set-timer!)))))

(defn- new-moment! [at-ms]
  (let [moment (Moment. at-ms #js [] 0 -1)]
    (.set moments at-ms moment)
    (.push heap moment)
    (rise! moment (dec (alength heap)))
    (set-timer!)
    moment))

(defn timeout
  "Returns a channel that closes after `delay-ms`; closing it cancels the timer."
  [delay-ms]
  ;; NaN would break the order of the heap.
  (when-not (and (number? delay-ms) (not (js/isNaN delay-ms)))
    (let [value (error/preview delay-ms)]
      (fail! :skein/bad-argument (str "msecs of timeout must be a number of milliseconds, but is " value ".")
        {:argument "msecs of timeout" :value value})))
  (let [at-ms (js/Math.ceil (+ (scheduler/now) delay-ms))
        known (.get moments at-ms)
        moment (if (some? known) known (new-moment! at-ms))
        ch (channel/channel nil moment)]
    (.push (.-channels moment) ch)
    (set! (.-n-live moment) (inc (.-n-live moment)))
    ch))
