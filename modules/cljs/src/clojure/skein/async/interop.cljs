;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.interop
  "Ports for JavaScript. Promises, abort signals and async iterables are ports without it, and ports are async iterables."
  (:require
   [skein.rt.interop :as interop]))

(defn ->future
  "Returns a JavaScript promise of the next value of `port`. It is fulfilled with the value, or with nil if the
  port closes. If an exception ended the port, the promise is rejected with that exception."
  [port]
  (interop/->future port))

(defn ->signal
  "Returns an AbortSignal. It is aborted when `port` gives a value, which becomes the reason, or when
  `port` closes."
  [port]
  (interop/->signal port))
