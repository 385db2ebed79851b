;; SPDX-License-Identifier: Apache-2.0
(ns bench.timing
  "What benchmarks in one JVM measure with.")

(set! *warn-on-reflection* true)

(defn median "Returns the middle one of `xs`." [xs] (nth (sort xs) (quot (count xs) 2)))

(defn elapsed-ns
  "Returns how long `f` takes."
  ^long [f]
  (let [start (System/nanoTime)]
    (f)
    (- (System/nanoTime) start)))

(defn per-item
  "Returns the median time of `f`, which does something `n` times, in nanoseconds each: of seven rounds after three to warm up."
  [^long n f]
  (dotimes [_ 3] (f))
  (median (repeatedly 7 #(/ (double (elapsed-ns f)) n))))
