;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.parts
  "Folds made of folds: several in one pass, and one for each key.

  While a stretch of the source is reduced, the values of the parts lie in an array or in cells; at its end they become plain data, so that a
  partial result can leave the process. A part that has had enough (its step returned a reduced value) is left alone
  from then on, in its own stretch and in those to the right; `Stopped` marks it."
  {:no-doc true}
  (:require
   [skein.fold.run :as run]
   [skein.impl.once :refer [defrecord-once]])
  (:import
   (skein.fold.engine Stages)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defrecord-once Stopped [value])

(defn identity-of
  "Returns the function of no argument that returns a fold's first value."
  [f]
  (or (:identity f) (:combine f)))

(defn rf-of
  "Returns a fresh reducing function of a fold: its transducer applied to its step, with an arity that completes."
  [f]
  (let [step (:step f)
        step (if (Stages/hasArityOne step) step (completing step))]
    (if-let [xform (:xform f)] (xform step) step)))

(defn completed
  "Returns a fold's value after :complete."
  [f value]
  ((or (:complete f) identity) (if (instance? Stopped value) (:value value) value)))

(defn- ended
  "Returns the value of one part at the end of a range, as data."
  [rf acc]
  (if (reduced? acc)
    (Stopped. (rf (unreduced acc)))
    (rf acc)))

(defn- combined
  "Returns the combined value of one part of two neighbouring ranges."
  [f left right]
  (if (instance? Stopped left)
    left
    (let [stopped? (instance? Stopped right)
          value ((:combine f) left (if stopped? (:value right) right))]
      (if (or stopped? (reduced? value))
        (Stopped. (unreduced value))
        value))))

(defn- check [f]
  (run/check-functions (:identity f) (:combine f) (:step f))
  f)

;;;; Several in one pass

;; The array of a range: at 2i the reducing function of part i, at 2i + 1 its value.

(defn- fresh-array ^objects [fs]
  (object-array (mapcat (fn part [f] [(rf-of f) ((identity-of f))]) fs)))

(defn- step-on-all
  "Steps each part that has not ended. Returns a reduced value when all have ended."
  [^objects parts x]
  (let [n (alength parts)]
    (loop [i 0, live? false]
      (if (= i n)
        (if live? parts (reduced parts))
        (let [acc (aget parts (inc i))]
          (if (reduced? acc)
            (recur (+ i 2) live?)
            (let [acc ((aget parts i) acc x)]
              (aset parts (inc i) acc)
              (recur (+ i 2) (or live? (not (reduced? acc)))))))))))

(defn- end-all [^objects parts]
  (mapv (fn part [[rf acc]] (ended rf acc)) (partition 2 parts)))

(defn- combine-all [fs left right]
  (let [values (mapv combined fs left right)]
    (if (every? #(instance? Stopped %) values) (reduced values) values)))

(defn fuse
  "Returns the fold of the folds `fs` in one pass; its value is a vector of theirs."
  [fs]
  (run! check fs)
  {:identity (fn fresh [] (fresh-array fs))
   :step (fn step
           ([parts] (end-all parts))
           ([parts x] (step-on-all parts x)))
   :combine (fn combine [left right] (combine-all fs left right))
   :complete (fn complete [values] (mapv completed fs values))
   :in-order? (boolean (some run/needs-order? fs))})

;;;; One for each key

;; A range has a transient map from key to the two-element array of its part.

(defn- step-on-key [f key-fn groups x]
  (let [k (key-fn x)
        ^objects part (get groups k)
        fresh? (nil? part)
        ^objects part (if fresh? (fresh-array [f]) part)
        acc (aget part 1)]
    (when-not (reduced? acc) (aset part 1 ((aget part 0) acc x)))
    (if fresh? (assoc! groups k part) groups)))

(defn- end-groups [groups]
  (let [groups (persistent! groups)]
    (persistent! (reduce-kv (fn end [m k ^objects part] (assoc! m k (ended (aget part 0) (aget part 1))))
                            (transient {}) groups))))

(defn- combine-groups [f left right]
  (persistent! (reduce-kv (fn add [m k value]
                            (assoc! m k (if-let [e (find left k)] (combined f (val e) value) value)))
                          (transient left) right)))

(defn group-by-key
  "Returns the fold that folds the elements of each key by `f`; its value is a map."
  [key-fn f]
  (check f)
  {:identity (fn fresh [] (transient {}))
   :step (fn step
           ([groups] (end-groups groups))
           ([groups x] (step-on-key f key-fn groups x)))
   :combine (fn combine [left right] (combine-groups f left right))
   :complete (fn complete [groups] (update-vals groups #(completed f %)))
   :in-order? (run/needs-order? f)})
