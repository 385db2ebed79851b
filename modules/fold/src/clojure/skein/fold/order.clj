;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.order
  "Which transducers need their elements in order: `needs-order?` `first-ordered`.

  A transducer is an opaque function. To find out whether it keeps state, it is applied to a step twice. Objects that only one
  of the two reducing functions closes over, directly or through other functions, are its state. So is a mutable field. State
  that both share, such as an atom for statistics, existed before; it must be safe for several threads."
  {:no-doc true}
  (:import
   (clojure.lang AFn AFunction RestFn)
   (java.lang ClassValue)
   (java.lang.reflect Field InaccessibleObjectException Modifier)
   (java.util.concurrent.atomic AtomicInteger AtomicLong)
   (skein.base Internals)
   (skein.fold.engine Fold)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-depth 8)

(defn- accessible
  "Returns `field`, or nil if it can't be read because it belongs to the JDK."
  [^Field field]
  (try (.setAccessible field true) field
       (catch InaccessibleObjectException _ nil)))

;; The fields of a class that hold an instance's state; nil for one that can't be read.
(def ^:private ^ClassValue fields
  (proxy [ClassValue] []
    (computeValue [c]
      (vec (for [c (take-while #(not (contains? #{nil AFunction AFn RestFn} %)) (iterate #(.getSuperclass ^Class %) c))
                 ^Field field (.getDeclaredFields ^Class c)
                 :when (not (Modifier/isStatic (.getModifiers field)))]
             (accessible field))))))

(defn- differ?
  "Returns whether two functions made in the same way hold objects that they do not share."
  [one two depth]
  (cond
    (identical? one two) false
    (not (identical? (class one) (class two))) true
    (or (instance? AtomicLong one) (instance? AtomicInteger one)) true
    (or (number? one) (string? one) (boolean? one) (char? one)) (not (.equals ^Object one two))
    (or (not (ifn? one)) (coll? one) (= max-depth depth)) true
    ;; A closure's fields are not final either, but no code can set them.
    :else (let [closure? (or (fn? one) (Internals/isReify (class one)))]
            (boolean (some (fn field-differs? [^Field field]
                             (or (nil? field)
                                 (not (or closure? (Modifier/isFinal (.getModifiers field))))
                                 (differ? (.get field one) (.get field two) (inc (long depth)))))
                           (.get fields (class one)))))))

;; The classes of transducers without state. These are not inspected: that would take longer than waking a helper.
(def ^:private stateless (into #{} (map class) [(map identity) (filter identity) (keep identity) cat]))
(def ^:private halt-when-class (class (halt-when identity)))
(def ^:private take-while-class (class (take-while identity)))

(defn needs-order?
  "Returns whether the transducer `xform` needs its elements in order. `made` is its result for `next`."
  [xform made next]
  ;; halt-when keeps no state, but its result replaces the value of the whole fold.
  (and (not (contains? stateless (class xform)))
       (or (identical? halt-when-class (class xform))
           (differ? made (xform next) 0))))

(defn first-ordered
  "Returns the index of the first of the transducers `stages`, in front of `step`, that :ordered? false does not allow, or nil. It does not
  allow those that need order, nor take-while, which may end the fold because of an element."
  [^objects stages step]
  (loop [i (dec (alength stages)), next step, found nil]
    (if (neg? i)
      found
      (let [stage (aget stages i)
            made (stage next)
            ordered? (or (identical? take-while-class (class stage)) (needs-order? stage made next))]
        (recur (dec i) made (if ordered? i found))))))

(Fold/setOrder needs-order?)
