;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mix
  "The values of many channels on one: see skein.async/mix."
  {:no-doc true}
  (:require
   [skein.impl.block :refer [>! alts! go]]
   [skein.impl.check :as check]
   [skein.impl.port :as port])
  (:import
   (skein.rt Buffers$Sliding Channel)))

(set! *warn-on-reflection* true)

(defn- having [attribute inputs]
  (into #{} (keep (fn [[ch attributes]] (when (attribute attributes) ch))) inputs))

(defn- plan
  "Returns which ports to read, and a predicate for the channels whose values are put:
  {:ports vector, :passes? predicate}. `inputs` is [[channel attributes]]. `change` is always
  read, first of all."
  [inputs solo-mode change]
  (let [solos (having :solo inputs)
        mutes (having :mute inputs)
        pauses (having :pause inputs)
        read? (cond (empty? solos) (complement pauses)
                    (= :pause solo-mode) solos
                    :else (fn read? [ch] (or (solos ch) (not (pauses ch)))))]
    {:ports (into [change] (comp (map first) (filter read?)) inputs)
     :passes? (if (seq solos) solos (complement mutes))}))

;; A hub is a map:
;;
;; out     where values go
;; inputs  atom of a vector of [channel {:mute, :pause, :solo boolean}], in the order in which they came
;; mode    atom of what solo does to the other inputs, :mute or :pause
;; change  channel that gets a value after each change of these

(defn- change! [h]
  (port/put! (:change h) true))

(defn- without [inputs ch]
  (filterv (fn other [[c]] (not (identical? c ch))) inputs))

(defn- changed
  "Changes the attributes of `ch` by `f`. Adds `ch` if it is not an input."
  [inputs ch f]
  (if (some (fn same? [[c]] (identical? c ch)) inputs)
    (mapv (fn [[c attributes :as input]] (if (identical? c ch) [c (f attributes)] input)) inputs)
    (conj inputs [ch (f nil)])))

(defn admix
  "Adds an input, with no attributes."
  [h ch]
  (port/source "ch of admix" ch)
  (swap! (:inputs h) changed ch (constantly {}))
  (change! h))

(defn unmix
  "Removes an input."
  [h ch]
  (swap! (:inputs h) without ch)
  (change! h))

(defn unmix-all
  "Removes all inputs."
  [h]
  (reset! (:inputs h) [])
  (change! h))

(def ^:private known-attributes
  "Attribute -> what its value must be; see skein.impl.check/options."
  (zipmap [:mute :pause :solo] (repeat [any? "true or false"])))

(defn toggle
  "Changes the attributes of inputs, {channel {attribute boolean}}."
  [h state-map]
  (check/that "state-map of toggle" state-map (or (nil? state-map) (map? state-map)) "a map {channel attributes}")
  (doseq [[ch attributes] state-map]
    (port/source "each channel of toggle" ch)
    (check/options "toggle" attributes known-attributes))
  (swap! (:inputs h) (fn toggled [inputs]
                       (reduce-kv (fn each [inputs ch attributes] (changed inputs ch #(merge % attributes))) inputs state-map)))
  (change! h))

(defn solo-mode
  "Sets what solo does to the other inputs."
  [h mode]
  (check/asserts (#{:mute :pause} mode) "mode of solo-mode" ":mute or :pause" "mode must be one of: #{:pause :mute}")
  (reset! (:mode h) mode)
  (change! h))

(defn- plan-now [h]
  (plan @(:inputs h) @(:mode h) (:change h)))

(defn- run
  "Moves values from the inputs to `out` until that is closed."
  [h]
  (go
    (let [out (:out h)]
      ;; The inspector finds the inputs in the local `ports`.
      (loop [ports nil, passes? nil]
        (if (nil? ports)
          (let [plan (plan-now h)] (recur (:ports plan) (:passes? plan)))
          (let [[v ch] (alts! ports)]
            (cond
              (identical? ch (:change h)) (recur nil nil)
              (nil? v) (do (swap! (:inputs h) without ch) (recur nil nil))
              (not (passes? ch)) (recur ports passes?)
              (>! out v) (recur ports passes?))))))))

(defn hub
  "Returns a hub onto `out`, without inputs."
  [out]
  (port/target "out of mix" out)
  (doto {:out out :inputs (atom []) :mode (atom :mute) :change (Channel. (Buffers$Sliding. 1))} (run)))
