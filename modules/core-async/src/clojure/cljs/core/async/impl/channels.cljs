;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.channels
  "What libraries use of core.async's channels, on Skein."
  (:require
   [skein.impl.operations :as impl]))

(defn box [val] (volatile! val))

(defn chan
  ([buf] (impl/chan buf nil nil))
  ([buf xform] (impl/chan buf xform nil))
  ([buf xform exh] (impl/chan buf xform exh)))
