;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.parallel
  "Calls a function with the values of a channel, several at a time: `parallel-map`.

      (a/<!! (a/into [] (parallel-map 4 inc (a/to-chan! [1 2 3]))))
      ;=> [2 3 4]

  It differs from skein.async's `pipeline`: it calls a function, which may block or park. It can
  return results in the order in which calls end, has a policy for exceptions, and never has more
  than n values in flight."
  (:require
   [skein.async :as a]
   [skein.impl.check :as check]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent.atomic AtomicBoolean)
   (skein.rt Channel Failure Region)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.async.parallel$") ; its frames are left out of stack traces

;; A job is the outcome of one value: [result nil], [nil nil] if there is no result, or
;; [nil exception] if the exception ends everything.

(defn- handled
  "Returns the job of a value whose call threw `thrown`."
  [on-error thrown value]
  (cond
    (= :stop on-error) [nil thrown]
    (= :skip on-error) [nil nil]
    :else (try [(on-error thrown value) nil] (catch Throwable t [nil t]))))

(defn- run-job
  "Returns the job of `value`. Throws if the scope cancels the call: that is no result, whatever the policy."
  [f on-error value]
  (try [(f value) nil]
       (catch Throwable t
         (if (Region/isCancellation t) (throw t) (handled on-error t value)))))

(defn- finish
  "Closes `out`, once: several calls may throw."
  [{:keys [^Channel out in caller ^AtomicBoolean ended]} thrown]
  (when (.compareAndSet ended false true)
    (if thrown
      (do (Failures/begunBy thrown caller)
          (.closeFor out (Failure/of thrown)))
      (port/close-as! out in))))

;; There are n permits. Those that were never used are only a number. Each of the others is in
;; `permits` or belongs to a value that is in flight.

(defn- take-while-permitted
  "Takes a value whenever there is a permit, and calls `launch` with it. Returns a port of the number of
  permits that were never used, when there are no more values."
  [{:keys [n in permits stop]} launch]
  (a/go-loop [unused n]
    (let [unused (cond
                   (a/poll! permits) unused
                   (pos? unused) (dec unused)
                   :else (do (a/alts! [stop permits] :priority true) unused))
          [value] (a/alts! [stop in] :priority true)]
      (if (nil? value)
        unused
        (do (launch value)
            (recur unused))))))

(defn- deliver-in-order
  [{:keys [out permits stop] :as work} jobs]
  (a/go-loop []
    (if-some [job (a/<? jobs)]
      (let [[result thrown] (a/<? job)]
        (if (or (some? thrown) (and (some? result) (not (a/>! out result))))
          (do (a/close! stop) (finish work thrown))
          (do (a/>! permits true) (recur))))
      (finish work nil))))

(defn- map-in-order [{:keys [n f on-error] :as work}]
  (let [jobs (a/chan n)
        launch (fn launch [value] (a/put! jobs (a/go (run-job f on-error value))))]
    (port/closing (take-while-permitted work launch) jobs)
    (deliver-in-order work jobs)))

(defn- run-and-deliver [{:keys [f out permits stop on-error] :as work} value]
  (a/go
    (let [[result thrown] (run-job f on-error value)]
      (when (or (some? thrown) (and (some? result) (not (a/>! out result))))
        (finish work thrown) ; before closing stop, because a block that sees stop ends the work without a cause
        (a/close! stop))
      (a/>! permits true))))

(defn- map-as-completed [{:keys [n out permits] :as work}]
  (let [taker (take-while-permitted work (fn launch [value] (run-and-deliver work value)))]
    (a/go
      (if-some [unused (a/<! taker)]
        (do
          ;; When all calls are done, all used permits are back, except for the one that the taker holds.
          (dotimes [_ (- (long n) (long unused) 1)] (a/<! permits))
          (finish work nil))
        (port/close-as! out taker)))))

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:n [any? "a whole number"]
   :ordered? [boolean? "true or false"]
   :on-error [(some-fn #{:stop :skip} fn?) ":stop, :skip or a function of the exception and the value"
              :skein/bad-policy]})

(def ^:private defaults {:ordered? true :on-error :stop})

(defn parallel-map
  "Returns a channel of the results of calling `f` with each value of the channel `in`, up
  to `n` at a time. Each call is a block: it may park or block.

  - n  a number from 1, or a map of options:
    - :n         the number
    - :ordered?  true, the default: results come in the order of the values; false: in the order
                 in which calls end
    - :on-error  what to do with an exception. :stop, the default, closes the returned channel
                 with it and takes no more values. If no code takes the exception from
                 there, the uncaught-exception handler gets it. :skip leaves the value out. A function of the
                 exception and the value returns a result instead

  doc/in-parallel.md compares this with `pipeline` and windows.

  A value is in flight from its take until its result has been accepted. At most `n` values
  are in flight, and a value is taken only if its call can start at once. A nil result is left
  out. When `in` closes, the returned channel closes after the last result, with the same
  cause. If the returned channel is closed first, the next put of a result fails, and nothing
  more is taken. Running calls continue to their end.

  Throws :skein/bad-number, :skein/not-a-function, :skein/not-a-port, :skein/bad-policy,
  :skein/bad-option.

      (a/<!! (a/into #{} (parallel-map {:n 2 :ordered? false :on-error (fn [_ _] :none)}
                                       (fn [x] (/ 6 x)) (a/to-chan! [1 0 3]))))
      ;=> #{6 2 :none}"
  [n-or-options f in]
  (let [{:keys [n ordered? on-error]} (merge defaults (check/leading "parallel-map" :n n-or-options known))
        n (min (long (check/whole "n of parallel-map" n 1)) Integer/MAX_VALUE)
        _ (check/function "f of parallel-map" f)
        _ (port/source "in of parallel-map" in)
        permits (a/chan n)
        work {:n n :f f :in in :out (a/chan) :permits permits :stop (a/chan) :on-error on-error
              :caller (Throwable.) :ended (AtomicBoolean.)}]
    (port/closing (if ordered? (map-in-order work) (map-as-completed work)) (:out work))
    (:out work)))
