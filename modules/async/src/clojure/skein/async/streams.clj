;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.streams
  "Operators on the values of channels that core.async lacks.

  * `pmap` - calls a function with the values, several at a time
  * `batch` - values in vectors, by number and by time
  * `gate` - a policy for a slow taker: block, drop, slide or disconnect

  Each returns its output, so that they can be nested.

      (a/<!! (a/into [] (batch 2 (pmap 4 inc (a/to-chan! [1 2 3])))))
      ;=> [[2 3] [4]]"
  (:refer-clojure :exclude [pmap])
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.on-error :as on-error]
   [skein.impl.port :as port]
   [skein.scope :as scope])
  (:import
   (java.util.concurrent.locks Lock)
   (skein.rt Channel NilPut Region Uncaught)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.async.streams$") ; its frames are left out of stack traces

;;;; A function of each value

;; The calls are children of a scope, so all of them end when the work does. A block takes the values and starts a block for each
;; call. The outcome of a call is [result nil], or [nil exception] if the exception ends everything.

(defn- outcome
  "Returns the outcome of `f` for `value`. Throws if the scope cancels the call: that is no outcome, whatever the policy."
  [{:keys [f]} value]
  (try
    (let [result (f value)]
      [(when-not (on-error/none? result) result) nil])
    (catch Throwable t
      (when (Region/isCancellation t) (throw t))
      [nil t])))

(defmacro ^:private permit
  "Waits for a permit. `unused` is the number of those that were never used; the others are in the channel `used`, or belong to
  values. Returns the new number."
  [unused used]
  `(if (pos? ~unused) (dec ~unused) (do (a/<! ~used) ~unused)))

(defn- map-in-order
  "Starts the calls, and puts their results on `out` in the order of the values."
  [s {:keys [n ahead in out] :as work}]
  (let [calls (a/chan n), held (a/chan ahead), jobs (a/chan ahead)]
    (scope/go s
      (loop [unused-calls (long n), unheld (long ahead)]
        (let [unheld (long (permit unheld held)), unused-calls (long (permit unused-calls calls))]
          (if-some [v (a/<! in)]
            (do (a/put! jobs (scope/go s (let [job (outcome work v)] (a/>! calls true) job)))
                (recur unused-calls unheld))
            (a/close! jobs)))))
    (scope/go s
      (loop []
        (when-some [job (a/<! jobs)]
          (let [[result ^Throwable thrown] (a/<! job)]
            (cond
              thrown (throw thrown)
              (and (some? result) (not (a/>! out result))) (scope/cancel! s)
              :else (do (a/>! held true) (recur)))))))))

(defn- map-as-completed
  "Like `map-in-order`, but each call puts its result itself."
  [s {:keys [n in out] :as work}]
  (let [calls (a/chan n)
        call (fn call [value]
               (scope/go s
                 (let [[result ^Throwable thrown] (outcome work value)]
                   (cond
                     thrown (throw thrown)
                     (and (some? result) (not (a/>! out result))) (scope/cancel! s)
                     :else (a/>! calls true)))))]
    (scope/go s
      (loop [unused (long n)]
        (let [unused (long (permit unused calls))]
          (when-some [v (a/<! in)]
            (call v)
            (recur unused)))))))

(def ^:private pmap-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:n [any? "a whole number"]
   :ahead [any? "a whole number"]
   :ordered? [boolean? "true or false"]
   :on-error (on-error/option [:throw :collect :report])})

(defn pmap
  "Returns a channel of the results of `f` for the values of the channel `in`, up to `n` calls at a
  time. Each call is a block: it may park or block. A nil result is left out.

  - n  a number from 1, or a map of options:
    - :n         the number
    - :ordered?  true, the default: results come in the order of the values; false: in the order
                 in which calls end
    - :ahead     for ordered results, how many values may be taken whose results have not been put, so
                 that one slow call does not stop the others; by default 4n
    - :on-error  :throw, the default: the first exception ends everything, and the returned channel
                 closes with it, after the results before it. :collect: each result is {:value x}
                 or {:error exception}. :report: the value has no result, and the
                 uncaught-exception handler gets the exception. A function of the exception and the
                 value: what it returns is the result

  When `in` closes, the returned channel closes after the last result, with the same cause. If it is
  closed before, the next put ends the work. Calls that run when the work ends early are cancelled, as
  the children of a scope are. Throws :skein/bad-argument. doc/in-parallel.md compares other ways.

      (a/<!! (a/into #{} (pmap {:n 2 :ordered? false :on-error (fn [_ _] :none)}
                               (fn [x] (/ 6 x)) (a/to-chan! [1 0 3]))))
      ;=> #{6 2 :none}"
  [n-or-options f in]
  (let [{:keys [n ahead ordered? on-error]} (merge {:ordered? true :on-error :throw} (check/leading "pmap" :n n-or-options pmap-options))
        n (min (long (check/whole "n of pmap" n 1)) Integer/MAX_VALUE)
        out (a/chan)
        work {:f (on-error/handling on-error (check/function "f of pmap" f)) :in (port/source "in of pmap" in) :out out :n n
              :ahead (min Integer/MAX_VALUE (long (if ahead (check/whole "ahead of pmap" ahead 1) (* 4 n))))}
        caller (Throwable.)]
    (port/closing
      (a/go
        (try
          (scope/scope [s]
            (if ordered? (map-in-order s work) (map-as-completed s work)))
          (catch Throwable t (Failures/begunBy t caller) (throw t)))
        (port/close-as! out in))
      out)
    out))

;;;; Batches

(def ^:private batch-options
  "Option -> what its value must be; see skein.impl.check/options."
  {:size [any? "a whole number"], :within-ms check/time-option})

(defn batch
  "Returns a channel of the values of `in` in vectors.

  - size  the largest number of values in a vector, 1 or more, or a map of options:
    - :size       the number
    - :within-ms  the longest time in milliseconds between taking the first value of a vector and
                  putting the vector; by default a vector waits until it is full or `in` closes

  No vector is empty. When `in` closes, a last vector holds the remaining values, and the returned
  channel closes with the same cause. If the returned channel is closed first, its next put fails,
  and nothing more is taken. Throws :skein/bad-argument.

      (a/<!! (batch {:size 100 :within-ms 5} (doto (a/chan 1) (a/put! :only))))
      ;=> [:only]"
  [size-or-options in]
  (port/source "in of batch" in)
  (let [{:keys [size within-ms]} (check/leading "batch" :size size-or-options batch-options)
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
                (recur gathered (or limit (when within-ms (a/timeout within-ms))))
                (do (some-> limit a/close!)
                    (when (a/>! out gathered) (recur [] nil))))))))
      out)
    out))

;;;; Slow takers

(defn- slow-taker []
  (error/failure :skein/slow-taker "This channel's taker was too slow, and its gate has disconnected it." {}))

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
  disconnected one is removed. Closing the gate closes `ch`. Throws :skein/bad-argument.

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
        _ (check/that "policy of gate" policy (#{:block :drop :slide :disconnect} policy) ":block, :drop, :slide or :disconnect")
        dropped (guarded on-drop)]
    (reify
      impl/WritePort
      (put! [_ value handler]
        (cond
          (nil? value) (throw (NilPut/refused))
          (= :block policy) (impl/put! ch value handler)
          (commit handler) (impl/box (accept ch policy value dropped))))
      port/Front
      (behind [_] ch)
      impl/Channel
      (close! [_] (a/close! ch))
      (closed? [_] (impl/closed? ch)))))
