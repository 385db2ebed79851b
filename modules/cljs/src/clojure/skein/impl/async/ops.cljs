;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.ops
  "Blocks that move values from channel to channel, or between a channel and a collection.
  Each is documented where it is public, in skein.async.

  A block closes its output in a `finally`, so that the output closes however the block ends."
  {:no-doc true}
  (:refer-clojure :exclude [into map merge reduce take transduce])
  (:require-macros
   [skein.async :refer [go]]
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.argument :as argument]
   [skein.impl.error] ; fail! calls it
   [skein.impl.operations :refer [<! >! alts! chan close! put! take!]]))

(defn- some-value
  "Returns `value`. Throws if it is nil; the message names the operation `op`."
  [value op where]
  (when (nil? value)
    (fail! :skein/nil-put
      (str op " found nil " where ". Nil can't be put on a channel, because nil means"
           " closed. The channel closes there; put a marker such as ::none instead.")
      {:operation op}))
  value)

;;;; From channel to channel

(defn pipe [from to close?]
  (argument/source from)
  (argument/target to)
  (go (loop []
        (let [v (<! from)]
          (if (nil? v)
            (when close? (close! to))
            (when (>! to v) (recur))))))
  to)

(defn split [p ch t-buf-or-n f-buf-or-n]
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

(defn take [n ch buf-or-n]
  (argument/source ch)
  (let [out (chan buf-or-n)]
    (go (try
          (loop [left n]
            (when (pos? left)
              (when-some [v (<! ch)]
                (when (>! out v) (recur (dec left))))))
          (finally (close! out))))
    out))

(defn merge [chs buf-or-n]
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

(defn- take-each
  "Takes from each of `chs`. Returns a channel that gets an array of the values, with nil for a
  closed channel."
  [chs]
  (let [values (make-array (count chs))
        missing (volatile! (count chs))
        done (chan 1)]
    (dotimes [i (count chs)]
      (take! (nth chs i)
             (fn taken [v]
               (aset values i v)
               (when (zero? (vswap! missing dec)) (put! done values nil true)))
             true))
    done))

(defn map [f chs buf-or-n]
  (argument/function f)
  (run! argument/source chs)
  (let [chs (vec chs)
        out (chan buf-or-n)]
    (if (empty? chs)
      (close! out)
      (go (try
            (loop []
              (let [values (<! (take-each chs))]
                (when (every? some? values)
                  (when (>! out (some-value (apply f values) 'map "as the function's result"))
                    (recur)))))
            (finally (close! out)))))
    out))

;;;; From a collection

(defn onto-chan! [ch coll close?]
  (argument/target ch)
  (go (try
        (loop [vs (seq coll)]
          (when vs
            (when (>! ch (some-value (first vs) 'onto-chan! "in the collection"))
              (recur (next vs)))))
        (finally (when close? (close! ch))))))

(defn to-chan! [coll]
  (let [n (bounded-count 100 coll)
        ch (chan n)]
    (if (pos? n) (onto-chan! ch coll true) (close! ch))
    ch))

;;;; Into a value

(defn reduce [f init ch]
  (argument/function f)
  (argument/source ch)
  (go (loop [acc init]
        (let [v (<! ch)]
          (if (nil? v)
            acc
            (let [acc (f acc v)]
              (if (reduced? acc) @acc (recur acc))))))))

(defn transduce [xform f init ch]
  (argument/function f)
  (let [f ((argument/function xform) f)
        reduction (reduce f init ch)]
    (go (f (<! reduction)))))
