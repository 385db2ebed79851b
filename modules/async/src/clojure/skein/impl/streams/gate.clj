;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.streams.gate
  "A port in front of a channel, with a policy for a slow taker: see skein.async.streams/gate."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.error :as error]
   [skein.impl.port :as port])
  (:import
   (skein.rt Channel NilPut Uncaught)))

(set! *warn-on-reflection* true)

(defn- slow-taker []
  (error/failure :skein/slow-taker "This channel's taker was too slow, and its gate has disconnected it." {}))

(defn- disconnect [ch]
  (if (instance? Channel ch) (.close ^Channel ch ^Throwable (slow-taker)) (a/close! ch))
  false)

(defn- slide
  "Drops the oldest value of `ch` and puts `value`; drops `value` if `ch` still can't accept it."
  [ch value dropped]
  (when-some [oldest (a/poll! ch)] (dropped oldest))
  (let [accepted (a/offer! ch value)]
    (when (nil? accepted) (dropped value))
    (if (nil? accepted) true accepted)))

(defn- accept
  "Puts without waiting. Returns true, or false if the channel was closed before or by this call."
  [ch policy value dropped]
  (let [accepted (a/offer! ch value)]
    (cond
      (some? accepted) accepted
      (= :drop policy) (do (dropped value) true)
      (= :slide policy) (slide ch value dropped)
      :else (do (dropped value) (disconnect ch)))))

(defn- guarded
  "Returns `on-drop`, but sends its exceptions to the uncaught-exception handler: the mult or
  block that puts must continue."
  [on-drop]
  (fn dropped [value]
    (try (on-drop value) (catch Throwable t (Uncaught/report t)))))

(defn gate
  "Returns a port to put on in place of `ch`."
  [ch policy on-drop]
  (let [dropped (guarded on-drop)]
    (reify
      impl/WritePort
      (put! [_ value handler]
        (cond
          (nil? value) (throw (NilPut/refused))
          (= :block policy) (impl/put! ch value handler)
          (port/commit handler) (impl/box (accept ch policy value dropped))))
      port/Front
      (behind [_] ch)
      impl/Channel
      (close! [_] (a/close! ch))
      (closed? [_] (impl/closed? ch)))))
