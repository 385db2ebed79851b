;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.ports
  "The ports behind the filters that core.async has deprecated, such as `map<`. Each is
  documented in skein.bridge.deprecated."
  {:no-doc true}
  (:require
   [skein.async.spi :as impl]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent.locks Lock)))

(set! *warn-on-reflection* true)

(defn- mapping-handler
  "Returns the handler `h` with a function that gets (f value), or nil for nil."
  [^Lock h f]
  (reify
    Lock
    (lock [_] (.lock h))
    (unlock [_] (.unlock h))
    impl/Handler
    (active? [_] (impl/active? h))
    (blockable? [_] (impl/blockable? h))
    (lock-id [_] (impl/lock-id h))
    (commit [_]
      (when-some [complete (impl/commit h)]
        (with-meta (fn mapped [v] (complete (when (some? v) (f v))))
          (meta complete))))))

(defn- front
  "Returns a port in front of `ch` that takes by `take` and puts by `put`."
  [ch take put]
  (reify
    port/Front
    (behind [_] ch)
    impl/Channel
    (close! [_] (impl/close! ch))
    (closed? [_] (impl/closed? ch))
    impl/ReadPort
    (take! [_ h] (take h))
    impl/WritePort
    (put! [_ v h] (put v h))))

(defn map<
  "See skein.bridge.deprecated/map<."
  [f ch]
  (front ch
    (fn take [h]
      (when-some [box (impl/take! ch (mapping-handler h f))]
        (let [v @box] (if (nil? v) box (impl/box (f v))))))
    (fn put [v h] (impl/put! ch v h))))

(defn map>
  "See skein.bridge.deprecated/map>."
  [f ch]
  (front ch
    (fn take [h] (impl/take! ch h))
    (fn put [v h] (impl/put! ch (f v) h))))

(defn filter>
  "See skein.bridge.deprecated/filter>."
  [p ch]
  (front ch
    (fn take [h] (impl/take! ch h))
    (fn put [v h]
      (if (p v)
        (impl/put! ch v h)
        (impl/box (not (impl/closed? ch)))))))
