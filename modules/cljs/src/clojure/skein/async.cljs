;; SPDX-License-Identifier: Apache-2.0
(ns skein.async
  "Channels and go blocks for ClojureScript: core.async's API.

  * channels: `chan` `buffer` `dropping-buffer` `sliding-buffer` `promise-chan` `timeout`
  * blocks: `go` `go-loop` `async`; in a block: `<!` `>!` `alts!` `alt!` `<?` `<!within`
  * without waiting: `put!` `take!` `offer!` `poll!` `close!` `closed?`; errors: `close-with!` `cause`
  * promises, abort signals and async iterables are ports; the other direction is in skein.async.interop
  * between channels: `pipe` `pipeline` `split` `merge` `map` `take`; to and from values:
    `to-chan!` `onto-chan!` `into` `reduce` `transduce`
  * one to many and many to one: `mult` `tap`, `pub` `sub`, `mix` `admix` `toggle`

  \"Like core.async's\" in a docstring means that the behaviour is that of cljs.core.async 1.9.865, except for
  the differences that follow. doc/clojurescript.md has a table of them. The macros `go`, `go-loop`, `async` and
  `alt!` are documented in the namespace of the same name for the JVM."
  (:refer-clojure :exclude [into map merge reduce take transduce])
  (:require-macros
   [skein.async])
  (:require
   [skein.impl.argument :as argument]
   [skein.impl.async.hubs :as hubs]
   [skein.impl.async.ops :as ops]
   [skein.impl.async.pipeline :as pipelines]
   [skein.impl.operations :as impl]
   [skein.rt.interop :as interop]
   [skein.rt.timers :as timers]))

;;;; Channels

(defn buffer
  "Returns a first-in first-out buffer for `n` values, n > 0. Puts wait while it is full. Like core.async's."
  [n]
  (impl/buffer n))

(defn dropping-buffer
  "Returns a buffer for `n` values that drops new values while it is full. Like core.async's."
  [n]
  (impl/dropping-buffer n))

(defn sliding-buffer
  "Returns a buffer for `n` values. When it is full, it drops the oldest. Like core.async's."
  [n]
  (impl/sliding-buffer n))

(defn chan
  "Returns a channel.

  - buf-or-n    how many values it buffers, or a buffer; nil or 0: no buffer, so a put waits for its take
  - xform       a transducer that values pass through before the buffer; needs a buffer
  - ex-handler  function of an exception that the transducer throws; its result, if not nil, is
                put into the buffer

  Like core.async's. Differs: without a handler, an exception of the transducer is reported to the
  environment as uncaught; so is an exception of the handler."
  ([] (impl/chan))
  ([buf-or-n] (impl/chan buf-or-n))
  ([buf-or-n xform] (impl/chan buf-or-n xform nil))
  ([buf-or-n xform ex-handler] (impl/chan buf-or-n xform ex-handler)))

(defn promise-chan
  "Returns a channel that accepts one value and gives it to every taker. If it is closed
  without a value, takers get nil. Like core.async's."
  ([] (impl/promise-chan nil nil))
  ([xform] (impl/promise-chan xform nil))
  ([xform ex-handler] (impl/promise-chan xform ex-handler)))

(defn timeout
  "Returns a channel that closes after `msecs` milliseconds, 0 or more.

  Like core.async's. Differs: each call returns a channel of its own, and closing that cancels
  no other timeout. The clock is monotonic."
  [msecs]
  (timers/timeout msecs))

(defn close!
  "Closes a channel. It accepts no more puts; takes get the values that it holds, and then nil. Returns nil.
  Like core.async's."
  [port]
  (impl/close! port))

(defn closed?
  "Returns whether `port` has been closed. A closed channel accepts no puts, but values that were put before can
  still be taken."
  [port]
  (impl/closed? port))

(defn close-with!
  "Closes the channel `port` because of `cause`, an exception. Returns true, or false if it was closed already; then
  its cause stays as it was. Takes return the remaining values and then nil. Instead of nil, `<?` throws the cause."
  [port cause]
  (impl/close-with! port cause))

(defn cause
  "Returns the exception that ended the block of `port`, or with which it was closed, or nil."
  [port]
  (impl/cause port))

;;;; Operations

(defn <!
  "Takes a value, and parks the block until there is one. Returns nil if the port is closed. Like
  core.async's: it must be in a block, and throws elsewhere. Differs: in a function inside a block, the
  compiler refuses it with :skein/bad-block."
  [port]
  (impl/<! port))

(defn >!
  "Puts `val`, and parks the block until it is accepted. Returns true, or false if the port is closed.
  Like core.async's; differs as `<!` does."
  [port val]
  (impl/>! port val))

(defn alts!
  "Does one of several operations, and parks the block until one is done. Returns `[value port]`. For a
  put the value is true, or false if the port is closed.

  - ports      channels to take from and `[channel value]` pairs to put, at least one
  - :default   returned as `[default :default]` when no operation is ready
  - :priority  true: try in the given order; otherwise the choice is random

  Like core.async's; differs as `<!` does."
  [ports & {:as opts}]
  (impl/alts! ports opts))

(defn <?
  "Like `<!`, but throws the exception that ended `port`, the same object. That is the exception of a
  block, or the cause with which a channel was closed."
  [port]
  (impl/<? port))

(defn <!within
  "Like `<!`, but parks for at most `ms` milliseconds. After that it takes nothing, and returns `default`."
  [port ms default]
  (impl/<!within port ms default))

(defn take!
  "Takes a value and calls `fn1` with it, or with nil if the port is closed. Returns nil. Like core.async's: if
  a value is there, `fn1` is called at once. It is called from the run queue otherwise, or if `on-caller?` is false."
  ([port fn1] (impl/take! port fn1 true))
  ([port fn1 on-caller?] (impl/take! port fn1 on-caller?)))

(defn put!
  "Puts `val` and calls `fn1` with true, or with false if the port is closed. Returns true unless the
  port is closed. Like core.async's; for `on-caller?` see `take!`."
  ([port val] (impl/put! port val nil true))
  ([port val fn1] (impl/put! port val fn1 true))
  ([port val fn1 on-caller?] (impl/put! port val fn1 on-caller?)))

(defn offer!
  "Puts `val` if it can do so without waiting. Returns true, false if the port is closed, or nil if it
  would have to wait. Like core.async's."
  [port val]
  (impl/offer! port val))

(defn poll! "Takes a value if it can do so without waiting. Returns it, or nil. Like core.async's." [port] (impl/poll! port))

;;;; Errors

(defn rethrow
  "Returns `value`, taken from `port`. If `value` is nil and an exception ended the port, throws that
  exception. `<?` calls this."
  [port value]
  (interop/rethrow port value))

;;;; Between channels

(defn pipe
  "Moves values from the channel `from` to `to`. Closes `to` after `from`, unless `close?` is false.
  Stops when `to` closes. Returns `to`. Like core.async's."
  ([from to] (ops/pipe from to true))
  ([from to close?] (ops/pipe from to close?)))

(defn pipeline
  "Moves values from the channel `from` to `to` through the transducer `xf`. Results are in the order
  of the values. Returns a channel that closes at the end.

  - xf          applied to each value separately; may return any number of results
  - close?      whether `to` is closed after `from`; by default true
  - ex-handler  as for `chan`

  Like core.async's: there is one thread, so `n` limits only how many values are taken ahead.
  Differs: stops taking when `to` closes."
  ([n to xf from] (pipelines/pipeline n to xf from true nil))
  ([n to xf from close?] (pipelines/pipeline n to xf from close? nil))
  ([n to xf from close? ex-handler] (pipelines/pipeline n to xf from close? ex-handler)))

(defn pipeline-async
  "Like `pipeline`, for work that `af` starts. `af` is a function of a value and a channel. The
  results must be put on that channel, at any time, and the channel must then be closed.

  Like core.async's. Differs: stops taking when `to` closes. At most `n` values are in flight. If `af`
  throws, the exception is reported, and the value has no result."
  ([n to af from] (pipelines/pipeline-async n to af from true))
  ([n to af from close?] (pipelines/pipeline-async n to af from close?)))

(defn split
  "Moves each value of `ch` to one of two channels, chosen by the predicate `p`. Returns the channels as
  `[true-channel false-channel]`. They close when `ch` does.

  Like core.async's. Differs: when a put finds one of the two closed, the other closes too, and `split`
  takes nothing more from `ch`."
  ([p ch] (ops/split p ch nil nil))
  ([p ch t-buf-or-n f-buf-or-n] (ops/split p ch t-buf-or-n f-buf-or-n)))

(defn map
  "Returns a channel of the results of `f` on one value from each of the channels `chs`. It closes when
  the first of them closes.

  Like core.async's. Differs: stops taking when a put finds the returned channel closed. If `f` returns
  nil, :skein/nil-put is reported, and the channel closes."
  ([f chs] (ops/map f chs nil))
  ([f chs buf-or-n] (ops/map f chs buf-or-n)))

(defn merge
  "Returns a channel of the values of all channels `chs`. It closes when all have closed. Like core.async's.
  Differs: stops taking when a put finds the returned channel closed."
  ([chs] (ops/merge chs nil))
  ([chs buf-or-n] (ops/merge chs buf-or-n)))

(defn take
  "Returns a channel that gets the first `n` values of `ch` and closes. Like core.async's. Differs:
  stops taking when a put finds the returned channel closed."
  ([n ch] (ops/take n ch nil))
  ([n ch buf-or-n] (ops/take n ch buf-or-n)))

;;;; From a collection and into a value

(defn onto-chan!
  "Puts the values of `coll` on `ch` and then closes `ch`, unless `close?` is false. Returns a channel
  that closes after the last put, or when `ch` has been closed.

  Like core.async's. Differs: if `coll` contains nil, :skein/nil-put is reported, and the puts end. The
  same holds for an exception from a lazy `coll`."
  ([ch coll] (ops/onto-chan! ch coll true))
  ([ch coll close?] (ops/onto-chan! ch coll close?)))

(defn to-chan!
  "Returns a channel of the values of `coll`, which closes after them. Like core.async's; differs as
  `onto-chan!` does."
  [coll]
  (ops/to-chan! coll))

(defn reduce
  "Returns a channel of one value: the values of `ch`, reduced by `f` from `init`. Like
  core.async's."
  [f init ch]
  (ops/reduce f init ch))

(defn transduce
  "Returns a channel of one value: the values of `ch`, reduced by `f` from `init` through the transducer
  `xform`. Like core.async's."
  [xform f init ch]
  (ops/transduce xform f init ch))

(defn into
  "Returns a channel of one value: `coll` with the values of `ch` added. Like core.async's."
  [coll ch]
  (ops/reduce conj coll ch))

;;;; One to many and many to one

(defn mult
  "Returns a mult of the channel `ch`. Each value of `ch` goes to all taps. The mult takes the next value when
  all taps have accepted the last one, so the slowest tap limits the others. Without taps values are dropped.
  A closed tap is removed.

  Like core.async's. Differs: if a tap throws, for example because it has too many pending puts, the
  exception is reported, and the other taps continue. A tap made after `ch` has closed closes at once."
  [ch]
  (argument/source ch)
  (let [taps (volatile! {})] ; channel -> whether to close it with the source
    (hubs/distribute ch taps)
    (reify
      hubs/Mux
      (muxch* [_] ch)
      hubs/Mult
      (tap* [_ ch close?] (argument/target ch) (hubs/add taps ch close?))
      (untap* [_ ch] (vswap! taps dissoc ch) nil)
      (untap-all* [_] (vswap! taps empty) nil))))

(defn tap
  "Adds the channel `ch` to the taps of `mult`. `ch` closes when the source closes, unless `close?` is
  false. Returns `ch`. Like core.async's."
  ([mult ch] (tap mult ch true))
  ([mult ch close?] (hubs/tap* mult ch close?) ch))

(defn untap
  "Removes the tap `ch` of `mult`. The channel stays open. Like core.async's."
  [mult ch]
  (hubs/untap* mult ch))

(defn untap-all
  "Removes all taps of `mult`. The channels stay open. Like core.async's."
  [mult]
  (hubs/untap-all* mult))

(defn mix
  "Returns a mix, which puts the values of its inputs on the channel `out`. `admix` and `toggle` add
  inputs; a closed input is removed. The mix ends when `out` is closed, and never closes it.

  An input may have attributes. With :pause it is not read. With :mute it is read, and its values are
  dropped. With :solo it is read, and its values are always put; inputs without :solo are then muted or,
  in `solo-mode` :pause, paused.

  Like core.async's. Differs: an input that is both :solo and :pause is read in either mode."
  [out]
  (argument/target out)
  (let [inputs (volatile! {})
        mode (volatile! :mute)
        change (chan (sliding-buffer 1))
        changed (fn changed [] (put! change true))]
    (hubs/combine out inputs mode change)
    (reify
      hubs/Mux
      (muxch* [_] out)
      hubs/Mix
      (admix* [_ ch] (argument/source ch) (vswap! inputs assoc ch {}) (changed))
      (unmix* [_ ch] (vswap! inputs dissoc ch) (changed))
      (unmix-all* [_] (vreset! inputs {}) (changed))
      (toggle* [_ state-map]
        (run! argument/source (keys state-map))
        (vreset! inputs (merge-with cljs.core/merge @inputs state-map))
        (changed))
      (solo-mode* [_ new-mode]
        (assert (or (= :mute new-mode) (= :pause new-mode)) "mode must be one of: #{:pause :mute}")
        (vreset! mode new-mode)
        (changed)))))

(defn admix
  "Adds the channel `ch` to the inputs of `mix`. Like core.async's."
  [mix ch]
  (hubs/admix* mix ch))

(defn unmix
  "Removes the channel `ch` from the inputs of `mix`. Like core.async's."
  [mix ch]
  (hubs/unmix* mix ch))

(defn unmix-all
  "Removes all inputs of `mix`. Like core.async's."
  [mix]
  (hubs/unmix-all* mix))

(defn toggle
  "Changes attributes of several inputs of `mix` at once: `state-map` is
  {channel {:mute boolean, :pause boolean, :solo boolean}}. Attributes that are not given stay
  the same; channels that are not inputs become inputs. Like core.async's."
  [mix state-map]
  (hubs/toggle* mix state-map))

(defn solo-mode
  "Sets what happens to inputs without :solo while another input has it. `mode` is :mute, the default,
  or :pause. Like core.async's."
  [mix mode]
  (hubs/solo-mode* mix mode))

(defn pub
  "Returns a pub of the channel `ch`. Each value goes to the channels that subscribe to its topic,
  (topic-fn value). Each topic is a mult, on a channel with the buffer (buf-fn topic), by default none.
  Values of a topic without subscriptions are dropped.

  Like core.async's. Differs: if `topic-fn` throws, subscribed channels close as if `ch` had closed.
  A channel that subscribes after `ch` has closed closes at once."
  ([ch topic-fn] (pub ch topic-fn (fn [_] nil)))
  ([ch topic-fn buf-fn]
   (argument/source ch)
   (run! argument/function [topic-fn buf-fn])
   (let [mults (volatile! {}) ; nil when `ch` has closed
         of (fn of [topic]
              (or (get @mults topic)
                  (get (vswap! mults assoc topic (mult (chan (buf-fn topic)))) topic)))]
     (hubs/publish ch topic-fn
                   (fn source [topic] (some-> (get @mults topic) hubs/muxch*))
                   (fn closed [topic] (vswap! mults dissoc topic))
                   (fn end [] (let [all (vals @mults)] (vreset! mults nil) (run! (fn [m] (close! (hubs/muxch* m))) all))))
     (reify
       hubs/Mux
       (muxch* [_] ch)
       hubs/Pub
       (sub* [_ topic ch close?] (if @mults (tap (of topic) ch close?) (hubs/end ch close?)))
       (unsub* [_ topic ch] (when-some [m (get @mults topic)] (untap m ch)))
       (unsub-all* [_] (vswap! mults empty))
       (unsub-all* [_ topic] (vswap! mults dissoc topic))))))

(defn sub
  "Subscribes the channel `ch` to a topic of the pub `p`. `ch` closes when the source closes, unless
  `close?` is false. Like core.async's."
  ([p topic ch] (sub p topic ch true))
  ([p topic ch close?] (hubs/sub* p topic ch close?)))

(defn unsub
  "Ends the subscription of `ch` to `topic`. The channel stays open. Like core.async's."
  [p topic ch]
  (hubs/unsub* p topic ch))

(defn unsub-all
  "Ends all subscriptions, or those to `topic`. The channels stay open, even when the source closes.
  Like core.async's."
  ([p] (hubs/unsub-all* p))
  ([p topic] (hubs/unsub-all* p topic)))
