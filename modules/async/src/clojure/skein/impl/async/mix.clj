;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mix
  "Many channels' values on one, under control: see skein.async/mix."
  (:require [skein.async :as a :refer [<! >! alts! chan go]]
            [skein.impl.argument :as argument]))

(set! *warn-on-reflection* true)

(defn- having [attribute inputs]
  (reduce-kv (fn each [chs ch attributes] (if (attribute attributes) (conj chs ch) chs)) #{} inputs))

(defn- plan
  "What to read and what of it to pass on, given `inputs`, {channel #{attribute}} with
  attributes as maps, and the mode of soloing: {:ports vector, :passes? predicate}.
  `change` is always read, first of all."
  [inputs solo-mode change]
  (let [solos (having :solo inputs)
        mutes (having :mute inputs)
        pauses (having :pause inputs)
        read? (cond (empty? solos) (complement pauses)
                    (= :pause solo-mode) solos
                    :else (fn read? [ch] (or (solos ch) (not (pauses ch)))))]
    {:ports (into [change] (filter read?) (keys inputs))
     :passes? (if (seq solos) solos (complement mutes))}))

(defn mix
  "See skein.async/mix."
  [out]
  (argument/target out)
  (let [inputs (atom {}) ; channel -> {:mute, :pause, :solo -> boolean}
        mode (atom :mute)
        change (chan (a/sliding-buffer 1))
        changed (fn changed [] (a/put! change true))
        m (reify
            a/Mux
            (muxch* [_] out)
            a/Mix
            (admix* [_ ch] (argument/source ch) (swap! inputs assoc ch {}) (changed))
            (unmix* [_ ch] (swap! inputs dissoc ch) (changed))
            (unmix-all* [_] (reset! inputs {}) (changed))
            (toggle* [_ state-map]
              (run! argument/source (keys state-map))
              (swap! inputs (partial merge-with merge) state-map)
              (changed))
            (solo-mode* [_ new-mode]
              (assert (#{:mute :pause} new-mode) "mode must be one of: #{:pause :mute}")
              (reset! mode new-mode)
              (changed)))]
    (go (loop [{:keys [ports passes?] :as now} (plan @inputs @mode change)]
          (let [[v ch] (alts! ports)]
            (cond
              (identical? ch change) (recur (plan @inputs @mode change))
              (nil? v) (do (swap! inputs dissoc ch) (recur (plan @inputs @mode change)))
              (not (passes? ch)) (recur now)
              (>! out v) (recur now)))))
    m))
