;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pipeline
  "Works on several values at once, and puts the results in order.

      from -> feeder -+-> items, in order -------------------> drainer -> to
                      +-> jobs -> n workers, each fills its item

  An item is the channel of one value's results. It is put on `items` before the work on it
  begins, so the size of `items` limits how many items there are at a time."
  {:no-doc true}
  (:require
   [skein.impl.block :refer [<! >! go]]
   [skein.impl.check :as check]
   [skein.impl.port :as port :refer [chan close!]]
   [skein.impl.threads :as threads])
  (:import
   (java.util.concurrent CancellationException)
   (skein.rt Cancellable Channel Region Uncaught Unlimited)
   (skein.rt.block ThreadWaiter)
   (skein.rt.schedule Scheduler)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:const slow-ns
  "A worker continues on a thread of its own once a step has taken this long, 1 ms. Compared with
  that, a thread is cheap, and blocks that compute must not keep the workers busy."
  1000000)

(defn- open?
  "Returns whether `to` is not known to be closed."
  [to]
  (not (and (instance? Channel to) (.isClosed ^Channel to))))

(defn- feed
  "Makes an item for each value while `(more?)`, and then calls `begin` with the value and the item."
  [from more? items begin]
  (go
    (loop []
      (when (more?)
        (when-some [v (<! from)]
          (let [item (chan 1)]
            (when (>! items item)
              (begin v item)
              (recur))))))
    (port/close-as! items from)))

(defn- discard
  "Closes `ch` and drops its values, so that no put waits."
  [ch]
  (close! ch)
  (loop []
    (when (some? (port/poll! ch)) (recur))))

(defn- abandon
  "Drops all items and their results: `to` has closed."
  [items]
  (close! items)
  (loop []
    (when-some [item (port/poll! items)]
      (discard item)
      (recur))))

(defn- drain
  "Puts what the items hold on `to`, in order, and then closes it as `items` if `close?`. `nested?`: an item
  holds a channel of results, rather than the results."
  [items to close? nested?]
  (go
    (loop []
      (if-some [item (<! items)]
        (let [results (if nested? (<! item) item)]
          (if (loop []
                (let [v (when results (<! results))]
                  (cond (nil? v) true
                        (>! to v) (recur)
                        :else false)))
            (recur)
            (do (discard item) (abandon items))))
        (when close? (port/close-as! to items))))))

(defn- cancelled?
  "Returns whether the scope to which this block or thread belongs has cancelled it."
  []
  (if-some [region (Cancellable/innermost)] (.isCancelled region) false))

(defn- report
  "Reports an exception of a step, unless the step's scope has ended it. Returns nil."
  [thrown]
  (when-not (Region/isCancellation thrown)
    (Uncaught/report thrown)))

;; If a scope cancels the feeder or a worker, `items` stays open, and the item empty. So the drainer, which the
;; scope cancels too, can't reach the end and close `to` as if all were well.

(defn- fails
  "Reports the exception that ended the work on `item`, and closes it."
  [item thrown]
  (report thrown)
  (when-not (cancelled?) (close! item)))

(defn- quick?
  "Does a job. Returns whether it took less than `slow-ns`."
  [xf ex-handler [v item]]
  (let [start (Scheduler/nanoTime)]
    (try
      (let [^Channel results (chan 1 xf (or ex-handler report))]
        (ThreadWaiter/put results v)
        (close! results)
        (when-not (cancelled?) (port/put! item results)))
      (catch Throwable t (fails item t)))
    (Thread/interrupted) ; an interrupt was for this job, not for the next
    (< (- (Scheduler/nanoTime) start) (long slow-ns))))

(defn- work-on-thread [jobs do-job workload]
  (threads/exec (bound-fn work [] (loop []
                                    (when-some [job (port/<!! jobs)]
                                      (do-job job)
                                      (when-not (cancelled?) (recur)))))
                (fn unbegun [_]) ; the scope ends the whole pipeline
                workload))

(defn- work
  "Does jobs until one has been slow. A thread does the jobs after that."
  [jobs do-job workload]
  (go
    (loop []
      (when-some [job (<! jobs)]
        (cond
          (not (do-job job)) (work-on-thread jobs do-job workload)
          (not (cancelled?)) (recur)))))) ; a step may have swallowed the cancellation

(defn- begin-work
  "Starts a worker. If go-checking is on, the worker is a thread: a pipeline's transducer may
  block even then. See skein.async/defblockingop."
  [jobs do-job workload]
  (if (Boolean/getBoolean "clojure.core.async.go-checking")
    (work-on-thread jobs do-job workload)
    (work jobs do-job workload)))

(defn- run-between
  "Starts the blocks at both ends of a pipeline. Returns their ports. Neither block has a local for a channel in which it never
  waits. If it had, the inspector would suspect that the block can end the waits there."
  [from to items begin close? nested?]
  [(port/when-ended (feed from (fn more? [] (open? to)) items begin)
                    (fn fed [port] (when-not (port/failed? port) (close! items))))
   (cond-> (drain items to close? nested?) close? (port/failing to))])

(defn- check-arguments [what n to from]
  (check/number (str "n of " what) n "a whole number from 1" int?)
  (check/asserts (pos? (long n)) (str "n of " what) "a whole number from 1" (str "n of " what " must be a whole number from 1"))
  (port/target (str "to of " what) to)
  (port/source (str "from of " what) from))

(defn pipeline
  "See skein.async/pipeline; `workload` says which threads do slow work."
  [n to xf from close? ex-handler workload]
  (check-arguments "pipeline" n to from)
  ((port/transducer "xf of pipeline" xf) (fn step ([acc] acc) ([acc _] acc))) ; to check it
  (when ex-handler (check/function "ex-handler of pipeline" ex-handler))
  (let [n (long n)
        items (chan n)
        jobs (Channel. (port/buffer (+ n 2)) (Unlimited. nil)) ; n may be above the limit of waits in a channel
        do-job (fn do-job [job] (quick? xf ex-handler job))
        begin (fn begin [v item] (port/put! jobs [v item]))]
    (dotimes [_ n] (begin-work jobs do-job workload))
    (let [[fed drained] (run-between from to items begin close? true)]
      (port/take! fed (fn no-more-jobs [_] (close! jobs)))
      drained)))

(defn pipeline-async
  "See skein.async/pipeline-async."
  [n to af from close?]
  (check-arguments "pipeline-async" n to from)
  (check/function "af of pipeline-async" af)
  ;; The drainer holds one item more than `items`.
  (let [items (if (= 1 (long n)) (chan) (chan (dec (long n))))
        begin (fn begin [v item]
                (try (af v item) (catch Throwable t (fails item t)))
                (when (cancelled?) ; `af` has ended by that, or has swallowed it
                  (throw (CancellationException. "Cancelled: its scope is ending."))))]
    (peek (run-between from to items begin close? false))))
