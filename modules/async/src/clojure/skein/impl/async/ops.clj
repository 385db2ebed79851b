;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.ops
  "Blocks that move values from channel to channel, or between a channel and a collection.
  Each is documented in skein.async.

  The output of a block closes however the block ends; see skein.impl.port/closing. Its exceptions
  go to the uncaught-exception handler, or to its scope, like those of any go block."
  {:no-doc true}
  (:refer-clojure :exclude [into map merge reduce take transduce])
  (:require
   [skein.impl.async.gather :as gather]
   [skein.impl.block :refer [<! >! alts! go]]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.port :as port :refer [chan close!]]
   [skein.impl.threads :as threads])
  (:import
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(defn- some-value
  "Returns `value`, or throws :skein/nil-put for the operation `op` if it is nil."
  [value op where]
  (when (nil? value)
    (error/fail! :skein/nil-put
                 (str op " found nil " where ". Nil can't be put on a channel, because nil means"
                      " closed. The channel closes there; use a marker such as ::none instead of nil.")
                 {:operation op}))
  value)

;;;; From channel to channel

(defn- pipe-block
  "The block of `pipe`."
  [from to close?]
  (go
    (loop []
      (let [v (<! from)]
        (if (nil? v)
          (when close? (port/close-as! to from))
          (when (>! to v) (recur)))))))

(defn pipe
  "See skein.async/pipe."
  [from to close?]
  (port/source "from of pipe" from)
  (port/target "to of pipe" to)
  (cond-> (pipe-block from to close?) close? (port/failing to))
  to)

(defn- split-block
  "The block of `split`."
  [p ch true-ch false-ch]
  (go
    (loop []
      (when-some [v (<! ch)]
        (when (>! (if (p v) true-ch false-ch) v) (recur))))
    (port/close-as! true-ch ch)
    (port/close-as! false-ch ch)))

(defn split
  "See skein.async/split."
  [p ch t-buf-or-n f-buf-or-n]
  (check/function "p of split" p)
  (port/source "ch of split" ch)
  (let [true-ch (chan t-buf-or-n)
        false-ch (chan f-buf-or-n)]
    (port/closing (split-block p ch true-ch false-ch) true-ch false-ch)
    [true-ch false-ch]))

(defn- take-block
  "The block of `take`."
  [n ch out]
  (go
    (loop [left n]
      (when (pos? left)
        (if-some [v (<! ch)]
          (when (>! out v) (recur (dec left)))
          (port/close-as! out ch))))
    (close! out)))

(defn take
  "See skein.async/take."
  [n ch buf-or-n]
  (check/number "n of take" n "a number" number?)
  (port/source "ch of take" ch)
  (let [out (chan buf-or-n)]
    (port/closing (take-block n ch out) out)
    out))

(defn- merge-block
  "The block of `merge`."
  [chs out]
  (go
    (loop [open (vec chs)]
      (when (seq open)
        (let [[v ch] (alts! open)]
          (if (nil? v)
            (recur (filterv (fn other [c] (not (identical? c ch))) open))
            (when (>! out v) (recur open))))))
    (port/close-as! out (first (filter port/failed? chs)))))

(defn- sources [what chs]
  (check/collection (str "chs of " what) chs)
  (run! (fn each [ch] (port/source (str "each of the chs of " what) ch)) chs))

(defn merge
  "See skein.async/merge."
  [chs buf-or-n]
  (sources "merge" chs)
  (let [out (chan buf-or-n)]
    (port/closing (merge-block chs out) out)
    out))

(defn- takers
  "Returns one callback for each index of `values`, which stores its argument there."
  [^objects values g]
  (mapv (fn [i] (fn taken [v] (aset values (int i) v) (gather/arrive g)))
        (range (alength values))))

(defn- start-takes [chs takers g]
  (gather/start g)
  (dotimes [i (count chs)]
    (gather/expect g)
    (port/take! (chs i) (takers i))))

(defn- map-block
  "The block of `map`."
  [f chs out]
  (go
    (let [values (object-array (count chs))
          g (gather/gather)
          takers (takers values g)]
      (loop []
        (start-takes chs takers g)
        (when (gather/pending? g) (<! (gather/signal g)))
        (let [args (vec values)]
          (when (every? some? args)
            (when (>! out (some-value (apply f args) 'map "as the function's result"))
              (recur)))))
      (port/close-as! out (first (filter port/failed? chs))))))

(defn map
  "See skein.async/map."
  [f chs buf-or-n]
  (check/function "f of map" f)
  (sources "map" chs)
  (let [chs (vec chs)
        out (chan buf-or-n)]
    (if (empty? chs) (close! out) (port/closing (map-block f chs out) out))
    out))

;;;; From a collection

(defn- onto-chan-block
  "The block of `onto-chan!`."
  [ch coll close?]
  (go
    (loop [vs (seq coll)]
      (when vs
        (when (>! ch (some-value (first vs) 'onto-chan! "in the collection"))
          (recur (next vs)))))
    (when close? (close! ch))))

(defn- collection [what coll]
  (check/collection (str "coll of " what) coll))

(defn onto-chan!
  "See skein.async/onto-chan!."
  [ch coll close?]
  (port/target "ch of onto-chan!" ch)
  (collection "onto-chan!" coll)
  (cond-> (onto-chan-block ch coll close?) close? (port/closing ch)))

(defn onto-chan!!
  "See skein.async/onto-chan!!."
  [ch coll close?]
  (port/target "ch of onto-chan!!" ch)
  (collection "onto-chan!!" coll)
  (threads/call
    (fn onto []
      (loop [vs (seq coll)]
        (when vs
          (when (port/>!! ch (some-value (first vs) 'onto-chan!! "in the collection"))
            (recur (next vs)))))
      (when close? (close! ch)))
    :mixed
    (when close? ch)
    false))

(defn to-chan
  "Returns a channel of the values of `coll`, which `onto` puts. See skein.async/to-chan!."
  [onto coll]
  (collection "to-chan!" coll)
  (let [n (bounded-count 100 coll)]
    (if (pos? n)
      (doto (chan n) (onto coll true))
      (doto (chan) close!))))

;;;; Into a value

(defn- reduce-block
  "The block of `reduce` and `transduce`. If `ch` has failed, throws its exception: some values may be missing."
  [f complete init ch]
  (go
    (loop [acc init]
      (let [v (<! ch)]
        (if (nil? v)
          (if (port/failed? ch)
            (throw (.thrown ^Channel ch))
            (complete acc))
          (let [acc (f acc v)]
            (if (reduced? acc) (complete @acc) (recur acc))))))))

(defn reduce
  "See skein.async/reduce."
  [f init ch]
  (check/function "f of reduce" f)
  (port/source "ch of reduce" ch)
  (reduce-block f identity init ch))

(defn transduce
  "See skein.async/transduce."
  [xform f init ch]
  (check/function "f of transduce" f)
  (check/function "xform of transduce" xform)
  (port/source "ch of transduce" ch)
  (let [f (xform f)]
    (reduce-block f f init ch)))

(defn into
  "See skein.async/into."
  [coll ch]
  (check/that "coll of into" coll (or (nil? coll) (coll? coll)) "a collection")
  (port/source "ch of into" ch)
  (reduce conj coll ch))
