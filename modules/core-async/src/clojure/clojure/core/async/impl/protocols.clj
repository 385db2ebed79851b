;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.protocols
  "The protocols of ports, handlers and buffers under the names of
  clojure.core.async.impl.protocols, for code that knows those. They are those of
  skein.impl.protocols: to extend or satisfy one is the same as the other."
  (:require
   [skein.impl.mirror :as mirror]
   [skein.impl.protocols :as impl]))

(set! *warn-on-reflection* true)

(mirror/import-vars
  [skein.impl.protocols
   ReadPort take! WritePort put! Channel close! closed?
   Handler active? blockable? lock-id commit
   Buffer full? remove! add!* close-buf! Capacity capacity UnblockingBuffer])

(def ^:const MAX-QUEUE-SIZE
  "How many takes, and how many puts, may wait in one channel."
  impl/max-queue-size)

(defn add!
  "Adds to a buffer, as a reducing function. Throws AssertionError when `value` is nil."
  ([buffer] (impl/add! buffer))
  ([buffer value] (impl/add! buffer value)))
