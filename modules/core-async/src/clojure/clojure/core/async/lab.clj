;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.lab
  "See skein.async.lab."
  (:require [skein.bridge :as bridge]))

(set! *warn-on-reflection* true)

(bridge/mirror! 'skein.async.lab)
