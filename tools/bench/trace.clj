;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench trace [--rounds N]
(ns bench.trace
  "What tracing costs, beside no tracing and beside tools.trace, in one process, taking turns."
  (:require
   [clojure.tools.trace :as old]
   [skein.async :as a]
   [skein.trace :as trace])
  (:import
   (java.io Writer)
   (java.lang.management ManagementFactory ThreadMXBean)
   (java.util.concurrent CountDownLatch)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(load-file "tools/bench/timing.clj")
(refer 'bench.timing :only '[median options whole])

;;;; Taking turns

(def ^:private ^ThreadMXBean threads (ManagementFactory/getThreadMXBean))

(defn- thread-ns
  "Returns the processor time of this thread, which other programs disturb less than the clock."
  ^long []
  (.getCurrentThreadCpuTime threads))

(defn- nano-time
  "Returns the time of the clock, for work of several threads."
  ^long []
  (System/nanoTime))

(defn- ns-per
  "Returns the ns on `clock` for each of `n` operations that `f` does."
  [clock n f]
  (let [start (long (clock))]
    (f)
    (/ (double (- (long (clock)) start)) (double n))))

(defn- in-turns
  "Returns the median of `rounds` rounds of each contestant, [name f], after some to warm up; `f` does `n` operations."
  [clock rounds n contestants]
  (let [round (fn round [] (mapv (fn one [[_ f]] (ns-per clock n f)) contestants))]
    (dotimes [_ (max 5 (quot (long rounds) 2))] (round))
    (apply mapv (fn middle [& times] (median times)) (repeatedly rounds round))))

(defn- print-table
  "Prints a line for each contestant with its ratio to the first one. Returns the figures."
  [title clock rounds n contestants]
  (println title)
  (let [figures (in-turns clock rounds n contestants)]
    (doseq [[[contestant] ns] (map vector contestants figures)]
      (println (format "  %-44s %10.1f ns  x%.2f" contestant ns (/ (double ns) (double (first figures))))))
    figures))

;;;; Calls

(defn- add [x y] (+ (long x) (long y)))
(defn- add-ring [x y] (+ (long x) (long y)))
(defn- add-out [x y] (+ (long x) (long y)))
(defn- add-old [x y] (+ (long x) (long y)))

(def ^:private ^:const n-calls 10000)

(defmacro ^:private calls-of [f]
  `(fn [] (binding [*out* (Writer/nullWriter)]
            (dotimes [i# n-calls] (~f i# 2)))))

(defn- trace-vars [rounds]
  (trace/trace-vars {:sink :ring} add-ring)
  (trace/trace-vars {:sink :out} add-out)
  (old/trace-vars #'add-old)
  (print-table "trace-vars: a call of a function of two numbers" thread-ns rounds n-calls
               [["tools.trace, to a writer that drops all" (calls-of add-old)]
                ["skein, :out to a writer that drops all" (calls-of add-out)]
                ["skein, :ring" (calls-of add-ring)]
                ["not traced" (calls-of add)]])
  (old/untrace-vars #'add-old)
  (trace/untrace-all))

;;;; Forms

(def ^:private ^:const iterations 1000000)

(defmacro ^:private sum-loop []
  `(loop [i# 0 sum# 0]
     (if (< i# iterations)
       (recur (inc i#) (+ sum# (bit-and i# 3)))
       sum#)))

(defn- plain [] (sum-loop))
(defn- traced [] (trace/trace-forms (sum-loop)))
(defn- traced-by-old [] (old/trace-forms (sum-loop)))

(defn- trace-forms [rounds]
  (print-table "trace-forms: an iteration of a primitive loop in which nothing fails" thread-ns rounds iterations
               [["not traced" plain]
                ["skein" traced]
                ["tools.trace" traced-by-old]]))

;;;; Exceptions

(defn- start-failing
  "Starts a block that fails as soon as something is put on `in`, and others that await it, one the next, `depth` in all;
  returns the last one's port."
  [depth in make-error]
  (let [innermost (a/async (a/<! in) (throw (make-error)))]
    (nth (iterate (fn awaiting [inner] (a/async (a/<? inner))) innermost) (dec (long depth)))))

(def ^:private ^:const n-failures 1000)

(defn- told-to-callbacks [depth make-error]
  (fn fail-often []
    (let [ended (CountDownLatch. n-failures)]
      (dotimes [_ n-failures]
        (let [in (a/chan)
              ^Channel port (start-failing depth in make-error)]
          (a/take! port (fn [_]
                          (.thrown port) ; or else it would be reported as one that nobody asked for
                          (.countDown ended)))
          (a/>!! in 1)))
      (.await ended))))

(defn- told-to-a-thread [depth make-error]
  (fn fail-often []
    (dotimes [_ n-failures]
      (let [in (a/chan)
            port (start-failing depth in make-error)]
        (a/>!! in 1)
        (try (a/<?? port) (catch Exception e e))))))

(defn- async-trace [title told depth rounds]
  (let [bare (fn bare [] (proxy [RuntimeException] ["x" nil false false]))
        full (fn full [] (proxy [RuntimeException] ["x" nil false true]))
        [without with]
        (print-table (str "async trace: " title) nano-time rounds n-failures
                     [["without a stack trace" (told depth bare)]
                      ["with one, which each block extends" (told depth full)]])]
    (println (format "  %-44s %10.1f ns" "the trace, the exception's own included" (- (double with) (double without))))))

(defn- async-traces [rounds]
  (async-trace "an exception that ends 1 block" told-to-callbacks 1 rounds)
  (async-trace "an exception that ends 3 blocks, each awaiting the one before" told-to-callbacks 3 rounds)
  (async-trace "an exception that ends 1 block, for which a thread waits in <??" told-to-a-thread 1 rounds)
  (async-trace "an exception that ends 3 blocks, for the last of which a thread waits" told-to-a-thread 3 rounds))

(let [rounds (whole (options "trace" {"--rounds" "N"} *command-line-args*) "--rounds" 15)]
  (println "Java" (System/getProperty "java.version") "," (.availableProcessors (Runtime/getRuntime))
           "processors; median of" rounds "rounds; ratios to the first line")
  (run! (fn measure [program] (program rounds)) [trace-vars trace-forms async-traces])
  (shutdown-agents))
