;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.channels
  "Channels for makers of ports; see skein.async.impl.channels."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.channels)
