;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.protocols
  "Ports, handlers and buffers; see skein.async.impl.protocols."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.protocols)
