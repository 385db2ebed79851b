;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.channels
  "Operations on channels that core.async lacks.

  * `closed?`, `close-with!` - whether a channel is closed, and a cause for its close
  * `<!within`, `<!!within` - a take with a time limit and a default
  * `batch` - values in vectors, by number and by time
  * `gate` - a policy for a slow taker: block, drop, slide or disconnect

  For limits see skein.async.limit, for parallel work skein.async.parallel.

      (let [in (a/to-chan! [1 2 3])]
        (a/<!! (a/into [] (batch 2 in))))
      ;=> [[1 2] [3]]"
  (:require
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.port :as port]
   [skein.impl.protocols :as impl])
  (:import
   (java.util.concurrent.locks Lock)
   (skein.rt Channel NilPut Uncaught)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.async.channels$") ; its frames are left out of stack traces

;;;; The end of a channel

(defn closed?
  "Returns whether `ch` has been closed. A closed channel accepts no puts, but values put
  before can still be taken. Throws :skein/not-a-channel.

      (let [c (a/chan)] [(closed? c) (do (a/close! c) (closed? c))])
      ;=> [false true]"
  [ch]
  (when-not (or (instance? Channel ch) (satisfies? impl/Channel ch))
    (error/fail! :skein/not-a-channel
                 (str "closed? needs a channel, but got " (error/preview ch) ".")
                 {:value (error/preview ch)}))
  (boolean (impl/closed? ch)))

(defn close-with!
  "Closes the channel `ch` because of `cause`, a Throwable. Does nothing if `ch` is closed.
  Returns nil.

  Takes return the remaining values and then nil, as after `close!`. Instead of returning
  nil, `<?` and `<??` rethrow the cause, the same object. Throws :skein/bad-cause, and
  :skein/not-a-channel if `ch` is a port of another kind, which can't keep a cause.

      (let [c (a/chan)]
        (close-with! c (ex-info \"out of paper\" {}))
        (try (a/<?? c) (catch Exception e (ex-message e))))
      ;=> \"out of paper\""
  [ch cause]
  (when-not (instance? Throwable cause)
    (error/fail! :skein/bad-cause
                 (str "The cause of close-with! must be an exception, because <? throws it, but is "
                      (error/preview cause) ". Without a cause, use close!.")
                 {:cause (error/preview cause)}))
  (when-not (instance? Channel ch)
    (error/fail! :skein/not-a-channel
                 (str "Only Skein's channels keep a cause, but this is " (error/preview ch) ".")
                 {:value (error/preview ch)}))
  (.close ^Channel ch ^Throwable cause))

;;;; Takes with a time limit

(defn time-limit
  "Returns a timeout of `ms`, a number. Throws :skein/bad-number. For `<!within`."
  [ms]
  (a/timeout (check/milliseconds "ms of <!within" ms)))

(defmacro <!within
  "Takes a value from `port` in a block, and parks for at most `ms` milliseconds. After that,
  takes nothing and returns `default`. Throws :skein/bad-number.

      (a/<!! (a/go (<!within 5 (a/chan) :late)))
      ;=> :late"
  {:style/indent 0}
  [ms port default]
  `(let [limit# (time-limit ~ms)
         [v# p#] (a/alts! [~port limit#] :priority true)]
     (if (identical? p# limit#)
       ~default
       (do (a/close! limit#) v#))))

(defn <!!within
  "Like `<!within`,
  but blocks this thread.

      (<!!within 60000 (a/go 1) :late)
      ;=> 1"
  [ms port default]
  (let [limit (a/timeout (check/milliseconds "ms of <!!within" ms))
        [v p] (a/alts!! [port limit] :priority true)]
    (if (identical? p limit)
      default
      (do (a/close! limit) v))))

;;;; Batches

(def ^:private batch-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:size [any? "a whole number"], :within check/time-option})

(defn batch
  "Returns a channel of the values of `in` in vectors.

  - size  the largest number of values in a vector, 1 or more, or a map of options:
    - :size    the number
    - :within  the longest time in milliseconds between taking the first value of a vector and
               putting the vector; by default a vector waits until it is full or `in` closes

  No vector is empty. When `in` closes, a last vector holds the remaining values, and the returned
  channel closes with the same cause. If the returned channel is closed first, its next put fails,
  and nothing more is taken. Throws :skein/bad-number, :skein/not-a-port.

      (a/<!! (batch {:size 100 :within 5} (doto (a/chan 1) (a/put! :only))))
      ;=> [:only]"
  [size-or-options in]
  (port/source "in of batch" in)
  (let [{:keys [size within]} (check/leading "batch" :size size-or-options batch-options)
        out (a/chan)
        size (long (check/whole "size of batch" size 1))]
    (port/closing
      (a/go-loop [gathered [] limit nil]
        (let [[v port] (if limit (a/alts! [limit in] :priority true) [(a/<! in) in])]
          (cond
            (identical? port limit)
            (when (a/>! out gathered) (recur [] nil))
            (nil? v)
            (do (some-> limit a/close!)
                (when (seq gathered) (a/>! out gathered))
                (port/close-as! out in))
            :else
            (let [gathered (conj gathered v)]
              (if (< (count gathered) size)
                (recur gathered (or limit (when within (a/timeout within))))
                (do (some-> limit a/close!)
                    (when (a/>! out gathered) (recur [] nil))))))))
      out)
    out))

;;;; Slow takers

(defn- slow-taker []
  (ex-info "This channel's taker was too slow, and its gate has disconnected it."
           {:skein/error :skein/slow-taker}))

(defn- disconnect [ch]
  (if (instance? Channel ch) (.close ^Channel ch ^Throwable (slow-taker)) (a/close! ch))
  false)

(defn- slide
  "Drops the oldest value of `ch` and puts `value`; drops `value` if `ch` still can't accept it."
  [ch value dropped]
  (when-some [oldest (a/poll! ch)] (dropped oldest))
  (let [accepted (a/offer! ch value)]
    (when (nil? accepted) (dropped value))
    (if (nil? accepted) true accepted)))

(defn- accept
  "Puts without waiting. Returns true, or false if the channel was closed before or by this call."
  [ch policy value dropped]
  (let [accepted (a/offer! ch value)]
    (cond
      (some? accepted) accepted
      (= :drop policy) (do (dropped value) true)
      (= :slide policy) (slide ch value dropped)
      :else (do (dropped value) (disconnect ch)))))

(defn- commit
  "Ends the operation of `handler`. Returns whether it could still complete."
  [handler]
  (let [^Lock lock (when (instance? Lock handler) handler)]
    (when lock (.lock lock))
    (try
      (if (impl/active? handler) (do (impl/commit handler) true) false)
      (finally (when lock (.unlock lock))))))

(defn- guarded
  "Returns `on-drop`, but sends its exceptions to the uncaught-exception handler: the mult or
  block that puts must continue."
  [on-drop]
  (fn dropped [value]
    (try (on-drop value) (catch Throwable t (Uncaught/report t)))))

(def ^:private gate-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:policy [any? "a keyword"], :on-drop [ifn? "a function" :skein/not-a-function]})

(defn gate
  "Returns a port to put on in place of `ch`. The policy says what happens to a value that
  `ch` can't accept at once:

  - :block       the put waits, as on `ch` itself
  - :drop        the value is dropped
  - :slide       the oldest value in the buffer of `ch` is dropped to make room
  - :disconnect  `ch` is closed with an exception of :skein/slow-taker, so that its taker
                 knows that something is missing

  - policy  one of these, or a map of options:
    - :policy   one of these
    - :on-drop  function of each value that is dropped; must not block. Its exceptions go to
                the uncaught-exception handler

  With any policy but :block a put never waits; it returns false once `ch` is closed. With
  `tap` and `sub` one slow taker delays all others, so give each tap or subscription a gate. A
  disconnected one is removed. Closing the gate closes `ch`. Throws :skein/bad-policy,
  :skein/not-a-function, :skein/not-a-port.

      (let [source (a/chan), slow (a/chan 1), quick (a/chan 3)
            m (a/mult source)]
        (a/tap m (gate :drop slow))
        (a/tap m quick)
        (run! (fn [n] (a/>!! source n)) [1 2 3])
        (a/close! source)
        [(a/<!! (a/into [] quick)) (a/<!! (a/into [] slow))])
      ;=> [[1 2 3] [1]]"
  [policy-or-options ch]
  (port/target "ch of gate" ch)
  (let [{:keys [policy on-drop] :or {on-drop (fn [_])}} (check/leading "gate" :policy policy-or-options gate-options)
        _ (check/policy "policy of gate" policy ":block, :drop, :slide or :disconnect" #{:block :drop :slide :disconnect})
        dropped (guarded on-drop)]
    (reify
      impl/WritePort
      (put! [_ value handler]
        (cond
          (nil? value) (throw (NilPut/refused))
          (= :block policy) (impl/put! ch value handler)
          (commit handler) (impl/box (accept ch policy value dropped))))
      impl/Front
      (behind [_] ch)
      impl/Channel
      (close! [_] (a/close! ch))
      (closed? [_] (impl/closed? ch)))))
