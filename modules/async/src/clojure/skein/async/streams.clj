;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.streams
  "Operators on the values of channels that core.async lacks. doc/streams.md says which one to use.

  * by time: `debounce` `throttle` `sample` `pace` `idle-timeout` `tick`
  * together: `batch` `windows` `conflate`; the transducers `scan` `sliding`
  * several channels: `combine` `concat` `flat-map` `switch`
  * a function of each value: `pmap` `consume!`
  * errors: `restart` `recover`; takers: `replay` `gate`

  An operator takes a channel and returns its output, so operators can be nested. It is one block, a
  child of the scope in `in-scope`, and its output has no buffer. When its source closes, it puts
  what it holds and closes the output, with the same cause. When a put finds the output closed, it
  ends, and takes nothing more; the source stays open. An exception of a function closes the output.
  An operator that is cancelled closes it too. A function that returns nil gives no value. A time is
  a number of milliseconds or a java.time.Duration.

      (a/<!! (a/into [] (batch 2 (pmap 4 inc (a/to-chan! [1 2 3])))))
      ;=> [[2 3] [4]]"
  (:refer-clojure :exclude [concat pmap])
  (:require
   [skein.async :as a]
   [skein.impl.backoff :as backoff]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.on-error :as on-error]
   [skein.impl.port :as port]
   [skein.impl.streams.gate :as gates]
   [skein.impl.streams.mapped :as mapped]
   [skein.impl.streams.replay :as replays]
   [skein.impl.streams.stage :as stage :refer [arm disarm emit now operator sleep-until with-timer]])
  (:import
   (clojure.lang PersistentQueue)
   (java.time Instant)
   (skein.rt Region World)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

;; The frames of these are left out of stack traces.
(doseq [prefix ["skein.async.streams$" "skein.impl.streams."]]
  (Failures/addMachinery prefix))

(def ^:private whole [any? "a whole number"]) ; check/whole then says which

;;;; One value at a time: newer values take the place of the one that waits

(defn- latest
  "Returns the output of an operator that holds one value, so that no put on `in` waits for the taker.

  hold  [held value early?] -> what to hold now that `value` has come, or nil; early?: before its time
  due   [now since sent] -> when that may be put; since: when the oldest value came whose place it
        has taken; sent: when the last value was put, or nil"
  [in hold due]
  (operator [out]
    (with-timer [timer]
      (loop [held nil, since nil, until nil, sent nil]
        (let [[v port] (a/alts! (cond
                                  (nil? held) [in]
                                  @timer [@timer in]
                                  :else [[out held] in])
                                :priority true)]
          (cond
            (identical? port out) (when v (recur nil nil nil (now)))
            (some? v) (let [time (now), since (or since time), until (due time since sent)
                            held (hold held v (< (long time) (long until)))]
                        (when (and (some? held) (nil? @timer)) (arm timer until))
                        (recur held (when (some? held) since) until sent))
            (identical? port in) (do (when (some? held) (a/>! out held)) in)
            :else (do (arm timer until) (recur held since until sent))))))))

(defn- newest [_ value _] value)

(defn debounce
  "Returns a channel of the values of `in` after which no other has come for some time.

  - quiet-ms  that time, or a map of options:
    - :quiet-ms  that time
    - :max-ms    a burst that lasts longer gives its latest value after that time too

  While the taker is not ready, a newer value takes the place of the one that waits, and the quiet
  time begins again. When `in` closes, the last value is put at once.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (debounce 100 (skein.test/timed 0 :h, 50 :he, 150 :hel, 20 :help)))))
      ;=> [:he :help]"
  [quiet-ms-or-options in]
  (let [{:keys [quiet-ms max-ms]} (check/leading "debounce" :quiet-ms quiet-ms-or-options
                                                 {:quiet-ms check/time-option :max-ms check/time-option})
        quiet (stage/nanos "quiet-ms of debounce" quiet-ms)
        longest (some->> max-ms (stage/nanos ":max-ms of debounce"))]
    (latest (port/source "in of debounce" in)
            newest
            (fn due [now since _] (cond-> (+ now quiet) longest (min (+ since longest)))))))

(defn throttle
  "Returns a channel of at most one value of `in` in some time.

  - every-ms  the time, or a map of options:
    - :every-ms  the time
    - :keep      :latest, the default: the latest value that has come meanwhile follows when the time is
                 over, or when `in` closes. :first: what comes meanwhile is dropped, as for double clicks

  The first value is put at once, and the time begins when it is taken.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (throttle 100 (skein.test/timed 0 1, 30 2, 30 3, 100 4, 500 5)))))
      ;=> [1 3 4 5]"
  [every-ms-or-options in]
  (let [{:keys [every-ms keep] :or {keep :latest}}
        (check/leading "throttle" :every-ms every-ms-or-options
                       {:every-ms check/time-option :keep [#{:latest :first} ":latest or :first"]})
        every (stage/nanos "every-ms of throttle" every-ms)]
    (latest (port/source "in of throttle" in)
            (if (= :first keep)
              (fn oldest [held value early?] (if (or early? (some? held)) held value))
              newest)
            (fn due [now _ sent] (if sent (+ sent every) now)))))

(defn sample
  "Returns a channel that gets, at each multiple of `every-ms` since the call, the latest value of
  `in` since the last one, if there is one. When `in` closes, the last value is put at once.
  `throttle` counts from the first value, `sample` by the clock, as for graphs and metrics.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (sample 100 (skein.test/timed 10 1, 20 2, 200 3, 20 4)))))
      ;=> [2 4]"
  [every-ms-or-options in]
  (let [{:keys [every-ms]}
        (check/leading "sample" :every-ms every-ms-or-options {:every-ms check/time-option})
        every (stage/period "every-ms of sample" every-ms), start (now)]
    (latest (port/source "in of sample" in)
            newest
            (fn due [_ since _] (stage/following start every since)))))

(defn conflate
  "Returns a channel of the values of `in`. While the taker is not ready, those that wait become
  one: (f waiting value). With `merge`, `into` or `+` nothing is lost but the grouping.

      (let [in (a/chan), out (conflate + in)]
        (doseq [n [1 2 3]] (a/>!! in n))
        (a/close! in)
        (a/<!! (a/into [] out)))
      ;=> [6]"
  [f in]
  (check/function "f of conflate" f)
  (latest (port/source "in of conflate" in)
          (fn join [held value _] (if (some? held) (f held value) value))
          (fn due [now _ _] now)))

;;;; Other operators with a clock

(def ^:private ^:const catch-up-nanos
  "How far `pace` may fall behind the clock, because a timer or its taker is late."
  10000000)

(defn pace
  "Returns a channel of the values of `in`, each after a permit.

  - rate-or-limiter  how many values a second, or a `rate-limiter` of skein.async.limit, which
                     others may use too

  Nothing is dropped: the source waits. The output closes when the limiter does.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (pace 10 (a/to-chan! [1 2 3]))))
        (skein.sim/now-ms))
      ;=> 200"
  [rate-or-limiter in]
  (port/source "in of pace" in)
  (if (number? rate-or-limiter)
    (let [rate (check/number "rate of pace" rate-or-limiter "a number above 0" pos?)
          interval (long (/ 1e9 (double rate)))]
      (operator [out]
        (with-timer [timer]
          (loop [due (now)]
            (let [v (a/<! in)]
              (if (nil? v)
                in
                (do (sleep-until timer due)
                    (when (a/>! out v)
                      (recur (max (+ due interval) (- (now) catch-up-nanos)))))))))))
    (let [permits (port/source "limiter of pace" rate-or-limiter)]
      (operator [out]
        (loop []
          (let [v (a/<! in)]
            (cond
              (nil? v) in
              (nil? (a/<! permits)) permits
              (a/>! out v) (recur))))))))

(defn idle-timeout
  "Returns a channel of the values of `in`. If none comes for some time, it closes with :skein/timeout.

  - idle-ms  the time, or a map of options:
    - :idle-ms  the time
    - :value    is put instead, and again after each further time: a heartbeat

  The time in which the taker is not ready does not count.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (idle-timeout {:idle-ms 100 :value :beat} (skein.test/timed 50 1, 250 2)))))
      ;=> [1 :beat :beat 2]"
  [idle-ms-or-options in]
  (let [{:keys [idle-ms value]} (check/leading "idle-timeout" :idle-ms idle-ms-or-options
                                               {:idle-ms check/time-option :value [any? "any value"]})
        idle (stage/period "idle-ms of idle-timeout" idle-ms)]
    (port/source "in of idle-timeout" in)
    (operator [out]
      (with-timer [timer]
        (loop [due (+ (now) idle)]
          (when-not @timer (arm timer due))
          (let [[v port] (if @timer (a/alts! [@timer in] :priority true) [nil nil])]
            (cond
              (some? v) (when (a/>! out v) (recur (+ (now) idle)))
              (identical? port in) in
              (arm timer due) (recur due)
              (nil? value) (throw (error/timed-out (str "No value has come for " (quot idle 1000000) " ms.")
                                                   {:what :idle :ms (quot idle 1000000)}))
              (a/>! out value) (recur (+ (now) idle)))))))))

(defn- instants
  "Puts the times `at`, as far as they are not over, when they come."
  [at]
  (let [wall-ms (fn [] (if (World/current) (quot (now) 1000000) (System/currentTimeMillis)))]
    (operator [out]
      (with-timer [timer]
        (loop [at (seq at)]
          (when-some [^Instant t (first at)]
            (let [left (- (.toEpochMilli t) (long (wall-ms)))]
              (if (neg? left)
                (recur (next at))
                (do (sleep-until timer (+ (now) (* 1000000 left)))
                    (when (a/>! out t) (recur (next at))))))))))))

(defn tick
  "Returns a channel of 0, 1, 2 and so on, at the multiples of a time since the call.

  - every-ms  that time, or a map of options:
    - :every-ms  that time
    - :first-ms  when the first one comes; by default after :every-ms
    - :at        instead: a seq of java.time.Instant, by the wall clock. The values are these times;
                 past ones are left out, and the channel closes after the last

  Times do not drift. If the taker is late, missed ticks are left out, so work that takes longer
  than that is not started twice.

      (skein.sim/with-virtual-time
        (let [t (tick 100)]
          [(a/<!! t) (do (a/<!! (a/timeout 350)) (a/<!! t)) (skein.sim/now-ms) (a/<!! t) (skein.sim/now-ms)]))
      ;=> [0 1 450 2 500]"
  [every-ms-or-options]
  (let [{:keys [every-ms first-ms at]} (check/leading "tick" :every-ms every-ms-or-options
                                                      {:every-ms check/time-option :first-ms check/time-option
                                                       :at [seqable? "a seq of java.time.Instant"]})]
    (if at
      (instants at)
      (let [every (stage/period "every-ms of tick" every-ms)
            first-due (+ (now) (if first-ms (stage/nanos ":first-ms of tick" first-ms) every))]
        (operator [out]
          (with-timer [timer]
            (loop [n 0, due first-due]
              (sleep-until timer due)
              (when (a/>! out n)
                (recur (inc n) (stage/following first-due every (now)))))))))))

;;;; In vectors

(defn batch
  "Returns a channel of the values of `in` in vectors.

  - size  the largest number of values in a vector, or a map of options, of which :size or
          :max-weight is needed:
    - :size        the number
    - :weight      function of a value: a number
    - :max-weight  the largest sum of the weights in a vector. A heavier value is a vector of its own
    - :within-ms   how long the first value of a vector may wait; by default until the vector is
                   full or `in` closes

  No vector is empty. While a vector waits for its taker, nothing is taken.

      (a/<!! (a/into [] (batch {:weight count :max-weight 5}
                               (a/to-chan! [\"ab\" \"cd\" \"ef\" \"ghijkl\" \"m\"]))))
      ;=> [[\"ab\" \"cd\"] [\"ef\"] [\"ghijkl\"] [\"m\"]]"
  [size-or-options in]
  (port/source "in of batch" in)
  (let [{:keys [size weight max-weight within-ms]}
        (check/leading "batch" :size size-or-options
                       {:size whole :weight [ifn? "a function"] :max-weight [number? "a number"]
                        :within-ms check/time-option})
        size (if (and max-weight (nil? size)) Long/MAX_VALUE (long (check/whole "size of batch" size 1)))
        weigh (if max-weight (check/function ":weight of batch" weight) (constantly 0))
        limit (or max-weight 1)
        within (some->> within-ms (stage/nanos ":within-ms of batch"))]
    (operator [out]
      (with-timer [timer]
        (loop [gathered [], sum 0]
          (let [[v port] (a/alts! (if @timer [@timer in] [in]) :priority true)]
            (cond
              (and (nil? v) (identical? port in)) (do (when (seq gathered) (a/>! out gathered)) in)
              (nil? v) (do (disarm timer) (when (a/>! out gathered) (recur [] 0)))
              :else
              (let [w (weigh v), over? (and (seq gathered) (< limit (+ sum w)))]
                (when over? (disarm timer))
                (when (or (not over?) (a/>! out gathered))
                  (let [gathered (if over? [v] (conj gathered v)), sum (if over? w (+ sum w))]
                    (when (and within (= 1 (count gathered))) (arm timer (+ (now) within)))
                    (if (or (= size (count gathered)) (<= limit sum) (and within (nil? @timer)))
                      (do (disarm timer)
                          (when (a/>! out gathered) (recur [] 0)))
                      (recur gathered sum))))))))))))

(defn windows
  "Returns a channel that gets, at each multiple of :step-ms since the call, a vector of the values
  that have come in the :size-ms before, if there are any. When `in` closes, the next one comes
  early.

  - size-ms  the time, or a map of options:
    - :size-ms  the time
    - :step-ms  by default the same
    - :max      how many values are held, by default 10000; beyond that the source waits

  It goes by the arrival in this process. For times in the data use the transducer `partition-by`,
  for windows by number `partition-all` and `sliding`.

      (skein.sim/with-virtual-time
        (a/<!! (a/into [] (windows {:size-ms 200 :step-ms 100} (skein.test/timed 10 1, 20 2, 100 3, 250 4)))))
      ;=> [[1 2] [1 2 3] [3] [4]]"
  [size-ms-or-options in]
  (port/source "in of windows" in)
  (let [{:keys [size-ms step-ms] most :max :or {most 10000}}
        (check/leading "windows" :size-ms size-ms-or-options
                       {:size-ms check/time-option :step-ms check/time-option :max whole})
        size (stage/period "size-ms of windows" size-ms)
        step (if step-ms (stage/period ":step-ms of windows" step-ms) size)
        most (check/whole ":max of windows" most 1)
        start (now)
        values (fn values [held] (mapv second held))
        before? (fn before? [t] (fn [[arrived]] (< (long arrived) (long t))))]
    (operator [out]
      (with-timer [timer]
        (loop [held PersistentQueue/EMPTY, end 0] ; [time value], for the window until `end` or later ones
          (when (and (seq held) (nil? @timer)) (arm timer end))
          (let [due? (and (seq held) (nil? @timer))
                ports (cond-> [] @timer (conj @timer) (< (count held) most) (conj in))
                [v port] (if due? [nil nil] (a/alts! ports :priority true))]
            (cond
              (some? v) (let [t (now)]
                          (recur (conj held [t v]) (if (seq held) end (stage/following start step t))))
              (identical? port in) (do (when (seq held) (a/>! out (values held))) in)
              (arm timer end) (recur held end)
              :else (let [window (values (take-while (before? end) held)), next-end (+ end step)]
                      (when (or (empty? window) (a/>! out window))
                        (recur (into PersistentQueue/EMPTY (drop-while (before? (- next-end size))) held)
                               next-end))))))))))

(defn scan
  "Returns a transducer that gives each result of the reduction by `f` from `init`, without `init`.
  An `f` that returns a reduced value ends it.

      (into [] (scan + 0) [1 2 3])
      ;=> [1 3 6]"
  [f init]
  (check/function "f of scan" f)
  (fn scanning [rf]
    (let [acc (volatile! init)]
      (fn step
        ([] (rf))
        ([result] (rf result))
        ([result value]
         (let [x (vswap! acc f value)]
           (if (reduced? x) (ensure-reduced (rf result @x)) (rf result x))))))))

(defn sliding
  "Returns a transducer that gives vectors of `n` neighbours, each `step` values further than the
  last, by default 1. An incomplete one is left out.

      [(into [] (sliding 3) (range 5)) (into [] (sliding 2 3) (range 8))]
      ;=> [[[0 1 2] [1 2 3] [2 3 4]] [[0 1] [3 4] [6 7]]]"
  ([n] (sliding n 1))
  ([n step]
   (check/whole "n of sliding" n 1)
   (check/whole "step of sliding" step 1)
   (fn sliding-by [rf]
     (let [window (volatile! []), skip (volatile! 0)] ; how many values to leave out before the next window
       (fn step-on
         ([] (rf))
         ([result] (rf result))
         ([result value]
          (cond
            (pos? (long @skip)) (do (vswap! skip dec) result)
            (< (count (vswap! window conj value)) (long n)) result
            :else (let [full @window]
                    (vreset! window (into [] (drop step) full))
                    (vreset! skip (max 0 (- (long step) (long n))))
                    (rf result full)))))))))

;;;; Several channels

(defn combine
  "Returns a channel of (f a b ...) of the latest value of each of the channels `chs`, whenever one
  has a new value and all have had one.

  - options  a map:
    - :by  :all, the default; :first: only a value of the first channel counts, and its end

  It closes when all have closed, or one that never gave a value, or one with a cause. Each value is
  put, so a slow taker slows the channels; to skip, put `conflate` before it.

      (skein.sim/with-virtual-time
        (let [in (fn [] [(skein.test/timed 15 1, 20 2) (skein.test/timed 10 :a, 15 :b)])]
          [(a/<!! (a/into [] (combine vector (in)))) (a/<!! (a/into [] (combine {:by :first} vector (in))))]))
      ;=> [[[1 :a] [1 :b] [2 :b]] [[1 :a] [2 :b]]]"
  ([f chs] (combine nil f chs))
  ([options f chs]
   (check/function "f of combine" f)
   (let [by (:by (check/options "combine" options {:by [#{:all :first} ":all or :first"]}))
         counts? (if (= :first by) zero? any?)
         chs (mapv (partial port/source "each of the chs of combine")
                   (check/collection "chs of combine" chs))]
     (operator [out]
       (loop [open chs, values (mapv (constantly nil) chs)]
         (when-some [ports (seq (filter some? open))]
           (let [[v ch] (a/alts! (vec ports)), i (.indexOf ^java.util.List open ch)]
             (if (some? v)
               (let [values (assoc values i v)]
                 (when (or (not (counts? i)) (some nil? values) (emit out (apply f values)))
                   (recur open values)))
               (if (or (port/failed? ch) (nil? (values i)) (and (= :first by) (zero? i)))
                 ch
                 (recur (assoc open i nil) values))))))))))

(defn concat
  "Returns a channel of all values of the first of the channels `chs`, then of the second, and so
  on. `chs` is a seq that may be lazy. No channel is taken from before its turn. A cause ends it.

      (a/<!! (a/into [] (concat (map a/to-chan! [[1 2] [3] []]))))
      ;=> [1 2 3]"
  [chs]
  (check/collection "chs of concat" chs)
  (operator [out]
    (loop [chs (seq chs)]
      (when chs
        (let [ch (port/source "each of the chs of concat" (first chs)), v (a/<! ch)]
          (cond
            (some? v) (when (a/>! out v) (recur chs))
            (port/failed? ch) ch
            :else (recur (next chs))))))))

(defn flat-map
  "Returns a channel of the values of the channels that `f` returns for the values of `in`, as they
  come. `f` may return nil.

  - n  how many channels may be open; then nothing is taken from `in`. With 1 all values are in
       order. Or a map of options:
    - :n  the number

  When `in` closes, the open ones are still taken from. A cause of one of them ends all. Ending
  early closes the open ones.

      (skein.sim/with-virtual-time
        (let [twice (fn [ms] (skein.test/timed ms [ms 1], ms [ms 2]))]
          (a/<!! (a/into [] (flat-map 2 twice (a/to-chan! [30 20 5]))))))
      ;=> [[20 1] [30 1] [20 2] [5 1] [5 2] [30 2]]"
  [n-or-options f in]
  (check/function "f of flat-map" f)
  (port/source "in of flat-map" in)
  (let [n (check/whole "n of flat-map" (:n (check/leading "flat-map" :n n-or-options {:n whole})) 1)
        open (volatile! [])]
    (operator [out]
      (try
        (loop [more? true]
          (let [ports (cond-> @open (and more? (< (count @open) n)) (conj in))]
            (if (empty? ports)
              in
              (let [[v ch] (a/alts! ports)]
                (cond
                  (and (nil? v) (port/failed? ch)) ch
                  (identical? ch in)
                  (do (when-some [inner (when (some? v) (f v))]
                        (vswap! open conj (port/source "the result of f of flat-map" inner)))
                      (recur (some? v)))
                  (some? v) (when (a/>! out v) (recur more?))
                  :else
                  (do (vswap! open (fn without [chs] (filterv (fn other? [c] (not (identical? c ch))) chs)))
                      (recur more?)))))))
        (finally (run! a/close! @open))))))

(defn switch
  "Returns a channel of the values of the channel that `f` returns for the latest value of `in`. A
  new value of `in` ends that channel: it is closed, so that the next put on it returns false, and a
  value of it that nobody has taken is dropped. `f` may return nil. When `in` closes, the last
  channel is still taken from.

      (skein.sim/with-virtual-time
        (let [twice (fn [q] (skein.test/timed 0 [q 1], 100 [q 2]))]
          (a/<!! (a/into [] (switch twice (skein.test/timed 0 :a, 50 :b))))))
      ;=> [[:a 1] [:b 1] [:b 2]]"
  [f in]
  (check/function "f of switch" f)
  (port/source "in of switch" in)
  (let [current (volatile! nil)
        end (fn end [] (some-> @current a/close!) (vreset! current nil))]
    (operator [out]
      (try
        (loop [more? true, held nil]
          (let [inner (if (some? held) [out held] @current)
                ports (cond-> [] more? (conj in) inner (conj inner))]
            (if (empty? ports)
              in
              (let [[v port] (a/alts! ports :priority true)]
                (cond
                  (identical? port out) (when v (recur more? nil))
                  (and (nil? v) (port/failed? port)) port
                  (and (identical? port in) (nil? v)) (recur false held)
                  (identical? port in)
                  (do (end)
                      (vreset! current (some->> (f v) (port/source "the result of f of switch")))
                      (recur true nil))
                  (some? v) (recur more? v)
                  :else (do (vreset! current nil) (recur more? nil)))))))
        (finally (end))))))

;;;; A function of each value

(def ^:private pmap-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:n whole
   :ahead whole
   :ordered? [boolean? "true or false"]
   :key [ifn? "a function"]
   :on-error (on-error/option [:throw :collect :report])})

(defn pmap
  "Returns a channel of the results of `f` for the values of the channel `in`, up to `n` calls at a
  time. Each call is a block: it may park or block. A nil result is left out.

  - n  a number from 1, or a map of options:
    - :n         the number
    - :ordered?  true, the default: results come in the order of the values; false: in the order
                 in which calls end
    - :ahead     for ordered results and with :key, how many values may be taken whose results have
                 not been put, so that one slow call does not stop the others; by default 4n
    - :key       function of a value. Values with equal keys are called one after the other, in
                 their order; others in parallel. :ordered? is then false. A key is kept only while
                 one of its values is held. When all :ahead values are of busy keys, the source
                 waits
    - :on-error  :throw, the default: the first exception ends everything, and the returned channel
                 closes with it, after the results before it; `<?` and `<??` throw it. :collect:
                 each result is {:value x} or {:error exception}. :report: the value has no
                 result, and the uncaught-exception handler gets the exception. A function of the
                 exception and the value: what it returns is the result

  Calls that run when the work ends early are cancelled, as the children of a scope are. doc/in-parallel.md
  compares other ways.

      (a/<!! (a/into #{} (pmap {:n 2 :ordered? false :on-error (fn [_ _] :none)}
                               (fn [x] (/ 6 x)) (a/to-chan! [1 0 3]))))
      ;=> #{6 2 :none}"
  [n-or-options f in]
  (let [{:keys [n ahead on-error] :as options} (merge {:ordered? true :on-error :throw}
                                                      (check/leading "pmap" :n n-or-options pmap-options))
        n (min (long (check/whole "n of pmap" n 1)) Integer/MAX_VALUE)]
    (mapped/start
      (assoc options
             :f (on-error/handling on-error (check/function "f of pmap" f))
             :in (port/source "in of pmap" in)
             :out (a/chan)
             :n n
             :ahead (min Integer/MAX_VALUE
                         (long (if ahead (check/whole "ahead of pmap" ahead 1) (* 4 n))))))))

(defn consume!
  "Calls `f` with each value of `in`. Returns a port of how many values it has handled.

  - options  a map: those of `pmap` but :ordered?, and
    - :n         how many calls at once, by default 1
    - :on-error  :throw, the default: nothing more is taken, and the port fails, as it does by a
                 cause of `in`. :report: the uncaught-exception handler gets the exception, and the
                 value is not counted. Or a function of the exception and the value

  The port closes when all calls have ended. So an orderly stop is: close the source, and wait for the port.

      (let [seen (atom [])
            n (consume! {:on-error (fn [e x] (swap! seen conj [x (ex-message e)]))}
                        (fn [x] (swap! seen conj (/ 6 x))) (a/to-chan! [3 0 2]))]
        [(a/<!! n) @seen])
      ;=> [3 [2 [0 \"Divide by zero\"] 3]]"
  ([f in] (consume! nil f in))
  ([options f in]
   (check/function "f of consume!" f)
   (port/source "in of consume!" in)
   (let [known (assoc (dissoc pmap-options :ordered?) :on-error (on-error/option [:throw :report]))
         options (merge {:n 1 :on-error :throw} (check/options "consume!" options known))
         handled (fn handled [g] (fn call [& args] (apply g args) true))
         options (cond-> (assoc options :ordered? false)
                   (not (keyword? (:on-error options))) (update :on-error handled))]
     (a/reduce (fn add [n _] (inc n)) 0 (pmap options (handled f) in)))))

;;;; Errors

(defn- failure
  "Returns the exception that ended `port`, or nil, and takes it."
  [port]
  (try (a/rethrow port nil) (catch Throwable t t)))

(defn- made
  "Returns the channel that `make` returns. If it throws, that is a channel which has failed."
  [make]
  (try
    (port/source "the result of make of restart" (make))
    (catch Throwable t
      (when (Region/isInterruption t) (throw t))
      (doto (a/chan) (a/close-with! t)))))

(defn restart
  "Returns a channel of the values of the channel that `make` returns. When that closes with a
  cause, or `make` throws, `make` is called again after a pause. When it closes without one, the
  output closes.

  - options  a map:
    - :attempts :backoff-ms :factor :max-backoff-ms :jitter :retry?  as for skein.virtual/retry
    - :on-close  :close, the default; :restart: a close without a cause is a failure too, as of
                 servers that hang up

  A value resets the number of attempts and the pause. After the last attempt the output closes with
  the last cause. Closing the output closes the current channel.

      (skein.sim/with-virtual-time
        (let [n (atom 0)
              connect (fn [] (if (< (swap! n inc) 3) (throw (ex-info \"down\" {})) (a/to-chan! [:up])))]
          [(a/<!! (a/into [] (restart {:attempts 4 :backoff-ms 100 :jitter 0} connect))) (skein.sim/now-ms)]))
      ;=> [[:up] 300]"
  ([make] (restart nil make))
  ([options make]
   (check/function "make of restart" make)
   (let [{:keys [attempts on-close] :as options}
         (backoff/with-defaults
           (check/options "restart" options
                          (assoc backoff/known :on-close [#{:close :restart} ":close or :restart"])))
         again? (fn again? [thrown n]
                  (if thrown
                    (backoff/again? options n thrown)
                    (and (= :restart on-close) (< (long n) (long attempts)))))
         current (volatile! nil)]
     (operator [out]
       (with-timer [timer]
         (try
           (loop [ch (vreset! current (made make)), failures 1]
             (let [v (a/<! ch)]
               (cond
                 (some? v) (when (a/>! out v) (recur ch 1))
                 (again? (failure ch) failures)
                 (do (sleep-until timer (+ (now) (* 1000000 (backoff/pause-ms options failures))))
                     (recur (vreset! current (made make)) (inc failures)))
                 :else ch)))
           (finally (some-> @current a/close!))))))))

(defn recover
  "Returns a channel of the values of `in`. When `in` closes with a cause, those of the channel (f
  cause) follow. `f` may return nil, for no more values, or throw, also the cause itself. A cause of
  the second channel is passed on.

      (let [in (doto (a/chan 1) (a/put! 1) (a/close-with! (ex-info \"gone\" {:instead 7})))]
        (a/<!! (a/into [] (recover (fn [e] (a/to-chan! [(:instead (ex-data e))])) in))))
      ;=> [1 7]"
  [f in]
  (check/function "f of recover" f)
  (port/source "in of recover" in)
  (operator [out]
    (loop [ch in]
      (let [v (a/<! ch)]
        (if (some? v)
          (when (a/>! out v) (recur ch))
          (if-some [cause (when (identical? ch in) (failure in))]
            (when-some [other (f cause)] (recur (port/source "the result of f of recover" other)))
            ch))))))

;;;; Takers

(defn replay
  "Returns a mult of `in`, for `tap`, `untap` and `untap-all`, that remembers the last `n` values. A
  new tap first gets these, then each later value. The mult takes from `in` at once, with or without
  taps, and drops nothing. Its `deref` returns the latest value.

  - n  a number from 1, or a map of options:
    - :n  the number

  As in `mult`, each value waits for all taps, and so does the replay to a new tap: give a tap a
  buffer, or a `gate`. A tap made after `in` has closed gets the remembered values, and closes. For
  the current state give it a sliding buffer of 1.

      (let [in (a/chan), m (replay 2 in)]
        (doseq [v [1 2 3]] (a/>!! in v))
        (a/close! in)
        [(a/<!! (a/into [] (a/tap m (a/chan)))) @m])
      ;=> [[2 3] 3]"
  [n-or-options in]
  (let [{:keys [n]} (check/leading "replay" :n n-or-options {:n whole})]
    (replays/replay (check/whole "n of replay" n 1) (port/source "in of replay" in))))

(def ^:private gate-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:policy [any? "a keyword"], :on-drop [ifn? "a function"]})

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
  disconnected one is removed. Closing the gate closes `ch`.

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
  (let [{:keys [policy on-drop] :or {on-drop (fn [_])}}
        (check/leading "gate" :policy policy-or-options gate-options)]
    (check/that "policy of gate" policy (#{:block :drop :slide :disconnect} policy)
                ":block, :drop, :slide or :disconnect")
    (gates/gate ch policy on-drop)))
