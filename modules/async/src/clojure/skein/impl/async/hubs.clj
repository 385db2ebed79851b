;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.hubs
  "The protocols of core.async's hubs: mult, mix and pub. Their functions in skein.async take any hub that satisfies them."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.once :refer [defprotocol-once]]))

(set! *warn-on-reflection* true)

(defprotocol-once Mux
  "A hub around one channel. Like core.async's."
  (muxch* [_] "Returns the channel: the source of a mult or pub, the output of a mix."))

(defprotocol-once Mult
  "The operations of a mult. Like core.async's."
  (tap* [m ch close?] "Adds a tap, or changes its `close?`.")
  (untap* [m ch] "Removes a tap.")
  (untap-all* [m] "Removes all taps."))

(defprotocol-once Mix
  "The operations of a mix. Like core.async's."
  (admix* [m ch] "Adds an input, with no attributes.")
  (unmix* [m ch] "Removes an input.")
  (unmix-all* [m] "Removes all inputs.")
  (toggle* [m state-map] "Changes the attributes of inputs, {channel {attribute boolean}}.")
  (solo-mode* [m mode] "Sets what solo does to the other inputs, :mute or :pause."))

(defprotocol-once Pub
  "The operations of a pub. Like core.async's."
  (sub* [p v ch close?] "Adds a subscription to topic `v`.")
  (unsub* [p v ch] "Removes a subscription to topic `v`.")
  (unsub-all* [p] [p v] "Removes all subscriptions, or those to topic `v`."))

;;;; Each returns the argument `x`, which must be a hub of its kind; `what` names it, as "mult of tap" does.

(defn- checked [what x protocol wanted]
  (check/that what x (satisfies? protocol x) wanted))

(defn mult "Returns the mult `x`." [what x] (checked what x Mult "a mult, as (mult ch) makes it"))
(defn mix "Returns the mix `x`." [what x] (checked what x Mix "a mix, as (mix out) makes it"))
(defn pub "Returns the pub `x`." [what x] (checked what x Pub "a pub, as (pub ch topic-fn) makes it"))
