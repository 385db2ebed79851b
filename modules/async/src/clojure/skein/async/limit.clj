;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.limit
  "Limits on how often something runs, and on how many run at once.

  * `rate-limiter` - a number of permits a second
  * `concurrency-limiter` - a number of permits at once, given back by `release!`
  * `circuit-breaker` - no permits for some time after many failures
  * `with-permit` - evaluates its body with a permit, and always gives it back
  * `status` - a limiter's counts
  * `single-flight` - calls with equal arguments share one call

  A limiter is a channel of permits: take a permit, then do the work. Takes are served in order, and
  any number may wait, unless :queue says how many. All operations of channels work: `<!` in a
  block, `<!!` on a thread, `alts!` with a timeout, `poll!` to take a permit only if one is free.
  After `close!`, only the permits that are still there can be taken.

      (let [two (concurrency-limiter 2)]
        (a/<!! (a/into [] (a/merge (for [i (range 3)] (a/go (with-permit two (inc i)))))))
        (:in-use (status two)))
      ;=> 0"
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.async.breaker :as breaker]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]]
   [skein.impl.port :as port])
  (:import
   (clojure.lang PersistentQueue)
   (java.util.concurrent.atomic AtomicBoolean)
   (skein.rt Buffer Channel ChannelFactory Region Runner Unlimited)
   (skein.rt.block Failures)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(Failures/addMachinery "skein.async.limit$") ; its frames are left out of stack traces

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

(deftype-once ^:private Permit [limiter epoch ^AtomicBoolean released]) ; epoch: of a circuit breaker's state

;; A buffer that counts the free permits. A permit becomes an object when it is taken. `limiter`
;; is a cell with the channel that owns this buffer.
(deftype-once ^:private Permits [^objects limiter ^long n ^:unsynchronized-mutable ^long free]
  Buffer
  (full [_] (>= free n))
  (count [_] (int free))
  (capacity [_] (int n))
  (add [_ _] (set! free (inc free)))
  (remove [_] (set! free (dec free)) (Permit. (aget limiter 0) nil (AtomicBoolean.))))

;; A concurrency limiter in which no more than `queue` takes wait.
(deftype-once ^:private Bounded [^Channel permits ^long queue]
  impl/ReadPort
  (take! [this handler]
    (locking this ; so that two takes don't get the last place
      (if (and (impl/blockable? handler) (zero? (count (.buffer permits))) (>= (.takerCount permits) queue))
        (when (port/commit handler) (impl/box nil))
        (impl/take! permits handler))))
  impl/Channel
  (close! [_] (.close permits))
  (closed? [_] (.isClosed permits)))

(def ^:private concurrency-options
  {:n [any? "a whole number"], :queue [any? "a whole number"], :name [some? "a name"]})

(defn concurrency-limiter
  "Returns a limiter with `n` permits. Each must be given back by `release!`, which
  `with-permit` does.

  - n  a number from 1 to 2147483647, or a map of options:
    - :n      the number
    - :queue  how many takes may wait, by default any number. A take beyond that gets nil at once, and
              `with-permit` throws :skein/overloaded
    - :name   for `status` and the stories of skein.sim

  For a limit on the time of waiting, take by `<!within`.

      (let [limiter (concurrency-limiter {:n 1 :queue 0})
            permit (a/<!! limiter)]
        [(a/<!! limiter)
         (do (release! permit) (some? (a/<!! limiter)))])
      ;=> [nil true]"
  [n-or-options]
  (let [{limiter-name :name :keys [n queue]} (check/leading "concurrency-limiter" :n n-or-options concurrency-options)
        _ (check/whole "n of concurrency-limiter" n 1 Integer/MAX_VALUE)
        limiter (object-array 1)
        out (.channel ChannelFactory/INSTANCE (Permits. limiter (long n) (long n))
              (Unlimited. {:name limiter-name :n n}))]
    (aset limiter 0 out)
    (if queue (Bounded. out (long (check/whole ":queue of concurrency-limiter" queue 0))) out)))

;;;; Failures

(deftype-once ^:private Breaker [options state]
  impl/ReadPort
  (take! [this handler]
    (when (port/commit handler)
      (let [{:keys [granted? epoch]}
            (swap! state (fn asked [s] (breaker/ask options s (Scheduler/nanoTime))))]
        (impl/box (when granted? (Permit. this epoch (AtomicBoolean.))))))))

(def ^:private breaker-options
  {:size [any? "a whole number"]
   :share [(fn share? [x] (and (number? x) (< 0.0 (double x)) (<= (double x) 1.0)))
           "a number above 0, at most 1"]
   :open-ms check/time-option
   :probes [any? "a whole number"]
   :failure? [ifn? "a function"]
   :name [some? "a name"]})

(defn circuit-breaker
  "Returns a limiter that gives a permit to every take, until too much of what is done with them
  fails. Then it is open: takes get nil, and `with-permit` throws :skein/circuit-open, with
  :retry-after-ms. After some time a few probes get permits. If all succeed, it closes again and
  remembers nothing. If one fails, or is not released in that time, it stays open.

  options, a map:

  - :size      how many outcomes are looked at, by default 20; with fewer it does not open
  - :share     the share of failures that opens it, by default 0.5
  - :open-ms   how long it is open, by default 30000
  - :probes    how many, by default 1
  - :failure?  predicate of the exception of `with-permit`, by default true of all. A cancellation
               or an interrupt never counts
  - :name      for `status`

  Outcomes of permits from before it opened or closed don't count.

      (let [breaker (circuit-breaker {:size 2})
            call (fn [f] (try (with-permit breaker (f))
                              (catch Exception e (or (:skein/error (ex-data e)) (ex-message e)))))
            down (fn [] (throw (ex-info \"down\" {})))]
        [(call down) (call down) (call down)])
      ;=> [\"down\" \"down\" :skein/circuit-open]"
  ([] (circuit-breaker nil))
  ([options]
   (let [{:keys [size share open-ms probes] :as options}
         (merge {:size 20 :share 0.5 :open-ms 30000 :probes 1 :failure? any?}
                (check/options "circuit-breaker" options breaker-options))]
     (Breaker. {:size (check/whole ":size of circuit-breaker" size 1)
                :probes (check/whole ":probes of circuit-breaker" probes 1)
                :share share
                :open-ns (* 1000000 (check/milliseconds ":open-ms of circuit-breaker" open-ms))
                :failure? (:failure? options)
                :name (:name options)}
               (atom breaker/closed)))))

;;;; Of all limiters

(defn- description
  "Returns {:name} and more of a limiter, or nil if `x` is none."
  [x]
  (cond
    (instance? Channel x) (.label ^Channel x)
    (instance? Bounded x) (recur (.-permits ^Bounded x))
    (instance? Breaker x) (select-keys (.-options ^Breaker x) [:name])))

(defn release!
  "Gives `permit` back to its limiter. Does nothing for a permit of a rate limiter, which is used
  up. Throws :skein/released if the permit was given back before, and :skein/bad-argument if
  `permit` is nil or a limiter.

  - outcome  for a circuit breaker: :ok, the default, :failed or :ignored"
  ([permit] (release! permit :ok))
  ([permit outcome]
   (when (and (not (instance? Permit permit)) ; the common case, and `satisfies?` is slow
              (or (nil? permit) (satisfies? impl/ReadPort permit)))
     (error/fail! :skein/bad-argument
                  (str "permit of release! must be what a take from a limiter has returned, but is "
                       (if permit
                         "a limiter or another channel."
                         "nil. After poll! or alts!, release a permit only if there is one."))
                  {:value (error/preview permit)}))
   (check/that "outcome of release!" outcome (#{:ok :failed :ignored} outcome) ":ok, :failed or :ignored")
   (when (instance? Permit permit)
     (let [limiter (.-limiter ^Permit permit), epoch (.-epoch ^Permit permit)]
       (when-not (.compareAndSet ^AtomicBoolean (.-released ^Permit permit) false true)
         (error/fail! :skein/released
                      (str "This permit has already been released. Release each permit once;"
                           " for more work at once, take more permits.")
                      {:limiter (description limiter)}))
       (if (instance? Breaker limiter)
         (let [options (.-options ^Breaker limiter)]
           (swap! (.-state ^Breaker limiter)
                  (fn told [s] (breaker/tell options s (Scheduler/nanoTime) epoch outcome))))
         (.put ^Channel limiter permit nil nil))))
   nil))

(defn- check-limiter
  [limiter]
  (port/source "limiter of with-permit" limiter))

(defn- check-permit
  [permit limiter]
  (cond
    permit permit

    (instance? Breaker limiter)
    (let [until (:until @(.-state ^Breaker limiter))
          left (if until (max 0 (- (long until) (Scheduler/nanoTime))) 0)]
      (error/fail! :skein/circuit-open
                   "Too many calls have failed, so the circuit breaker lets none through for some time."
                   {:limiter (description limiter) :retry-after-ms (quot (+ left 999999) 1000000)}))

    (and (instance? Bounded limiter) (not (a/closed? limiter)))
    (error/fail! :skein/overloaded "As many takes as may wait for a permit do so already. Try again later."
                 {:limiter (description limiter) :waiting (.-queue ^Bounded limiter)})

    :else
    (error/fail! :skein/limiter-closed "The limiter has been closed and has no permit left."
                 {:limiter (description limiter)})))

(defn- outcome-of
  "Returns the outcome of a call that threw `thrown`."
  [limiter thrown]
  (cond
    (Region/isInterruption thrown) :ignored
    (and (instance? Breaker limiter) (not ((:failure? (.-options ^Breaker limiter)) thrown))) :ok
    :else :failed))

(defmacro with-permit
  "Takes a permit from `limiter`; a block parks, and a thread blocks, until there is one.
  Evaluates the body, and gives the permit back, even if the body throws. Returns the body's
  value. Throws :skein/limiter-closed, :skein/overloaded, :skein/circuit-open.

      (with-permit (rate-limiter 100) :passed)
      ;=> :passed"
  {:style/indent 1}
  [limiter & body]
  `(let [limiter# (#'check-limiter ~limiter)
         permit# (#'check-permit (if (Runner/inBlock) (a/<! limiter#) (a/<!! limiter#)) limiter#)
         result# (try
                   ~@body
                   (catch Throwable t#
                     (release! permit# (#'outcome-of limiter# t#))
                     (throw t#)))]
     (release! permit#)
     result#))

(defn status
  "Returns a limiter's description and counts: {:name :rate :waiting}, {:name :n :in-use :waiting}
  or, of a circuit breaker, {:name :phase :outcomes :failed}. `:waiting` is the number of takes that
  wait. The counts are exact only while nobody takes or releases. Throws :skein/bad-argument.

      (status (concurrency-limiter {:n 3 :name \"database\"}))
      ;=> {:name \"database\", :n 3, :in-use 0, :waiting 0}"
  [limiter]
  (let [{:keys [n rate] :as known} (description limiter)]
    (cond
      (instance? Bounded limiter) (recur (.-permits ^Bounded limiter))
      (instance? Breaker limiter)
      (let [options (.-options ^Breaker limiter), state @(.-state ^Breaker limiter)]
        (merge {:name (:name options)} (breaker/status (breaker/at options state (Scheduler/nanoTime)))))
      (not (or n rate)) (error/fail! :skein/bad-argument
                                     (str "status needs a limiter, but got " (error/preview limiter) ".")
                                     {:value (error/preview limiter)})
      :else (cond-> (assoc known :waiting (.takerCount ^Channel limiter))
              n (assoc :in-use (- (long n) (count (.buffer ^Channel limiter))))))))

;;;; One call for many

(def ^:private flight-options
  {:key [ifn? "a function"], :keep-ms check/time-option, :max [any? "a whole number"]})

(defn- found
  "Returns the flights with `port` for `k`, unless there is one that is under way or kept."
  [flights k port]
  (let [{:keys [until] :as flight} (get-in flights [:by-key k])]
    (if (and flight (or (nil? until) (neg? (- (Scheduler/nanoTime) (long until)))))
      flights
      (assoc-in flights [:by-key k] {:port port}))))

(defn- without [flights [k port]]
  (cond-> flights
    (identical? port (get-in flights [:by-key k :port])) (update :by-key dissoc k)))

(defn- kept
  "Returns the flights with the result of `k` kept until the time `until`, and at most `most` results."
  [{:keys [order] :as flights} k port until most]
  (let [flights (cond-> flights (= most (count order)) (-> (without (peek order)) (update :order pop)))]
    (-> flights
        (assoc-in [:by-key k :until] until)
        (update :order conj [k port]))))

(defn single-flight
  "Returns a function that calls `f`. Calls with equal arguments while one is under way share it.
  Each returns a port of the result, from which any number may take; `<?` throws the exception of
  `f`. `f` runs in a block, so it may park or block. The block belongs to the scope in which
  `single-flight` was called by `in-scope`, or to none, so no caller's cancellation touches it.

  options, a map:

  - :keep-ms  how long a result, not an exception, is kept; by default only while the call is under way
  - :max      how many results are kept, by default 1000; the oldest goes first
  - :key      function of the arguments: calls with equal keys are shared

      (let [calls (atom 0), answered (a/promise-chan)
            fetch (single-flight (fn [id] (swap! calls inc) (a/<!! answered) (* 10 id)))
            [p q] [(fetch 1) (fetch 1)]]
        (a/close! answered)
        [(a/<?? p) (a/<?? q) @calls])
      ;=> [10 10 1]"
  ([f] (single-flight nil f))
  ([options f]
   (check/function "f of single-flight" f)
   (let [{:keys [keep-ms key] most :max :or {most 1000 key vector}}
         (check/options "single-flight" options flight-options)
         most (check/whole ":max of single-flight" most 1)
         keep-ns (when keep-ms (* 1000000 (check/milliseconds ":keep-ms of single-flight" keep-ms)))
         child (.deref Region/CHILD)
         flights (atom {:by-key {} :order PersistentQueue/EMPTY})
         landed (fn landed [k port]
                  (swap! flights (fn end [m]
                                   (if keep-ns
                                     (kept m k port (+ (Scheduler/nanoTime) (long keep-ns)) most)
                                     (without m [k port])))))
         start (fn start [k port args]
                 (try
                   (with-bindings {Region/CHILD child}
                     (port/when-ended (a/go (let [v (apply f args)]
                                              (landed k port)
                                              (when (some? v) (a/>! port v))))
                                      (fn ended [block]
                                        (when (port/failed? block) (swap! flights without [k port]))
                                        (port/close-as! port block))))
                   (catch Throwable t ; the scope has ended
                     (swap! flights without [k port])
                     (throw t))))]
     (fn flight [& args]
       (let [k (apply key args), port (a/promise-chan)
             shared (get-in (swap! flights found k port) [:by-key k :port])]
         (when (identical? port shared) (start k port args))
         shared)))))
