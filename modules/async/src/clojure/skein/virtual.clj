;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual
  "Blocking calls on virtual threads.

  * `future` - one call
  * `pmap` `prun!` - a function on a collection, a number of calls at once
  * `race` `any` `all` - several functions at once
  * `sleep` `with-timeout` `retry` - time

  All of them convey the caller's bindings. For children that can't outlive their parent see skein.scope, and for limits
  that several calls share, skein.async.limit. skein.virtuoso, in the module compat, has the names of virtuoso.

      (pmap 2 inc [1 2 3])
      ;=> (2 3 4)"
  (:refer-clojure :exclude [future pmap])
  (:require
   [skein.impl.check :as check]
   [skein.virtual.contest :as contest]
   [skein.virtual.timing :as timing]
   [skein.virtual.window :as window])
  (:import
   (skein.rt.block Failures)
   (skein.rt.scope VirtualFuture)))

(set! *warn-on-reflection* true)

(doseq [place ["virtual" "virtual.contest" "virtual.timing" "virtual.window"]]
  (Failures/addMachinery (str "skein." place "$"))) ; their frames are left out of stack traces

(defmacro future
  "Runs the body on a virtual thread. Returns a CompletableFuture of its value.

  If the body throws, deref throws an ExecutionException with that exception as its cause.
  `future-cancel` interrupts the thread. If nobody derefs a future that failed
  within a second, the uncaught-exception handler gets the exception.

      @(future (+ 1 2))
      ;=> 3"
  {:style/indent 0}
  [& body]
  `(VirtualFuture/start (^:once fn* [] ~@body)))

;;;; A function on a collection

(defn pmap
  "Returns a lazy seq of the results of `f` on the items at each position of `colls`, up to the
  shortest. Calls run on virtual threads, at most `n` at once, and exactly `n` while input remains
  and results are read. Without `colls`, returns a transducer that does the same.

  - n-or-options  a number `n` from 1, or a map of options:
    - :n         the number; by default half of the files that the process may still open, at
                 most 1024
    - :ordered?  true, the default: results are in the order of the input; false: in the order in
                 which calls end
    - :on-error  :throw, the default: the first exception ends all calls. No call starts after
                 it, and the other calls are interrupted. The exception, the same object, is
                 thrown when they have ended and the results before it have been read
                 :collect: each result is {:value x} or {:error exception}
                 :report: the uncaught-exception handler gets the exception, and the item has no
                 result
                 a function of the exception and the item, or the list of the items at one
                 position of several `colls`: what it returns is the result, and what it throws
                 ends all calls
    - :ahead     how many calls may have started whose results are not read, while the reader
                 waits for a slow one; by default 4n. Without such a wait the limit is n

  No call starts before the seq is read, and no item is read before its turn, so the input may
  be infinite or may block. One thread at a time reads it. A seq that nobody reads any more
  holds no thread. Throws :skein/bad-argument.
  For channels, and for computations, see doc/in-parallel.md.

      (pmap 4 inc (range 5))
      ;=> (1 2 3 4 5)

      (into [] (comp (pmap 4 inc) (filter even?)) (range 5))
      ;=> [2 4]"
  ([n-or-options f]
   (window/transducer (window/options n-or-options) (check/function "f of pmap" f)))
  ([n-or-options f coll]
   (window/lazily (window/options n-or-options) (check/function "f of pmap" f) (check/collection "coll of pmap" coll)))
  ([n-or-options f coll & colls]
   (let [colls (mapv (fn check [coll] (check/collection "coll of pmap" coll)) (cons coll colls))]
     (pmap n-or-options (partial apply (check/function "f of pmap" f)) (apply map list colls)))))

(defn prun!
  "Calls `f` on the items of `coll` on virtual threads, `n` at a time, for effect. Returns nil
  when all have ended.

  - n-or-options  a number `n` from 1, or a map of options:
    - :n         the number; by default that of `pmap`
    - :on-error  :throw, the default: the first exception ends all calls and is thrown when they
                 have ended. Further exceptions are suppressed in it
                 :report: the uncaught-exception handler gets the exception
                 a function of the exception and the item; what it throws ends all calls

  An interrupted caller interrupts the calls and waits for them. Throws :skein/bad-argument.

      (let [sum (atom 0)] (prun! 4 #(swap! sum + %) (range 5)) @sum)
      ;=> 10"
  [n-or-options f coll]
  (window/run-all (window/run-options n-or-options) (check/function "f of prun!" f) (check/collection "coll of prun!" coll)))

;;;; Several functions at once

(defn race
  "Returns the value of the function that ends first, or throws its exception; for the first that succeeds see `any`. Each
  function runs on a virtual thread. The others are interrupted, and `race` waits for their end.
  Throws :skein/bad-argument.

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

;;;; Time

(defn sleep
  "Waits for `ms` milliseconds, a number or a Duration, or not at all if that is below 1. A block parks, a
  thread blocks. Returns nil. The wait can be cancelled and interrupted. It takes no time in a simulation,
  which refuses Thread/sleep. Throws :skein/bad-argument if `ms` is neither.

      (sleep 1)
      ;=> nil"
  {:skein.impl.go/op '{:expansion skein.virtual.timing/expand-sleep, :arity [1 1]}}
  [ms]
  (timing/sleep ms))

(defmacro with-timeout
  "Returns the value of the body. If the body has not ended in time, interrupts it where it blocks or parks,
  and throws :skein/timeout, a java.util.concurrent.TimeoutException.

  - ms-or-options  a number of milliseconds or a Duration; below 1 means at once. Or a map:
    - :timeout-ms  the time
    - :default     the value to return instead of throwing; it may be nil

  The body runs on this thread, with its bindings and locks, and `with-timeout` waits for its
  end. If the body returns a value in spite of the interrupt, returns that. Throws
  :skein/bad-argument.

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
  throws :skein/timeout with the last exception as its cause. Throws :skein/bad-argument.

      (let [calls (atom 0)]
        (retry {:attempts 5 :backoff-ms 1} #(if (< (swap! calls inc) 3) (throw (ex-info \"no\" {})) @calls)))
      ;=> 3

  Source: exponential backoff with jitter, M. Brooker, AWS Architecture Blog, 2015."
  ([f] (retry {} f))
  ([options f] (timing/retry options f)))
