;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.dispatch
  "Executors, for code that uses this namespace of core.async: `executor-for` and `exec` for threads,
  `run` for callbacks."
  {:no-doc true}
  (:require
   [skein.impl.threads :as threads])
  (:import
   (java.util.concurrent Executor)
   (skein.rt Runner Uncaught)))

(set! *warn-on-reflection* true)

(defn counted-thread-factory
  "Returns a ThreadFactory. `name-format` is the format of the threads' names, in which %d is a
  counter from 1. `:init-fn` runs first on each thread."
  ([name-format daemon] (counted-thread-factory name-format daemon nil))
  ([name-format daemon opts] (threads/counted-thread-factory name-format daemon opts)))

(defn executor-for
  "Returns the Executor for :io, :compute or :mixed work. For :core-async-dispatch, returns the
  one for callbacks: they run on the workers of the blocks."
  [workload]
  (if (= :core-async-dispatch workload)
    threads/dispatch
    (threads/executor-for workload)))

(defn exec
  "Runs the Runnable `r` on a thread for `workload`; see `executor-for`."
  [^Runnable r workload]
  (.execute ^Executor (executor-for workload) r))

(defn ex-handler
  "Gives `ex` to this thread's uncaught-exception handler. Returns nil."
  [ex]
  (Uncaught/report ex))

(defn run
  "Runs the Runnable `r` on this thread if its metadata says :on-caller?, else on a worker."
  [^Runnable r]
  (if (:on-caller? (meta r))
    (try (.run r) (catch Throwable t (ex-handler t)))
    (exec r :core-async-dispatch)))

(defn in-dispatch-thread?
  "Returns whether this thread runs a block."
  []
  (Runner/inBlock))

(defn check-blocking-in-dispatch
  "Does nothing: a block may block."
  [])

(defmacro with-dispatch-thread-marking
  "Evaluates the body. Skein's workers need no mark."
  {:style/indent 0}
  [& body]
  `(do ~@body))
