;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.timers
  "Timeouts, for code that uses this namespace of core.async."
  {:no-doc true}
  (:require
   [skein.async :as a]))

(set! *warn-on-reflection* true)

(defn timeout
  "See `skein.async/timeout`."
  [^long msecs]
  (a/timeout msecs))
