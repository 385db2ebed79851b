;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.primitive
  "What clojure.core's functions on numbers do to unboxed ones, so that a fold over a primitive array or a range runs
  without boxing. A function that is hinted, as in (fn ^long [^long x] …), needs no entry.

  Every function here gives what its original gives, or throws what it throws, for longs or doubles."
  (:import (skein.fold.rt Primitives)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* false)

(def ^:private known
  "From a function of clojure.core to its hinted forms."
  {inc [(fn ^long [^long x] (inc x)) (fn ^double [^double x] (inc x))]
   dec [(fn ^long [^long x] (dec x)) (fn ^double [^double x] (dec x))]
   - [(fn ^long [^long x] (- x)) (fn ^double [^double x] (- x))]
   unchecked-inc [(fn ^long [^long x] (unchecked-inc x))]
   unchecked-dec [(fn ^long [^long x] (unchecked-dec x))]
   long [(fn ^long [^long x] x)]
   double [(fn ^double [^long x] (double x)) (fn ^double [^double x] x)]
   even? [(fn [^long x] (zero? (bit-and x 1)))]
   odd? [(fn [^long x] (not (zero? (bit-and x 1))))]
   pos? [(fn [^long x] (pos? x)) (fn [^double x] (pos? x))]
   neg? [(fn [^long x] (neg? x)) (fn [^double x] (neg? x))]
   zero? [(fn [^long x] (zero? x)) (fn [^double x] (zero? x))]
   + [(fn ^long [^long a ^long b] (+ a b)) (fn ^double [^double a ^double b] (+ a b))]
   * [(fn ^long [^long a ^long b] (* a b)) (fn ^double [^double a ^double b] (* a b))]
   unchecked-add [(fn ^long [^long a ^long b] (unchecked-add a b))]
   bit-and [(fn ^long [^long a ^long b] (bit-and a b))]
   bit-or [(fn ^long [^long a ^long b] (bit-or a b))]
   bit-xor [(fn ^long [^long a ^long b] (bit-xor a b))]})

(def ^:private choosing
  "As `known`, of functions that return one of their arguments."
  {max [(fn ^long [^long a ^long b] (max a b))]
   min [(fn ^long [^long a ^long b] (min a b))]})

(doseq [[f hinted] known]
  (Primitives/know f hinted))
(doseq [[f hinted] choosing]
  (Primitives/knowChoosing f hinted))
