;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.threads
  "The executors of `thread` and `io-thread`, one for each workload.

  :mixed and :compute are cached pools of daemon platform threads, :io starts a
  virtual thread for each task. As in core.async, the system property
  clojure.core.async.executor-factory may name a function of the workload that
  returns another executor, or nil for the default."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent Executor Executors ThreadFactory)
   (java.util.concurrent.atomic AtomicLong)
   (skein.base IllegalArgument)
   (skein.rt Channel Failure Region Uncaught)
   (skein.rt.block Callback Hooks)
   (skein.rt.schedule Scheduler)
   (skein.rt.scope Child)))

(set! *warn-on-reflection* true)

(defn counted-thread-factory
  "Returns a ThreadFactory. `name-format` is the format of the threads' names, in which %d is a
  counter from 1. `init-fn`, if given, runs first on each thread."
  (^ThreadFactory [name-format daemon?] (counted-thread-factory name-format daemon? nil))
  (^ThreadFactory [name-format daemon? {:keys [init-fn]}]
   (let [counter (AtomicLong.)]
     (reify ThreadFactory
       (newThread [_ task]
         (let [^Runnable task (if init-fn (fn run [] (init-fn) (.run task)) task)
               ^String thread-name (format name-format (.incrementAndGet counter))]
           (doto (Thread. task thread-name)
             (.setDaemon daemon?))))))))

(defn- own-executor [workload]
  (when-some [factory (System/getProperty "clojure.core.async.executor-factory")]
    (if-some [make (try (requiring-resolve (symbol factory)) (catch java.io.FileNotFoundException _))]
      (make workload)
      (error/fail! :skein/bad-argument (str "The system property clojure.core.async.executor-factory names " factory ", but there is no such var. "
                                         "Name a function of the workload, or remove the property.")
                   {:factory factory}))))

(defn- default-executor ^Executor [workload]
  (case workload
    :io (let [factory (.factory (.name (Thread/ofVirtual) "skein-io-" 0))]
          (reify Executor (execute [_ task] (.start (.newThread factory task)))))
    (:mixed :compute) (Executors/newCachedThreadPool
                        (counted-thread-factory (str "async-" (name workload) "-%d") true))
    (throw (IllegalArgument. (str "workload must be :mixed, :io or :compute, but is " (error/preview workload) ".")
                             {:skein/error :skein/bad-argument :argument "workload" :value (error/preview workload)}))))

(defonce ^:private made (memoize (fn make [workload] (or (own-executor workload) (default-executor workload)))))

(defn executor-for
  "Returns the Executor for a workload: :io, :compute or :mixed. Anything else throws
  IllegalArgumentException."
  [workload]
  (locking made (made workload))) ; locked, so that threads that ask at once share one

(defn exec
  "Runs `task` on a thread for `workload`, or on a thread of the caller's simulation. In
  skein.scope/in-scope it is a child of the scope. If the scope cancels it before it begins,
  `unbegun` is called with an exception instead."
  [task unbegun workload]
  (Child/start task unbegun ^Executor (executor-for workload)))

(defn call
  "See skein.async/thread-call. If `f` throws, or its scope cancels it, also closes `out`, unless that is nil, as
  skein.impl.port/closing does. `reporting?`: the exception is reported at once, as in core.async."
  [f workload out reporting?]
  (check/function "f of thread-call" f)
  (let [^Channel c (port/chan 1)
        f (bound-fn* f)
        child? (Region/startsChildren)
        fail (fn fail [t]
               (cond
                 child? (.close c ^Throwable (Child/cause t)) ; its scope throws it
                 reporting? (do (Uncaught/keep t) ; first, because its taker gets nil and may then read the exception
                                (.closeFor c (Failure/told t)))
                 :else (.closeFor c (Failure/of t)))
               (when out (port/close-as! out c)))]
    (exec (fn run []
            (Hooks/makes c)
            (try (let [v (f)]
                   (when (some? v) (port/>!! c v))
                   v)
                 (catch Throwable t
                   (fail t)
                   (when (or child? reporting?) (throw t)))
                 (finally (port/close! c) (Hooks/made c))))
          fail
          workload)
    c))

(def ^Executor dispatch
  "Runs callbacks on the workers of skein.rt."
  (reify Executor
    (execute [_ task] (Scheduler/submit (Callback/task task)))))
