;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.protocols
  "core.async's protocols. Skein's channels and buffers implement them, and Skein can use the
  ports and buffers of libraries that implement them."
  {:no-doc true}
  (:require
   [skein.rt.buffers :refer [Dropping Fixed Promise Sliding]]
   [skein.rt.callback :as callback]
   [skein.rt.channel :as channel]
   [skein.rt.frame :refer [Frame]]
   [skein.rt.scheduler :as scheduler]))

(def ^:const MAX-QUEUE-SIZE
  "How many takes, and how many puts, may wait in one channel."
  1024)

(defprotocol ReadPort
  "Something that values can be taken from."
  (take! [port fn1-handler] "Returns a derefable value, or nil if the handler waits or is not active."))

(defprotocol WritePort
  "Something that values can be put on."
  (put! [port val fn1-handler] "Returns a derefable boolean, or nil if the handler waits or is not active."))

(defprotocol Channel
  "Something that can be closed."
  (close! [chan] "Closes the channel.")
  (closed? [chan] "Returns whether it has been closed."))

(defprotocol Handler
  "One pending operation."
  (active? [h] "Returns whether the operation can still complete.")
  (blockable? [h] "Returns whether the operation may wait.")
  (commit [h] "Completes the operation. Returns the function of its result."))

(defprotocol Buffer
  "A buffer, in which a channel keeps values."
  (full? [b] "Returns whether a put has to wait.")
  (remove! [b] "Removes and returns the next value.")
  (add!* [b itm] "Adds the value, or drops it. Returns the buffer.")
  (close-buf! [b] "Called when the channel has closed."))

(defprotocol UnblockingBuffer
  "Marks a buffer that is never full.")

(defn add!
  "Adds to a buffer. With no value, returns the buffer."
  ([b] b)
  ([b itm]
   (assert (some? itm))
   (add!* b itm)))

;;;; Skein's buffers and channels, for others

(extend-type Fixed
  Buffer
  (full? [b] (.full b))
  (remove! [b] (.shift b))
  (add!* [b itm] (.add b itm) b)
  (close-buf! [b] (.end b) nil))

(extend-type Dropping
  Buffer
  (full? [b] (.full b))
  (remove! [b] (.shift b))
  (add!* [b itm] (.add b itm) b)
  (close-buf! [b] (.end b) nil)
  UnblockingBuffer)

(extend-type Sliding
  Buffer
  (full? [b] (.full b))
  (remove! [b] (.shift b))
  (add!* [b itm] (.add b itm) b)
  (close-buf! [b] (.end b) nil)
  UnblockingBuffer)

(extend-type Promise
  Buffer
  (full? [b] (.full b))
  (remove! [b] (.shift b))
  (add!* [b itm] (.add b itm) b)
  (close-buf! [b] (.end b) nil)
  UnblockingBuffer)

;; A handler of a library, as a waiter of a channel of Skein. What it throws is reported, and harms no
;; other waiter.
(deftype HandlerWaiter [handler ^:mutable v ^:mutable x]
  Object
  (live [_]
    (try (active? handler)
         (catch :default e (scheduler/report e) false)))
  (deliver [_ value]
    (try (.deliver (callback/callback (commit handler)) value)
         (catch :default e (scheduler/report e)))))

(defn- taken [port handler]
  (when (active? handler)
    (let [w (HandlerWaiter. handler nil nil)]
      (if (.takeNow port w)
        (do (commit handler) (volatile! (.-v w)))
        (when (blockable? handler) (.takeLater port w) nil)))))

(defn- accepted [port value handler]
  (if (active? handler)
    (let [w (HandlerWaiter. handler nil nil)]
      (if (.putNow port w value)
        (do (commit handler) (volatile! (.-v w)))
        (when (blockable? handler) (.putLater port w value) nil)))
    (volatile! (not (.isClosed port)))))

(extend-type channel/Channel
  ReadPort (take! [port handler] (taken port handler))
  WritePort (put! [port value handler] (accepted port value handler))
  Channel (close! [port] (.close port)) (closed? [port] (.isClosed port)))

(extend-type Frame
  ReadPort (take! [port handler] (taken port handler))
  WritePort (put! [port value handler] (accepted port value handler))
  Channel (close! [port] (.close port)) (closed? [port] (.isClosed port)))

;;;; Others' ports and buffers, for Skein

;; A waiter of Skein, as a handler; see skein.rt.channel.
(deftype WaiterHandler [w blocks? ^:mutable wants?]
  Handler
  (active? [_] (and wants? (.live w)))
  (blockable? [_] blocks?)
  (commit [_]
    (set! wants? false)
    (fn complete [value] (.deliver w value))))

(defn- done-now
  "Calls `start`, a function of a handler for `w`. Returns whether the operation is done; its
  outcome is then in w.v. A port may keep a handler that does not block, but the handler is then
  no longer active."
  [w blocks? start]
  (let [handler (WaiterHandler. w blocks? true)
        box (start handler)]
    (if (nil? box)
      (do (when-not blocks? (commit handler)) false)
      (do (set! (.-v w) @box) true))))

(deftype Foreign [port]
  Object
  (takeNow [_ w] (done-now w false (fn [h] (take! port h))))
  (putNow [_ w x] (done-now w false (fn [h] (put! port x h))))
  (takeLater [_ w]
    (when (done-now w true (fn [h] (take! port h))) (.deliver w (.-v w))))
  (putLater [_ w x]
    (when (done-now w true (fn [h] (put! port x h))) (.deliver w (.-v w))))
  (close [_] (close! port))
  (isClosed [_] (closed? port))
  (failure [_] nil))

(deftype ForeignBuffer [buffer ^:mutable ended?]
  Object
  (size [_] (count buffer))
  (full [_] (full? buffer))
  (add [_ x]
    (add!* buffer x)
    false)
  (shift [_] (remove! buffer))
  (end [_]
    (when-not ended?
      (set! ended? true)
      (close-buf! buffer))
    false))
