;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual
  "Functions on virtual threads: virtuoso.v3's API, and more.

  * virtuoso's: `future` `thread` `map` `pmap` `fmap` `pvalues` `for` `with-executor`
    `future-via`
  * a sliding window: `wmap` `wrun!`
  * several at once: `race` `any` `all`
  * time and limits: `sleep` `with-timeout` `retry` `semaphore` `with-permit`

  All of them convey the caller's bindings. \"Like virtuoso's\" in a docstring means that the
  behaviour is that of virtuoso.v3 0.1.2, except for the differences that follow.
  For children that can't outlive their parent see skein.scope.

      (wmap 2 inc [1 2 3])
      ;=> (2 3 4)"
  (:refer-clojure :exclude [for future map pmap pvalues])
  (:require
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.virtual.contest :as contest]
   [skein.virtual.timing :as timing]
   [skein.virtual.window :as window])
  (:import
   (clojure.lang IFn)
   (java.util.concurrent Executor ExecutorService Executors RejectedExecutionException Semaphore)
   (skein.rt Channel)
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)))

(set! *warn-on-reflection* true)

(doseq [place ["virtual" "virtual.contest" "virtual.timing" "virtual.window"]]
  (Failures/addMachinery (str "skein." place "$"))) ; their frames are left out of stack traces

;;;; Futures and threads

(defmacro future
  "Runs the body on a virtual thread. Returns a CompletableFuture of its value.

  Like virtuoso's: if the body throws, deref throws an ExecutionException with that exception as
  its cause. Differs: `future-cancel` interrupts the thread. If nobody derefs a future that
  failed within a second, the uncaught-exception handler gets the exception.

      @(future (+ 1 2))
      ;=> 3"
  {:style/indent 0}
  [& body]
  `(VirtualFuture/start (^:once fn* [] ~@body)))

(defn ^:no-doc thread*
  "Calls `f` on a virtual thread. Returns the thread. See `thread`."
  ^Thread [f]
  (doto (VirtualFuture/thread (check/function "f of thread*" f)) .start))

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

(defn submit
  "Runs `f` on `executor`. Returns a future; see `future-via`. Throws :skein/bad-executor and
  :skein/not-a-function."
  [executor f]
  (let [submitted (VirtualFuture. ^IFn (check/function "f of submit" f))]
    (try
      (.execute ^Executor (check/instance :skein/bad-executor "executor of submit" executor Executor "an executor") submitted)
      (catch RejectedExecutionException e
        (throw (doto (RejectedExecutionException.
                       "The executor is closed and accepts no more tasks. Use it inside its with-executor.")
                 (.initCause e)))))
    submitted))

(defmacro future-via
  "Runs the body on an executor. Returns a future like that of `future`.

  Like virtuoso's. Throws RejectedExecutionException when the executor is closed, and
  :skein/bad-executor."
  {:style/indent 1
   :arglists '([[executor] & body])}
  [bindings & body]
  (let [[executor] (check/bindings "future-via" bindings "[executor]" (fn one? [v] (= 1 (count v))))]
    `(submit ~executor (^:once fn* [] ~@body))))

;;;; Maps of virtuoso

(def ^:const max-eager
  "How many items `map`, `for` and `pvalues` run at once; the rest wait until they are read."
  32768)

(def ^{:arglists '([f])} binding-conveyor-fn
  "Returns a function that calls `f` with the bindings that are in force now. Like virtuoso's, it is Clojure's own."
  @#'clojure.core/binding-conveyor-fn)

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

  Like virtuoso's. Differs: at most `max-eager` calls run at once; the next `max-eager` start when
  those have been read. Each may hold a socket: see `wmap` for a limit. Throws
  :skein/not-a-function and :skein/bad-collection."
  [f coll & colls]
  (eagerly (calls-of f (cons coll colls))))

(defn fmap
  "Returns a lazy seq of finished futures of the calls of `f` on the items at each position of
  `colls`. Calls run `n` at a time: reading the first of `n` futures runs all `n`. Like virtuoso's. Differs:
  reading the last of `n` does not run the next `n`. The bindings are those of this call. Throws
  :skein/bad-number, :skein/not-a-function and :skein/bad-collection."
  [n f coll & colls]
  (batches (check/whole "n" n 1 Integer/MAX_VALUE) (calls-of f (cons coll colls))))

(defn pmap
  "Returns a lazy seq of the results of `f` on the items at each position of `colls`. Calls run
  on virtual threads, `n` at a time; the next `n` run when one of them is read. Like virtuoso's; differs as
  `fmap` does. `wmap` does not wait for the slowest of `n` calls.

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

;;;; The sliding window

(defn wmap
  "Returns a lazy seq of the results of `f` on the items at each position of `colls`, up to the
  shortest. Calls run on virtual threads, at most `n` at once, and exactly `n` while input remains
  and results are read. Without `colls`, returns a transducer that does the same.

  - n    a number from 1, or a map of options:
    - :n         the number; by default half of the files that the process may still open, at
                 most 1024
    - :ordered?  true, the default: results are in the order of the input; false: in the order in
                 which calls end
    - :on-error  :throw, the default: the first exception ends all calls. No call starts after
                 it, and the other calls are interrupted. The exception, the same object, is
                 thrown when they have ended and the results before it have been read
                 :collect: each result is {:value x} or {:error exception}
    - :ahead     how many calls may have started whose results are not read, while the reader
                 waits for a slow one; by default 4n. Without such a wait the limit is n

  No call starts before the seq is read, and no item is read before its turn, so the input may
  be infinite or may block. One thread at a time reads it. A seq that nobody reads any more
  holds no thread. Throws :skein/bad-number, :skein/bad-option, :skein/not-a-function and
  :skein/bad-collection.
  For channels, and for computations, see doc/in-parallel.md.

      (wmap 4 inc (range 5))
      ;=> (1 2 3 4 5)

      (into [] (comp (wmap 4 inc) (filter even?)) (range 5))
      ;=> [2 4]"
  ([n f] (window/transducer (window/options "wmap" n) (check/function "f of wmap" f)))
  ([n f coll] (window/lazily (window/options "wmap" n) (check/function "f of wmap" f) (check/collection "coll of wmap" coll)))
  ([n f coll & colls]
   (let [colls (mapv (fn check [coll] (check/collection "coll of wmap" coll)) (cons coll colls))]
     (wmap n (partial apply (check/function "f of wmap" f)) (apply clojure.core/map list colls)))))

(defn wrun!
  "Calls `f` on the items of `coll` on virtual threads, `n` at a time, for effect. Returns nil
  when all have ended; with :on-error :collect, returns a vector of the exceptions. For `n` see
  `wmap`.

  The first exception ends all calls and is thrown when they have ended. Further exceptions are
  suppressed in it. An interrupted caller interrupts the calls and waits for them.

      (let [sum (atom 0)] (wrun! 4 #(swap! sum + %) (range 5)) @sum)
      ;=> 10"
  [n f coll]
  (window/run-all (window/options "wrun!" n) (check/function "f of wrun!" f) (check/collection "coll of wrun!" coll)))

;;;; Several functions at once

(defn race
  "Returns the value of the function that ends first, or throws its exception. Each
  function runs on a virtual thread. The others are interrupted, and `race` waits for their end.
  Throws :skein/not-a-function.

      (race (fn [] (Thread/sleep 60000) :slow) (fn [] :fast))
      ;=> :fast"
  [f & fs]
  (contest/race (cons f fs)))

(defn any
  "Returns the value of the first function that succeeds. If none does, throws the first
  exception, with the others suppressed in it. Otherwise like `race`.

      (any (fn [] (/ 1 0)) (fn [] :good))
      ;=> :good"
  [f & fs]
  (contest/any (cons f fs)))

(defn all
  "Returns a vector of the values of the functions, or throws the first exception. The other
  functions are then interrupted. Otherwise like `race`.

      (all (fn [] 1) (fn [] 2))
      ;=> [1 2]"
  [& fs]
  (contest/all fs))

;;;; Time and limits

(defmacro sleep
  "Waits for `ms` milliseconds, a number or a Duration, or not at all if that is below 1. A block parks, a
  thread blocks. Returns nil. The wait can be cancelled and interrupted. It takes no time in a simulation,
  which refuses Thread/sleep. Throws :skein/bad-number if `ms` is neither.

      (sleep 1)
      ;=> nil"
  {:style/indent 0}
  [ms]
  `(let [timer# (timing/timer ~ms)]
     (try (timing/await-timer timer#) (finally (.close timer#)))))

(defmacro with-timeout
  "Returns the value of the body. If the body has not ended in time, interrupts it where it blocks or parks,
  and throws :skein/timeout, a java.util.concurrent.TimeoutException.

  - ms-or-options  a number of milliseconds or a Duration; below 1 means at once. Or a map:
    - :timeout-ms  the time
    - :default     the value to return instead of throwing; it may be nil

  The body runs on this thread, with its bindings and locks, and `with-timeout` waits for its
  end. If the body returns a value in spite of the interrupt, returns that. Throws
  :skein/bad-number and :skein/bad-option.

      (with-timeout {:timeout-ms 1 :default :late} (Thread/sleep 60000))
      ;=> :late"
  {:style/indent 1}
  [ms-or-options & body]
  `(let [limit# (timing/begin ~ms-or-options)]
     (timing/end limit# (try (do ~@body) (catch Throwable t# (timing/failed limit# t#))))))

(defn retry
  "Returns the value of `(f)`. If the call throws, calls it again after a pause.

  options, a map:

  - :attempts        how many calls at most, by default 3
  - :backoff-ms      the pause after the first failure, by default 100. As all times here, it is a number of
                     milliseconds or a Duration
  - :factor          each pause is this factor times the pause before, by default 2
  - :max-backoff-ms  the longest pause, by default 10000
  - :jitter          the part of a pause that is random, from 0 to 1, by default 0.5
  - :timeout-ms      the longest time for all calls and pauses together. A call that is still
                     running then is interrupted; a pause that would end later does not start
  - :retry?          function of the exception that returns whether to try again; by default
                     it returns true for every Exception. An interrupted call is never retried

  Throws the last exception, with up to 32 earlier ones suppressed in it. When the time is up,
  throws :skein/timeout with the last exception as its cause. Throws :skein/bad-option,
  :skein/bad-number and :skein/not-a-function.

      (let [calls (atom 0)]
        (retry {:attempts 5 :backoff-ms 1} #(if (< (swap! calls inc) 3) (throw (ex-info \"no\" {})) @calls)))
      ;=> 3

  Source: exponential backoff with jitter, M. Brooker, AWS Architecture Blog, 2015."
  ([f] (retry {} f))
  ([options f] (timing/retry options f)))

(defn semaphore
  "Returns a fair java.util.concurrent.Semaphore of `n` permits, for `with-permit`. Throws
  :skein/bad-number."
  ^Semaphore [n]
  (Semaphore. (int (check/whole "n of semaphore" n 1 Integer/MAX_VALUE)) true))

(defn- check-semaphore ^Semaphore [what x]
  (when (instance? Channel x)
    (error/fail! :skein/bad-semaphore
                 (str what " must be a semaphore, but is a channel. For a limiter use with-permit of skein.async.limit.")
                 {:argument "semaphore" :value (error/preview x)}))
  (check/instance :skein/bad-semaphore what x Semaphore "a semaphore"))

(defn acquire
  "Takes a permit of the semaphore, and blocks until there is one; see `with-permit`."
  [semaphore]
  (.acquire (check-semaphore "semaphore of with-permit" semaphore)))

(defn release
  "Gives a permit back to the semaphore; see `with-permit`."
  [semaphore]
  (.release (check-semaphore "semaphore of release" semaphore)))

(defmacro with-permit
  "Takes a permit of `semaphore`, evaluates the body, and gives the permit back, even if the body
  throws. Blocks until there is a permit. Returns the body's value. Throws :skein/bad-semaphore.

      (let [s (semaphore 2)]
        (wrun! 4 (fn [_] (with-permit s :used)) (range 10))
        (.availablePermits s))
      ;=> 2"
  {:style/indent 1}
  [semaphore & body]
  `(let [s# ~semaphore]
     (acquire s#)
     (try ~@body (finally (release s#)))))
