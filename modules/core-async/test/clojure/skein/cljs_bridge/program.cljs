;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-bridge.program
  "A program written for core.async, with a port, a handler and a buffer of its own. Prints what came
  out."
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

(defn- broken
  "Returns a handler that throws when it is asked more than `n` times, and when its operation completes."
  [n]
  (let [asked (atom 0)]
    (reify impl/Handler
      (active? [_] (if (< n (swap! asked inc)) (throw (js/Error. "asked")) true))
      (blockable? [_] true)
      (commit [_] (throw (js/Error. "completed"))))))

(def ^:private reported (atom #{}))

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
    (.on js/process "uncaughtException" (fn [e] (swap! reported conj (ex-message e))))
    (let [start (chan) fails (go (<! start) (throw (js/Error. "failed")))
          late (timeout 1) closed (chan) goes-on (do (impl/take! closed (broken 1))
                                                     (impl/take! closed (broken 9))
                                                     (go (<! closed) :goes-on))]
      (impl/take! fails (broken 9))
      (impl/take! late (broken 9))
      (<! (timeout 1))
      (close! start)
      (close! closed)
      (println "BROKEN" (<! goes-on) (do (<! (timeout 2)) (sort @reported))))
    (let [c (chan 9) puts (a/map> inc c) odds (a/filter> odd? c) evens (a/remove> odd? c)]
      (>! puts 1) (>! odds 3) (>! odds 4) (>! evens 5) (>! evens 6)
      (close! c)
      (println "FILTERS" (<! (a/into [] c)) (<! (a/map< inc (a/to-chan [1])))
               (<! (a/into [] (a/filter< odd? (a/to-chan! [1 2 3])))) (<! (a/into [] (a/remove< odd? (a/to-chan! [1 2 3]))))
               (<! (a/into [] (a/mapcat< (fn [x] [x x]) (a/to-chan! [1 2])))) (<! (a/into [] (a/unique (a/to-chan! [1 1 2]))))
               (<! (a/into [] (a/partition 2 (a/to-chan! [1 2 3])))) (<! (a/into [] (a/partition-by odd? (a/to-chan! [1 3 2]))))))
    (println "VALUES" (<! (a/into [] (a/merge [(a/to-chan! [1]) (a/to-chan! [1])]))))))
