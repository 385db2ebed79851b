;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.filters
  "The blocks behind the filters that core.async has deprecated, such as `filter<`.
  Each is documented in skein.bridge.deprecated."
  {:no-doc true}
  (:require
   [skein.impl.block :refer [<! >! go]]
   [skein.impl.check :as check]
   [skein.impl.port :as port])
  (:import
   (java.util ArrayList)))

(set! *warn-on-reflection* true)

(defn- through-block
  "The block of `through`. `results-of` returns the results for a value, and at the end for nil."
  [results-of ch out]
  (go
    (loop []
      (let [v (<! ch)]
        (when (and (loop [vs (results-of v)]
                     (if vs
                       (when (>! out (first vs)) (recur (next vs)))
                       true))
                   (some? v))
          (recur))))
    (port/close-as! out ch)))

(defn through
  "Moves values from `ch` to `out` through the transducer `xform`. Returns `out`."
  [xform ch out]
  (port/source "ch" ch)
  (let [results (ArrayList.)
        step (xform (fn add ([_]) ([_ v] (.add results v))))
        results-of (fn results-of [v]
                     (.clear results)
                     (if (nil? v) (step nil) (step nil v))
                     (seq (.toArray results)))]
    (port/closing (through-block results-of ch out) out)
    out))

(defn- mapcat-block
  "The block of `mapcat-into`."
  [f in out]
  (go
    (loop []
      (when-some [v (<! in)]
        (when (loop [vs (seq (f v))]
                (if vs
                  (when (>! out (first vs)) (recur (next vs)))
                  true))
          (recur))))
    (port/close-as! out in)))

(defn mapcat-into
  "Moves the values in (f value), for each value of `in`, to `out`. Returns `out`."
  [f in out]
  (check/function "f" f)
  (port/source "in" in)
  (port/closing (mapcat-block f in out) out)
  out)
