;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pub
  "The values of one channel by topic: see skein.async/pub."
  {:no-doc true}
  (:require
   [skein.impl.async.mult :as mult]
   [skein.impl.block :refer [<! >! go]]
   [skein.impl.check :as check]
   [skein.impl.port :as port :refer [chan]]))

(set! *warn-on-reflection* true)

;; A hub is a map of :source, :topic-fn, :buf-fn and
;;
;; :topics  atom of {topic [channel hub]}: each topic is a mult
;; :ended   atom: nil, and at the end the channel as which the topics close: the source, or the port of
;;          `run` if that has thrown; a later `sub` closes its topic itself

(defn- topic-of [h topic]
  (get @(:topics h) topic))

(defn- topic!
  "Returns the [channel hub] of `topic`, which it makes if there is none."
  [h topic]
  (or (topic-of h topic)
      (let [ch (chan ((:buf-fn h) topic))
            made [ch (mult/hub ch)]]
        (get (swap! (:topics h) (fn add [topics] (if (get topics topic) topics (assoc topics topic made))))
             topic))))

(defn sub
  "Adds a subscription to `topic`. Returns `ch`."
  [h topic ch close?]
  (port/target "ch of sub" ch)
  (let [[topic-ch m] (topic! h topic)]
    (mult/tap m ch close?)
    (when-some [from @(:ended h)] (port/close-as! topic-ch from)))
  ch)

(defn unsub
  "Removes a subscription to `topic`."
  [h topic ch]
  (when-some [[_ m] (topic-of h topic)] (mult/untap m ch)))

(defn unsub-all
  "Removes all subscriptions, or those to `topic`."
  ([h] (reset! (:topics h) {}))
  ([h topic] (swap! (:topics h) dissoc topic)))

(defn- end
  "Closes the topics as `from` was closed."
  [h from]
  (reset! (:ended h) from)
  (run! (fn close [[ch]] (port/close-as! ch from)) (vals @(:topics h))))

(defn- run
  "Moves values from the source to the channels of their topics, and closes these at the end."
  [h]
  (go
    (let [source (:source h)
          topic-fn (:topic-fn h)]
      (loop []
        (when-some [v (<! source)]
          (let [topic (topic-fn v)]
            (when-some [[ch] (topic-of h topic)]
              (when-not (>! ch v) (unsub-all h topic))))
          (recur)))
      (end h source))))

(defn hub
  "Returns a hub for the values of `source`, without subscriptions."
  [source topic-fn buf-fn]
  (port/source "ch of pub" source)
  (check/function "topic-fn of pub" topic-fn)
  (check/function "buf-fn of pub" buf-fn)
  (let [h {:source source :topic-fn topic-fn :buf-fn buf-fn :topics (atom {}) :ended (atom nil)}]
    (port/when-ended (run h) (fn ended [port] (when-not @(:ended h) (end h port))))
    h))
