;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-aot
  "Blocks to be compiled ahead of time by a test."
  (:require
   [skein.impl.go-programs :refer [block put-val take-val]]))

(set! *warn-on-reflection* true)

(defn worker
  "A block with locals, a loop, a try and a case."
  [in out ^long n]
  (block
    (try
      (loop [i 0]
        (when (< i n)
          (case (take-val in)
            :stop nil
            (do (put-val out {:i i, :re #"x+"}) (recur (inc i))))))
      (catch Exception e (take-val in) (throw e)))))
