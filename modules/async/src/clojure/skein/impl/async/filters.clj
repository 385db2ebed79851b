;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.filters
  "The blocks behind the filters that core.async has deprecated, such as `filter<`.
  Each is documented in skein.async."
  {:no-doc true}
  (:require
   [skein.impl.argument :as argument]
   [skein.impl.check :as check]
   [skein.impl.port :refer [<! >! close! defblock]])
  (:import
   (java.util ArrayList)))

(set! *warn-on-reflection* true)

(defblock ^:private through-block
  "The block of `through`. `results-of` returns the results for a value, and at the end for nil."
  [results-of ch out]
  (try
    (loop []
      (let [v (<! ch)]
        (when (and (loop [vs (results-of v)]
                     (if vs
                       (when (>! out (first vs)) (recur (next vs)))
                       true))
                   (some? v))
          (recur))))
    (finally (close! out))))

(defn through
  "Moves values from `ch` to `out` through the transducer `xform`. Returns `out`."
  [xform ch out]
  (argument/source "ch" ch)
  (let [results (ArrayList.)
        step (xform (fn add ([_]) ([_ v] (.add results v))))
        results-of (fn results-of [v]
                     (.clear results)
                     (if (nil? v) (step nil) (step nil v))
                     (seq (.toArray results)))]
    (through-block results-of ch out)
    out))

(defblock ^:private mapcat-block
  "The block of `mapcat-into`."
  [f in out]
  (try
    (loop []
      (when-some [v (<! in)]
        (when (loop [vs (seq (f v))]
                (if vs
                  (when (>! out (first vs)) (recur (next vs)))
                  true))
          (recur))))
    (finally (close! out))))

(defn mapcat-into
  "Moves the values in (f value), for each value of `in`, to `out`. Returns `out`."
  [f in out]
  (check/function "f" f)
  (argument/source "in" in)
  (mapcat-block f in out)
  out)
