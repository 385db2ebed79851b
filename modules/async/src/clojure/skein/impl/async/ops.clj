;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.ops
  "Blocks that move values from channel to channel, or between a channel and a collection.
  Each is documented where it is public, in skein.async.

  A block that ends, whatever the reason, closes what it was to close: hence the
  `finally`s. What it throws reaches the uncaught-exception handler, as that of any go block."
  (:refer-clojure :exclude [into map merge reduce take transduce])
  (:require [skein.async :as a :refer [<! >! alts! chan close! go]]
            [skein.impl.argument :as argument]
            [skein.impl.async.gather :as gather]
            [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(defn- some-value
  "Returns `value`, unless it is nil: then throws for the operation called `op`."
  [value op where]
  (when (nil? value)
    (error/fail! :skein/nil-value
                 (str op " met nil " where ", which can't be put on a channel, because nil means"
                      " closed. Values end there; put a marker such as ::none instead.")
                 {:operation op}))
  value)

;;;; From channel to channel

(defn pipe
  "See skein.async/pipe."
  [from to close?]
  (argument/source from)
  (argument/target to)
  (go (loop []
        (let [v (<! from)]
          (if (nil? v)
            (when close? (close! to))
            (when (>! to v) (recur))))))
  to)

(defn split
  "See skein.async/split."
  [p ch t-buf-or-n f-buf-or-n]
  (argument/function p)
  (argument/source ch)
  (let [true-ch (chan t-buf-or-n)
        false-ch (chan f-buf-or-n)]
    (go (try
          (loop []
            (when-some [v (<! ch)]
              (when (>! (if (p v) true-ch false-ch) v) (recur))))
          (finally (close! true-ch) (close! false-ch))))
    [true-ch false-ch]))

(defn take
  "See skein.async/take."
  [n ch buf-or-n]
  (argument/source ch)
  (let [out (chan buf-or-n)]
    (go (try
          (loop [left n]
            (when (pos? left)
              (when-some [v (<! ch)]
                (when (>! out v) (recur (dec left))))))
          (finally (close! out))))
    out))

(defn merge
  "See skein.async/merge."
  [chs buf-or-n]
  (run! argument/source chs)
  (let [out (chan buf-or-n)]
    (go (try
          (loop [open (vec chs)]
            (when (seq open)
              (let [[v ch] (alts! open)]
                (if (nil? v)
                  (recur (filterv (fn other [c] (not (identical? c ch))) open))
                  (when (>! out v) (recur open))))))
          (finally (close! out))))
    out))

(defn- takers
  "One callback for each place of `values`, which puts what it is called with there."
  [^objects values g]
  (mapv (fn [i] (fn taken [v] (aset values (int i) v) (gather/arrive g)))
        (range (alength values))))

(defn- start-takes [chs takers g]
  (gather/start g)
  (dotimes [i (count chs)]
    (gather/expect g)
    (a/take! (chs i) (takers i))))

(defn map
  "See skein.async/map."
  [f chs buf-or-n]
  (argument/function f)
  (run! argument/source chs)
  (let [chs (vec chs)
        out (chan buf-or-n)
        values (object-array (count chs))
        g (gather/gather)
        takers (takers values g)]
    (if (empty? chs)
      (close! out)
      (go (try
            (loop []
              (start-takes chs takers g)
              (when (gather/pending? g) (<! (gather/signal g)))
              (let [args (vec values)]
                (when (every? some? args)
                  (when (>! out (some-value (apply f args) 'map "as the function's result"))
                    (recur)))))
            (finally (close! out)))))
    out))

;;;; From a collection

(defn onto-chan!
  "See skein.async/onto-chan!."
  [ch coll close?]
  (argument/target ch)
  (go (try
        (loop [vs (seq coll)]
          (when vs
            (when (>! ch (some-value (first vs) 'onto-chan! "in the collection"))
              (recur (next vs)))))
        (finally (when close? (close! ch))))))

(defn onto-chan!!
  "See skein.async/onto-chan!!."
  [ch coll close?]
  (argument/target ch)
  (a/thread
    (try
      (loop [vs (seq coll)]
        (when vs
          (when (a/>!! ch (some-value (first vs) 'onto-chan!! "in the collection"))
            (recur (next vs)))))
      (finally (when close? (close! ch))))))

(defn to-chan
  "A channel of the values of `coll`, put there by `onto`. See skein.async/to-chan!."
  [onto coll]
  (let [n (bounded-count 100 coll)]
    (if (pos? n)
      (doto (chan n) (onto coll true))
      (doto (chan) close!))))

;;;; Into a value

(defn reduce
  "See skein.async/reduce."
  [f init ch]
  (argument/function f)
  (argument/source ch)
  (go (loop [acc init]
        (let [v (<! ch)]
          (if (nil? v)
            acc
            (let [acc (f acc v)]
              (if (reduced? acc) @acc (recur acc))))))))

(defn transduce
  "See skein.async/transduce."
  [xform f init ch]
  (argument/function f)
  (let [f ((argument/function xform) f)
        reduction (reduce f init ch)]
    (go (f (<! reduction)))))
