;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.timing
  "Limits on how long something runs.

  * `begin` `end` `failed` - for skein.virtual's with-timeout
  * `sleep` - and what its expansion in a block calls
  * `retry` - for its retry"
  {:no-doc true}
  (:require
   [skein.impl.backoff :as backoff]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (skein.rt Channel Region)
   (skein.rt.block Callback ThreadWaiter)
   (skein.rt.schedule Scheduler Timeout)))

(set! *warn-on-reflection* true)

;;;; Timeouts

(deftype-once ^:private Limit [^Region region ^Channel timer fired? ms default]) ; default: [value], or nil

(def ^:private limits
  "Option -> what its value must be; see skein.impl.check/options."
  {:timeout-ms check/time-option
   :default [any? "any value"]})

(defn begin
  "Returns a limit, which interrupts this thread or block when the time is up, unless `end` or `failed` is called before. For
  the argument see skein.virtual's `with-timeout`."
  [ms-or-options]
  (let [{:keys [timeout-ms]} (check/leading "with-timeout" :timeout-ms ms-or-options limits)
        ms (check/milliseconds ":timeout-ms of with-timeout" timeout-ms)
        default (when (map? ms-or-options) (find ms-or-options :default)) ; nil is a default like any other
        region (Region/enter nil)
        fired? (volatile! false)
        fire (fn fire [_] (vreset! fired? true) (.cancel region))
        timer (Callback/after ms fire)]
    (when (zero? ms) (fire nil)) ; the body must not begin before the limit has fired
    (Limit. region timer fired? ms (when default [(val default)]))))

(defn- stop-timer
  [^Limit limit thrown]
  (.leave ^Region (.-region limit) thrown) ; first: closing the timer calls back, as its firing does
  (.close ^Channel (.-timer limit)))

(defn end
  "Ends `limit` after its body has returned `value`. Returns `value`."
  [limit value]
  (stop-timer limit nil)
  value)

(defn- failure
  "Returns the exception of a limit. The interrupt is one of its suppressed exceptions and not its cause, because a REPL prints only
  the message of the last cause."
  [ms interrupt]
  (doto (error/timed-out (str "The body took longer than " ms " ms. Give it more time, or less to do.")
                         {:what :with-timeout :ms ms})
    (Throwable/.addSuppressed interrupt)))

(defn failed
  "The body of `limit` has thrown `thrown`. If the limit interrupted it, returns the default, or throws :skein/timeout.
  Otherwise throws `thrown`. Ends the limit if it throws."
  [^Limit limit thrown]
  (let [late? (and (.isCancelled ^Region (.-region limit)) (Region/isInterruption thrown) @(.-fired? limit))
        [default :as default?] (.-default limit)
        thrown (if late? (failure (.-ms limit) thrown) thrown)]
    (if (and late? default?)
      default
      (do (stop-timer limit thrown)
          (throw thrown)))))

;;;; Sleeping

(defn timer
  "Returns a timeout that closes after `ms`, a time, at once if that is below 1."
  ^Channel [ms]
  (Timeout/after (check/milliseconds "ms of sleep" ms)))

(defn await-timer
  "Waits until the timeout `t` closes. A block parks."
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [^Channel t]
  (ThreadWaiter/take t))

(defn stop
  "Closes the timeout `t`, which then holds nothing."
  [^Channel t]
  (.close t))

(defn expand-sleep
  "Returns the form for (sleep ms) in a block."
  [ms]
  `(let [t# (timer ~ms)]
     (try (await-timer t#) (finally (stop t#)))))

(defn sleep
  "See skein.virtual/sleep."
  [ms]
  (let [t (timer ms)]
    (try (await-timer t) (finally (stop t)))))

;;;; Retrying

(defn- remaining-ms
  "Returns the milliseconds until `deadline-ns`, rounded up, or nil if there is no deadline."
  [deadline-ns]
  (when deadline-ns
    (max 0 (quot (+ 999999 (- (long deadline-ns) (Scheduler/nanoTime))) 1000000))))

(defn- attempt
  "Calls `f` for at most `left-ms`, if not nil. Returns {:value x} or {:error throwable}."
  [f left-ms]
  (try
    {:value (if left-ms
              (let [limit (begin left-ms)]
                (end limit (try (f) (catch Throwable t (failed limit t)))))
              (f))}
    (catch Throwable t {:error t})))

(defn- out-of-time [ms n thrown]
  (error/timed-out (str "No success within " ms " ms, in " n (if (= 1 n) " attempt" " attempts") ". Give it more time.")
                   {:what :retry :ms ms :attempts n}
                   thrown))

(def ^:const ^:private max-earlier
  "How many earlier exceptions are kept. There is a limit because `retry` may try for ever."
  32)

(defn- remember
  "Returns `earlier` with `thrown` added, the latest last, and at most `max-earlier`."
  [earlier thrown]
  (conj (if (= max-earlier (count earlier)) (vec (rest earlier)) earlier) thrown))

(defn- with-earlier [^Throwable thrown earlier]
  (doseq [^Throwable t earlier :when (not (identical? t thrown))] (.addSuppressed thrown t))
  thrown)

(defn- late?
  "Returns whether a pause of `pause` ms would use up the time that is left."
  [deadline-ns ^long pause]
  (when-some [left (remaining-ms deadline-ns)]
    (<= (long left) pause)))

(defn retry
  "Calls `f` until it returns; see skein.virtual."
  [options f]
  (check/function "f of retry" f)
  (let [{:keys [timeout-ms] :as options}
        (backoff/with-defaults (check/options "retry" options (assoc backoff/known :timeout-ms check/time-option)))
        timeout-ms (when timeout-ms (check/milliseconds :timeout-ms timeout-ms))
        deadline-ns (when timeout-ms (+ (Scheduler/nanoTime) (* 1000000 (long timeout-ms))))]
    (loop [n 1, earlier []]
      (let [{:keys [value error]} (attempt f (remaining-ms deadline-ns))
            pause (backoff/pause-ms options n)]
        (cond
          (nil? error) value
          (Region/isInterruption error) (throw (with-earlier error earlier)) ; it has delivered a cancellation from outside
          (and deadline-ns (or (late? deadline-ns 0) (and (backoff/again? options n error) (late? deadline-ns pause))))
          (throw (with-earlier (out-of-time timeout-ms n error) earlier))
          (not (backoff/again? options n error)) (throw (with-earlier error earlier))
          :else (do (sleep pause)
                    (recur (inc n) (remember earlier error))))))))
