;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.channel
  "Channels.

  A *waiter* takes or puts. It is a frame, a callback, an arm of alts, or a handler of a user. It has

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

  An *origin* fills a channel that no block fills. The channel calls

      (ask)        when a take has found nothing
      (stop)       when the channel has been closed

  C1. Takers wait only while nothing can be taken, putters only while nothing can be put.
  C2. An operation that is withdrawn stays in the queue as a dead waiter. A queue that has grown
      twofold since it was last cleaned is cleaned, so that it holds at most 64 waiters, or
      about twice as many as were live then.
  C3. The ring of waiters is empty unless there is a first waiter, which is in a field. Most channels
      never have a second waiter, and need no ring."
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error] ; fail! calls it
   [skein.rt.ring :as ring]))

(def ^:private max-waiting 1024)
(def ^:private first-cleaning 63)

(defn- clean
  "Removes the dead waiters from `queue`."
  [queue]
  (dotimes [_ (.-len queue)]
    (let [w (.shift queue)]
      (when ^boolean (.live w) (.push queue w)))))

(defn- make-room
  "Cleans `queue`, which has reached its capacity, and sets the length at which it is cleaned next."
  [head queue]
  (clean queue)
  (let [n (+ (.-len queue) (if ^boolean (.live head) 1 0))
        twice (* 2 n)]
    (when (>= n max-waiting)
      (fail! :skein/too-many-pending
        (str "No more than 1024 operations may wait on a channel. Start fewer of them at"
             " once, or give the channel a dropping or sliding buffer.")
        {:limit max-waiting}))
    (set! (.-cap queue) (cond (< twice first-cleaning) first-cleaning
                              (<= max-waiting twice) (dec max-waiting)
                              :else twice))))

(defn- wait-behind
  "Adds the waiter `w` to `queue`, a ring or nil, of those behind the waiter `head`. Returns the queue."
  {:jsdoc ["@noinline"]}
  [head queue w]
  (let [queue (if (nil? queue) (ring/ring first-cleaning) queue)]
    (when ^boolean (.full queue) (make-room head queue))
    (.push queue w)
    queue))

(defn- shift
  "Removes the first waiter of `queue`, a ring or nil, and returns it, or nil."
  [queue]
  (when (and (some? queue) (pos? (.-len queue)))
    (.shift queue)))

(defn- next-taker
  "Removes takers up to the first live one. Returns that one, or nil."
  [ch]
  (loop []
    (let [w (.-taker ch)]
      (when (some? w)
        (set! (.-taker ch) (shift (.-takers ch)))
        (if ^boolean (.live w) w (recur))))))

(defn- next-putter
  "Removes putters up to the first live one. Returns that one, or nil."
  [ch]
  (loop []
    (let [w (.-putter ch)]
      (when (some? w)
        (set! (.-putter ch) (shift (.-putters ch)))
        (if ^boolean (.live w) w (recur))))))

(defn nil-put!
  "Throws :skein/nil-put."
  []
  (fail! :skein/nil-put "Can't put nil on a channel, because nil means closed. Put a marker such as ::none." {}))

(defn- admit
  "Moves values of putters into the buffer of the channel `ch`."
  {:jsdoc ["@noinline"]}
  [ch]
  (loop []
    (when-not ^boolean (.full (.-buffer ch))
      (let [putter (next-putter ch)]
        (if (some? putter)
          (let [x (.-x putter)]
            (set! (.-x putter) nil)
            (.deliver putter true)
            (.insert ch x)
            (recur))
          (when ^boolean (.-closed? ch) (.end (.-buffer ch))))))))

(deftype Channel [buffer origin ; or nil
                  ;; The first waiter of each kind, or nil, and a ring of the others, or nil.
                  ^:mutable taker ^:mutable takers
                  ^:mutable putter ^:mutable putters
                  ^:mutable closed?
                  ;; the exception with which the channel was closed
                  ^:mutable thrown]
  Object
  (takeNow [this w]
    (if (and (some? buffer) (pos? (.size buffer)))
      (do (set! (.-v w) (.shift buffer))
          (when (some? putter) (admit this))
          true)
      (let [p (next-putter this)]
        (cond
          (some? p) (do (set! (.-v w) (.-x p))
                        (set! (.-x p) nil)
                        (.deliver p true)
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
      :else (let [t (next-taker this)]
              (if (some? t)
                (do (.deliver t x)
                    (set! (.-v w) true)
                    true)
                false))))
  (takeLater [_ w]
    (if (nil? taker)
      (set! taker w)
      (set! takers (wait-behind taker takers w))))
  (putLater [_ w x]
    (if (nil? putter)
      (set! putter w)
      (set! putters (wait-behind putter putters w)))
    (set! (.-x w) x))
  ;; Adds to the buffer. If it wants no more values, the waiting puts are completed.
  (insert [this x]
    (when ^boolean (.add buffer x)
      (loop []
        (let [p (next-putter this)]
          (when (some? p)
            (set! (.-x p) nil)
            (.deliver p true)
            (recur))))
      (.close this)))
  ;; Gives what is in the buffer to takers.
  (serve [this]
    (loop []
      (when (and (some? taker) (pos? (.size buffer)))
        (let [t (next-taker this)]
          (when (some? t)
            (.deliver t (.shift buffer))
            (recur))))))
  (close [this]
    (when-not ^boolean closed?
      (set! closed? true)
      (when (some? buffer)
        (when (nil? putter) (.end buffer))
        (.serve this))
      (loop []
        (let [t (next-taker this)]
          (when (some? t)
            (.deliver t nil)
            (recur))))
      (when (some? origin) (.stop origin)))
    nil)
  (isClosed [_] closed?)
  ;; Whether takers wait, or waited and lost.
  (awaited [_] (some? taker))
  (failure [_] thrown))

(defn channel
  "Returns a channel with the buffer `buffer` and the origin `origin`; either may be nil."
  ([buffer] (Channel. buffer nil nil nil nil nil false nil))
  ([buffer origin] (Channel. buffer origin nil nil nil nil false nil)))
