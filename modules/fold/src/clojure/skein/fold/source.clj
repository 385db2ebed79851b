;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.source
  "Sources: what can be folded, and how it is divided.

  * `Source` is the protocol to extend to a type of your own
  * `indexed` returns a source for a function of an index
  * `reading` returns a source for a function that reads one element at a time

  There are three kinds of source. A Span can be reduced from any position to any other; it is the fastest, because several
  threads can read it at once. `indexed` returns one. A Feed returns blocks of elements in order. An IReduceInit pushes its
  elements, and is folded on one thread."
  (:require
   [skein.impl.check :as check]
   [skein.impl.once :refer [defprotocol-once deftype-once]])
  (:import
   (java.util Iterator NoSuchElementException)
   (java.util.function LongFunction)
   (skein.fold.memory Items Spans)))

(set! *warn-on-reflection* true)

(defprotocol-once Source
  "Extend this protocol to make your own type foldable."
  (-source [coll]
    "Returns how to fold `coll`: a skein.fold.spi.Span, a skein.fold.spi.Feed, a clojure.lang.IReduceInit, or
    another value that is a source."))

(defn indexed
  "Returns a source of `size` elements. (element-at i) returns the element at i. Throws :skein/bad-argument.

      (skein.fold/fold + (indexed 4 #(* 10 %)))
      ;=> 60

  - size        int >= 0
  - element-at  function of an int from 0 to size - 1; called by several threads"
  [size element-at]
  (check/whole "size of indexed" size 0 Integer/MAX_VALUE)
  (check/function "element-at of indexed" element-at)
  (Spans/ofIndexed (long size) (reify LongFunction (apply [_ i] (element-at i)))))

(deftype-once ^:private Reading [read-next! ^:unsynchronized-mutable ready ^:unsynchronized-mutable ended?]
  Iterator
  (hasNext [_]
    (when (and (nil? ready) (not ended?))
      (set! ready (read-next!))
      (set! ended? (nil? ready)))
    (not ended?))
  (next [this]
    (when-not (.hasNext this) (throw (NoSuchElementException.)))
    (let [x ready]
      (set! ready nil)
      x)))

(defn reading
  "Returns a source whose elements are the results of calls of `read-next!`, until it returns nil. Throws :skein/bad-argument.

  - read-next!  function of no argument; called by one thread at a time, not always the same

  Use it for a java.sql.ResultSet, a Reader's lines or a queue. The elements are read serially, up to 4096 ahead for each thread.
  The steps on them run in parallel, even while read-next! waits. When the fold has ended, a thread that is still in read-next!
  is interrupted.

      (with-open [in (clojure.java.io/reader (java.io.StringReader. \"a\\nbc\"))]
        (skein.fold/fold + (eduction (map count) (reading #(.readLine ^java.io.BufferedReader in)))))
      ;=> 3"
  [read-next!]
  (Items. (->Reading (check/function "read-next! of reading" read-next!) nil false) nil))
