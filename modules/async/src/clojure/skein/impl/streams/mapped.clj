;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.streams.mapped
  "A function of each value of a channel, several calls at a time: see skein.async.streams/pmap.

  The calls are children of a scope, so all of them end when the work does. A block takes the values
  and starts a block for each call. The outcome of a call is [result nil], or [nil exception] if the
  exception ends everything."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.impl.on-error :as on-error]
   [skein.impl.port :as port]
   [skein.scope :as scope])
  (:import
   (skein.rt Region)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(defn- outcome
  "Returns the outcome of `f` for `value`. Throws if the scope cancels the call: that is no outcome,
  whatever the policy."
  [{:keys [f]} value]
  (try
    (let [result (f value)]
      [(when-not (on-error/none? result) result) nil])
    (catch Throwable t
      (when (Region/isCancellation t) (throw t))
      [nil t])))

(defmacro ^:private permit
  "Waits for a permit. `unused` is the number of those that were never used; the others are in the
  channel `used`, or belong to values. Returns the new number."
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

(defn- map-by-key
  "Like `map-as-completed`, but a call first waits for the one before it with an equal key."
  [s {:keys [n ahead key in out] :as work}]
  (let [calls (a/chan n), held (a/chan ahead)
        ends (atom {}) ; key -> the channel that closes at the end of its last call
        call (fn call [value k before end]
               (scope/go s
                 (when before (a/<! before))
                 (a/>! calls true)
                 (let [[result ^Throwable thrown] (outcome work value)]
                   (a/<! calls)
                   (cond
                     thrown (throw thrown)
                     (and (some? result) (not (a/>! out result))) (scope/cancel! s)
                     :else (do (swap! ends (fn forget [m] (if (identical? end (m k)) (dissoc m k) m)))
                               (a/close! end)
                               (a/<! held))))))]
    (scope/go s
      (loop []
        (when (a/>! held true)
          (when-some [v (a/<! in)]
            (let [k (key v), end (a/chan), before (get @ends k)]
              (swap! ends assoc k end)
              (call v k before end)
              (recur))))))))

(defn start
  "Puts the results on `out`, and closes it.

  work  {:f :in :out :n :ahead :ordered? :key}; `f` treats exceptions as :on-error says"
  [{:keys [in out ordered? key] :as work}]
  (let [caller (Throwable.)]
    (port/closing
      (a/go
        (try
          (scope/scope [s]
            (cond
              key (map-by-key s work)
              ordered? (map-in-order s work)
              :else (map-as-completed s work)))
          (catch Throwable t (Failures/begunBy t caller) (throw t)))
        (port/close-as! out in))
      out)
    out))
