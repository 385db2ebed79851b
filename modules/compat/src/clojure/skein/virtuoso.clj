;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtuoso
  "The functions of virtuoso.v3 0.1.2, for programs that use them. A new program uses `skein.virtual`: its `pmap` does not
  wait for the slowest of n calls, and throws the exception itself.

  \"Like virtuoso's\" in a docstring means that the behaviour is that of virtuoso, except for the differences that follow.

      (map inc [1 2 3])
      ;=> (2 3 4)"
  (:refer-clojure :exclude [for future map pmap pvalues])
  (:require
   [skein.impl.check :as check]
   [skein.virtual :as v])
  (:import
   (clojure.lang IFn)
   (java.util.concurrent Executor ExecutorService Executors RejectedExecutionException)
   (skein.rt World)
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.virtuoso$") ; its frames are left out of stack traces

;;;; Futures and threads

(defmacro future
  "Runs the body on a virtual thread. Returns a future of its value; see `skein.virtual/future`.

  Like virtuoso's. Differs: `future-cancel` interrupts the thread, and a failure that nobody asks
  for is reported.

      @(future (+ 1 2))
      ;=> 3"
  {:style/indent 0}
  [& body]
  `(v/future ~@body))

(def ^{:arglists '([f])} binding-conveyor-fn
  "Returns a function that calls `f` with the bindings that are in force now. Like virtuoso's, it is Clojure's own."
  @#'clojure.core/binding-conveyor-fn)

(defn ^:no-doc thread*
  "Calls `f` on a virtual thread. Returns the thread. See `thread`."
  ^Thread [f]
  (World/allowsThreads)
  (.start (Thread/ofVirtual) (binding-conveyor-fn (check/function "f of thread*" f))))

(defmacro thread
  "Runs the body on a virtual thread. Returns the thread. The body's value is discarded, and its
  exception goes to the uncaught-exception handler. Like virtuoso's."
  {:style/indent 0}
  [& body]
  `(thread* (^:once fn* [] ~@body)))

(defmacro with-executor
  "Runs the body with `bind` bound to an executor that runs each task on a virtual thread, and
  waits for all tasks. Like virtuoso's: a thread that is interrupted while it waits interrupts
  the tasks, continues to wait, and stays interrupted.

      (with-executor [exe] @(future-via [exe] (+ 1 2)))
      ;=> 3"
  {:style/indent 1
   :arglists '([[bind] & body])}
  [bindings & body]
  (let [[bind] (check/bindings "with-executor" bindings "[name]"
                               (fn one? [[bind]] (and (simple-symbol? bind) (= 1 (count bindings)))))]
    `(with-open [~(with-meta bind {:tag `ExecutorService}) (Executors/newVirtualThreadPerTaskExecutor)]
       ~@body)))

(defn ^:no-doc submit
  "Runs `f` on `executor`. Returns a future; see `future-via`. Throws :skein/bad-argument."
  [executor f]
  (let [submitted (VirtualFuture. ^IFn (check/function "f of submit" f))]
    (try
      (.execute ^Executor (check/instance "executor of submit" executor Executor "an executor") submitted)
      (catch RejectedExecutionException e
        (throw (doto (RejectedExecutionException.
                       "The executor is closed and accepts no more tasks. Use it inside its with-executor.")
                 (.initCause e)))))
    submitted))

(defmacro future-via
  "Runs the body on an executor. Returns a future like that of `future`.

  Like virtuoso's. Throws RejectedExecutionException when the executor is closed, and
  :skein/bad-argument."
  {:style/indent 1
   :arglists '([[executor] & body])}
  [bindings & body]
  (let [[executor] (check/bindings "future-via" bindings "[executor]" (fn one? [v] (= 1 (count v))))]
    `(submit ~executor (^:once fn* [] ~@body))))

;;;; Maps

(def ^:private ^:const max-eager
  "How many items `map`, `for` and `pvalues` run at once; the rest wait until they are read."
  32768)

(defn process-by-one
  "Returns a lazy seq of the results of `f` on the items of `coll`, up to the first nil or false item.
  Its items are realized one at a time. Like virtuoso's. Differs: an item is not read before its turn."
  [f coll]
  (lazy-seq
    (when-let [x (first coll)]
      (cons (f x) (process-by-one f (rest coll))))))

(defn deref-by-one
  "Returns a lazy seq of the values of `futures`. Like virtuoso's."
  [futures]
  (process-by-one deref futures))

(defn- call-all
  "Calls each of the functions `calls` on a virtual thread. Returns their futures when all are
  done."
  [calls]
  (with-executor [exe]
    (mapv (fn start [call] (submit exe call)) calls)))

(defn- batches
  "Returns a lazy seq of the futures of `calls`, which run `n` at a time."
  [n calls]
  (lazy-seq
    (when (seq calls)
      (concat (call-all (take n calls)) (batches n (drop n calls))))))

(defn- calls-of
  "Returns a lazy seq of functions, each of which calls `f` with the items at one position of
  `colls`, up to the shortest, with the bindings in force now."
  [f colls]
  (run! (fn check [coll] (check/collection "coll" coll)) colls)
  (let [f (binding-conveyor-fn (check/function "f" f))]
    (apply clojure.core/map (fn call [& args] (fn [] (apply f args))) colls)))

(defn- eagerly
  "Returns a lazy seq of the values of `calls`, of which the first `max-eager` are done."
  [calls]
  (let [done (call-all (take max-eager calls))]
    (deref-by-one (concat done (batches max-eager (drop max-eager calls))))))

(defn map
  "Returns a lazy seq of the results of `f` on the items at each position of `colls`, up to the
  shortest. Each call runs on a virtual thread. Returns when all calls have ended. If a call threw, reading
  its item throws an ExecutionException with that exception as its cause.

  Like virtuoso's. Differs: at most 32768 calls run at once; as many again start when those have
  been read. Each may hold a socket: `pmap` has a limit. Throws
  :skein/bad-argument."
  [f coll & colls]
  (eagerly (calls-of f (cons coll colls))))

(defn fmap
  "Returns a lazy seq of finished futures of the calls of `f` on the items at each position of
  `colls`. Calls run `n` at a time: reading the first of `n` futures runs all `n`. Like virtuoso's. Differs:
  reading the last of `n` does not run the next `n`. The bindings are those of this call. Throws
  :skein/bad-argument."
  [n f coll & colls]
  (batches (check/whole "n" n 1 Integer/MAX_VALUE) (calls-of f (cons coll colls))))

(defn pmap
  "Returns a lazy seq of the results of `f` on the items at each position of `colls`. Calls run
  on virtual threads, `n` at a time; the next `n` run when one of them is read. Like virtuoso's; differs as
  `fmap` does.

      (pmap 2 + [1 2 3] [10 20 30])
      ;=> (11 22 33)"
  [n f coll & colls]
  (deref-by-one (apply fmap n f coll colls)))

(defn ^:no-doc call-each
  "Calls the functions `calls`; see `pvalues` and `for`."
  [calls]
  (eagerly (clojure.core/map binding-conveyor-fn calls)))

(defmacro pvalues
  "Returns a lazy seq of the values of `forms`, each evaluated on a virtual thread. Returns when
  all have ended. Like virtuoso's."
  {:style/indent 0}
  [& forms]
  `(call-each [~@(clojure.core/map (fn call [form] `(^:once fn* [] ~form)) forms)]))

(defmacro for
  "Like clojure.core/for, but each body runs on a virtual thread. Returns when all have ended. Like
  virtuoso's; differs as `map` does.

      (for [x [1 2] y [10 20]] (+ x y))
      ;=> (11 21 12 22)"
  {:style/indent 1}
  [bindings & body]
  (check/bindings "for" bindings "[name collection ...]" (fn pairs? [v] (even? (count v))))
  `(call-each (clojure.core/for ~bindings (^:once fn* [] ~@body))))
