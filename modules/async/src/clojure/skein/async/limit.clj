;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.limit
  "Limits on how often something runs, and on how many run at once.

  * `rate-limiter` - a number of permits a second
  * `concurrency-limiter` - a number of permits at once, given back by `release!`
  * `with-permit` - evaluates its body with a permit, and always gives it back
  * `status` - a limiter's counts

  A limiter is a channel of permits: take a permit, then do the work. Takes are served in
  order, and any number may wait. All operations of channels work: `<!` in a block, `<!!` on a
  thread, `alts!` with a timeout, `poll!` to take a permit only if one is free. After `close!`,
  only the permits that are still there can be taken.

      (let [two (concurrency-limiter 2)]
        (a/<!! (a/into [] (a/merge (for [i (range 3)] (a/go (with-permit two (inc i)))))))
        (:in-use (status two)))
      ;=> 0"
  (:require
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent.atomic AtomicBoolean)
   (skein.rt Buffer Channel ChannelFactory Runner Unlimited)
   (skein.rt.block Failures)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(Failures/addMachinery "skein.async.limit$") ; its frames are left out of stack traces

(defn- description [limiter]
  (when (instance? Channel limiter) (.label ^Channel limiter)))

;;;; Rate

(def ^:private ^:const catch-up-nanos
  "How far the schedule of permits may fall behind the clock. Timers are usually less late."
  10000000)

(defn- produce
  "Puts permits on `out` at the times of a schedule, which falls behind the clock by at most
  `tolerance` nanoseconds. When `out` is garbage, the block is too."
  [^Channel out ^double interval ^long tolerance]
  (a/async ; begins at once, so the limiter has its first permit when it is returned
    (loop [due (Scheduler/nanoTime)
           rest 0.0]
      (let [wait (- due (Scheduler/nanoTime))]
        (when (pos? wait) (a/<! (Timeout/at due)))
        (when (a/>! out true)
          (let [now (Scheduler/nanoTime)
                earliest (- now tolerance)
                step (+ interval rest)
                whole (long step)]
            (if (neg? (- due earliest))
              (recur (+ earliest whole) (- step whole))
              (recur (+ due whole) (- step whole)))))))))

(def ^:private ^:const slowest
  "One permit in 31 years; the clock can't count much longer."
  1e-9)

(defn- rate? [n]
  (and (number? n) (<= slowest (double n)) (< (double n) Double/POSITIVE_INFINITY)))

(def ^:private rate-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:rate [rate? "a number from 1e-9"]
   :burst [(fn burst? [n] (and (number? n) (<= 1.0 (double n) Integer/MAX_VALUE))) "a number from 1 to 2147483647"]
   :name [some? "a name"]})

(defn rate-limiter
  "Returns a limiter with `rate` permits a second, any number from 1e-9. Each permit is the value
  true. The first permit is available at once.

  - rate  the number, or a map of options:
    - :rate   the number
    - :burst  how many permits collect while nobody takes any; by default the permits of 10 ms, at
              least one, to make up for late timers and takers
    - :name   for `status`

  Permits are due on the clock of System/nanoTime (in a simulation, on the simulated clock), so
  the rate is exact on average. No taker is refused: takers wait. The limiter puts a collected permit
  when the one before it is taken. So a second `poll!` right away may return nil even if `:burst`
  allows more, but a take gets that permit without delay. Throws :skein/bad-argument.

      (let [limiter (rate-limiter 1000)]
        (dotimes [_ 5] (a/<!! limiter))
        (status limiter))
      ;=> {:name nil, :rate 1000, :waiting 0}"
  [rate-or-options]
  (let [{:keys [rate burst] limiter-name :name} (check/leading "rate-limiter" :rate rate-or-options rate-options)
        _ (check/number "rate of rate-limiter" rate "a number from 1e-9" rate?)
        out (.channel ChannelFactory/INSTANCE nil (Unlimited. {:name limiter-name :rate rate}))
        interval (/ 1e9 (double rate))
        tolerance (if burst
                    (long (min 4e18 (* interval (- (double burst) 1.0))))
                    (long catch-up-nanos))]
    (port/closing (produce out interval tolerance) out)
    out))

;;;; Concurrency

(deftype-once ^:private Permit [^Channel limiter ^AtomicBoolean released])

;; A buffer that counts the free permits. A permit becomes an object when it is taken. `limiter`
;; is a cell with the channel that owns this buffer.
(deftype-once ^:private Permits [^objects limiter ^long n ^:unsynchronized-mutable ^long free]
  Buffer
  (full [_] (>= free n))
  (count [_] (int free))
  (capacity [_] (int n))
  (add [_ _] (set! free (inc free)))
  (remove [_] (set! free (dec free)) (Permit. (aget limiter 0) (AtomicBoolean.))))

(def ^:private concurrency-options
  {:n [any? "a whole number"], :name [some? "a name"]})

(defn concurrency-limiter
  "Returns a limiter with `n` permits. Each must be given back by `release!`, which
  `with-permit` does.

  - n  a number from 1 to 2147483647, or a map of options:
    - :n     the number
    - :name  for `status` and the stories of skein.sim

  Throws :skein/bad-argument.

      (let [limiter (concurrency-limiter 1)
            permit (a/<!! limiter)]
        [(a/poll! limiter)
         (do (release! permit) (some? (a/poll! limiter)))])
      ;=> [nil true]"
  [n-or-options]
  (let [{limiter-name :name :keys [n]} (check/leading "concurrency-limiter" :n n-or-options concurrency-options)
        _ (check/whole "n of concurrency-limiter" n 1 Integer/MAX_VALUE)
        limiter (object-array 1)
        out (.channel ChannelFactory/INSTANCE (Permits. limiter (long n) (long n))
              (Unlimited. {:name limiter-name :n n}))]
    (aset limiter 0 out)
    out))

(defn release!
  "Gives `permit` back to its limiter. Does nothing for a permit of a rate limiter, which is used
  up. Throws :skein/released if the permit was given back before, and :skein/bad-argument if
  `permit` is nil or a limiter."
  [permit]
  (when (or (nil? permit) (instance? Channel permit))
    (error/fail! :skein/bad-argument
                 (str "permit of release! must be what a take from a limiter has returned, but is "
                      (if permit "a limiter or another channel." "nil. After poll! or alts!, release a permit only if there is one."))
                 {:value (error/preview permit)}))
  (when (instance? Permit permit)
    (when-not (.compareAndSet ^AtomicBoolean (.-released ^Permit permit) false true)
      (error/fail! :skein/released
                   "This permit has already been released. Release each permit once; for more work at once, take more permits."
                   {:limiter (description (.-limiter ^Permit permit))}))
    (.put ^Channel (.-limiter ^Permit permit) permit nil nil))
  nil)

(defn- check-limiter
  [limiter]
  (port/source "limiter of with-permit" limiter))

(defn- check-permit
  [permit limiter]
  (if (nil? permit)
    (error/fail! :skein/limiter-closed "The limiter has been closed and has no permit left."
                 {:limiter (description limiter)})
    permit))

(defmacro with-permit
  "Takes a permit from `limiter`; a block parks, and a thread blocks, until there is one.
  Evaluates the body, and gives the permit back, even if the body throws. Returns the body's
  value. Throws :skein/limiter-closed.

      (with-permit (rate-limiter 100) :passed)
      ;=> :passed"
  {:style/indent 1}
  [limiter & body]
  `(let [limiter# (#'check-limiter ~limiter)
         permit# (#'check-permit (if (Runner/inBlock) (a/<! limiter#) (a/<!! limiter#)) limiter#)]
     (try
       ~@body
       (finally (release! permit#)))))

(defn status
  "Returns a limiter's description and counts: {:name :rate :waiting} or {:name :n :in-use
  :waiting}. `:waiting` is the number of takes that wait. The counts are exact only while
  nobody takes or releases. Throws :skein/bad-argument.

      (status (concurrency-limiter {:n 3 :name \"database\"}))
      ;=> {:name \"database\", :n 3, :in-use 0, :waiting 0}"
  [limiter]
  (let [{:keys [n rate] :as known} (description limiter)]
    (when-not (or n rate)
      (error/fail! :skein/bad-argument
                   (str "status needs a limiter, but got " (error/preview limiter) ".")
                   {:value (error/preview limiter)}))
    (cond-> (assoc known :waiting (.takerCount ^Channel limiter))
      n (assoc :in-use (- (long n) (count (.buffer ^Channel limiter)))))))
