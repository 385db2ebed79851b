;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.coexist
  "Lets Skein and core.async use each other's channels in one program. Loading the namespace is
  enough; there is nothing to call. core.async must be on the class path, in a release with the
  protocols of 1.9.

  The operations of both then work on the channels of both, and `alts!` on a mixture. Ports,
  handlers and buffers of one library work with the other.

  Values, closes and waits mean the same on both sides. core.async's operations ignore the
  cause with which a channel of Skein was closed. If only a library needs core.async, use the
  module core-async instead, which is faster: see doc/interop.md."
  (:require
   [clojure.core.async.impl.buffers]
   [clojure.core.async.impl.protocols :as theirs]
   [skein.async.spi :as ours])
  (:import
   (skein.rt Buffers$Dropping Buffers$Promise Buffers$Sliding)))

(set! *warn-on-reflection* true)

(defn- extend-ours!
  "Extends Skein's protocols to implementations of core.async's."
  []
  (extend clojure.core.async.impl.protocols.ReadPort
    ours/ReadPort {:take! (fn [port handler] (theirs/take! port handler))})

  (extend clojure.core.async.impl.protocols.WritePort
    ours/WritePort {:put! (fn [port value handler] (theirs/put! port value handler))})

  (extend clojure.core.async.impl.protocols.Channel
    ours/Channel {:close! (fn [port] (theirs/close! port))
                  :closed? (fn [port] (theirs/closed? port))})

  (extend clojure.core.async.impl.protocols.Handler
    ours/Handler {:active? (fn [handler] (theirs/active? handler))
                  :blockable? (fn [handler] (theirs/blockable? handler))
                  :lock-id (fn [handler] (theirs/lock-id handler))
                  :commit (fn [handler] (theirs/commit handler))})

  (extend clojure.core.async.impl.protocols.Buffer
    ours/Buffer {:full? (fn [buffer] (theirs/full? buffer))
                 :remove! (fn [buffer] (theirs/remove! buffer))
                 :add!* (fn [buffer value] (theirs/add!* buffer value))
                 :close-buf! (fn [buffer] (theirs/close-buf! buffer))})

  (doseq [c [clojure.core.async.impl.buffers.DroppingBuffer
             clojure.core.async.impl.buffers.SlidingBuffer
             clojure.core.async.impl.buffers.PromiseBuffer]]
    (extend c ours/UnblockingBuffer {})))

(defn- extend-theirs!
  "Extends core.async's protocols to the runtime's channels and buffers, and to implementations
  of Skein's protocols."
  []
  (doseq [c [skein.rt.Channel skein.async.spi.ReadPort]]
    (extend c theirs/ReadPort {:take! (fn [port handler] (ours/take! port handler))}))

  (doseq [c [skein.rt.Channel skein.async.spi.WritePort]]
    (extend c theirs/WritePort {:put! (fn [port value handler] (ours/put! port value handler))}))

  (doseq [c [skein.rt.Channel skein.async.spi.Channel]]
    (extend c theirs/Channel {:close! (fn [port] (ours/close! port))
                              :closed? (fn [port] (ours/closed? port))}))

  (extend skein.async.spi.Handler
    theirs/Handler {:active? (fn [handler] (ours/active? handler))
                    :blockable? (fn [handler] (ours/blockable? handler))
                    :lock-id (fn [handler] (ours/lock-id handler))
                    :commit (fn [handler] (ours/commit handler))})

  (doseq [c [skein.rt.Buffer skein.async.spi.Buffer]]
    (extend c theirs/Buffer {:full? (fn [buffer] (ours/full? buffer))
                             :remove! (fn [buffer] (ours/remove! buffer))
                             :add!* (fn [buffer value] (ours/add!* buffer value))
                             :close-buf! (fn [buffer] (ours/close-buf! buffer))}))

  (doseq [c [Buffers$Dropping Buffers$Sliding Buffers$Promise skein.async.spi.UnblockingBuffer]]
    (extend c theirs/UnblockingBuffer {})))

;; On the bridge, core.async's protocols are Skein's.
(when-not (identical? theirs/take! ours/take!)
  (extend-ours!)
  (extend-theirs!))
