;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.kinds
  "Which kind of source a value is: `source` `remote?` `extended?`, and the protocol `Remote`.

  skein.fold.source lists the kinds that a fold reads itself. A Remote runs the fold elsewhere, such as on a cluster."
  {:no-doc true}
  (:require
   [clojure.core.protocols :as protocols]
   [skein.fold.source :refer [-source Source indexed]]
   [skein.impl.error :as error]
   [skein.impl.once :refer [defprotocol-once]])
  (:import
   (clojure.lang APersistentVector$SubVector IPersistentVector IReduceInit ISeq LazySeq LongRange PersistentVector Range Seqable)
   (java.util Iterator List Map RandomAccess Spliterator Spliterators)
   (java.util.function LongFunction)
   (java.util.stream BaseStream)
   (skein.base Internals)
   (skein.fold.memory Items Spans)
   (skein.fold.spi Feed Span)))

(set! *warn-on-reflection* true)

(defprotocol-once Remote
  "A source whose elements are elsewhere, such as on a cluster. The fold is sent to them. The source checks the fold `f`, a map, and
  the options, which are its own."
  (-fold [source opts f] "Returns the value of the fold, before :complete.")
  (-explain [source opts f] "Returns a map that says how the fold ran, with that value under :value."))

(defn remote?
  "Returns whether `source` is a Remote, which runs folds itself."
  [source]
  (instance? skein.fold.kinds.Remote source))

(defn extended?
  "Returns whether a protocol, by default `Source`, was extended to the type of `coll`, and not only to Object. A type that
  extends `Source` must be folded through it and in no other way."
  ([coll] (extended? Source coll))
  ([protocol coll]
   (not (identical? (find-protocol-impl protocol coll) (get-in protocol [:impls Object])))))

(defn- not-foldable! [coll]
  (error/fail! :skein/bad-argument
               (str "Can't fold a " (.getName (class coll)) ". Sources are vectors, maps, sets, ranges, sequences, arrays, "
                    "strings, every Iterable, Iterator, Spliterator and Stream, types that reduce themselves (IReduceInit, CollReduce), "
                    "files (see skein.fold.lines), and types that extend skein.fold.source/Source.")
               {:class (.getName (class coll)), :value (error/preview coll)}))

(defn- range-span [^LongRange r]
  (let [start (long (.first r))
        after (.next r)]
    (Spans/ofRange start (if after (- (long (.first after)) start) 1) (.count r))))

(defn- long-range-span
  "Returns a span of the longs of a range that is too long for a LongRange. Returns nil if it has numbers of other kinds, or more
  than a long can count."
  [^Range r]
  (let [[start end step :as all] (mapv #(Internals/closedOver r %) ["start" "end" "step"])]
    (when (every? #(instance? Long %) all)
      ;; Unsigned, since the two ends may be further apart than the greatest long.
      (let [length (if (pos? (long step)) (unchecked-subtract (long end) (long start)) (unchecked-subtract (long start) (long end)))
            size (unchecked-inc (Long/divideUnsigned (unchecked-dec length) (Math/abs (long step))))]
        (when (pos? size) (Spans/ofRange start step size))))))

(defn- subvec-span [^APersistentVector$SubVector v]
  (if (instance? PersistentVector (.v v))
    (Spans/ofVector (.v v) (.start v) (.end v))
    (indexed (count v) #(nth v %))))

(defn- text-span [^CharSequence text]
  (Spans/ofIndexed (.length text) (reify LongFunction (apply [_ i] (.charAt text (unchecked-int i))))))

(defn- list-span [^List items]
  (Spans/ofIndexed (.size items) (reify LongFunction (apply [_ i] (.get items (unchecked-int i))))))

(defn- stream-feed [^BaseStream stream]
  (Items. (.iterator stream) stream))

(defn- reducible [coll]
  (reify IReduceInit
    (reduce [_ f init] (protocols/coll-reduce coll f init))))

(defn- open-source
  "Returns the source for a `coll` whose type does not extend `Source`."
  [coll]
  (condp instance? coll
    LongRange (range-span coll)
    APersistentVector$SubVector (subvec-span coll)
    Span coll
    Feed coll
    IPersistentVector (indexed (count coll) #(nth coll %))
    CharSequence (text-span coll)
    Range (or (long-range-span coll) (Items/ofSeq coll))
    ISeq (Items/ofSeq coll)
    LazySeq (Items/ofSeq coll)
    RandomAccess (list-span coll)
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
  "Returns the Span, Feed, IReduceInit or Remote for `coll`. Throws :skein/bad-argument.

  `skein.fold/fold` unwraps an eduction, so that its transducers run in parallel too. For this function an eduction is a
  collection that reduces itself."
  [coll]
  ;; Small folds are mostly of vectors, and calling the protocol would cost a noticeable part of their time.
  (if (instance? PersistentVector coll)
    (Spans/ofVector coll 0 (count coll))
    (let [found (-source coll)]
      (cond
        (or (instance? Span found) (instance? Feed found) (instance? IReduceInit found) (remote? found)) found
        (identical? found coll) (not-foldable! coll)
        :else (recur found)))))
