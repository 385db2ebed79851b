;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.dispatch
  "Where work runs; see skein.async.impl.dispatch."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.dispatch)
