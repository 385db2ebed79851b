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

  What few programs need at once, or at all, is loaded when it is first called: the go
  compiler, the threads, ports of other kinds, and the blocks behind `pipe` and its kin. A
  namespace that is named :as-alias below is such a one. Ahead-of-time compilation includes
  them."
  (:refer-clojure :exclude [reduce transduce into merge map take partition partition-by])
  (:require [clojure.core.protocols :as core-protocols]
            [skein.impl.alt :as-alias alt]
            [skein.impl.async.describe :as-alias describe]
            [skein.impl.async.filters :as-alias filters]
            [skein.impl.async.mix :as-alias mix]
            [skein.impl.async.mult :as-alias mult]
            [skein.impl.async.ops :as-alias ops]
            [skein.impl.async.pipeline :as-alias pipeline]
            [skein.impl.async.pub :as-alias pub]
            [skein.impl.channel :as-alias channel]
            [skein.impl.go :as-alias compiler]
            [skein.impl.once :refer [defprotocol-once]]
            [skein.impl.protocols :as-alias impl]
            [skein.impl.threads :as-alias threads])
  (:import [skein.rt Alts Box Buffer Buffers$Dropping Buffers$Fixed Buffers$Promise Buffers$Sliding
            Callback Channel Foreign Frame Late Runner TransducedChannel]
           [skein.rt.schedule Scheduler Timeout]
           [skein.rt.watch Failures]))

(set! *warn-on-reflection* true)

;;;; Channels

(defn buffer
  "Returns a first-in first-out buffer for `n` values, n > 0; puts wait while it is full.

  As core.async's."
  [n]
  (assert (pos? n) "fixed buffers must have size > 0")
  (Buffers$Fixed. n))

(defn dropping-buffer
  "Returns a buffer for `n` values that drops the newest while it is full. As core.async's."
  [n]
  (Buffers$Dropping. n))

(defn sliding-buffer
  "Returns a buffer for `n` values that drops the oldest while it is full. As core.async's."
  [n]
  (Buffers$Sliding. n))

(defn unblocking-buffer?
  "Returns whether puts never wait on a channel with this buffer. As core.async's."
  [buff]
  (extends? @(Late/var `impl/UnblockingBuffer) (class buff)))

(defn- own-buffer [b]
  (if (or (nil? b) (instance? Buffer b))
    b
    ((Late/var `channel/foreign-buffer) b)))

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
  ([] (Channel. nil))
  ([buf-or-n] (chan buf-or-n nil nil))
  ([buf-or-n xform] (chan buf-or-n xform nil))
  ([buf-or-n xform ex-handler]
   (when xform (assert buf-or-n "buffer must be supplied when transducer is"))
   (let [given (if (number? buf-or-n) (buffer buf-or-n) buf-or-n)
         b (own-buffer given)]
     ;; A buffer of another kind may use the channel, as a transducer may.
     (if (or xform ex-handler (not (identical? b given)))
       (TransducedChannel. b xform ex-handler)
       (Channel. b)))))

(defn promise-chan
  "Returns a channel that takes one value and gives it to every taker for ever; closed
  without one it gives nil. As core.async's.

      (let [p (promise-chan)] (>!! p 1) (>!! p 2) [(<!! p) (<!! p)])
      ;=> [1 1]"
  ([] (promise-chan nil))
  ([xform] (promise-chan xform nil))
  ([xform ex-handler] (chan (Buffers$Promise.) xform ex-handler)))

(defn timeout
  "Returns a channel that closes after `msecs` milliseconds, 0 or more.

  As core.async's. Differs: the channel is private, so that closing it cancels its timer
  and touches nobody else; the clock is monotonic."
  [^long msecs]
  (Timeout/after msecs))

(defn close!
  "Closes a channel: no more puts are accepted, takes get what is there and then nil.
  Returns nil. As core.async's."
  [chan]
  (if (instance? Channel chan)
    (.close ^Channel chan)
    ((Late/var `impl/close!) chan))
  nil)

;;;; Operations that never wait

(defn fn-handler
  "Returns a handler, always active, whose commit gives `f`; for use with the port
  protocols. As core.async's."
  ([f] (fn-handler f true))
  ([f blockable] ((Late/var `channel/fn-handler) f blockable)))

(defn- on-caller [f]
  (with-meta f {:on-caller? true}))

(defn- call-back [f value on-caller?]
  (if on-caller?
    (f value)
    (Scheduler/submit (Callback/task (fn run [] (f value))))))

(defn- handler [f on-caller?]
  (fn-handler (if on-caller? (on-caller f) f)))

(defn take!
  "Takes a value and passes it to `fn1`, nil if the port is closed. Returns nil.

  As core.async's: a value that is there is passed at once, on this thread unless
  `on-caller?` is false; later ones on the thread of the put or, if `on-caller?` is
  false, on a worker."
  ([port fn1] (take! port fn1 true))
  ([port fn1 on-caller?]
   (if (instance? Channel port)
     (let [v (.take ^Channel port (Callback. fn1 (boolean on-caller?)) nil)]
       (when-not (identical? v Channel/NONE) (call-back fn1 v on-caller?)))
     (when-some [b ((Late/var `impl/take!) port (handler fn1 on-caller?))]
       (call-back fn1 @b on-caller?)))
   nil))

(def ^:private nop (on-caller (fn nop [_])))

(defn put!
  "Puts `val` and passes true to `fn1`, or false if the port is closed. Returns true
  unless the port is closed. As core.async's; for `on-caller?` see `take!`."
  ([port val]
   (if (instance? Channel port)
     (not (false? (.put ^Channel port val (Callback. nil true) nil)))
     (put! port val nop true)))
  ([port val fn1] (put! port val fn1 true))
  ([port val fn1 on-caller?]
   (if (instance? Channel port)
     (let [accepted (.put ^Channel port val (Callback. fn1 (boolean on-caller?)) nil)]
       (if (identical? accepted Channel/NONE)
         true
         (do (call-back fn1 accepted on-caller?) accepted)))
     (if-some [b ((Late/var `impl/put!) port val (handler fn1 on-caller?))]
       (do (call-back fn1 @b on-caller?) @b)
       true))))

(defn offer!
  "Puts `val` if that needs no waiting. Returns true, false if the port is closed, or nil
  if it would have to wait. As core.async's."
  [port val]
  (if (instance? Channel port)
    (let [accepted (.put ^Channel port val nil nil)]
      (when-not (identical? accepted Channel/NONE) accepted))
    (when-some [b ((Late/var `impl/put!) port val (fn-handler nop false))] @b)))

(defn poll!
  "Returns a value if one is there, else nil. As core.async's."
  [port]
  (if (instance? Channel port)
    (let [v (.take ^Channel port nil nil)]
      (when-not (identical? v Channel/NONE) v))
    (when-some [b ((Late/var `impl/take!) port (fn-handler nop false))] @b)))

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
  [op doc arglist & body]
  `(do (defn ~op ~doc ~arglist ~@body)
       (when (Boolean/getBoolean "clojure.core.async.go-checking")
         (alter-var-root (var ~op) @#'checked (var ~op)))
       (var ~op)))

(defn- take-blocking [port]
  (if (instance? Channel port)
    (.takeBlocking ^Channel port)
    (nth (Alts/chooseBlocking [port] nil) 0)))

(defn- put-blocking [port val]
  (cond
    (instance? Channel port) (.putBlocking ^Channel port val)
    (nil? val) (throw (IllegalArgumentException. "Can't put nil on channel"))
    :else (nth (Alts/chooseBlocking [[port val]] nil) 0)))

(defblockingop <!!
  "Takes a value, blocking this thread until there is one; nil if the port is closed.

  As core.async's. Differs: may be called in a go block; an interrupted thread withdraws
  its take, so that no value is lost."
  [port]
  (take-blocking port))

(defblockingop >!!
  "Puts `val`, blocking this thread until it is accepted. Returns true, or false if the
  port is closed. As core.async's; differs as `<!!` does."
  [port val]
  (put-blocking port val))

(defblockingop alts!!
  "Does one of several operations, blocking this thread until one is done; see `alts!`.
  As core.async's; differs as `<!!` does."
  [ports & opts]
  (Alts/chooseBlocking ports (apply hash-map opts)))

;;;; Parking operations, where they are reached through a function

(defn- check-in-block [op]
  (when-not (Runner/inBlock)
    (throw (AssertionError. (str "Assert failed: " op " used not in (go ...) block\nnil")))))

(defn <!
  "Takes a value, parking the block until there is one; nil if the port is closed.

  As core.async's. Differs: it may also be called in a function that a block calls, at any
  depth; there it blocks the thread, and the block's worker goes on without it. On a
  thread that runs no block it throws AssertionError.

      (<!! (go (mapv <! [(go 1) (go 2)])))
      ;=> [1 2]"
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [port]
  (check-in-block "<!")
  (take-blocking port))

(defn >!
  "Puts `val`, parking the block until it is accepted. Returns true, or false if the port
  is closed. As core.async's; differs as `<!` does."
  {:skein.impl.go/op '{:method put, :arity [2 2]}}
  [port val]
  (check-in-block ">!")
  (put-blocking port val))

(defn alts!
  "Does one of several operations, parking the block until one is done. Returns
  [value port]; for a put the value is true, or false if the port is closed.

  ports      a channel to take from, or [channel value] to put, of each at least one
  :default   returned as [default :default] when nothing is ready
  :priority  true: try in the given order; otherwise the choice is uniform

  As core.async's; differs as `<!` does."
  {:skein.impl.go/op '{:method alts, :arity [1 nil]}}
  [ports & {:as opts}]
  (check-in-block "alts!")
  (Alts/chooseBlocking ports opts))

(defn do-alts
  "Does one of several operations without waiting: a derefable [value port], or nil, and
  then `fret` is called with that later. As core.async's; for `opts` see `alts!`."
  [fret ports opts]
  (when-some [chosen (Alts/choose ports opts (Callback. fret (boolean (:on-caller? (meta fret)))) nil)]
    (Box. chosen)))

(defn do-alt
  "Returns the form of an `alt!` by `alts`, a symbol. As core.async's."
  [alts clauses]
  ((Late/var `alt/alt-form) alts clauses))

(defmacro alt!!
  "As `alt!`, blocking this thread until an operation is done. As core.async's."
  [& clauses]
  (do-alt `alts!! clauses))

(defmacro alt!
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
  exception handler gets the exception. Differs: the body may block, and park in any
  function that it calls; any Clojure form compiles; there is no limit on its size."
  {:skein.impl.go/block true}
  [& body]
  (if (:ns &env) ; ClojureScript
    ((requiring-resolve 'skein.impl.cljs/compile-go) &env body &form)
    ((Late/var `compiler/compile-go) &env body &form)))

(defmacro go-loop
  "As (go (loop bindings body...)). As core.async's."
  [bindings & body]
  `(go (loop ~bindings ~@body)))

(defmacro async
  "Runs the body as a block that starts at once, on this thread, and stays on it up to its
  first real park. Returns a port like that of `go`.

  If the body throws, the port closes, and `<?` and `<??` rethrow the exception; one that
  nobody asks for is reported to the uncaught-exception handler when the port is garbage.

      (<!! (async (* 6 7)))
      ;=> 42"
  {:skein.impl.go/block true}
  [& body]
  (if (:ns &env) ; ClojureScript
    ((requiring-resolve 'skein.impl.cljs/compile-async) &env body &form)
    ((Late/var `compiler/compile-async) &env body &form)))

(defn rethrow
  "Returns `value`, taken from `port`, or throws the exception that ended the port if
  `value` is nil and there is one."
  [port value]
  (when (nil? value)
    (when-some [thrown (if (instance? Channel port)
                         (.thrown ^Channel port)
                         ((Late/var `impl/failure) port))]
      (throw thrown)))
  value)

(defmacro <?
  "As `<!`, and throws the exception, the same object, that ended `port`: that of an
  `async` block, or the cause with which a channel was closed."
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
  ([f] (thread-call f :mixed))
  ([f workload]
   (let [c (chan 1)
         f (bound-fn* f)]
     ((Late/var `threads/exec)
      (fn run []
        (try (when-some [v (f)] (>!! c v))
             (catch Throwable t ; kept before its taker is given nil, who may ask why
               (Failures/uncaught t)
               (throw t))
             (finally (close! c))))
      workload)
     c)))

(defmacro thread
  "Runs the body on a platform thread; see `thread-call`. As core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :mixed))

(defmacro io-thread
  "Runs the body on a virtual thread; see `thread-call`. As core.async's."
  [& body]
  `(thread-call (^:once fn* [] ~@body) :io))

;;;; Channels and blocks as data

(extend Channel core-protocols/Datafiable
        {:datafy (fn datafy [ch] ((Late/var `describe/channel) ch))})

(extend Frame core-protocols/Datafiable
        {:datafy (fn datafy [frame] ((Late/var `describe/frame) frame))})

(defmethod print-method Channel [ch writer]
  ((Late/var `describe/print-channel) ch writer))

;; What the runtime asks of the layers above it.
(Foreign/loadBy (fn load-ports [] (Late/var `channel/foreign-alts)))
(Failures/addMachinery "skein.async$")

;; The rest of this namespace: blocks between channels, hubs of many channels, and what
;; core.async has deprecated.
(load "async_ops")
(load "async_hubs")
(load "async_deprecated")

(when *compile-files*
  (require 'skein.impl.alt 'skein.impl.channel 'skein.impl.go 'skein.impl.threads
           'skein.impl.async.describe 'skein.impl.async.filters 'skein.impl.async.mix
           'skein.impl.async.mult 'skein.impl.async.ops 'skein.impl.async.pipeline
           'skein.impl.async.pub))
