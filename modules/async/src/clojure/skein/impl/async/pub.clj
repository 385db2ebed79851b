;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pub
  "One channel's values for those who want their topic: see skein.async/pub."
  (:require [skein.async :as a :refer [<! >! chan close! go]]
            [skein.impl.argument :as argument]
            [skein.impl.async.mult :as mult]))

(set! *warn-on-reflection* true)

(def ^:private at-once
  "When a topic begins to take: whoever makes it subscribes."
  (doto (chan) close!))

(defn- mult-of
  "The mult of `topic`, made if there is none."
  [mults buf-fn topic]
  (or (get @mults topic)
      (get (swap! mults (fn [topics] (if (get topics topic)
                                       topics
                                       (assoc topics topic (mult/hub (chan (buf-fn topic)) at-once)))))
           topic)))

(defn pub
  "See skein.async/pub."
  [ch topic-fn buf-fn]
  (argument/source ch)
  (run! argument/function [topic-fn buf-fn])
  (let [mults (atom {}) ; topic -> mult
        p (reify
            a/Mux
            (muxch* [_] ch)
            a/Pub
            (sub* [_ topic ch close?] (a/tap (mult-of mults buf-fn topic) ch close?))
            (unsub* [_ topic ch] (when-some [m (get @mults topic)] (a/untap m ch)))
            (unsub-all* [_] (reset! mults {}))
            (unsub-all* [_ topic] (swap! mults dissoc topic)))]
    (go (try
          (loop []
            (when-some [v (<! ch)]
              (let [topic (topic-fn v)]
                (when-some [m (get @mults topic)]
                  (when-not (>! (a/muxch* m) v) (swap! mults dissoc topic))))
              (recur)))
          (finally (run! (fn [m] (close! (a/muxch* m))) (vals @mults)))))
    p))
