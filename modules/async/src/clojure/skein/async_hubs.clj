;; SPDX-License-Identifier: Apache-2.0
;; Part of skein.async: hubs, through which many channels have to do with one.
(in-ns 'skein.async)

(set! *warn-on-reflection* true)

(defprotocol-once Mux
  "A hub around one channel. As core.async's."
  (muxch* [_] "The channel: a mult's or pub's source, a mix's output."))

;;;; mult: one channel's values for many

(defprotocol-once Mult
  "Behind `tap` and its kin. As core.async's."
  (tap* [m ch close?] "Adds a tap, or changes its `close?`.")
  (untap* [m ch] "Removes a tap.")
  (untap-all* [m] "Removes all taps."))

(defn mult
  "Returns a mult of the channel `ch`, whose every value goes to all taps. The next one is
  taken when all have accepted, so the slowest tap sets the pace; a buffer, perhaps a
  dropping one, helps it. Without taps values are dropped. A closed tap is removed.

  As core.async's. Differs: it begins to take 5 ms after it was made, so that taps made at
  once miss nothing; a tap that throws, as one with too many pending puts does, is
  reported to the uncaught-exception handler, and the others go on.

      (let [source (chan) m (mult source) c (tap m (chan 2)) d (tap m (chan 2))]
        (>!! source 1) (>!! source 2)
        [(<!! c) (<!! c) (<!! d) (<!! d)])
      ;=> [1 2 1 2]"
  [ch]
  ((Late/var `mult/mult) ch))

(defn tap
  "Gives the values of `mult` to the channel `ch`, which closes with the source unless
  `close?` is false. Returns `ch`. As core.async's."
  ([mult ch] (tap mult ch true))
  ([mult ch close?] (tap* mult ch close?) ch))

(defn untap
  "Ends what `tap` began. The channel stays open. As core.async's."
  [mult ch]
  (untap* mult ch))

(defn untap-all
  "Removes all taps of `mult`. They stay open. As core.async's."
  [mult]
  (untap-all* mult))

;;;; mix: many channels' values on one

(defprotocol-once Mix
  "Behind `admix` and its kin. As core.async's."
  (admix* [m ch] "Adds an input, with no attributes.")
  (unmix* [m ch] "Removes an input.")
  (unmix-all* [m] "Removes all inputs.")
  (toggle* [m state-map] "Changes the attributes of inputs, {channel {attribute boolean}}.")
  (solo-mode* [m mode] "What solo does to the other inputs, :mute or :pause."))

(defn mix
  "Returns a mix onto the channel `out`. Its inputs come by `admix` or `toggle`; a closed one
  is removed. It ends when `out` is closed, and never closes it.

  An input may have attributes: :pause, it is not read; :mute, it is read and its values are
  dropped; :solo, it is read and passed on in any case, and inputs without :solo are muted
  or, in `solo-mode` :pause, paused.

  As core.async's. Differs: an input that is both :solo and :pause is read in either mode."
  [out]
  ((Late/var `mix/mix) out))

(defn admix
  "Adds the channel `ch` to the inputs of `mix`. As core.async's."
  [mix ch]
  (admix* mix ch))

(defn unmix
  "Removes the channel `ch` from the inputs of `mix`. As core.async's."
  [mix ch]
  (unmix* mix ch))

(defn unmix-all
  "Removes all inputs of `mix`. As core.async's."
  [mix]
  (unmix-all* mix))

(defn toggle
  "Changes attributes of several inputs of `mix` at once: `state-map` is
  {channel {:mute boolean, :pause boolean, :solo boolean}}. Attributes that are not given
  stay; channels that are not inputs become such. As core.async's."
  [mix state-map]
  (toggle* mix state-map))

(defn solo-mode
  "Says what becomes of the inputs without :solo while others have it: `mode` is :mute, as at
  first, or :pause. As core.async's."
  [mix mode]
  (solo-mode* mix mode))

;;;; pub: one channel's values by topic

(defprotocol-once Pub
  "Behind `sub` and its kin. As core.async's."
  (sub* [p v ch close?] "Adds a subscription to topic `v`.")
  (unsub* [p v ch] "Removes a subscription to topic `v`.")
  (unsub-all* [p] [p v] "Removes all subscriptions, or those to topic `v`."))

(defn pub
  "Returns a pub of the channel `ch`, whose values go to the channels that subscribe to
  their topic, (topic-fn value); each topic is a mult, on a channel with the buffer
  (buf-fn topic), by default none. Values of a topic that nobody wants are dropped.

  As core.async's. Differs: if `topic-fn` throws, subscribed channels close as with `ch`.

      (let [source (chan) odds (chan 2)]
        (sub (pub source odd?) true odds)
        (run! (fn [i] (>!! source i)) [1 2 3])
        (close! source)
        (<!! (into [] odds)))
      ;=> [1 3]"
  ([ch topic-fn] (pub ch topic-fn (constantly nil)))
  ([ch topic-fn buf-fn] ((Late/var `pub/pub) ch topic-fn buf-fn)))

(defn sub
  "Subscribes the channel `ch` to a topic of the pub `p`; it closes with the source unless
  `close?` is false. As core.async's."
  ([p topic ch] (sub p topic ch true))
  ([p topic ch close?] (sub* p topic ch close?)))

(defn unsub
  "Ends what `sub` began. The channel stays open. As core.async's."
  [p topic ch]
  (unsub* p topic ch))

(defn unsub-all
  "Ends all subscriptions, or those to `topic`. The channels stay open, for ever: the pub
  forgets them. As core.async's."
  ([p] (unsub-all* p))
  ([p topic] (unsub-all* p topic)))
