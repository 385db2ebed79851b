;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.hubs
  "The protocols of `mult`, `mix` and `pub` of skein.async, which documents them, and the blocks behind them. What a hub
  knows of its channels is in a volatile, which the block reads."
  {:no-doc true}
  (:require-macros
   [skein.async :refer [go]])
  (:require
   [skein.impl.operations :refer [<! >! alts! chan close! put!]]
   [skein.rt.scheduler :as scheduler]))

(defprotocol Mux
  "A hub around one channel. Like core.async's."
  (muxch* [_] "Returns the channel: the source of a mult or pub, the output of a mix."))

(defprotocol Mult
  "The operations of a mult. Like core.async's."
  (tap* [m ch close?] "Adds a tap, or changes its `close?`.")
  (untap* [m ch] "Removes a tap.")
  (untap-all* [m] "Removes all taps."))

(defprotocol Mix
  "The operations of a mix. Like core.async's."
  (admix* [m ch] "Adds an input, with no attributes.")
  (unmix* [m ch] "Removes an input.")
  (unmix-all* [m] "Removes all inputs.")
  (toggle* [m state-map] "Changes the attributes of inputs, {channel {attribute boolean}}.")
  (solo-mode* [m mode] "Sets what solo does to the other inputs, :mute or :pause."))

(defprotocol Pub
  "The operations of a pub. Like core.async's."
  (sub* [p v ch close?] "Adds a subscription to topic `v`.")
  (unsub* [p v ch] "Removes a subscription to topic `v`.")
  (unsub-all* [p] [p v] "Removes all subscriptions, or those to topic `v`."))

;;;; mult

(defn- give-all
  "Puts `v` on each of `chs`, and calls `closed` with those that are closed. Returns a channel that
  gets true when all have accepted."
  [chs v closed]
  (let [missing (volatile! (inc (count chs)))
        done (chan 1)
        arrive (fn [] (when (zero? (vswap! missing dec)) (put! done true nil true)))]
    (doseq [ch chs]
      (try
        (put! ch v (fn arrived [open?] (when-not open? (closed ch)) (arrive)) true)
        ;; An error of one tap, such as too many pending puts, must not affect the others.
        (catch :default e
          (arrive)
          (scheduler/report e))))
    (arrive)
    done))

(defn end
  "Closes a tap whose source has closed, unless it is to stay open. Returns `ch`."
  [ch close?]
  (when close? (close! ch))
  ch)

(defn add
  "Adds a tap to `taps`; see `distribute`."
  [taps ch close?]
  (if @taps (vswap! taps assoc ch close?) (end ch close?))
  nil)

(defn distribute
  "Gives each value of `ch` to all channels of the volatile `taps`, {channel close?}. Sets `taps` to nil when `ch` has
  closed."
  [ch taps]
  (go (loop []
        (if-some [v (<! ch)]
          (do (when-some [chs (keys @taps)]
                (<! (give-all chs v (fn closed [ch] (vswap! taps dissoc ch)))))
              (recur))
          (let [last-taps @taps]
            (vreset! taps nil)
            (doseq [[tap close?] last-taps]
              (end tap close?)))))))

;;;; mix

(defn- plan
  "Returns what to read and what of it to pass on, {:ports vector, :passes? predicate}. `change` is
  always read, first of all."
  [inputs solo-mode change]
  (let [having? (fn [attribute ch] (attribute (get inputs ch)))
        solos? (some :solo (vals inputs))
        read? (fn read? [ch] (or (having? :solo ch)
                                 (not (or (having? :pause ch) (and solos? (= :pause solo-mode))))))]
    {:ports (into [change] (filter read?) (keys inputs))
     :passes? (fn passes? [ch] (if solos? (having? :solo ch) (not (having? :mute ch))))}))

(defn combine
  "Passes values of the volatile `inputs`, {channel {attribute boolean}}, on to `out`. A value on `change`
  says that `inputs` or the volatile `mode` has changed."
  [out inputs mode change]
  (go (loop [{:keys [ports passes?] :as now} (plan @inputs @mode change)]
        (let [[v ch] (alts! ports)]
          (cond
            (identical? ch change) (recur (plan @inputs @mode change))
            (nil? v) (do (vswap! inputs dissoc ch) (recur (plan @inputs @mode change)))
            (not (passes? ch)) (recur now)
            (>! out v) (recur now))))))

;;;; pub

(defn publish
  "Passes each value of `ch` on to the channel (source topic) of its topic, or drops it if there is
  none. Calls `closed` with a topic whose channel is closed, and `end` at the end."
  [ch topic-fn source closed end]
  (go (try
        (loop []
          (when-some [v (<! ch)]
            (let [topic (topic-fn v)]
              (when-some [to (source topic)]
                (when-not (>! to v) (closed topic))))
            (recur)))
        (finally (end)))))
