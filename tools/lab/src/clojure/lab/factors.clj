;; SPDX-License-Identifier: Apache-2.0
(ns lab.factors
  "The computation of two experiments.")

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defn factorize
  "Returns the prime factors of `n`, a long from 2, in a vector: divides by 2, then by the odd numbers."
  [^long n]
  (loop [n n p 2 factors []]
    (cond
      (zero? (rem n p)) (if (= n p) (conj factors p) (recur (quot n p) p (conj factors p)))
      (>= (* p p) n) (conj factors n)
      (= p 2) (recur n 3 factors)
      :else (recur n (+ p 2) factors))))
