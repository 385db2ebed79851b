;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.reactive
  "Channels and java.util.concurrent.Flow, with back-pressure in both directions.

  * `publisher` - a Flow.Publisher of a channel's values
  * `subscriber` - a Flow.Subscriber that puts what it receives on a channel

  Both keep the rules of the Reactive Streams specification 1.0.4.

      (let [from (a/to-chan! [1 2 3]), to (a/chan)]
        (.subscribe (publisher from) (subscriber to))
        (a/<!! (a/into [] to)))
      ;=> [1 2 3]"
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.check :as check]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent Flow$Publisher Flow$Subscriber Flow$Subscription)
   (java.util.concurrent.atomic AtomicLong AtomicReference)
   (java.util.function LongBinaryOperator)
   (skein.rt Channel)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.async.reactive$") ; its frames are left out of stack traces

;;;; From a channel

(def ^:private add-demand
  "Adds demands. Long/MAX_VALUE means unlimited demand."
  (reify LongBinaryOperator
    (applyAsLong [_ demand n]
      (let [sum (unchecked-add demand n)] (if (neg? sum) Long/MAX_VALUE sum)))))

(defn- subscription
  "Returns a subscription. Its requests add to `demand`; a request of 0 or less sets an
  exception in `refused`."
  [^AtomicLong demand ^AtomicReference refused wake cancelled]
  (reify Flow$Subscription
    (request [_ n]
      (if (pos? n)
        (.accumulateAndGet demand n add-demand)
        (.set refused (IllegalArgumentException.
                        (str "A subscriber must request at least one (rule 3.9), but requested " n "."))))
      (a/offer! wake true))
    (cancel [_] (a/close! cancelled))))

(defn- exhausted?
  "Returns whether `port` is known to have no more values."
  [port]
  (and (instance? Channel port)
       (let [^Channel ch port]
         (and (.isClosed ch) (zero? (.putterCount ch))
              (let [b (.buffer ch)] (or (nil? b) (zero? (count b))))))))

(defn- signal-end [port ^Flow$Subscriber subscriber]
  (if-some [thrown (impl/failure port)]
    (.onError subscriber thrown)
    (.onComplete subscriber)))

(defn- signal
  "Calls the subscriber by `f`. If it throws, that cancels its subscription (rule 2.13)."
  [cancelled f]
  (try (f) (catch Throwable t (a/close! cancelled) (throw t))))

(defn- publish
  "Starts the block that serves one subscriber, and returns its port. It takes a value only when one is
  requested."
  [port ^Flow$Subscriber subscriber ^AtomicLong demand ^AtomicReference refused wake cancelled]
  (a/go-loop []
    (let [wanted? (pos? (.get demand))]
      (cond
        (impl/closed? cancelled) nil
        (.get refused) (signal cancelled (fn [] (.onError subscriber (.get refused))))
        (and (not wanted?) (exhausted? port)) (signal cancelled (fn [] (signal-end port subscriber)))
        :else
        (let [at-once (when wanted? (a/poll! port))
              [v from] (cond
                         (some? at-once) [at-once port]
                         wanted? (a/alts! [cancelled wake port] :priority true)
                         :else (a/alts! [cancelled wake] :priority true))]
          (cond
            (identical? from cancelled) nil
            (identical? from wake) (recur)
            (nil? v) (signal cancelled (fn [] (signal-end port subscriber)))
            :else (do (when (< (.get demand) Long/MAX_VALUE) (.decrementAndGet demand))
                      (signal cancelled (fn [] (.onNext subscriber v)))
                      (recur))))))))

(defn publisher
  "Returns a Flow.Publisher of the values of `port`.

  Subscribers share the port as takers do: each value goes to one of them, and is taken
  only when that one has requested it. Values that were not delivered before a cancellation stay in
  the port. After the last value a subscriber gets onComplete, or onError with the cause of the
  close. A subscriber that has requested nothing when the port closes gets that signal no later than
  its next request. A block sends the signals one at a time, so a subscriber may block. If the
  subscriber breaks the rules and throws, its subscription ends, and the exception goes to the
  uncaught-exception handler.

  Throws :skein/bad-argument."
  ^java.util.concurrent.Flow$Publisher [port]
  (port/source "port of publisher" port)
  (reify Flow$Publisher
    (subscribe [_ subscriber]
      (when (nil? subscriber) (throw (NullPointerException. "The subscriber is null (rule 1.9).")))
      (let [demand (AtomicLong.)
            refused (AtomicReference.)
            wake (a/chan (a/sliding-buffer 1))
            cancelled (a/chan)]
        (.onSubscribe subscriber (subscription demand refused wake cancelled))
        (port/when-ended (publish port subscriber demand refused wake cancelled)
                         (fn ended [block]
                           (when (and (port/failed? block) (not (impl/closed? cancelled)))
                             (.onError subscriber (impl/failure block)))))))))

;;;; To a channel

(def ^:private ^:const default-window 16)

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:window [(fn window? [n] (and (int? n) (<= 1 (long n) Channel/MAX_WAITING))) (str "a whole number from 1 to " Channel/MAX_WAITING)]})

(defn- close-with! [port ^Throwable cause]
  (if (instance? Channel port) (.close ^Channel port cause) (a/close! port)))

(defn- require-some [x what]
  (when (nil? x) (throw (NullPointerException. (str "The " what " is null (rule 2.13).")))))

(defn- receive
  "Puts `value`. Requests more when half a window has been accepted."
  [port value ^Flow$Subscription upstream ^AtomicLong accepted batch]
  (try
    (a/put! port value
            (fn done [accepted?]
              (if accepted?
                (when (zero? (rem (.incrementAndGet accepted) (long batch))) (.request upstream (long batch)))
                (.cancel upstream))))
    (catch Throwable t ; too many puts wait in the channel; onNext must not throw (rule 2.13)
      (.cancel upstream)
      (close-with! port t))))

(defn subscriber
  "Returns a Flow.Subscriber that puts the values that it receives on `port`. Subscribe it once.

  options, a map:

  - :window  how many values may be requested and not yet accepted by the port, from 1 to
             1024; by default 16

  onComplete closes the port. onError closes it with the exception, which `<?` rethrows. If the
  port has been closed, the next value is dropped and the subscription is cancelled. Throws
  :skein/bad-argument."
  (^java.util.concurrent.Flow$Subscriber [port] (subscriber nil port))
  (^java.util.concurrent.Flow$Subscriber [options port]
   (port/target "port of subscriber" port)
   (let [{:keys [window] :or {window default-window}} (check/options "subscriber" options known)
         window (long window)
         batch (max 1 (quot window 2))
         accepted (AtomicLong.)
         upstream (AtomicReference.)]
     (reify Flow$Subscriber
       (onSubscribe [_ s]
         (require-some s "subscription")
         (if (.compareAndSet upstream nil s)
           (.request s window)
           (.cancel s)))
       (onNext [_ value]
         (require-some value "value")
         (receive port value (.get upstream) accepted batch))
       (onError [_ thrown]
         (require-some thrown "exception")
         (close-with! port thrown))
       (onComplete [_] (a/close! port))))))
