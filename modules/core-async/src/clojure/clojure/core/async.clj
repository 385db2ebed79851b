;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async
  "core.async's public vars, by skein.async. Its other namespaces are loaded with it, as they
  are with core.async: what core.async has compiled names them without requiring them."
  (:refer-clojure :exclude [reduce transduce into merge map take partition partition-by])
  (:require [clojure.core.async.impl.buffers]
            [clojure.core.async.impl.channels]
            [clojure.core.async.impl.dispatch]
            [clojure.core.async.impl.ioc-macros]
            [clojure.core.async.impl.protocols]
            [clojure.core.async.impl.timers]
            [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async '#{async rethrow <? <??})
