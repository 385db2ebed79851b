;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.channels
  "The parts of core.async's channels that libraries use, on Skein."
  {:no-doc true}
  (:require
   [skein.impl.operations :as impl]
   [skein.rt.channel :as channel]
   [skein.rt.frame :as frame]))

(def ManyToManyChannel
  "The type of channels, to which libraries extend protocols."
  channel/Channel)

;; In core.async a block's port is a channel. So a protocol that is extended to channels must reach frames too.
(js/Object.setPrototypeOf (.-prototype frame/Frame) (.-prototype channel/Channel))

(defn box [val] (volatile! val))

(defn chan
  ([buf] (impl/chan buf nil nil))
  ([buf xform] (impl/chan buf xform nil))
  ([buf xform exh] (impl/chan buf xform exh)))
