;; SPDX-License-Identifier: Apache-2.0
(ns skein.wf.spelling
  "The name that a user may have meant: `nearest`."
  (:require
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(defn- distance
  "Returns the edit distance of two texts: how many characters to insert, remove or replace."
  [a b]
  (peek (reduce (fn row [above x]
                  (reduce (fn cell [row [corner up y]]
                            (conj row (min (inc (long up)) (inc (long (peek row))) (+ (long corner) (if (= x y) 0 1)))))
                          [(inc (long (first above)))]
                          (map vector above (rest above) b)))
                (vec (range (inc (count b))))
                a)))

(defn- edits
  "Returns how many edits `known` is from `given`: 1 if only the order of the characters differs, and 0 if `known` begins with `given`."
  [known given]
  (cond
    (str/starts-with? known given) 0
    (= (sort known) (sort given)) 1
    :else (distance given known)))

(defn nearest
  "Returns the one of `names` that begins with `given` or is at most two edits away, which must be fewer than half of the characters
  of `given`. Of several at the same distance, it is the one whose length is nearest. Returns nil if there is none.

      (nearest [\"client\" \"status\"] \"clients\")
      ;=> \"client\""
  [names given]
  (let [[far _ found] (first (sort (for [known names]
                                     [(edits known given) (abs (- (count known) (count given))) known])))]
    (when (and far (< 2 (count given)) (<= (long far) 2) (< (* 2 (long far)) (count given))) found)))
