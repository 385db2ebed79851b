;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-bridge.program
  "A program as for core.async, with a port, a handler and a buffer of its own. Prints what came out."
  (:require-macros
   [cljs.core.async.macros :refer [alt! go]])
  (:require
   [cljs.core.async :as a :refer [<! >! alts! chan close! put! take! timeout]]
   [cljs.core.async.impl.channels :as channels]
   [cljs.core.async.impl.protocols :as impl]
   [cljs.core.async.interop :refer [p->c] :refer-macros [<p!]]))

(deftype Twice [ch]
  impl/ReadPort
  (take! [_ handler]
    (impl/take! ch (reify impl/Handler
                     (active? [_] (impl/active? handler))
                     (blockable? [_] (impl/blockable? handler))
                     (commit [_] (let [f (impl/commit handler)] (fn [v] (f (* 2 v))))))))
  impl/Channel
  (close! [_] (impl/close! ch))
  (closed? [_] (impl/closed? ch)))

(deftype Stack [^:mutable items]
  impl/Buffer
  (full? [_] (<= 3 (count items)))
  (remove! [_] (let [x (peek items)] (set! items (pop items)) x))
  (add!* [this x] (set! items (conj items x)) this)
  (close-buf! [_])
  ICounted
  (-count [_] (count items)))

(defprotocol Kind
  (kind [x]))

(extend-protocol Kind
  channels/ManyToManyChannel
  (kind [_] :channel)
  default
  (kind [_] :other))

(defn- in-function [c] (mapv (fn [_] (<! c)) [])) ; must compile, as nobody calls the inner function

(go
  (let [c (chan) twice (Twice. c)
        waiting (go (<! twice))
        _ (<! (timeout 1))
        _ (>! c 21)
        stack (chan (Stack. []))]
    (dotimes [i 3] (>! stack i))
    (println "PORT" (<! waiting))
    (let [choice (go (alts! [twice (timeout 60000)]))]
      (<! (timeout 1))
      (>! c 4)
      (println "ALTS" (first (<! choice))))
    (println "BUFFER" [(<! stack) (<! stack) (<! stack)])
    (println "PROMISE" (<p! (js/Promise.resolve 5)) (<! (p->c (js/Promise.resolve 6))))
    (println "REJECTED" (try (<p! (js/Promise.reject 7)) (catch :default e [(:error (ex-data e)) (ex-cause e)])))
    (println "ALT" (alt! (chan) :never :default :default))
    (println "PROTOCOL" (satisfies? impl/ReadPort c) (satisfies? impl/Channel (go)) (impl/closed? c))
    (println "TYPE" (mapv kind [(chan) (go) (timeout 1) 1]))
    (println "FUNCTION" (in-function c))
    (println "VALUES" (<! (a/into [] (a/merge [(a/to-chan! [1]) (a/to-chan! [1])]))))))
