;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.protocols
  "The protocols of skein.async.spi under core.async's names, for code that uses these names.
  Extending a protocol here extends the one there, and the reverse.

  A deftype or reify that implements one of them has the interface with core.async's name, as with
  core.async. Skein's channels and buffers have it too: see skein.rt.ChannelFactory."
  {:no-doc true}
  (:require
   [skein.async.spi :as impl]
   [skein.bridge.mirror :as mirror]))

(set! *warn-on-reflection* true)

(doseq [sym '[take! put! close! closed?
              active? blockable? lock-id commit
              full? remove! add!* close-buf! Capacity capacity]]
  (mirror/mirror! *ns* (ns-resolve 'skein.async.spi sym)))

(defmacro ^:private import-protocol
  "Interns in this namespace the protocol `protocol-name` of skein.async.spi, with core.async's
  interface of that name, and extends it to that interface. Each method is written as (name this
  args...)."
  [protocol-name & methods]
  (let [protocol (symbol "skein.async.spi" (name protocol-name))
        interface (symbol (str "clojure.core.async.impl.protocols." protocol-name))]
    `(do
       (mirror/mirror! *ns* (var ~protocol) (fn on-interface# [p#] (assoc p# :on '~interface)))
       (extend ~interface ~protocol
         ~(into {} (for [[method this & args] methods]
                     [(keyword method)
                      `(fn [~(vary-meta this assoc :tag interface) ~@args] (. ~this ~method ~@args))]))))))

(import-protocol ReadPort (take! port handler))
(import-protocol WritePort (put! port value handler))
(import-protocol Channel (close! port) (closed? port))
(import-protocol Handler (active? handler) (blockable? handler) (lock-id handler) (commit handler))
(import-protocol Buffer (full? buffer) (remove! buffer) (add!* buffer value) (close-buf! buffer))
(import-protocol UnblockingBuffer)

(def ^:const MAX-QUEUE-SIZE
  "How many takes, and how many puts, may wait in one channel."
  skein.rt.Channel/MAX_WAITING)

(defn add!
  "Adds to a buffer, as a reducing function. Throws AssertionError when `value` is nil."
  ([buffer] (impl/add! buffer))
  ([buffer value] (impl/add! buffer value)))
