;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.channels
  "Channels for code that knows those
  and makes ports of its own."
  (:require
   [skein.async :as a]
   [skein.impl.protocols :as impl]))

(set! *warn-on-reflection* true)

(defn box
  "Returns a derefable `value`, as a port returns for an operation that is done at once."
  [value]
  (impl/box value))

(defn chan
  "Returns a channel with the buffer `buf`, or none if that is nil; see `skein.async/chan`."
  ([buf] (chan buf nil))
  ([buf xform] (chan buf xform nil))
  ([buf xform exh] (a/chan buf xform exh)))
