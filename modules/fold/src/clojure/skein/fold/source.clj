;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.source
  "What can be folded, and how it is divided.

  * `Source` is the protocol to extend to a type of your own
  * `source` finds the source in any of the types known here
  * `reading` makes a source of a function that reads one element after the other

  There are three kinds of source: a Span can be reduced from any position to any other; a Feed hands out blocks of
  elements in order; an IReduceInit pushes its elements. The first kind needs nobody to produce elements, so it
  is the fastest; the last is folded on one thread. `indexed` makes a Span of a function."
  (:require
   [clojure.core.protocols :as protocols]
   [skein.impl.check :as check]
   [skein.impl.error :as error])
  (:import
   (clojure.lang APersistentVector$SubVector IPersistentVector IReduceInit ISeq LazySeq LongRange PersistentVector Range Seqable)
   (java.util Iterator List Map NoSuchElementException RandomAccess Spliterator Spliterators)
   (java.util.function LongFunction)
   (java.util.stream BaseStream)
   (skein.fold.memory Items Spans)
   (skein.fold.spi Feed Span)))

(set! *warn-on-reflection* true)

(defprotocol Source
  "Extend it to make your own type foldable."
  (-source [coll]
    "Returns how to fold `coll`: a skein.fold.spi.Span, a skein.fold.spi.Feed, a clojure.lang.IReduceInit, or
    another value that is a source."))

(defprotocol Remote
  "A source whose elements are elsewhere, such as on a cluster: the fold is taken to them."
  (-fold [source opts f]
    "Returns the fold `f`, a map, of the source, not yet post-processed. opts are those of skein.fold/fold, or nil."))

(defn remote?
  "Returns whether `source` is folded by itself, elsewhere."
  [source]
  (instance? skein.fold.source.Remote source))

(defn extended?
  "Whether a protocol was extended to the type of `coll`, rather than to all objects; the protocol is `Source` if none is given.
  A type that `Source` was extended to is to be folded in that way and no other."
  ([coll] (extended? Source coll))
  ([protocol coll]
   (not (identical? (find-protocol-impl protocol coll) (get-in protocol [:impls Object])))))

(defn- not-foldable! [coll]
  (error/fail! :skein/not-foldable
               (str "Can't fold a " (.getName (class coll)) ". Sources are vectors, maps, sets, ranges, sequences, arrays, "
                    "strings, every Iterable, Iterator, Spliterator and Stream, whatever reduces itself (IReduceInit, CollReduce), "
                    "files by way of skein.fold.lines, and types that extend skein.fold.source/Source.")
               {:class (.getName (class coll)), :value (error/preview coll)}))

(defn indexed
  "Returns a source of `size` elements, of which (element-at i) gives the one at i.

  size        int >= 0, else :skein/bad-number is thrown
  element-at  function of an int from 0 to size - 1; called by several threads

      (skein.fold/fold + (indexed 4 #(* 10 %)))
      ;=> 60"
  [size element-at]
  (check/whole "size of indexed" size 0 Integer/MAX_VALUE)
  (check/function "element-at of indexed" element-at)
  (Spans/ofIndexed (long size) (reify LongFunction (apply [_ i] (element-at i)))))

(deftype ^:private Reading [read-next! ^:unsynchronized-mutable ready ^:unsynchronized-mutable ended?]
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
  "Returns a source of what `read-next!` returns, call by call, until it returns nil.

  read-next!  function of no argument; called by one thread at a time, not always the same

  For a java.sql.ResultSet, a Reader's lines, a queue. The elements are produced serially, up to 4096 ahead for each thread;
  the steps on them run in parallel. While read-next! waits, what it has returned before is stepped on; when the fold has
  ended, its thread is interrupted.

      (with-open [in (clojure.java.io/reader (java.io.StringReader. \"a\\nbc\"))]
        (skein.fold/fold + (eduction (map count) (reading #(.readLine ^java.io.BufferedReader in)))))
      ;=> 3"
  [read-next!]
  (Items. (->Reading (check/function "read-next! of reading" read-next!) nil false) nil))

(defn- range-span [^LongRange r]
  (let [start (long (.first r))
        after (.next r)]
    (Spans/ofRange start (if after (- (long (.first after)) start) 1) (.count r))))

(defn- subvec-span [^APersistentVector$SubVector v]
  (if (instance? PersistentVector (.v v))
    (Spans/ofVector (.v v) (.start v) (.end v))
    (indexed (count v) #(nth v %))))

(defn- stream-feed [^BaseStream stream]
  (Items. (.iterator stream) stream))

(defn- reducible [coll]
  (reify IReduceInit
    (reduce [_ f init] (protocols/coll-reduce coll f init))))

(defn- open-source
  "Returns the source of a `coll` whose type has no entry of its own in the protocol."
  [coll]
  (condp instance? coll
    LongRange (range-span coll)
    APersistentVector$SubVector (subvec-span coll)
    Span coll
    Feed coll
    IPersistentVector (indexed (count coll) #(nth coll %))
    CharSequence (Spans/ofText coll)
    Range (or (Spans/ofRange ^Range coll) (Items/ofSeq coll))
    ISeq (Items/ofSeq coll)
    LazySeq (Items/ofSeq coll)
    RandomAccess (Spans/ofList ^List coll)
    BaseStream (stream-feed coll)
    Iterable (Items. (.iterator ^Iterable coll) nil)
    Iterator (Items. coll nil)
    Map (Items. (.iterator (.entrySet ^Map coll)) nil)
    Spliterator (Items. (Spliterators/iterator ^Spliterator coll) nil)
    Seqable (Items/ofSeq coll)
    IReduceInit coll
    (or (Spans/ofArray coll)
        (when (extended? protocols/CollReduce coll) (reducible coll))
        (not-foldable! coll))))

(extend-protocol Source
  nil
  (-source [_] (Spans/ofArray (object-array 0)))
  Object
  (-source [coll] (open-source coll)))

(defn source
  "Returns the Span, Feed, IReduceInit or Remote of `coll`. Throws :skein/not-foldable.

  An eduction is unwrapped by `skein.fold/fold`, so that its transducers run in parallel too; here it is
  a collection that reduces itself."
  [coll]
  ;; Small folds are mostly of vectors, and would feel the protocol.
  (if (instance? PersistentVector coll)
    (Spans/ofVector coll 0 (count coll))
    (let [found (-source coll)]
      (cond
        (or (instance? Span found) (instance? Feed found) (instance? IReduceInit found) (remote? found)) found
        (identical? found coll) (not-foldable! coll)
        :else (recur found)))))
