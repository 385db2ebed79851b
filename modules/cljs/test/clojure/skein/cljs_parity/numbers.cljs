;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity.numbers
  "Random numbers that are the same in each run, and for both libraries.")

(defn numbers
  "Returns a function of `n` that returns a number below `n`, from a sequence of its own."
  []
  (let [seed (volatile! 1)]
    (fn random [n]
      (vswap! seed (fn [s] (mod (+ (* 16807 s) 11) 2147483647)))
      (mod (quot @seed 64) n))))
