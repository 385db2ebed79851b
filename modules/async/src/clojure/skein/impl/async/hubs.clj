;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.hubs
  "Hubs connect one channel to many: the part of skein.async about `mult`, `mix` and `pub`, and
  their protocols."
  {:no-doc true}
  (:require
   [skein.impl.async.mix :as mixes]
   [skein.impl.async.mult :as mults]
   [skein.impl.async.pub :as pubs]
   [skein.impl.check :as check]
   [skein.impl.once :refer [defprotocol-once]]))

(set! *warn-on-reflection* true)

(defn- hub
  "Returns `x`, or throws :skein/not-a-hub unless it satisfies the protocol."
  [what x protocol wanted]
  (check/that :skein/not-a-hub what x (satisfies? protocol x) wanted))

(defprotocol-once Mux
  "A hub around one channel. Like core.async's."
  (muxch* [_] "Returns the channel: the source of a mult or pub, the output of a mix."))

;;;; mult: the values of one channel for many

(defprotocol-once Mult
  "The operations of a mult. Like core.async's."
  (tap* [m ch close?] "Adds a tap, or changes its `close?`.")
  (untap* [m ch] "Removes a tap.")
  (untap-all* [m] "Removes all taps."))

(defn mult
  "Returns a mult of the channel `ch`. Each value of `ch` goes to all taps. The mult takes the
  next value when all taps have accepted the last one. So the slowest tap limits the others: give
  it a buffer. A closed tap is removed. When all taps have gone, values are dropped.

  Like core.async's. Differs: before its first tap it keeps only what fits into the source's
  buffer, and drops the oldest values beyond that. To drop them all, give the source no buffer, or
  tap and untap a channel at the start. The first value goes to all taps
  that are made before one of them has accepted it. A tap that is made after the
  source has closed closes at once. If a tap throws, because it has too many pending puts, the
  uncaught-exception handler gets the exception, and the other taps continue.

      (let [source (skein.async/chan) m (mult source) c (tap m (skein.async/chan 2)) d (tap m (skein.async/chan 2))]
        (skein.async/>!! source 1) (skein.async/>!! source 2)
        (mapv skein.async/<!! [c c d d]))
      ;=> [1 2 1 2]"
  [ch]
  (let [hub (mults/hub ch)]
    (reify
      Mux
      (muxch* [_] ch)
      Mult
      (tap* [_ ch close?] (mults/tap hub ch close?))
      (untap* [_ ch] (mults/untap hub ch))
      (untap-all* [_] (mults/untap-all hub)))))

(defn tap
  "Adds the channel `ch` to the taps of `mult`. `ch` closes when the source closes, unless
  `close?` is false. Returns `ch`. Like core.async's."
  ([mult ch] (tap mult ch true))
  ([mult ch close?] (tap* (hub "mult of tap" mult Mult "a mult, as (mult ch) makes it") ch close?) ch))

(defn untap
  "Removes the tap `ch` of `mult`. The channel stays open. Like core.async's."
  [mult ch]
  (untap* (hub "mult of untap" mult Mult "a mult, as (mult ch) makes it") ch))

(defn untap-all
  "Removes all taps of `mult`. The channels stay open. Like core.async's."
  [mult]
  (untap-all* (hub "mult of untap-all" mult Mult "a mult, as (mult ch) makes it")))

;;;; mix: the values of many channels on one

(defprotocol-once Mix
  "The operations of a mix. Like core.async's."
  (admix* [m ch] "Adds an input, with no attributes.")
  (unmix* [m ch] "Removes an input.")
  (unmix-all* [m] "Removes all inputs.")
  (toggle* [m state-map] "Changes the attributes of inputs, {channel {attribute boolean}}.")
  (solo-mode* [m mode] "Sets what solo does to the other inputs, :mute or :pause."))

(defn mix
  "Returns a mix, which puts the values of its inputs on the channel `out`. `admix` and `toggle`
  add inputs; a closed input is removed. The mix ends when `out` is closed, and never closes it.

  An input may have attributes. With :pause it is not read. With :mute it is read, and its values
  are dropped. With :solo it is read, and its values are always put; inputs without :solo are
  then muted or, in `solo-mode` :pause, paused.

  Like core.async's. Differs: an input that is both :solo and :pause is read in either mode."
  [out]
  (let [hub (mixes/hub out)]
    (reify
      Mux
      (muxch* [_] out)
      Mix
      (admix* [_ ch] (mixes/admix hub ch))
      (unmix* [_ ch] (mixes/unmix hub ch))
      (unmix-all* [_] (mixes/unmix-all hub))
      (toggle* [_ state-map] (mixes/toggle hub state-map))
      (solo-mode* [_ mode] (mixes/solo-mode hub mode)))))

(defn admix
  "Adds the channel `ch` to the inputs of `mix`. Like core.async's."
  [mix ch]
  (admix* (hub "mix of admix" mix Mix "a mix, as (mix out) makes it") ch))

(defn unmix
  "Removes the channel `ch` from the inputs of `mix`. Like core.async's."
  [mix ch]
  (unmix* (hub "mix of unmix" mix Mix "a mix, as (mix out) makes it") ch))

(defn unmix-all
  "Removes all inputs of `mix`. Like core.async's."
  [mix]
  (unmix-all* (hub "mix of unmix-all" mix Mix "a mix, as (mix out) makes it")))

(defn toggle
  "Changes attributes of several inputs of `mix` at once. `state-map` is
  {channel {:mute boolean, :pause boolean, :solo boolean}}. Attributes that are not given stay
  the same; channels that are not inputs become inputs. Like core.async's."
  [mix state-map]
  (toggle* (hub "mix of toggle" mix Mix "a mix, as (mix out) makes it") state-map))

(defn solo-mode
  "Sets what happens to inputs without :solo while another input has it. `mode` is :mute, the
  default, or :pause. Like core.async's."
  [mix mode]
  (solo-mode* (hub "mix of solo-mode" mix Mix "a mix, as (mix out) makes it") mode))

;;;; pub: the values of one channel by topic

(defprotocol-once Pub
  "The operations of a pub. Like core.async's."
  (sub* [p v ch close?] "Adds a subscription to topic `v`.")
  (unsub* [p v ch] "Removes a subscription to topic `v`.")
  (unsub-all* [p] [p v] "Removes all subscriptions, or those to topic `v`."))

(defn pub
  "Returns a pub of the channel `ch`. Each value goes to the channels that subscribe to its
  topic, (topic-fn value). Each topic is a mult, on a channel with the buffer (buf-fn topic),
  by default none. Values of a topic without subscriptions are dropped.

  Like core.async's. Differs: if `topic-fn` throws, subscribed channels close as if `ch` had closed.
  A channel that subscribes after `ch` has closed closes at once.

      (let [source (skein.async/chan) odds (skein.async/chan 2)]
        (sub (pub source odd?) true odds)
        (run! (fn [i] (skein.async/>!! source i)) [1 2 3])
        (skein.async/close! source)
        (skein.async/<!! (skein.async/into [] odds)))
      ;=> [1 3]"
  ([ch topic-fn] (pub ch topic-fn (constantly nil)))
  ([ch topic-fn buf-fn]
   (let [hub (pubs/hub ch topic-fn buf-fn)]
     (reify
       Mux
       (muxch* [_] ch)
       Pub
       (sub* [_ topic ch close?] (pubs/sub hub topic ch close?))
       (unsub* [_ topic ch] (pubs/unsub hub topic ch))
       (unsub-all* [_] (pubs/unsub-all hub))
       (unsub-all* [_ topic] (pubs/unsub-all hub topic))))))

(defn sub
  "Subscribes the channel `ch` to a topic of the pub `p`. `ch` closes when the source closes,
  unless `close?` is false. Like core.async's."
  ([p topic ch] (sub p topic ch true))
  ([p topic ch close?] (sub* (hub "p of sub" p Pub "a pub, as (pub ch topic-fn) makes it") topic ch close?)))

(defn unsub
  "Ends the subscription of `ch` to `topic`. The channel stays open. Like core.async's."
  [p topic ch]
  (unsub* (hub "p of unsub" p Pub "a pub, as (pub ch topic-fn) makes it") topic ch))

(defn unsub-all
  "Ends all subscriptions, or those to `topic`. The channels stay open, even when the source
  closes. Like core.async's."
  ([p] (unsub-all* (hub "p of unsub-all" p Pub "a pub, as (pub ch topic-fn) makes it")))
  ([p topic] (unsub-all* (hub "p of unsub-all" p Pub "a pub, as (pub ch topic-fn) makes it") topic)))
