;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.impl.protocols
  "The protocols of ports, handlers and buffers under the names of
  clojure.core.async.impl.protocols, for code that knows those. They are those of
  skein.impl.protocols: to extend or satisfy one is the same as the other."
  (:require [skein.impl.protocols :as impl]))

(set! *warn-on-reflection* true)

(defn- mirror!
  "Interns a var here that always has the value of the var `v`. An extension of a protocol
  gives new values to its var and to those of its methods."
  [v]
  (let [mirror (intern *ns* (with-meta (:name (meta v)) (dissoc (meta v) :ns)) @v)]
    (add-watch v ::mirror (fn follow [_ _ _ value] (alter-var-root mirror (constantly value))))))

(run! (fn [sym] (mirror! (ns-resolve 'skein.impl.protocols sym)))
      '[ReadPort take! WritePort put! Channel close! closed?
        Handler active? blockable? lock-id commit
        Buffer full? remove! add!* close-buf! Capacity capacity UnblockingBuffer])

(def ^:const MAX-QUEUE-SIZE
  "How many takes, and how many puts, may wait in one channel."
  impl/max-queue-size)

(defn add!
  "Adds to a buffer, as a reducing function. Throws AssertionError when `value` is nil."
  ([buffer] (impl/add! buffer))
  ([buffer value] (impl/add! buffer value)))
