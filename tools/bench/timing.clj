;; SPDX-License-Identifier: Apache-2.0
(ns bench.timing
  "Measuring and reading options, for all benchmarks.")

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

(defn options
  "Returns the arguments of a benchmark as a map of texts, such as {\"--rounds\" \"3\"}. Ends the program with exit code 2 and
  the usage on stderr when an option is not among `known`, or has no value.

  subject  the benchmark, such as \"fold\"
  known    a map from option to what stands for its value, such as {\"--rounds\" \"N\"}"
  [subject known args]
  (when (or (odd? (count args)) (not-every? known (take-nth 2 args)))
    (binding [*out* *err*]
      (println (apply str "bench: usage: bench " subject (for [[option value] known] (str " [" option " " value "]")))))
    (System/exit 2))
  (apply hash-map args))

(defn whole
  "Returns the number that an option gives, or `default` without it. Ends the program unless it is a whole number above 0."
  [options option default]
  (let [text (get options option)
        n (if text (parse-long text) default)]
    (when-not (and n (pos? (long n)))
      (binding [*out* *err*] (println (str "bench: " option " takes a whole number above 0, not " (pr-str text) ".")))
      (System/exit 2))
    n))
