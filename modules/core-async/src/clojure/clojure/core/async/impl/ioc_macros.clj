;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.ioc-macros
  "State machines; see skein.async.impl.ioc-macros."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.ioc-macros)
