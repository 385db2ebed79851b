;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.timers
  "See skein.async.impl.timers."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.timers)
