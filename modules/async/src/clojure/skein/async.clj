;; SPDX-License-Identifier: Apache-2.0
(ns skein.async
  "Channels and go blocks: core.async's API, with blocks that may block, and may park in any
  function that they call.

  * channels: `chan` `buffer` `dropping-buffer` `sliding-buffer` `promise-chan` `timeout`
  * blocks: `go` `go-loop` `async`; threads: `thread` `io-thread` `thread-call`
  * in a block: `<!` `>!` `alts!` `alt!`; on any thread: `<!!` `>!!` `alts!!` `alt!!`
  * without waiting: `put!` `take!` `offer!` `poll!` `close!` `closed?`
  * with a time limit: `<!within` `<!!within`
  * errors: `<?` `<??` `close-with!` `cause`
  * between channels: `pipe` `pipeline` `split` `merge` `map` `take`; to and from values:
    `to-chan!` `onto-chan!` `into` `reduce` `transduce`
  * one to many and many to one: `mult` `tap`, `pub` `sub`, `mix` `admix` `toggle`
  * for people: `label!` names a channel, block or scope

  \"Like core.async's\" in a docstring means that the behaviour is that of clojure.core.async
  1.9.865, except for the differences that follow. doc/migrating.md has a table of them.

      (<!! (go (+ 1 (<! (go 2)))))
      ;=> 3"
  (:refer-clojure :exclude [into map merge reduce take transduce])
  (:require
   [clojure.core.protocols :as core-protocols]
   [skein.async.spi :as spi]
   [skein.impl.alt :as alt]
   [skein.impl.async.describe :as describe]
   [skein.impl.async.hubs :as hubs]
   [skein.impl.async.mix :as mixes]
   [skein.impl.async.mult :as mults]
   [skein.impl.async.ops :as ops]
   [skein.impl.async.pipeline :as pipelines]
   [skein.impl.async.pub :as pubs]
   [skein.impl.block :as block :refer [defblockingop]]
   [skein.impl.check :as check]
   [skein.impl.port :as port]
   [skein.impl.threads :as threads])
  (:import
   (clojure.lang IDeref)
   (skein.rt Buffer Channel ChannelFactory Labels Region$Owner)
   (skein.rt.block Failures Frame)
   (skein.rt.schedule Timeout)))

(set! *warn-on-reflection* true)

;;;; Channels

(defn buffer
  "Returns a first-in first-out buffer for `n` values, n > 0. Puts wait while it is full.

  Like core.async's."
  [n]
  (port/buffer n))

(defn dropping-buffer
  "Returns a buffer for `n` values that drops new values while it is full. Like core.async's."
  [n]
  (.dropping ChannelFactory/INSTANCE (check/number "n of dropping-buffer" n "a number" number?)))

(defn sliding-buffer
  "Returns a buffer for `n` values. When it is full, it drops the oldest. Like core.async's."
  [n]
  (.sliding ChannelFactory/INSTANCE (check/number "n of sliding-buffer" n "a number" number?)))

(defn chan
  "Returns a channel.

  - buf-or-n    a positive number of values to buffer, or a buffer; nil: no buffer, so a put waits
                for a take
  - xform       a transducer that values pass through before the buffer; needs a buffer
  - ex-handler  function of an exception that the transducer throws; its result, if not nil, is
                put into the buffer

  Like core.async's: the transducer runs under the channel's lock, on the thread of the put or
  the take. Without a handler, an exception from the transducer goes to the thread's
  uncaught-exception handler, and the value is dropped. Differs: the same holds for an exception
  from the handler, whereas core.async's operation throws it and leaves the channel locked.

      (let [c (chan 2 (filter even?))] (>!! c 1) (>!! c 2) (<!! c))
      ;=> 2"
  ([] (.channel ChannelFactory/INSTANCE nil nil))
  ([buf-or-n] (port/chan buf-or-n))
  ([buf-or-n xform] (port/chan buf-or-n xform nil))
  ([buf-or-n xform ex-handler] (port/chan buf-or-n xform ex-handler)))

(defn promise-chan
  "Returns a channel that accepts one value and gives it to every taker. If it is closed
  without a value, takers get nil. Like core.async's.

      (let [p (promise-chan)] (>!! p 1) (>!! p 2) [(<!! p) (<!! p)])
      ;=> [1 1]"
  ([] (promise-chan nil))
  ([xform] (promise-chan xform nil))
  ([xform ex-handler] (chan (.promise ChannelFactory/INSTANCE) xform ex-handler)))

(defn timeout
  "Returns a channel that closes after `msecs` milliseconds, or at once if `msecs` is below 1.

  Like core.async's. Differs: each call returns a channel of its own, and closing it cancels no
  other timeout. The clock is monotonic."
  [msecs]
  (Timeout/after (check/milliseconds "msecs of timeout" msecs)))

(defn close!
  "Closes a channel. It accepts no more puts; takes get the values that it holds, and then nil.
  Returns nil. Like core.async's."
  [chan]
  (port/close! chan))

(defn closed?
  "Returns whether `port` has been closed. A closed channel accepts no puts, but values that were put
  before can still be taken. Throws :skein/bad-argument.

      (let [c (chan)] [(closed? c) (do (close! c) (closed? c))])
      ;=> [false true]"
  [port]
  (port/closed? port))

(defn close-with!
  "Closes the channel `port` because of `cause`, a Throwable. Returns true, or false if it was
  closed already; then its cause stays as it was.

  Takes return the remaining values and then nil, as after `close!`. Instead of nil, `<?` and `<??`
  throw the cause, the same object. Throws :skein/bad-argument, also for a port
  of another library, which keeps no cause.

      (let [c (chan)]
        (close-with! c (ex-info \"out of paper\" {}))
        (try (<?? c) (catch Exception e (ex-message e))))
      ;=> \"out of paper\""
  [port cause]
  (port/close-with! port cause))

(defn cause
  "Returns the exception that ended the block of `port`, or with which it was closed, or nil. That does not take the
  exception: see `go`."
  [port]
  (port/cause port))

;;;; Operations that never wait

(defn take!
  "Takes a value and calls `fn1` with it, or with nil if the port is closed. Returns nil.

  Like core.async's. If a value is available, `fn1` is called at once on this thread, otherwise
  later on the thread of the put. If `on-caller?` is false, it is called on a worker."
  ([port fn1] (port/take! port fn1))
  ([port fn1 on-caller?] (port/take! port fn1 on-caller?)))

(defn put!
  "Puts `val` and calls `fn1` with true, or with false if the port is closed. Returns true
  unless the port is closed. Like core.async's; for `on-caller?` see `take!`."
  ([port val] (port/put! port val))
  ([port val fn1] (port/put! port val fn1))
  ([port val fn1 on-caller?] (port/put! port val fn1 on-caller?)))

(defn offer!
  "Puts `val` if it can do so without waiting. Returns true, false if the port is closed, or nil
  if it would have to wait. Like core.async's."
  [port val]
  (port/offer! port val))

(defn poll!
  "Takes a value if it can do so without waiting. Returns it, or nil. Like core.async's."
  [port]
  (port/poll! port))

;;;; Operations that block the thread

(defblockingop <!!
  "Takes a value, and blocks this thread until there is one. Returns nil if the port is closed.

  Like core.async's. Differs: it may be called in a go block. An interrupted thread withdraws
  its take, so that no value is lost."
  [port]
  (port/<!! port))

(defblockingop >!!
  "Puts `val`, and blocks this thread until it is accepted. Returns true, or false if the
  port is closed. Like core.async's; differs as `<!!` does."
  [port val]
  (port/>!! port val))

(defblockingop alts!!
  "Does one of several operations, and blocks this thread until one is done; see `alts!`.
  Like core.async's; differs as `<!!` does."
  [ports & opts]
  (port/alts!! ports opts))

;;;; Parking operations, as functions: the go compiler replaces direct calls of them

(defn <!
  "Takes a value, and parks the block until there is one. Returns nil if the port is closed.

  Like core.async's. Differs: it may also be called in a function that a block calls, at any
  depth. There it blocks the thread, and another thread runs the worker's other blocks. On
  a thread that runs no block it throws AssertionError.

      (<!! (go (mapv <! [(go 1) (go 2)])))
      ;=> [1 2]"
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [port]
  (block/<! port))

(defn >!
  "Puts `val`, and parks the block until it is accepted. Returns true, or false if the port
  is closed. Like core.async's; differs as `<!` does."
  {:skein.impl.go/op '{:method put, :arity [2 2]}}
  [port val]
  (block/>! port val))

(defn alts!
  "Does one of several operations, and parks the block until one is done. Returns `[value port]`.
  For a put the value is true, or false if the port is closed.

  - ports  channels to take from and `[channel value]` pairs to put, at least one

  options, keys and values or a map:

  - :default   returned as `[default :default]` when no operation is ready
  - :priority  true: try in the given order; otherwise the choice is random

  Like core.async's; differs as `<!` does, and throws :skein/bad-argument for other options."
  {:skein.impl.go/op '{:method alts, :arity [1 nil]}
   :arglists '([ports & {:as opts}])}
  [ports & opts]
  (apply block/alts! ports opts))

(defmacro ^{:style/indent 0} alt!!
  "Like `alt!`, but blocks this thread until an operation is done. Like core.async's."
  [& clauses]
  (alt/alt-form `alts!! clauses))

(defmacro ^{:style/indent 0} alt!
  "Does one of several operations, as `alts!`, and evaluates the result form of its clause.

  A clause has a port, or a vector of ports and `[port value]` pairs, and a result form, which may
  begin with a binding vector for `[value port]`. :default and :priority are options.

  Like core.async's; differs as `<!` does.

      (<!! (go (alt! (go 1) ([v] (inc v)) (timeout 60000) :late)))
      ;=> 2"
  [& clauses]
  (alt/alt-form `alts! clauses))

;;;; Blocks and threads

(defmacro go
  "Runs the body as a block, which starts soon on a worker. Returns a channel that gets the
  body's value, if not nil, and closes.

  Like core.async's. Differs: if the body throws, the channel closes, and whoever takes the exception
  gets it: `<?`, `<??`, or an operation such as `into` on a channel to which it was passed on. If
  that has not happened within a second, or when the JVM ends, the uncaught-exception handler gets it,
  once. The system property skein.report-ms has the time; 0: at once, unless a take waits. The body may block, and may take and put in any function that it calls. Any Clojure form compiles, unless it is
  too large or too deeply nested for the JVM. Then the compiler throws :skein/block-too-large."
  {:style/indent 0, :skein.impl.go/block true}
  [& body]
  (block/compile-go &env body &form))

(defmacro ^{:style/indent 1} go-loop
  "Like (go (loop bindings body...)). Like core.async's."
  [bindings & body]
  (check/bindings "go-loop" bindings "[name value ...]" (fn pairs? [v] (even? (count v))))
  `(go (loop ~bindings ~@body)))

(defmacro async
  "Runs the body as a block that starts at once on this thread, and stays on it until the first
  park that has to wait. A body that blocks earlier blocks its caller too: use `go` for that.
  Returns a port like that of `go`.

      (<!! (async (* 6 7)))
      ;=> 42"
  {:style/indent 0, :skein.impl.go/block true}
  [& body]
  (block/compile-async &env body &form))

(defn rethrow
  "Returns `value`, taken from `port`. If `value` is nil and an exception ended the port, throws
  that exception."
  [port value]
  (port/rethrow port value))

(defn <?
  "Like `<!`, but throws the exception that ended `port`, the same object. That is the exception
  of a block, or the cause with which a channel was closed."
  {:skein.impl.go/op '{:expansion skein.impl.block/expand-<?, :arity [1 1]}}
  [port]
  (block/check-in-block "<?")
  (rethrow port (<! port)))

(defn <??
  "Like `<!!`, but throws the exception that ended `port`, the same object;
  see `<?`.

      (try (<?? (async (throw (ex-info \"no\" {})))) (catch Exception e (ex-message e)))
      ;=> \"no\""
  [port]
  (rethrow port (<!! port)))

(defn <!within
  "Like `<!`, but parks for at most `ms` milliseconds. After that it takes nothing, and returns
  `default`; nil if `port` is closed. Throws :skein/bad-argument.

      (<!! (go (<!within (chan) 5 :late)))
      ;=> :late"
  {:skein.impl.go/op '{:expansion skein.impl.block/expand-<!within, :arity [3 3]}}
  [port ms default]
  (block/check-in-block "<!within")
  (let [limit (port/limit "<!within" ms)]
    (port/within limit default (alts! [port limit] :priority true))))

(defn <!!within
  "Like `<!within`, but blocks this thread. Throws :skein/bad-argument.
  It may be called in a block, as `<!!`.

      (<!!within (go 1) 60000 :late)
      ;=> 1"
  [port ms default]
  (let [limit (port/limit "<!!within" ms)]
    (port/within limit default (alts!! [port limit] :priority true))))

(defn thread-call
  "Calls `f` on a thread with the caller's bindings. `workload` is :mixed, the default, :io or
  :compute. Returns a channel that gets the value, if not nil, and closes. Like core.async's.
  Differs: what `f` throws goes where the exception of a `go` block goes."
  ([f] (threads/call f :mixed nil false))
  ([f workload] (threads/call f workload nil false)))

(defmacro ^{:style/indent 0} thread
  "Runs the body on a platform thread; see `thread-call`. Like core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :mixed))

(defmacro ^{:style/indent 0} io-thread
  "Runs the body on a virtual thread; see `thread-call`. Like core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :io))

;;;; Channels and blocks as data

(doseq [[described datafy] [[Channel describe/channel] [Buffer describe/buffer] [Frame describe/frame]]]
  (extend described core-protocols/Datafiable {:datafy datafy}))

(defmethod print-method Channel [ch writer]
  (describe/print-channel ch writer))

(Failures/addMachinery "skein.async$") ; its frames are left out of stack traces

;;;; From channel to channel

(defn pipe
  "Moves values from the channel `from` to `to`. Closes `to` after `from`, unless `close?` is
  false. Stops when `to` closes. Returns `to`. Like core.async's."
  ([from to] (pipe from to true))
  ([from to close?] (ops/pipe from to close?)))

(defn pipeline
  "Moves values from the channel `from` to `to` through the transducer `xf`, up to `n` at a
  time. Results are in the order of the values. Returns a channel that closes at the end.

  - xf          applied to each value separately; may return any number of results
  - close?      whether `to` is closed after `from`; by default true
  - ex-handler  as for `chan`: without one, a value for which `xf` throws is dropped. With
                skein.async.streams/pmap the exception reaches the consumer

  Like core.async's. Differs: stops taking when `to` closes. Blocks do the work. Once a value
  has taken more than 1 ms, :compute threads do it. doc/in-parallel.md compares other ways.

      (<!! (into [] (let [out (chan)] (pipeline 2 out (filter odd?) (to-chan! [1 2 3])) out)))
      ;=> [1 3]"
  ([n to xf from] (pipeline n to xf from true))
  ([n to xf from close?] (pipeline n to xf from close? nil))
  ([n to xf from close? ex-handler]
   (pipelines/pipeline n to xf from close? ex-handler :compute)))

(defn pipeline-blocking
  "Like `pipeline`, for work that blocks: slow work goes to :mixed threads. Like core.async's;
  differs as `pipeline` does."
  ([n to xf from] (pipeline-blocking n to xf from true))
  ([n to xf from close?] (pipeline-blocking n to xf from close? nil))
  ([n to xf from close? ex-handler]
   (pipelines/pipeline n to xf from close? ex-handler :mixed)))

(defn pipeline-async
  "Like `pipeline`, for work that `af` starts. `af` is a function of a value and a channel. The
  results must be put on that channel, at any time, and the channel must then be closed.

  Like core.async's. Differs: stops taking when `to` closes. At most `n` values are in flight. If
  `af` throws, the uncaught-exception handler gets the exception, and the value has no result."
  ([n to af from] (pipeline-async n to af from true))
  ([n to af from close?]
   (pipelines/pipeline-async n to af from close?)))

(defn split
  "Moves each value of `ch` to one of two channels, chosen by the predicate `p`. Returns the
  channels as `[true-channel false-channel]`. They close when `ch` does.

  Like core.async's. Differs: when a put finds one of the two closed, the other closes too, and
  `split` takes nothing more from `ch`."
  ([p ch] (split p ch nil nil))
  ([p ch t-buf-or-n f-buf-or-n] (ops/split p ch t-buf-or-n f-buf-or-n)))

(defn take
  "Returns a channel that gets the first `n` values of `ch` and closes. Like core.async's.
  Differs: stops taking when a put finds the returned channel closed."
  ([n ch] (take n ch nil))
  ([n ch buf-or-n] (ops/take n ch buf-or-n)))

(defn map
  "Returns a channel of the results of `f`, called with one value from each of the channels `chs`.
  It closes when the first of them closes.

  Like core.async's. Differs: stops taking when a put finds the returned channel closed. If `f`
  returns nil, the channel closes with :skein/nil-put.

      (<!! (into [] (map + [(to-chan! [1 2]) (to-chan! [10 20])])))
      ;=> [11 22]"
  ([f chs] (map f chs nil))
  ([f chs buf-or-n] (ops/map f chs buf-or-n)))

(defn merge
  "Returns a channel of the values of all channels `chs`. It closes when all of them have
  closed. Like core.async's. Differs: stops taking when a put finds the returned channel closed."
  ([chs] (merge chs nil))
  ([chs buf-or-n] (ops/merge chs buf-or-n)))

;;;; From a collection

(defn onto-chan!
  "Puts the values of `coll` on `ch` and then closes `ch`, unless `close?` is false. Returns a
  channel that closes after the last put, or when `ch` has been closed.

  Like core.async's. Differs: if `coll` contains nil, the puts end, and `ch` closes with :skein/nil-put. The
  same holds for an exception from a lazy `coll`."
  ([ch coll] (onto-chan! ch coll true))
  ([ch coll close?] (ops/onto-chan! ch coll close?)))

(defn onto-chan!!
  "Like `onto-chan!`, but on a thread, for a `coll` that may block for long while it is read. Like
  core.async's; differs as `onto-chan!` does."
  ([ch coll] (onto-chan!! ch coll true))
  ([ch coll close?] (ops/onto-chan!! ch coll close?)))

(defn to-chan!
  "Returns a channel that gets the values of `coll` and then closes. Like core.async's;
  differs as `onto-chan!` does.

      (<!! (into #{} (to-chan! [1 2 1])))
      ;=> #{1 2}"
  [coll]
  (ops/to-chan onto-chan! coll))

(defn to-chan!!
  "Like `to-chan!`, but on a thread, for a `coll` that may block for long while it is read. Like
  core.async's; differs as `onto-chan!` does."
  [coll]
  (ops/to-chan onto-chan!! coll))

;;;; Into a value

(defn reduce
  "Returns a channel of one value: the values of `ch`, reduced by `f` from `init`.
  Like core.async's.

      (<!! (reduce + 0 (to-chan! [1 2 3])))
      ;=> 6"
  [f init ch]
  (ops/reduce f init ch))

(defn transduce
  "Returns a channel of one value: the values of `ch`, reduced by `f` from `init` through the
  transducer `xform`. Like core.async's."
  [xform f init ch]
  (ops/transduce xform f init ch))

(defn into
  "Returns a channel of one value: `coll` with the values of `ch` added. Like core.async's."
  [coll ch]
  (ops/into coll ch))

;;;; mult: the values of one channel for many

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

      (let [source (chan) m (mult source) c (tap m (chan 2)) d (tap m (chan 2))]
        (>!! source 1) (>!! source 2)
        (mapv <!! [c c d d]))
      ;=> [1 2 1 2]"
  [ch]
  (let [hub (mults/hub ch)]
    (reify
      hubs/Mux
      (muxch* [_] ch)
      hubs/Mult
      (tap* [_ ch close?] (mults/tap hub ch close?))
      (untap* [_ ch] (mults/untap hub ch))
      (untap-all* [_] (mults/untap-all hub)))))

(defn tap
  "Adds the channel `ch` to the taps of `mult`. `ch` closes when the source closes, unless
  `close?` is false. Returns `ch`. Like core.async's."
  ([mult ch] (tap mult ch true))
  ([mult ch close?] (hubs/tap* (hubs/mult "mult of tap" mult) ch close?) ch))

(defn untap
  "Removes the tap `ch` of `mult`. The channel stays open. Like core.async's."
  [mult ch]
  (hubs/untap* (hubs/mult "mult of untap" mult) ch))

(defn untap-all
  "Removes all taps of `mult`. The channels stay open. Like core.async's."
  [mult]
  (hubs/untap-all* (hubs/mult "mult of untap-all" mult)))

;;;; mix: the values of many channels on one

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
      hubs/Mux
      (muxch* [_] out)
      hubs/Mix
      (admix* [_ ch] (mixes/admix hub ch))
      (unmix* [_ ch] (mixes/unmix hub ch))
      (unmix-all* [_] (mixes/unmix-all hub))
      (toggle* [_ state-map] (mixes/toggle hub state-map))
      (solo-mode* [_ mode] (mixes/solo-mode hub mode)))))

(defn admix
  "Adds the channel `ch` to the inputs of `mix`. Like core.async's."
  [mix ch]
  (hubs/admix* (hubs/mix "mix of admix" mix) ch))

(defn unmix
  "Removes the channel `ch` from the inputs of `mix`. Like core.async's."
  [mix ch]
  (hubs/unmix* (hubs/mix "mix of unmix" mix) ch))

(defn unmix-all
  "Removes all inputs of `mix`. Like core.async's."
  [mix]
  (hubs/unmix-all* (hubs/mix "mix of unmix-all" mix)))

(defn toggle
  "Changes attributes of several inputs of `mix` at once. `state-map` is
  {channel {:mute boolean, :pause boolean, :solo boolean}}. Attributes that are not given stay
  the same; channels that are not inputs become inputs. Like core.async's."
  [mix state-map]
  (hubs/toggle* (hubs/mix "mix of toggle" mix) state-map))

(defn solo-mode
  "Sets what happens to inputs without :solo while another input has it. `mode` is :mute, the
  default, or :pause. Like core.async's."
  [mix mode]
  (hubs/solo-mode* (hubs/mix "mix of solo-mode" mix) mode))

;;;; pub: the values of one channel by topic

(defn pub
  "Returns a pub of the channel `ch`. Each value goes to the channels that subscribe to its
  topic, (topic-fn value). Each topic is a mult, on a channel with the buffer (buf-fn topic),
  by default none. Values of a topic without subscriptions are dropped.

  Like core.async's. Differs: if `topic-fn` throws, subscribed channels close as if `ch` had closed.
  A channel that subscribes after `ch` has closed closes at once.

      (let [source (chan) odds (chan 2)]
        (sub (pub source odd?) true odds)
        (run! (fn [i] (>!! source i)) [1 2 3])
        (close! source)
        (<!! (into [] odds)))
      ;=> [1 3]"
  ([ch topic-fn] (pub ch topic-fn (constantly nil)))
  ([ch topic-fn buf-fn]
   (let [hub (pubs/hub ch topic-fn buf-fn)]
     (reify
       hubs/Mux
       (muxch* [_] ch)
       hubs/Pub
       (sub* [_ topic ch close?] (pubs/sub hub topic ch close?))
       (unsub* [_ topic ch] (pubs/unsub hub topic ch))
       (unsub-all* [_] (pubs/unsub-all hub))
       (unsub-all* [_ topic] (pubs/unsub-all hub topic))))))

(defn sub
  "Subscribes the channel `ch` to a topic of the pub `p`. `ch` closes when the source closes,
  unless `close?` is false. Like core.async's."
  ([p topic ch] (sub p topic ch true))
  ([p topic ch close?] (hubs/sub* (hubs/pub "p of sub" p) topic ch close?)))

(defn unsub
  "Ends the subscription of `ch` to `topic`. The channel stays open. Like core.async's."
  [p topic ch]
  (hubs/unsub* (hubs/pub "p of unsub" p) topic ch))

(defn unsub-all
  "Ends all subscriptions, or those to `topic`. The channels stay open, even when the source
  closes. Like core.async's."
  ([p] (hubs/unsub-all* (hubs/pub "p of unsub-all" p)))
  ([p topic] (hubs/unsub-all* (hubs/pub "p of unsub-all" p) topic)))

;;;; Names

(defn label!
  "Gives `x` a name for people: a string, or nil to remove it. Returns `x`. It is a channel, the port of a block, a limiter, a
  scope of skein.scope, or an atom; a mult, mix or pub passes the name on to its channel.

  skein.inspect shows the name, and so do the stories of skein.sim, and a channel where it is printed, as in messages and traces.
  Throws :skein/bad-argument.

      (re-find #\"orders\" (pr-str (label! (chan) \"orders\")))
      ;=> \"orders\""
  [x name]
  (let [hub? (satisfies? hubs/Mux x)]
    (check/that "x of label!" x
                (or hub? (satisfies? spi/Channel x) (instance? Region$Owner x) (instance? IDeref x))
                "a channel, a mult, mix or pub, a limiter, a scope or an atom")
    (check/that "name of label!" name (or (nil? name) (string? name)) "a string or nil")
    (Labels/set (if hub? (hubs/muxch* x) x) name)
    x))
