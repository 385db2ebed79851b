;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.protocols
  "What a port, a handler and a buffer are, open to users.

  The protocols are core.async's, method for method, so that ports, handlers and
  buffers written for it work here. Skein's own channels implement them too, but
  its operations reach those directly."
  (:require
   [skein.impl.once :refer [defprotocol-once]])
  (:import
   (java.util.concurrent.locks Lock)
   (skein.rt Box Buffers$Dropping Buffers$Promise Buffers$Sliding HandlerWaiter HandlerWaiter$Handle)))

(set! *warn-on-reflection* true)

(def ^:const max-queue-size
  "How many takes, and how many puts, may wait in one channel."
  1024)

(defprotocol-once ReadPort
  "Something that values can be taken from."
  (take! [port handler]
    "Takes for `handler`: a derefable value if there is one, a derefable nil if the
    port is closed, nil if the handler now waits or is no longer active."))

(defprotocol-once WritePort
  "Something that values can be put on."
  (put! [port value handler]
    "Puts for `handler`: a derefable boolean, false if the port is closed; nil if the
    handler now waits or is no longer active. Throws when `value` is nil."))

(defprotocol-once Channel
  "Something that can be closed."
  (close! [port] "Closes the port; nothing happens the second time.")
  (closed? [port] "Whether the port has been closed."))

(defprotocol-once Failing
  "Something that may end with an exception."
  (failure [port] "The exception with which the port was closed, or nil. Anything else: nil."))

(defprotocol-once Source
  "Something that has one result, sooner or later, and can be taken from like a port."
  (source-channel [source]
    "The skein.rt.Channel that stands for it, in which takes wait. Anything else: nil."))

(extend-protocol Failing
  Object
  (failure [_] nil)
  nil
  (failure [_] nil))

(extend-protocol Source
  Object
  (source-channel [_] nil)
  nil
  (source-channel [_] nil))

(defprotocol-once Handler
  "One pending operation. A handler that may lose to another is also a
  java.util.concurrent.locks.Lock, which is held around active? and commit."
  (active? [handler] "Whether the operation can still complete; needs no lock.")
  (blockable? [handler] "Whether the operation may wait.")
  (lock-id [handler] "Where the handler's lock stands in the order of locking; 0: it has none.")
  (commit [handler] "Completes the operation: returns the function of its result. Under the lock."))

(defprotocol-once Buffer
  "Where a channel keeps values. Called under the channel's lock."
  (full? [buffer] "Whether a put has to wait.")
  (remove! [buffer] "Removes and returns the next value.")
  (add!* [buffer value] "Keeps `value`, or not; returns the buffer.")
  (close-buf! [buffer] "Told that the channel has closed; what it returns is ignored."))

(defprotocol-once Capacity
  "A buffer that has a size."
  (capacity [buffer] "The number of values it is meant to hold, or nil."))

(defprotocol-once UnblockingBuffer
  "Marks a buffer that is never full.")

(defn add!
  "Adds to a buffer: the reducing function that a channel's transducer ends in.

  With a value, returns the buffer; with none, the buffer as it is. Throws
  AssertionError when `value` is nil."
  ([buffer] buffer)
  ([buffer value]
   (assert (some? value) "a buffer can't hold nil")
   (add!* buffer value)))

(defn box
  "Returns a derefable `value`, as ports do for an operation that is done at once."
  [value]
  (Box. value))

;;;; What the runtime has: its buffers, and its channels for everybody's handlers

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
      (commit [_] (commit h))
      (onCaller [_ f] (boolean (:on-caller? (meta f)))))))

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
