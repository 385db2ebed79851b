;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.spi
  "For those who write ports, buffers and handlers of their own.

  The protocols have the methods of core.async's, so what was written for core.async works here. Skein's
  own channels implement them too, but Skein's operations call those directly.

  * a port: `ReadPort` `WritePort` `Channel`, and `Failing` if it can end with an exception
  * a buffer: `Buffer`, `UnblockingBuffer` if it is never full, `Capacity` if it has a size
  * a pending operation, which a port gets: `Handler`"
  (:require
   [skein.impl.check :as check]
   [skein.impl.once :refer [defprotocol-once]])
  (:import
   (java.util.concurrent.locks Lock)
   (skein.rt Alts Box Buffers$Dropping Buffers$Promise Buffers$Sliding HandlerWaiter HandlerWaiter$Handle NilPut)
   (skein.rt.block Callback)))

(set! *warn-on-reflection* true)

(defprotocol-once ReadPort
  "Something that values can be taken from."
  (take! [port handler]
    "Takes for `handler`. Returns a derefable value if there is one, a derefable nil if the
    port is closed, or nil if the handler now waits or is no longer active."))

(defprotocol-once WritePort
  "Something that values can be put on."
  (put! [port value handler]
    "Puts for `handler`. Returns a derefable boolean, false if the port is closed, or nil if the
    handler now waits or is no longer active. Throws when `value` is nil."))

(defprotocol-once Channel
  "Something that can be closed."
  (close! [port] "Closes the port. Does nothing if it is closed.")
  (closed? [port] "Returns whether the port has been closed."))

(defprotocol-once Failing
  "Something that may end with an exception."
  (failure [port] "Returns the exception with which the port was closed, or nil if there was none or it is no port."))

(extend-protocol Failing
  Object
  (failure [_] nil)
  nil
  (failure [_] nil))

(defprotocol-once Handler
  "One pending operation. A handler that may lose to another is also a
  java.util.concurrent.locks.Lock, which is held around active? and commit."
  (active? [handler] "Returns whether the operation can still complete. Needs no lock.")
  (blockable? [handler] "Returns whether the operation may wait.")
  (lock-id [handler] "Returns the place of the handler's lock in the order of locking, or 0 if it has no lock.")
  (commit [handler] "Completes the operation. Returns the function of its result. Called under the lock."))

(defprotocol-once Buffer
  "Holds the values of a channel. Called under the channel's lock."
  (full? [buffer] "Returns whether a put has to wait.")
  (remove! [buffer] "Removes and returns the next value.")
  (add!* [buffer value] "Adds `value`, or drops it. Returns the buffer.")
  (close-buf! [buffer] "Called when the channel has closed. Its result is ignored."))

(defprotocol-once Capacity
  "A buffer that has a size."
  (capacity [buffer] "Returns the number of values at which it is full, or nil."))

(defprotocol-once UnblockingBuffer
  "Marks a buffer that is never full, so that puts never wait.")

(defn unblocking-buffer?
  "Returns whether puts never wait on a channel with this buffer. Like core.async's."
  [buff]
  (satisfies? UnblockingBuffer buff))

(defn add!
  "Adds to a buffer. This is the reducing function under a channel's transducer.

  With a value, adds it. Returns the buffer. Throws
  AssertionError when `val` is nil."
  ([buf] buf)
  ([buf val]
   (when (nil? val) (throw (NilPut/refusedInBuffer)))
   (add!* buf val)))

(defn box
  "Returns a box that derefs to `val`, as a port returns for an operation that is done at once."
  [val]
  (Box. val))

(defn fn-handler
  "Returns a handler that is always active, and whose commit returns `f`. `blockable`, true by default, says
  whether the operation may wait. Like core.async's."
  ([f] (fn-handler f true))
  ([f blockable]
   (reify
     Lock
     (lock [_])
     (unlock [_])
     Handler
     (active? [_] true)
     (blockable? [_] blockable)
     (lock-id [_] 0)
     (commit [_] f))))

(defn do-alts
  "Does one of several operations without waiting. Returns a derefable `[value port]` if one is ready. Otherwise
  returns nil, and calls `fret` with `[value port]` later. Like core.async's; for `ports` and the map `opts` see
  skein.async/alts!."
  [fret ports opts]
  (check/function "fret of do-alts" fret)
  (when-some [chosen (Alts/choose ports opts (Callback. fret (boolean (:on-caller? (meta fret)))) nil)]
    (box chosen)))

;;;; The runtime's buffers, and its channels for any handler

(extend-protocol Buffer
  skein.rt.Buffer
  (full? [b] (.full b))
  (remove! [b] (.remove b))
  (add!* [b value] (.add b value) b)
  (close-buf! [b] (.close b)))

(extend-protocol Capacity
  skein.rt.Buffer
  (capacity [b] (let [n (.capacity b)] (when-not (neg? n) n))))

(doseq [c [Buffers$Dropping Buffers$Sliding Buffers$Promise]]
  (extend c UnblockingBuffer {}))

(defn- handle ^HandlerWaiter$Handle [h]
  (let [^Lock lock (when (instance? Lock h) h)]
    (reify HandlerWaiter$Handle
      (lock [_] (when lock (.lock lock)))
      (unlock [_] (when lock (.unlock lock)))
      (lockId [_] (long (lock-id h)))
      (active [_] (boolean (active? h)))
      (blockable [_] (boolean (blockable? h)))
      (commit [_] (when-some [f (commit h)] (Callback. f (boolean (:on-caller? (meta f)))))))))

(defn- boxed [result]
  (when-not (identical? result skein.rt.Channel/NONE) (box result)))

(extend-protocol ReadPort
  skein.rt.Channel
  (take! [ch handler] (boxed (HandlerWaiter/take ch (handle handler)))))

(extend-protocol WritePort
  skein.rt.Channel
  (put! [ch value handler] (boxed (HandlerWaiter/put ch value (handle handler)))))

(extend-protocol Channel
  skein.rt.Channel
  (close! [ch] (.close ch) nil)
  (closed? [ch] (.isClosed ch)))

(extend-protocol Failing
  skein.rt.Channel
  (failure [ch] (.thrown ch)))
