;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual
  "Functions on virtual threads: virtuoso.v3's API, and what it lacks.

  * virtuoso's: `future` `thread` `map` `pmap` `fmap` `pvalues` `for` `with-executor`
    `future-via`
  * a sliding window: `wmap` `wrun!`
  * several at once: `race` `any` `all`
  * time and limits: `sleep` `with-timeout` `retry` `semaphore` `with-permit`

      (wmap 2 inc [1 2 3])
      ;=> (2 3 4)

  All see the bindings of where they are called. Where a docstring says \"As
  virtuoso's\", behaviour is that of virtuoso.v3 0.1.2, and what differs follows.
  For children that can't outlive their parent see skein.scope."
  (:refer-clojure :exclude [for future map pmap pvalues])
  (:require
   [skein.impl.check :as check]
   [skein.virtual.contest :as contest]
   [skein.virtual.descriptors :as descriptors]
   [skein.virtual.timing :as timing]
   [skein.virtual.window :as window])
  (:import
   (clojure.lang IFn)
   (java.util.concurrent Executor ExecutorService Executors RejectedExecutionException Semaphore)
   (skein.rt.scope VirtualFuture)
   (skein.rt.watch Failures)))

(set! *warn-on-reflection* true)

(doseq [place ["virtual" "virtual.contest" "virtual.descriptors" "virtual.timing" "virtual.window"]]
  (Failures/addMachinery (str "skein." place "$"))) ; say nothing about the user's code in a stack trace

;;;; Futures and threads

(defmacro future
  "Runs the body on a virtual thread. Returns a CompletableFuture of its value.

  As virtuoso's: deref throws an ExecutionException with the exception as its cause.
  Differs: `future-cancel` interrupts the thread; an exception that nobody asks for goes
  to the uncaught-exception handler, once, when the future is garbage.

      @(future (+ 1 2))
      ;=> 3"
  {:style/indent 0}
  [& body]
  `(VirtualFuture/start (^:once fn* [] ~@body)))

(defn ^:no-doc thread*
  "Calls `f` on a virtual thread, which is returned. See `thread`."
  ^Thread [f]
  (doto (VirtualFuture/thread (check/function "f of thread*" f)) .start))

(defmacro thread
  "Runs the body on a virtual thread, which is returned. Its value is discarded, and an
  exception goes to the uncaught-exception handler. As virtuoso's."
  {:style/indent 0}
  [& body]
  `(thread* (^:once fn* [] ~@body)))

(defmacro with-executor
  "Runs the body with `bind` bound to an executor that gives each of its tasks a virtual
  thread, and waits for all of them. As virtuoso's: a thread that is interrupted while it
  waits interrupts the tasks, waits on, and stays interrupted.

      (with-executor [exe] @(future-via [exe] (+ 1 2)))
      ;=> 3"
  {:style/indent 1
   :arglists '([[bind] & body])}
  [bindings & body]
  (let [[bind] (check/bindings "with-executor" bindings "[name]"
                               (fn one? [[bind]] (and (simple-symbol? bind) (= 1 (count bindings)))))]
    `(with-open [~(with-meta bind {:tag `ExecutorService}) (Executors/newVirtualThreadPerTaskExecutor)]
       ~@body)))

(defn submit
  "Runs `f` on `executor`. Returns a future; see `future-via`."
  [executor f]
  (let [submitted (VirtualFuture. ^IFn (check/function "f of submit" f))]
    (try
      (.execute ^Executor (check/instance :skein/bad-executor "executor of submit" executor Executor "an executor") submitted)
      (catch RejectedExecutionException e
        (throw (doto (RejectedExecutionException.
                       "The executor is closed and takes no more: use it inside its with-executor.")
                 (.initCause e)))))
    submitted))

(defmacro future-via
  "Runs the body on an executor. Returns a future like that of `future`.

  As virtuoso's. Throws RejectedExecutionException when the executor is closed."
  {:style/indent 1
   :arglists '([[executor] & body])}
  [bindings & body]
  (let [[executor] (check/bindings "future-via" bindings "[executor]" (fn one? [v] (= 1 (count v))))]
    `(submit ~executor (^:once fn* [] ~@body))))

;;;; Maps of virtuoso

(def ^:const max-eager
  "How many items `map` and its kin run at once; the rest waits until it is read."
  32768)

(def ^{:arglists '([f])} binding-conveyor-fn
  "Returns `f` with the bindings of this call. Clojure's own, as virtuoso's."
  @#'clojure.core/binding-conveyor-fn)

(defn process-by-one
  "Returns a lazy seq of `f` of the items of `coll` up to the first that is nil or false,
  realized one at a time. As virtuoso's. Differs: an item is not read before its turn."
  [f coll]
  (lazy-seq
    (when-let [x (first coll)]
      (cons (f x) (process-by-one f (rest coll))))))

(defn deref-by-one
  "Returns a lazy seq of the values of `futures`. As virtuoso's."
  [futures]
  (process-by-one deref futures))

(defn- call-all
  "Calls `calls`, functions, on a virtual thread each; returns their futures when all are done."
  [calls]
  (with-executor [exe]
    (mapv (fn start [call] (submit exe call)) calls)))

(defn- batches
  "A lazy seq of the futures of `calls`, run `n` at a time."
  [n calls]
  (lazy-seq
    (when (seq calls)
      (concat (call-all (take n calls)) (batches n (drop n calls))))))

(defn- calls-of
  "A lazy seq of functions: `f` of the items at each place of `colls`, up to the shortest,
  with the bindings of now."
  [f colls]
  (run! (fn check [coll] (check/collection "coll" coll)) colls)
  (let [f (binding-conveyor-fn (descriptors/explaining (check/function "f of map" f)))]
    (apply clojure.core/map (fn call [& args] (fn [] (apply f args))) colls)))

(defn- eagerly
  "The values of `calls`, of which the first `max-eager` are done."
  [calls]
  (let [done (call-all (take max-eager calls))]
    (deref-by-one (concat done (batches max-eager (drop max-eager calls))))))

(defn map
  "Returns a lazy seq of `f` of the items at each place of `colls`, up to the shortest,
  each called on a virtual thread. Returns when all calls have ended; an exception comes
  where its item is read, as the cause of an ExecutionException.

  As virtuoso's. Differs: of a longer or infinite input `max-eager` items are called
  at once, and so many again whenever those have been read. Each may hold a socket: see
  `wmap` for a bound."
  [f coll & colls]
  (eagerly (calls-of f (cons coll colls))))

(defn fmap
  "Returns a lazy seq of finished futures of `f` of the items at each place of `colls`,
  `n` at a time: the first of them that is read runs them all. As virtuoso's. Differs: the
  last of them may be read without running the next; bindings are those of the call."
  [n f coll & colls]
  (batches (check/whole "n of fmap" n 1 Integer/MAX_VALUE) (calls-of f (cons coll colls))))

(defn pmap
  "Returns a lazy seq of `f` of the items at each place of `colls`, called on virtual
  threads `n` at a time, and the next `n` when one of those is read. As virtuoso's;
  differs as `fmap` does. See `wmap` for one that waits for no slowest item.

      (pmap 2 + [1 2 3] [10 20 30])
      ;=> (11 22 33)"
  [n f coll & colls]
  (deref-by-one (apply fmap n f coll colls)))

(defn ^:no-doc call-each
  "Calls the functions `calls`; see `pvalues` and `for`."
  [calls]
  (eagerly (clojure.core/map (fn call [f] (binding-conveyor-fn (descriptors/explaining f))) calls)))

(defmacro pvalues
  "Returns a lazy seq of the values of `forms`, evaluated on a virtual thread each; all have
  ended when it returns. As virtuoso's."
  {:style/indent 0}
  [& forms]
  `(call-each [~@(clojure.core/map (fn call [form] `(^:once fn* [] ~form)) forms)]))

(defmacro for
  "As clojure.core/for, with each body on a virtual thread; all have ended when it returns.
  As virtuoso's; differs as `map` does.

      (for [x [1 2] y [10 20]] (+ x y))
      ;=> (11 21 12 22)"
  {:style/indent 1}
  [bindings & body]
  (check/bindings "for" bindings "[name collection ...]" (fn pairs? [v] (even? (count v))))
  `(call-each (clojure.core/for ~bindings (^:once fn* [] ~@body))))

;;;; The sliding window

(defn wmap
  "Returns a lazy seq of `f` of the items at each place of `colls`, up to the shortest,
  called on virtual threads: `n` at a time while input remains and results are wanted,
  and never more. Without `colls`, a transducer that does so.

  n    a number from 1, or a map of options:
    :n         the number; by default half of the files that the process may still open,
               1024 at most
    :ordered?  true: results come in the order of the input; false: as they are done
    :on-error  :throw: the first exception ends all: no item is begun after it, the other
               calls are interrupted, and it is thrown, the same object, when they have
               ended and what precedes it has been read
               :collect: each result is {:value x} or {:error exception}
    :ahead     how many items may be begun and not read while the reader waits for a slow
               one, by default 4n; while the reader does not wait, n may

  Nothing is called before the seq is read, and no item is read before its turn, so that
  the input may be infinite or block; a thread pulls it, one item at a time. A seq that
  nobody reads on holds no thread. Throws :skein/too-many-open-files when the system
  refuses a socket. For channels, and for what computes, see doc/in-parallel.md.

      (wmap 4 inc (range 5))
      ;=> (1 2 3 4 5)

      (into [] (comp (wmap 4 inc) (filter even?)) (range 5))
      ;=> [2 4]"
  ([n f] (window/transducer (window/options n) (check/function "f of wmap" f)))
  ([n f coll] (window/lazily (window/options n) (check/function "f of wmap" f) (check/collection "coll of wmap" coll)))
  ([n f coll & colls]
   (let [colls (mapv (fn check [coll] (check/collection "coll of wmap" coll)) (cons coll colls))]
     (wmap n (partial apply (check/function "f of wmap" f)) (apply clojure.core/map list colls)))))

(defn wrun!
  "Calls `f` on the items of `coll` on virtual threads, `n` at a time, for effect. Returns nil
  when all have ended; with :on-error :collect, a vector of the exceptions. For `n` see
  `wmap`.

  The first exception ends all and is thrown when they have ended, with other failures
  suppressed. An interrupted caller interrupts the calls and waits for them.

      (let [sum (atom 0)] (wrun! 4 #(swap! sum + %) (range 5)) @sum)
      ;=> 10"
  [n f coll]
  (window/run-all (window/options n) (check/function "f of wrun!" f) (check/collection "coll of wrun!" coll)))

;;;; Several functions at once

(defn race
  "Returns the value of the first of the functions to end, or throws its exception. Each runs on
  a virtual thread; the others are interrupted, and have ended when it returns.

      (race (fn [] (Thread/sleep 60000) :slow) (fn [] :fast))
      ;=> :fast"
  [f & fs]
  (contest/race (cons f fs)))

(defn any
  "Returns the value of the first of the functions that succeeds; if none does, throws the
  first exception, with the others suppressed. Otherwise as `race`.

      (any (fn [] (/ 1 0)) (fn [] :good))
      ;=> :good"
  [f & fs]
  (contest/any (cons f fs)))

(defn all
  "Returns a vector of the values of the functions, or throws the first exception, whose
  others are then interrupted. Otherwise as `race`.

      (all (fn [] 1) (fn [] 2))
      ;=> [1 2]"
  [& fs]
  (contest/all fs))

;;;; Time and limits

(defmacro sleep
  "Waits for `delay-ms` milliseconds, a whole number from 0: a block parks, a thread blocks. Returns
  nil. It can be cancelled and interrupted, and takes no time in a simulation, where Thread/sleep
  is refused. Throws :skein/bad-number.

      (sleep 1)
      ;=> nil"
  {:style/indent 0}
  [delay-ms]
  `(let [timer# (timing/timer ~delay-ms)]
     (try (timing/await-timer timer#) (finally (.close timer#)))))

(defmacro with-timeout
  "Returns the value of the body, or throws :skein/timeout if it has not ended after
  `delay-ms`: the body is interrupted where it blocks, or in a block where it is parked.

  It runs on this thread, so that it sees all bindings and locks, and is waited for. A
  body that ends in spite of the interrupt returns its value. Throws :skein/bad-number.

      (try (with-timeout 1 (Thread/sleep 60000))
           (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e))))
      ;=> :skein/timeout"
  {:style/indent 1}
  [delay-ms & body]
  `(let [limit# (timing/begin ~delay-ms)]
     (timing/end limit# (try (do ~@body) (catch Throwable t# (timing/failed limit# t#))))))

(defn retry
  "Returns the value of `(f)`, called again after a pause when it throws.

  options, a map:
    :attempts        how many calls at most, by default 3
    :backoff-ms      the pause after the first failure, by default 100
    :factor          by which each pause is longer than the one before, by default 2
    :max-backoff-ms  the longest pause, by default 10000
    :jitter          the part of a pause that is random, from 0 to 1, by default 0.5
    :deadline-ms     how long all may take: a call is interrupted then, and no pause is
                     begun that would not end before
    :retry?          function of the exception, whether to try again; by default it is
                     true of every Exception. An interrupt is never tried again.

  Throws the last exception, with the 32 before it suppressed, or :skein/timeout with it
  as the cause.

      (let [calls (atom 0)]
        (retry {:attempts 5 :backoff-ms 1} #(if (< (swap! calls inc) 3) (throw (ex-info \"no\" {})) @calls)))
      ;=> 3

  Source: exponential backoff with jitter, M. Brooker, AWS Architecture Blog, 2015."
  [options f]
  (timing/retry options f))

(defn semaphore
  "Returns a java.util.concurrent.Semaphore of `n` permits, given in the order of asking, for
  `with-permit`."
  ^Semaphore [n]
  (Semaphore. (int (check/whole "n of semaphore" n 1 Integer/MAX_VALUE)) true))

(defn- check-semaphore ^Semaphore [x]
  (check/instance :skein/bad-semaphore "semaphore" x Semaphore "a semaphore"))

(defn acquire
  "Takes a permit of the semaphore, blocking until there is one; see `with-permit`."
  [semaphore]
  (.acquire (check-semaphore semaphore)))

(defn release
  "Gives a permit of the semaphore back; see `with-permit`."
  [semaphore]
  (.release (check-semaphore semaphore)))

(defmacro with-permit
  "Evaluates the body while it holds a permit of `semaphore`, which is given back however
  the body ends. Blocks until there is one.

      (let [s (semaphore 2)]
        (wrun! 4 (fn [_] (with-permit s :used)) (range 10))
        (.availablePermits s))
      ;=> 2"
  {:style/indent 1}
  [semaphore & body]
  `(let [s# ~semaphore]
     (acquire s#)
     (try ~@body (finally (release s#)))))
