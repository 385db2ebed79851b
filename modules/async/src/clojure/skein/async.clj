;; SPDX-License-Identifier: Apache-2.0
(ns skein.async
  "Channels and go blocks: core.async's API, on blocks that may block and may park
  from any function.

  * channels: `chan` `buffer` `dropping-buffer` `sliding-buffer` `promise-chan` `timeout`
  * blocks: `go` `go-loop` `async`; threads: `thread` `io-thread` `thread-call`
  * in a block: `<!` `>!` `alts!` `alt!`; on any thread: `<!!` `>!!` `alts!!` `alt!!`
  * without waiting: `put!` `take!` `offer!` `poll!` `close!`
  * errors of an `async` block: `<?` `<??`
  * between channels: `pipe` `pipeline` `split` `merge` `map` `take`; to and from values:
    `to-chan!` `onto-chan!` `into` `reduce` `transduce`
  * one to many and many to one: `mult` `tap`, `pub` `sub`, `mix` `admix` `toggle`

      (<!! (go (+ 1 (<! (go 2)))))
      ;=> 3

  Where a docstring says \"As core.async's\", behaviour is that of clojure.core.async
  1.9.865, and what differs follows; doc/migrating.md has it all in one table.

  The go compiler, and the protocols for ports of other kinds, are loaded when they are first
  needed; see skein.impl.late."
  (:refer-clojure :exclude [into map merge partition partition-by reduce take transduce])
  (:require
   [clojure.core.protocols :as core-protocols]
   [skein.impl.alt :as alt]
   [skein.impl.async.deprecated]
   [skein.impl.async.describe :as describe]
   [skein.impl.async.hubs]
   [skein.impl.async.ops :as ops]
   [skein.impl.async.pipeline :as pipelines]
   [skein.impl.check :as check]
   [skein.impl.late :as late]
   [skein.impl.mirror :as mirror]
   [skein.impl.port :as port]
   [skein.impl.threads :as threads])
  (:import
   (skein.rt Alts Box Callback Channel ChannelFactory Frame Runner)
   (skein.rt.schedule Timeout)
   (skein.rt.watch Failures)))

(set! *warn-on-reflection* true)

;;;; Channels

(defn buffer
  "Returns a first-in first-out buffer for `n` values, n > 0; puts wait while it is full.

  As core.async's."
  [n]
  (port/buffer n))

(defn dropping-buffer
  "Returns a buffer for `n` values that drops the newest while it is full. As core.async's."
  [n]
  (.dropping ChannelFactory/INSTANCE (check/number "n of dropping-buffer" n "a number" number?)))

(defn sliding-buffer
  "Returns a buffer for `n` values that drops the oldest while it is full. As core.async's."
  [n]
  (.sliding ChannelFactory/INSTANCE (check/number "n of sliding-buffer" n "a number" number?)))

(defn unblocking-buffer?
  "Returns whether puts never wait on a channel with this buffer. As core.async's."
  [buff]
  (late/unblocking-buffer? buff))

(defn chan
  "Returns a channel.

  buf-or-n    how many values it buffers, or a buffer; nil: every put meets its take
  xform       a transducer for the values on their way in; needs a buffer
  ex-handler  function of what the transducer throws; a result other than nil is put
              into the buffer

  As core.async's: the transducer runs under the channel's lock, on the thread of the
  put or the take; a number must be positive; without a handler what the transducer
  throws goes to the thread's uncaught-exception handler and the value is dropped.

      (let [c (chan 2 (filter even?))] (>!! c 1) (>!! c 2) (<!! c))
      ;=> 2"
  ([] (.channel ChannelFactory/INSTANCE nil))
  ([buf-or-n] (port/chan buf-or-n))
  ([buf-or-n xform] (port/chan buf-or-n xform nil))
  ([buf-or-n xform ex-handler] (port/chan buf-or-n xform ex-handler)))

(defn promise-chan
  "Returns a channel that takes one value and gives it to every taker for ever; closed
  without one it gives nil. As core.async's.

      (let [p (promise-chan)] (>!! p 1) (>!! p 2) [(<!! p) (<!! p)])
      ;=> [1 1]"
  ([] (promise-chan nil))
  ([xform] (promise-chan xform nil))
  ([xform ex-handler] (chan (.promise ChannelFactory/INSTANCE) xform ex-handler)))

(defn timeout
  "Returns a channel that closes after `msecs` milliseconds, at once if that is below 1.

  As core.async's. Differs: the channel is private, so that closing it cancels its timer
  and touches nobody else; the clock is monotonic."
  [msecs]
  (Timeout/after (check/milliseconds "msecs of timeout" msecs)))

(defn close!
  "Closes a channel: no more puts are accepted, takes get what is there and then nil.
  Returns nil. As core.async's."
  [chan]
  (if (instance? Channel chan)
    (.close ^Channel chan)
    (port/close! chan))
  nil)

;;;; Operations that never wait

(defn fn-handler
  "Returns a handler, always active, whose commit gives `f`; for use with the port
  protocols. As core.async's."
  ([f] (fn-handler f true))
  ([f blockable] (late/fn-handler f blockable)))

(defn take!
  "Takes a value and passes it to `fn1`, nil if the port is closed. Returns nil.

  As core.async's: a value that is there is passed at once, on this thread unless
  `on-caller?` is false; later ones on the thread of the put or, if `on-caller?` is
  false, on a worker."
  ([port fn1] (port/take! port fn1 true))
  ([port fn1 on-caller?] (port/take! port fn1 on-caller?)))

(defn put!
  "Puts `val` and passes true to `fn1`, or false if the port is closed. Returns true
  unless the port is closed. As core.async's; for `on-caller?` see `take!`."
  ([port val]
   (if (instance? Channel port)
     (not (false? (.put ^Channel port val (Callback. nil true) nil)))
     (port/put! port val)))
  ([port val fn1] (port/put! port val fn1 true))
  ([port val fn1 on-caller?] (port/put! port val fn1 on-caller?)))

(defn offer!
  "Puts `val` if that needs no waiting. Returns true, false if the port is closed, or nil
  if it would have to wait. As core.async's."
  [port val]
  (if (instance? Channel port)
    (let [accepted (.put ^Channel port val nil nil)]
      (when-not (identical? accepted Channel/NONE) accepted))
    (port/offer! port val)))

(defn poll!
  "Returns a value if one is there, else nil. As core.async's."
  [port]
  (if (instance? Channel port)
    (let [v (.take ^Channel port nil nil)]
      (when-not (identical? v Channel/NONE) v))
    (port/poll! port)))

;;;; Operations that block the thread

(defn- checked
  "The function in the var `v`, refusing to be called in a block."
  [f v]
  (fn checked [& args]
    (when (Runner/inBlock)
      (throw (IllegalStateException.
               (str (:name (meta v)) " was called in a block, which clojure.core.async.go-checking forbids."
                    " Park instead, or unset the property: here blocks may block."))))
    (apply f args)))

(defmacro defblockingop
  "Defines a function that blocks its thread. As core.async's: if the system property
  clojure.core.async.go-checking is true now, it throws in a block. Differs: always so, and
  not only up to a block's first park."
  {:style/indent :defn}
  [op doc arglist & body]
  `(do (defn ~op ~doc ~arglist ~@body)
       (when (Boolean/getBoolean "clojure.core.async.go-checking")
         (alter-var-root (var ~op) @#'checked (var ~op)))
       (var ~op)))

(defblockingop <!!
  "Takes a value, blocking this thread until there is one; nil if the port is closed.

  As core.async's. Differs: may be called in a go block; an interrupted thread withdraws
  its take, so that no value is lost."
  [port]
  (if (instance? Channel port) (.takeBlocking ^Channel port) (port/<!! port)))

(defblockingop >!!
  "Puts `val`, blocking this thread until it is accepted. Returns true, or false if the
  port is closed. As core.async's; differs as `<!!` does."
  [port val]
  (if (instance? Channel port) (.putBlocking ^Channel port val) (port/>!! port val)))

(defblockingop alts!!
  "Does one of several operations, blocking this thread until one is done; see `alts!`.
  As core.async's; differs as `<!!` does."
  [ports & opts]
  (Alts/chooseBlocking ports opts))

;;;; Parking operations, where they are reached through a function

(defn <!
  "Takes a value, parking the block until there is one; nil if the port is closed.

  As core.async's. Differs: it may also be called in a function that a block calls, at any
  depth; there it blocks the thread, and the block's worker goes on without it. On a
  thread that runs no block it throws AssertionError.

      (<!! (go (mapv <! [(go 1) (go 2)])))
      ;=> [1 2]"
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [port]
  (port/<! port))

(defn >!
  "Puts `val`, parking the block until it is accepted. Returns true, or false if the port
  is closed. As core.async's; differs as `<!` does."
  {:skein.impl.go/op '{:method put, :arity [2 2]}}
  [port val]
  (port/>! port val))

(defn alts!
  "Does one of several operations, parking the block until one is done. Returns
  [value port]; for a put the value is true, or false if the port is closed.

  ports  channels to take from and [channel value] pairs to put, at least one

  options, keys and values or a map:
    :default   returned as [default :default] when nothing is ready
    :priority  true: try in the given order; otherwise the choice is uniform

  As core.async's; differs as `<!` does, and other options are refused: :skein/bad-option."
  {:skein.impl.go/op '{:method alts, :arity [1 nil]}
   :arglists '([ports & {:as opts}])}
  [ports & opts]
  (apply port/alts! ports opts))

(defn do-alts
  "Does one of several operations without waiting: a derefable [value port], or nil, and
  then `fret` is called with that later. As core.async's; for `opts` see `alts!`."
  [fret ports opts]
  (check/function "fret of do-alts" fret)
  (when-some [chosen (Alts/choose ports opts (Callback. fret (boolean (:on-caller? (meta fret)))) nil)]
    (Box. chosen)))

(defn do-alt
  "Returns the form of an `alt!` by `alts`, a symbol. As core.async's."
  [alts clauses]
  (alt/alt-form alts clauses))

(defmacro ^{:style/indent 0} alt!!
  "As `alt!`, blocking this thread until an operation is done. As core.async's."
  [& clauses]
  (do-alt `alts!! clauses))

(defmacro ^{:style/indent 0} alt!
  "Does one of several operations, as `alts!`, and evaluates the result of its clause.

  Each clause is a port or a vector of ports and [port value]s, and a result; the result
  may begin with a binding for [value port]. :default and :priority are options.

  As core.async's; differs as `<!` does.

      (<!! (go (alt! (go 1) ([v] (inc v)) (timeout 60000) :late)))
      ;=> 2"
  [& clauses]
  (do-alt `alts! clauses))

;;;; Blocks and threads

(defmacro go
  "Runs the body as a block of its own, started soon on a worker. Returns a channel that
  gets the body's value, if not nil, and closes.

  As core.async's, exceptions included: the channel closes and the thread's uncaught-
  exception handler gets the exception. Differs: `<?` and `<??` rethrow it, too; the body may block, and park in any
  function that it calls; any Clojure form compiles. What is too large for a method of the JVM, or
  nested too deep, is refused: :skein/block-too-large, :skein/nested-too-deep."
  {:style/indent 0, :skein.impl.go/block true}
  [& body]
  (late/compile-go &env body &form))

(defmacro ^{:style/indent 1} go-loop
  "As (go (loop bindings body...)). As core.async's."
  [bindings & body]
  (check/bindings "go-loop" bindings "[name value ...]" (fn pairs? [v] (even? (count v))))
  `(go (loop ~bindings ~@body)))

(defmacro async
  "Runs the body as a block that starts at once, on this thread, and stays on it up to its
  first real park. Returns a port like that of `go`.

  If the body throws, the port closes, and `<?` and `<??` rethrow the exception; one that
  nobody asks for is reported to the uncaught-exception handler when the port is garbage.

      (<!! (async (* 6 7)))
      ;=> 42"
  {:style/indent 0, :skein.impl.go/block true}
  [& body]
  (late/compile-async &env body &form))

(defn rethrow
  "Returns `value`, taken from `port`, or throws the exception that ended the port if
  `value` is nil and there is one."
  [port value]
  (when (nil? value)
    (when-some [thrown (if (instance? Channel port)
                         (.thrown ^Channel port)
                         (late/failure port))]
      (throw (Failures/rethrown thrown))))
  value)

(defmacro ^{:style/indent 0} <?
  "As `<!`, and throws the exception, the same object, that ended `port`: that of a block, `go`
  or `async`, or the cause with which a channel was closed."
  [port]
  `(let [port# ~port] (rethrow port# (<! port#))))

(defn <??
  "As `<!!`, and throws the exception, the same object, that ended `port`; see `<?`.

      (try (<?? (async (throw (ex-info \"no\" {})))) (catch Exception e (ex-message e)))
      ;=> \"no\""
  [port]
  (rethrow port (<!! port)))

(defn thread-call
  "Calls `f` on a thread for `workload`, :mixed by default, :io or :compute, with the
  caller's bindings. Returns a channel that gets the value, if not nil, and closes. As
  core.async's."
  ([f] (threads/call f :mixed))
  ([f workload] (threads/call f workload)))

(defmacro ^{:style/indent 0} thread
  "Runs the body on a platform thread; see `thread-call`. As core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :mixed))

(defmacro ^{:style/indent 0} io-thread
  "Runs the body on a virtual thread; see `thread-call`. As core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :io))

;;;; Channels and blocks as data

(extend Channel core-protocols/Datafiable
        {:datafy (fn datafy [ch] (describe/channel ch))})

(extend Frame core-protocols/Datafiable
        {:datafy (fn datafy [frame] (describe/frame frame))})

(defmethod print-method Channel [ch writer]
  (describe/print-channel ch writer))

(Failures/addMachinery "skein.async$") ; says nothing about the user's code in a stack trace

;;;; From channel to channel

(defn pipe
  "Moves values from the channel `from` to `to`, which it closes in the end unless `close?`
  is false; stops when `to` closes. Returns `to`. As core.async's."
  ([from to] (pipe from to true))
  ([from to close?] (ops/pipe from to close?)))

(defn pipeline
  "Moves values from the channel `from` to `to` through the transducer `xf`, up to `n` at a
  time; results come in the order of the values. Returns a channel that closes when it ends.

  xf          applied to each value by itself; gives any number of results
  close?      whether `to` is closed after `from`; by default true
  ex-handler  as for `chan`

  As core.async's. Differs: stops taking when `to` closes. Work is done in blocks, and goes
  on on :compute threads once a value has taken more than 1 ms. doc/in-parallel.md has other
  ways, and says when to take which.

      (<!! (into [] (let [out (chan)] (pipeline 2 out (filter odd?) (to-chan! [1 2 3])) out)))
      ;=> [1 3]"
  ([n to xf from] (pipeline n to xf from true))
  ([n to xf from close?] (pipeline n to xf from close? nil))
  ([n to xf from close? ex-handler]
   (pipelines/pipeline n to xf from close? ex-handler :compute)))

(defn pipeline-blocking
  "As `pipeline`, for work that blocks: slow work goes to :mixed threads. As core.async's;
  differs as `pipeline` does."
  ([n to xf from] (pipeline-blocking n to xf from true))
  ([n to xf from close?] (pipeline-blocking n to xf from close? nil))
  ([n to xf from close? ex-handler]
   (pipelines/pipeline n to xf from close? ex-handler :mixed)))

(defn pipeline-async
  "As `pipeline`, with the work started by `af`, a function of a value and a channel on
  which the results are put by and by, and which must be closed then.

  As core.async's. Differs: stops taking when `to` closes; at most `n` values are under way;
  what `af` throws goes to the uncaught-exception handler and ends that value only."
  ([n to af from] (pipeline-async n to af from true))
  ([n to af from close?]
   (pipelines/pipeline-async n to af from close?)))

(defn split
  "Moves values from `ch` to one of two channels, by the predicate `p`. Returns them as
  [true-channel false-channel]; they close with `ch`.

  As core.async's. Differs: when one of the two closes, so does the other, as nothing is
  taken from `ch` any more."
  ([p ch] (split p ch nil nil))
  ([p ch t-buf-or-n f-buf-or-n] (ops/split p ch t-buf-or-n f-buf-or-n)))

(defn take
  "Returns a channel that gets the first `n` values of `ch` and closes. As core.async's.
  Differs: nothing is taken any more once the channel is closed."
  ([n ch] (take n ch nil))
  ([n ch buf-or-n] (ops/take n ch buf-or-n)))

(defn map
  "Returns a channel of the results of `f` on one value from each of the channels `chs`; it
  closes with the first of them.

  As core.async's. Differs: a result of nil is reported to the uncaught-exception handler
  as :skein/nil-value, and the channel closes; nothing is taken once it is closed.

      (<!! (into [] (map + [(to-chan! [1 2]) (to-chan! [10 20])])))
      ;=> [11 22]"
  ([f chs] (map f chs nil))
  ([f chs buf-or-n] (ops/map f chs buf-or-n)))

(defn merge
  "Returns a channel of the values of all channels `chs`; closes when all have. As
  core.async's. Differs: nothing is taken any more once it is closed."
  ([chs] (merge chs nil))
  ([chs buf-or-n] (ops/merge chs buf-or-n)))

;;;; From a collection

(defn onto-chan!
  "Puts the values of `coll` on `ch` and then closes it, unless `close?` is false. Returns a
  channel that closes when that is done, or when `ch` has been closed.

  As core.async's. Differs: nil in `coll` is reported to the uncaught-exception handler as
  :skein/nil-value and ends it, as does an exception from a lazy `coll`."
  ([ch coll] (onto-chan! ch coll true))
  ([ch coll close?] (ops/onto-chan! ch coll close?)))

(defn onto-chan!!
  "As `onto-chan!`, on a thread, for a `coll` whose reading blocks long. As core.async's;
  differs as `onto-chan!` does."
  ([ch coll] (onto-chan!! ch coll true))
  ([ch coll close?] (ops/onto-chan!! ch coll close?)))

(defn to-chan!
  "Returns a channel of the values of `coll`, which closes after them. As core.async's;
  differs as `onto-chan!` does.

      (<!! (into #{} (to-chan! [1 2 1])))
      ;=> #{1 2}"
  [coll]
  (ops/to-chan onto-chan! coll))

(defn to-chan!!
  "As `to-chan!`, on a thread, for a `coll` whose reading blocks long. As core.async's;
  differs as `onto-chan!` does."
  [coll]
  (ops/to-chan onto-chan!! coll))

;;;; Into a value

(defn reduce
  "Returns a channel of one value: the reduction of the values of `ch` by `f` from `init`.
  As core.async's.

      (<!! (reduce + 0 (to-chan! [1 2 3])))
      ;=> 6"
  [f init ch]
  (ops/reduce f init ch))

(defn transduce
  "Returns a channel of one value: the reduction of the values of `ch` by `f` from `init`,
  through the transducer `xform`. As core.async's."
  [xform f init ch]
  (ops/transduce xform f init ch))

(defn into
  "Returns a channel of one value: `coll` with the values of `ch` added. As core.async's."
  [coll ch]
  (ops/into coll ch))

;;;; Hubs of many channels, and what core.async has deprecated

(mirror/import-vars
  [skein.impl.async.hubs
   Mux muxch*
   Mult tap* untap* untap-all* mult tap untap untap-all
   Mix admix* unmix* unmix-all* toggle* solo-mode* mix admix unmix unmix-all toggle solo-mode
   Pub sub* unsub* unsub-all* pub sub unsub unsub-all]
  [skein.impl.async.deprecated
   onto-chan to-chan map< map> filter> remove> filter< remove< mapcat< mapcat> unique partition partition-by])
