;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async
  "core.async's public vars, by skein.async."
  (:refer-clojure :exclude [reduce transduce into merge map take partition partition-by])
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async '#{async rethrow <? <??})
