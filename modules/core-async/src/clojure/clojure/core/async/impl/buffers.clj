;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.buffers
  "See skein.async.impl.buffers."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.buffers)
