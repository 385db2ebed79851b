;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.timers
  "core.async's timeout under its inner name, on Skein."
  {:no-doc true}
  (:require
   [skein.rt.timers :as timers]))

(defn timeout [msecs] (timers/timeout msecs))
