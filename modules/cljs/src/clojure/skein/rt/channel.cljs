;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.channel
  "Channels.

  A *waiter* is who takes or puts: a frame, a callback, an arm of alts, a handler of a user. It has

      v            the result of an operation that was done at once
      x            the value that it waits to put
      (live)       whether it still wants the operation; an arm that lost does not
      (deliver v)  completes the operation that it waits for; called only if it is live

  A *port* has

      (takeNow w) (putNow w x)      does the operation and sets w.v, or returns false
      (takeLater w) (putLater w x)  lets `w` wait; only after the operation was refused
      (close) (isClosed) (failure)  failure: the exception with which it was closed, or nil

  C1. Takers wait only while nothing can be taken, putters only while nothing can be put.
  C2. An operation that is withdrawn stays in the queue as a dead waiter. A queue that has grown
      twofold since it was last cleaned is cleaned, so that dead waiters never outnumber the
      live ones by more than 64."
  (:require
   [skein.impl.error :as error]
   [skein.rt.ring :as ring]
   [skein.rt.scheduler :as scheduler]))

(def ^:private max-waiting 1024)
(def ^:private first-cleaning 64)

(defn- live? [w] (.live w))

(defn- next-live
  "Removes the first live waiter from `queue` and returns it, or nil."
  [queue]
  (loop []
    (when (pos? (.size queue))
      (let [w (.shift queue)]
        (if ^boolean (.live w) w (recur))))))

(defn- enqueue
  "Adds the waiter `w` to `queue`, whose capacity is the length at which it is cleaned next."
  [queue w]
  (when ^boolean (.full queue)
    (ring/retain queue live?)
    (when (>= (.size queue) max-waiting)
      (error/fail! :skein/too-many-pending
                   (str "No more than " max-waiting " operations may wait on a channel. Let the others wait for"
                        " their turn, or give the channel a dropping or sliding buffer.")
                   {:limit max-waiting}))
    (set! (.-cap queue) (min max-waiting (max first-cleaning (* 2 (.size queue))))))
  (.push queue w))

(defn- waiting [] (ring/ring first-cleaning))

(defn nil-put!
  "Throws :skein/nil-put."
  []
  (error/fail! :skein/nil-put "Can't put nil on a channel, because nil means closed. Put a marker such as ::none." {}))

(deftype Channel [buffer ^:mutable takers ^:mutable putters ^:mutable closed?
                  ;; function of buffer and value, or of buffer at the end, or nil
                  ^:mutable step
                  ;; the exception with which the channel was closed
                  ^:mutable thrown
                  ;; called when the channel is closed, or nil
                  ^:mutable on-close]
  Object
  (takeNow [this w]
    (if (and (some? buffer) (pos? (.size buffer)))
      (do (set! (.-v w) (.shift buffer))
          (when (some? putters) (.admit this))
          true)
      (let [putter (when (some? putters) (next-live putters))]
        (cond
          (some? putter) (do (set! (.-v w) (.-x putter))
                             (set! (.-x putter) nil)
                             (.deliver putter true)
                             true)
          (not ^boolean closed?) false
          (nil? step) (do (set! (.-v w) nil) true)
          :else (do (.finish this) (.takeNow this w))))))
  (putNow [this w x]
    (when (nil? x) (nil-put!))
    (cond
      ^boolean closed? (do (set! (.-v w) false) true)
      (some? buffer) (if ^boolean (.full buffer)
                       false
                       (do (.insert this x)
                           (.serve this)
                           (set! (.-v w) true)
                           true))
      :else (let [taker (when (some? takers) (next-live takers))]
              (if (some? taker)
                (do (.deliver taker x)
                    (set! (.-v w) true)
                    true)
                false))))
  (takeLater [_ w]
    (when (nil? takers) (set! takers (waiting)))
    (enqueue takers w))
  (putLater [_ w x]
    (when (nil? putters) (set! putters (waiting)))
    (enqueue putters w)
    (set! (.-x w) x))
  ;; Adds to the buffer, through the transducer.
  (insert [this x]
    (if (nil? step)
      (.add buffer x)
      (when (reduced? (step buffer x)) (.abort this))))
  ;; Gives what is in the buffer to takers.
  (serve [_]
    (when (some? takers)
      (loop []
        (when (pos? (.size buffer))
          (let [taker (next-live takers)]
            (when (some? taker)
              (.deliver taker (.shift buffer))
              (recur)))))))
  ;; Moves values of putters into the buffer.
  (admit [this]
    (loop []
      (when-not ^boolean (.full buffer)
        (let [putter (next-live putters)]
          (if (some? putter)
            (let [x (.-x putter)]
              (set! (.-x putter) nil)
              (.deliver putter true)
              (.insert this x)
              (recur))
            (when ^boolean closed? (.finish this)))))))
  ;; The transducer wants no more: those who wait to put go on.
  (abort [this]
    (when (some? putters)
      (loop []
        (let [putter (next-live putters)]
          (when (some? putter)
            (set! (.-x putter) nil)
            (.deliver putter true)
            (recur)))))
    (.close this))
  ;; The transducer gives what it still has, once.
  (finish [_]
    (when (some? step)
      (let [f step]
        (set! step nil)
        (f buffer))))
  (close [this]
    (when-not ^boolean closed?
      (set! closed? true)
      (when (some? buffer)
        (when (or (nil? putters) (zero? (.size putters))) (.finish this))
        (.serve this)
        (.endBuffer buffer))
      (when (some? takers)
        (loop []
          (let [taker (next-live takers)]
            (when (some? taker)
              (.deliver taker nil)
              (recur)))))
      (when (some? on-close) (on-close))
      nil))
  (closeWith [this e]
    (when-not ^boolean closed?
      (set! thrown e)
      (.close this)))
  (onClose [_ f] (set! on-close f))
  (isClosed [_] closed?)
  ;; Whether takers wait, or waited and lost.
  (awaited [_] (and (some? takers) (pos? (.size takers))))
  (failure [_] thrown))

(defn- transducing
  "Returns the function of buffer and value that `xform` makes of adding to a buffer. What it
  throws goes to `ex-handler`, whose result is added unless it is nil."
  [xform ex-handler]
  (let [add (fn ([b] b) ([b v] (when (nil? v) (nil-put!)) (.add b v) b))
        step (if xform (xform add) add)
        failed (fn [b thrown]
                 (let [v ((or ex-handler scheduler/report) thrown)]
                   (when (some? v) (add b v))
                   b))]
    (fn
      ([b] (try (step b) (catch :default e (failed b e))))
      ([b v] (try (step b v) (catch :default e (failed b e)))))))

(defn channel
  "Returns a channel with the buffer `buffer`, or nil, and perhaps a transducer."
  ([buffer] (Channel. buffer nil nil false nil nil nil))
  ([buffer xform ex-handler]
   (Channel. buffer nil nil false
             (when (or xform ex-handler) (transducing xform ex-handler))
             nil nil)))
