;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.channels
  "Channels, for code that uses this namespace of core.async to make ports of its own."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl])
  (:import
   (clojure.core.async.impl.protocols ReadPort WritePort)))

(set! *warn-on-reflection* true)

;; A program may define print-method for one of core.async's types. A channel is also a
;; skein.rt.Channel, for which skein.async defines print-method; the program's method is preferred.
(doseq [type [ReadPort WritePort clojure.core.async.impl.protocols.Channel]]
  (prefer-method print-method type skein.rt.Channel))

(defn box
  "Returns a box that derefs to `value`, as a port returns for an operation that is done at once."
  [value]
  (impl/box value))

(defn chan
  "Returns a channel with the buffer `buf`, or none if that is nil; see `skein.async/chan`."
  ([buf] (chan buf nil))
  ([buf xform] (chan buf xform nil))
  ([buf xform exh] (a/chan buf xform exh)))
