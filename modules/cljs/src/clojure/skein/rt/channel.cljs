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

  A *buffer* has

      (size) (full) (shift)
      (add x)      returns whether values that follow are unwanted, as a transducer may say
      (end)        called when the last value has come, perhaps again; returns whether it added values

  An *origin* is what fills a channel that no block fills: it is told

      (ask)        that a take found nothing
      (stop)       that the channel has been closed

  C1. Takers wait only while nothing can be taken, putters only while nothing can be put.
  C2. An operation that is withdrawn stays in the queue as a dead waiter. A queue that has grown
      twofold since it was last cleaned is cleaned, so that dead waiters never outnumber the
      live ones by more than 64."
  (:require
   [skein.impl.error :as error]
   [skein.rt.ring :as ring]))

(def ^:private max-waiting 1024)
(def ^:private first-cleaning 64)

(defn- clean
  "Removes the dead waiters from `queue`."
  [queue]
  (dotimes [_ (.size queue)]
    (let [w (.shift queue)]
      (when ^boolean (.live w) (.push queue w)))))

(defn- next-live
  "Removes the first live waiter from `queue`, a ring or nil, and returns it, or nil."
  [queue]
  (when (some? queue)
    (loop []
      (when (pos? (.size queue))
        (let [w (.shift queue)]
          (if ^boolean (.live w) w (recur)))))))

(defn- release
  "Delivers `outcome` to all that wait in `queue`, a ring or nil."
  [queue outcome]
  (loop []
    (let [w (next-live queue)]
      (when (some? w)
        (set! (.-x w) nil)
        (.deliver w outcome)
        (recur)))))

(defn- make-room
  "Cleans `queue`, which has reached its capacity, and sets the length at which it is cleaned next."
  {:jsdoc ["@noinline"]}
  [queue]
  (clean queue)
  (when (>= (.size queue) max-waiting)
    (error/fail! :skein/too-many-pending
                 (str "No more than 1024 operations may wait on a channel. Let the others wait for their"
                      " turn, or give the channel a dropping or sliding buffer.")
                 {:limit max-waiting}))
  (let [twice (* 2 (.size queue))]
    (set! (.-cap queue) (cond (< twice first-cleaning) first-cleaning
                              (< max-waiting twice) max-waiting
                              :else twice))))

(defn- enqueue
  "Adds the waiter `w` to `queue`."
  [queue w]
  (when ^boolean (.full queue) (make-room queue))
  (.push queue w))

(defn- waiting [] (ring/ring first-cleaning))

(defn nil-put!
  "Throws :skein/nil-put."
  []
  (error/fail! :skein/nil-put "Can't put nil on a channel, because nil means closed. Put a marker such as ::none." {}))

(defn- admit
  "Moves values of putters into the buffer of the channel `ch`."
  {:jsdoc ["@noinline"]}
  [ch]
  (loop []
    (when-not ^boolean (.full (.-buffer ch))
      (let [putter (next-live (.-putters ch))]
        (if (some? putter)
          (let [x (.-x putter)]
            (set! (.-x putter) nil)
            (.deliver putter true)
            (.insert ch x)
            (recur))
          (when ^boolean (.isClosed ch) (.end (.-buffer ch))))))))

(deftype Channel [buffer origin ; or nil
                  ^:mutable takers ^:mutable putters ^:mutable closed?
                  ;; the exception with which the channel was closed
                  ^:mutable thrown]
  Object
  (takeNow [this w]
    (if (and (some? buffer) (pos? (.size buffer)))
      (do (set! (.-v w) (.shift buffer))
          (when (some? putters) (admit this))
          true)
      (let [putter (next-live putters)]
        (cond
          (some? putter) (do (set! (.-v w) (.-x putter))
                             (set! (.-x putter) nil)
                             (.deliver putter true)
                             true)
          (not ^boolean closed?) (do (when (some? origin) (.ask origin))
                                     false)
          (and (some? buffer) ^boolean (.end buffer)) (.takeNow this w)
          :else (do (set! (.-v w) nil) true)))))
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
      :else (let [taker (next-live takers)]
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
  ;; Adds to the buffer. If it wants no more, those who wait to put go on.
  (insert [this x]
    (when ^boolean (.add buffer x)
      (release putters true)
      (.close this)))
  ;; Gives what is in the buffer to takers.
  (serve [_]
    (when (some? takers)
      (loop []
        (when (pos? (.size buffer))
          (let [taker (next-live takers)]
            (when (some? taker)
              (.deliver taker (.shift buffer))
              (recur)))))))
  (close [this]
    (when-not ^boolean closed?
      (set! closed? true)
      (when (some? buffer)
        (when (or (nil? putters) (zero? (.size putters))) (.end buffer))
        (.serve this))
      (release takers nil)
      (when (some? origin) (.stop origin)))
    nil)
  (isClosed [_] closed?)
  ;; Whether takers wait, or waited and lost.
  (awaited [_] (and (some? takers) (pos? (.size takers))))
  (failure [_] thrown))

(defn channel
  "Returns a channel with the buffer `buffer` and the origin `origin`; either may be nil."
  ([buffer] (Channel. buffer nil nil nil false nil))
  ([buffer origin] (Channel. buffer origin nil nil false nil)))
