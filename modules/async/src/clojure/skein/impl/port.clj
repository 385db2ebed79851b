;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.port
  "Operations on a port of any kind, documented in skein.async; those that park are in skein.impl.block.

  Operations on a channel of the runtime are method calls. Those on other ports use the protocols
  of skein.async.spi. A value that satisfies none of them is refused."
  {:no-doc true}
  (:require
   [skein.async.spi :as impl]
   [skein.impl.check :as check]
   [skein.impl.foreign :as foreign]
   [skein.impl.once :refer [defprotocol-once]])
  (:import
   (clojure.lang ArityException ExceptionInfo IFn)
   (java.util.concurrent.locks Lock)
   (skein.rt Buffer Channel ChannelFactory NilPut Result Result$Watcher Transducer Uncaught)
   (skein.rt.block Callback Failures ThreadWaiter)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

;;;; Arguments. Each check returns its argument, or throws :skein/bad-argument; `what` names the argument, as "from of pipe" does.

(defn- checked [what value protocol wanted]
  (if (instance? Channel value)
    value
    (check/port what value (satisfies? protocol value) wanted)))

(defn source
  "Returns `value`, which must be a port to take from."
  [what value]
  (checked what value impl/ReadPort "a channel to take from"))

(defn target
  "Returns `value`, which must be a port to put on."
  [what value]
  (checked what value impl/WritePort "a channel to put on"))

(defn closeable
  "Returns `value`, which must be a port that can be closed."
  [what value]
  (checked what value impl/Channel "a channel"))

;;;; Channels

(defn buffer
  "See skein.async/buffer."
  [n]
  (when-not (instance? Number n) (check/number "n of buffer" n "a number" number?))
  (check/asserts (pos? n) "n of buffer" "a number above 0" "fixed buffers must have size > 0")
  (.fixed ChannelFactory/INSTANCE n))

(defn- own-buffer [buf-or-n]
  (cond
    (number? buf-or-n) (buffer buf-or-n)
    (or (nil? buf-or-n) (instance? Buffer buf-or-n)) buf-or-n
    :else (foreign/foreign-buffer buf-or-n)))

(defn transducer
  "Returns `xf` as a transducer that throws :skein/bad-argument if `xf`, such as `inc`, does not make a step from a step."
  [what xf]
  (check/function what xf)
  (fn applied [rf]
    (let [step (try (xf rf)
                    (catch ClassCastException e e)
                    (catch ArityException e e))]
      (try
        (check/that what xf (ifn? step) "a transducer, such as (map inc)")
        (catch ExceptionInfo refused
          ;; The exception may come from a transducer of the program.
          (when (instance? Throwable step) (.addSuppressed refused step))
          (throw refused)))
      step)))

(defn chan
  "See skein.async/chan."
  ([] (.channel ChannelFactory/INSTANCE nil nil))
  ([buf-or-n]
   (cond
     ;; With known classes the JIT compiler can inline the channel's methods.
     (number? buf-or-n) (.channel ChannelFactory/INSTANCE (buffer buf-or-n) nil)
     (or (nil? buf-or-n) (instance? Buffer buf-or-n)) (.channel ChannelFactory/INSTANCE buf-or-n nil)
     ;; A buffer of another kind may use the channel, as a transducer may.
     :else (.channel ChannelFactory/INSTANCE (foreign/foreign-buffer buf-or-n) (Transducer. nil nil))))
  ([buf-or-n xform ex-handler]
   (when xform (check/asserts buf-or-n "buf-or-n of chan" "a number or a buffer" "buffer must be supplied when transducer is"))
   (when ex-handler (check/function "ex-handler of chan" ex-handler))
   (if (or xform ex-handler)
     (.channel ChannelFactory/INSTANCE (own-buffer buf-or-n)
               (Transducer. (when xform (transducer "xform of chan" xform)) ex-handler))
     (chan buf-or-n))))

;;;; Ports of other kinds

(defmacro ^:private on-foreign
  "Evaluates `call`, a call of a protocol's function on `port`. If it fails, calls `check`, which
  throws if `port` is not a port. So only calls that fail pay for the check."
  [check operation port call]
  `(try
     ~call
     (catch IllegalArgumentException e#
       (~check ~operation ~port)
       (throw e#))))

(defn close!
  "See skein.async/close!."
  [port]
  (if (instance? Channel port)
    (.close ^Channel port)
    (on-foreign closeable "chan of close!" port (impl/close! port)))
  nil)

(defn closed?
  "See skein.async/closed?."
  [port]
  (boolean (impl/closed? (closeable "port of closed?" port))))

(defn close-with!
  "See skein.async/close-with!."
  [port cause]
  (check/that "cause of close-with!" cause (instance? Throwable cause)
              "an exception, because <? throws it; without a cause use close!")
  (check/port "port of close-with!" port (instance? Channel port) "a channel of Skein's, which keeps a cause")
  (.close ^Channel port ^Throwable cause))

(defn cause
  "See skein.async/cause."
  [port]
  (if (instance? Channel port)
    (.cause ^Channel port)
    (impl/failure (closeable "port of cause" port))))

(defn rethrow
  "See skein.async/rethrow."
  [port value]
  (when (nil? value)
    (when-some [thrown (if (instance? Channel port) (.thrown ^Channel port) (impl/failure port))]
      (throw (Uncaught/rethrown thrown))))
  value)

(defprotocol-once Front
  "A port in front of another, such as a gate."
  (behind [port] "Returns the port that closes when this one is closed, or nil if this is no such port."))

(extend-protocol Front
  Object
  (behind [_] nil))

(defn failed?
  "Returns whether the channel `ch` was closed with a cause, or is the port of an `async` block that failed. Returns false
  for the port of a `go` block, whose exception is reported when the block ends."
  [ch]
  (and (instance? Channel ch) (.isFailed ^Channel ch)))

(defn close-as!
  "Closes `to`, with the exception of `from` if that has failed."
  [to from]
  (cond
    (not (failed? from)) (close! to)
    (instance? Channel to) (.closeAs ^Channel to from)
    :else (if-some [port (behind to)] (recur port from) (close! to))))

(defn when-ended
  "Calls `(f port)` when the block of `port` has ended, before its scope ends. That is now if it has ended
  already, for example because its scope cancelled it before it began. Returns `port`."
  [^Channel port f]
  (let [call (fn call []
               (try (f port)
                    (catch Throwable t ; a foreign port's
                      (when-not (identical? t (Failures/of port)) (Uncaught/report t)))))]
    (when-not (Result/watch port (reify Result$Watcher (ended [_ _ _] (call))))
      (call))
    port))

(defn closing
  "Closes the channels `outs` when the block of `port` has ended, with its exception if `port` holds that. The
  block itself closes them at its normal end. So this is for a block that throws, or that its scope cancels.
  Returns `port`."
  [port & outs]
  (when-ended port (fn close [port] (run! (fn each [out] (close-as! out port)) outs))))

(defn failing
  "Like `closing`, but leaves `out`, a channel of others, open if the block's exception has been reported."
  [port out]
  (when-ended port (fn close [port] (when (failed? port) (close-as! out port)))))

(defn- on-caller [f]
  (with-meta f {:on-caller? true}))

(defn- call-back [f value on-caller?]
  (if on-caller?
    (f value)
    (Scheduler/submit (Callback/task (fn run [] (f value))))))

(defn- handler [f on-caller?]
  (impl/fn-handler (if on-caller? (on-caller f) f) true))

(def ^:private nop (on-caller (fn nop [_])))

;; The slow path is in functions of its own, so that the JIT compiler can inline the fast path.

(defn- take-foreign! [port f on-caller?]
  (on-foreign source "port of take!" port
              (when-some [b (impl/take! port (handler f on-caller?))]
                (call-back f @b on-caller?))))

(defn- put-foreign! [port value f on-caller?]
  (on-foreign target "port of put!" port
              (if-some [b (impl/put! port value (handler f on-caller?))]
                (do (call-back f @b on-caller?) @b)
                true)))

(defn take!
  "See skein.async/take!."
  ([port f] (take! port f true))
  ([port f on-caller?]
   (when-not (instance? IFn f) (check/function "fn1 of take!" f))
   (if (instance? Channel port)
     (let [v (.take ^Channel port (Callback. f (boolean on-caller?)) nil)]
       (when-not (identical? v Channel/NONE) (call-back f v on-caller?)))
     (take-foreign! port f on-caller?))
   nil))

(defn put!
  "See skein.async/put!."
  ([port value]
   (if (instance? Channel port)
     (not (false? (.put ^Channel port value (Callback. nil true) nil)))
     (put-foreign! port value nop true)))
  ([port value f] (put! port value f true))
  ([port value f on-caller?]
   (when-not (instance? IFn f) (check/function "fn1 of put!" f))
   (if (instance? Channel port)
     (let [accepted (.put ^Channel port value (Callback. f (boolean on-caller?)) nil)]
       (if (identical? accepted Channel/NONE)
         true
         (do (call-back f accepted on-caller?) accepted)))
     (put-foreign! port value f on-caller?))))

(defn offer!
  "See skein.async/offer!."
  [port value]
  (if (instance? Channel port)
    (let [accepted (.put ^Channel port value nil nil)]
      (when-not (identical? accepted Channel/NONE) accepted))
    (on-foreign target "port of offer!" port
                (when-some [b (impl/put! port value (impl/fn-handler nop false))] @b))))

(defn poll!
  "See skein.async/poll!."
  [port]
  (if (instance? Channel port)
    (let [v (.take ^Channel port nil nil)]
      (when-not (identical? v Channel/NONE) v))
    (on-foreign source "port of poll!" port
                (when-some [b (impl/take! port (impl/fn-handler nop false))] @b))))

(defn commit
  "Ends the operation of `handler`, for a port that is no channel. Returns whether it could still complete."
  [handler]
  (let [^Lock lock (when (instance? Lock handler) handler)]
    (when lock (.lock lock))
    (try
      (if (impl/active? handler) (do (impl/commit handler) true) false)
      (finally (when lock (.unlock lock))))))

;;;; Waiting, on a thread

(defn <!!
  "See skein.async/<!!."
  [port]
  (if (instance? Channel port)
    (ThreadWaiter/take ^Channel port)
    (nth (ThreadWaiter/alts [port] nil) 0)))

(defn >!!
  "See skein.async/>!!."
  [port value]
  (cond
    (instance? Channel port) (ThreadWaiter/put ^Channel port value)
    (nil? value) (throw (NilPut/refused))
    :else (nth (ThreadWaiter/alts [[port value]] nil) 0)))

(defn alts!!
  "See skein.async/alts!!. `options` is a map or a seq of keys and values, or nil."
  [ports options]
  (ThreadWaiter/alts ports options))

;;;; With a time limit, for <!within and <!!within

(defn limit
  "Returns the timeout for a limit of `ms`."
  [what ms]
  (Timeout/after (check/milliseconds (str "ms of " what) ms)))

(defn within
  "Returns the value of an alts on a port and its `limit`, or `default` if the time was over first."
  [^Channel limit default [value chosen]]
  (if (identical? chosen limit)
    default
    (do (.close limit) value)))
