;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.filters
  "The ports and blocks behind the filters that core.async has deprecated, such as `map<`. Each
  is documented in skein.bridge.deprecated."
  {:no-doc true}
  (:require-macros
   [skein.async :refer [go]])
  (:require
   [skein.impl.operations :refer [<! >! close!]]
   [skein.rt.port :as port]))

;;;; Ports: see skein.rt.channel for their methods

(deftype MappedWaiter [w f ^:mutable v]
  Object
  (live [_] (.live w))
  (deliver [_ value] (.deliver w (when (some? value) (f value)))))

(deftype MappedSource [port f]
  Object
  (takeNow [_ w]
    (if ^boolean (.takeNow port w)
      (do (when (some? (.-v w)) (set! (.-v w) (f (.-v w))))
          true)
      false))
  (takeLater [_ w] (.takeLater port (MappedWaiter. w f nil)))
  (putNow [_ w x] (.putNow port w x))
  (putLater [_ w x] (.putLater port w x))
  (close [_] (.close port))
  (isClosed [_] (.isClosed port))
  (failure [_] (.failure port)))

(defn map< [f ch]
  (MappedSource. (port/source ch) f))

(deftype CheckedTarget [port convert wants?]
  Object
  (takeNow [_ w] (.takeNow port w))
  (takeLater [_ w] (.takeLater port w))
  (putNow [_ w x]
    (if (wants? x)
      (.putNow port w (convert x))
      (do (set! (.-v w) (not (.isClosed port)))
          true)))
  (putLater [_ w x] (.putLater port w (convert x)))
  (close [_] (.close port))
  (isClosed [_] (.isClosed port))
  (failure [_] (.failure port)))

(defn map> [f ch]
  (CheckedTarget. (port/target ch) f (fn [_] true)))

(defn filter> [p ch]
  (CheckedTarget. (port/target ch) identity p))

;;;; Blocks

(defn through
  "Moves values from `ch` to `out` through the transducer `xform`. Returns `out`."
  [xform ch out]
  (let [step (xform (fn add ([results] results) ([results v] (.push results v) results)))]
    (go (try
          (loop []
            (let [v (<! ch)
                  results #js []
                  ended? (reduced? (if (nil? v) (step results) (step results v)))]
              (when (and (loop [i 0]
                           (if (< i (alength results))
                             (when (>! out (aget results i)) (recur (inc i)))
                             true))
                         (some? v)
                         (not ended?))
                (recur))))
          (finally (close! out))))
    out))

(defn mapcat-into
  "Moves the values in (f value), for each value of `in`, to `out`. Returns `out`."
  [f in out]
  (go (try
        (loop []
          (when-some [v (<! in)]
            (when (loop [vs (seq (f v))]
                    (if vs
                      (when (>! out (first vs)) (recur (next vs)))
                      true))
              (recur))))
        (finally (close! out))))
  out)
