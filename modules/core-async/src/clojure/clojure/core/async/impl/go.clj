;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.go
  "The compiler for macros that call it; see skein.async.impl.go."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.impl.go)
