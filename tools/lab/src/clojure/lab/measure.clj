;; SPDX-License-Identifier: Apache-2.0
(ns lab.measure
  "What the program of an experiment stands on: the library it runs on, a stopwatch, and a way to say what it saw.

  * `main`           runs the program at one of its sizes, in a process of its own
  * `when-on`        is code for some libraries alone
  * `alias-async!`   lets the same program run on core.async or on Skein
  * `measure!`       times a function, checks what it returns
  * `note!`          says something that is no time
  * `once`           what the processes of an experiment share

  Properties of the process: lab.library, by default \"skein\"; lab.size, \"quick\"; lab.pipe, to print data; lab.shared,
  the folder for what is shared."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.lang Thread$UncaughtExceptionHandler)
   (java.lang.management ManagementFactory ThreadMXBean)))

(set! *warn-on-reflection* true)

(def library "The library of this process: \"skein\", \"clojure\", or a peer such as \"core.async-1.7.701\"."
  (System/getProperty "lab.library" "skein"))

(def title "The library's name in tables."
  (get {"skein" "Skein", "clojure" "Clojure"} library (str/replace library "-" " ")))

(def ^:private ^ThreadMXBean threads (ManagementFactory/getThreadMXBean))
(def ^:private n-threads-before (.getThreadCount threads))
(def ^:private ^:dynamic *budget-ms* 400)

(defn on?
  "Returns whether this process runs one of `libraries`."
  [& libraries]
  (boolean (some #{library} libraries)))

(defmacro when-on
  "The body, where the process runs one of `libraries`, a string or several; elsewhere nil, uncompiled."
  {:style/indent 1}
  [libraries & body]
  (when (apply on? (flatten [libraries])) `(do ~@body)))

(defn alias-async!
  "Makes `alias` the alias of skein.async or clojure.core.async in the current namespace."
  [alias-name]
  (let [n (if (on? "skein") 'skein.async 'clojure.core.async)]
    (require n)
    (alias alias-name n)))

(defn- emit! [measurement]
  (let [m (merge {:column title} measurement)]
    (locking #'emit!
      (if (System/getProperty "lab.pipe")
        (prn m)
        (println (format "%-42s %-26s %s" (:row m) (:column m)
                         (or (:error m) (:text m) (format "%.4g %s" (double (:value m)) (:unit m))))))
      (flush))))

(defn- timed [f]
  (let [start (System/nanoTime)
        answer (f)]
    {:ms (/ (- (System/nanoTime) start) 1e6), :answer answer}))

(def ^:private long-run-ms "What takes so long runs once." 8000)

(defn- spent-ms [runs] (transduce (map :ms) + runs))

(defn- samples
  "Runs of `f`, at most nine and at least one, until the budget is spent; others before, of half the budget, to warm up. What takes
  long runs once, and so does all when there is no budget."
  [f]
  (let [budget-ms (double *budget-ms*)
        first-run (timed f)]
    (if (or (zero? budget-ms) (< (long long-run-ms) (double (:ms first-run))))
      [first-run]
      (do (loop [spent (double (:ms first-run))]
            (when (< spent (/ budget-ms 2)) (recur (+ spent (double (:ms (timed f)))))))
          (loop [runs [(timed f)]]
            (if (and (< (count runs) 9) (< (double (spent-ms runs)) budget-ms))
              (recur (conj runs (timed f)))
              runs))))))

(defn- median [xs] (nth (sort xs) (quot (count xs) 2)))

(defn- on-uncaught!
  "Has `f` called with what no code catches, in any thread or block."
  [f]
  (Thread/setDefaultUncaughtExceptionHandler
    (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ t] (f t)))))

(defn- settle!
  "Waits until nothing more fails, so that no other figure is blamed for it."
  []
  (let [n-failed (atom 0)]
    (on-uncaught! (fn [_] (swap! n-failed inc)))
    (loop []
      (let [seen @n-failed]
        (Thread/sleep 300)
        (when (not= seen @n-failed) (recur))))))

(defn- watched
  "Calls `f`. If meanwhile something fails that no code catches, throws that: `f` would wait for its value for ever."
  [f]
  (let [caller (Thread/currentThread)
        handler (Thread/getDefaultUncaughtExceptionHandler)
        failure (atom nil)]
    (on-uncaught! (fn [t] (locking failure (when (compare-and-set! failure nil t) (.interrupt caller)))))
    (try
      (let [answer (try (f) (catch InterruptedException e (throw (or @failure e))))]
        (when-let [t (locking failure @failure)] (throw t))
        answer)
      (finally
        (let [failed? (locking failure
                        (Thread/interrupted)
                        (not (compare-and-set! failure nil ::over)))]
          (when failed? (settle!)))
        (Thread/setDefaultUncaughtExceptionHandler handler)))))

(defn measure!
  "Times `f`, and emits the median.

  m  :row, :column   where it stands in the table; by default the column is the library
     :expected       what `f` must return, if it can be said
     :per            number of operations; the figure is nanoseconds an operation then, else milliseconds
     :plain-threads? that it has a thread for each task, so that they are not counted
     and whatever else the report shows, such as :x for a plot"
  [{:keys [expected per] :as m} f]
  (emit!
    (merge (dissoc m :expected :per)
           (try
             (.resetPeakThreadCount threads)
             (let [runs (watched #(samples f))
                   ms (double (median (map :ms runs)))
                   wrong (when (contains? m :expected) (first (remove #{expected} (map :answer runs))))]
               (merge {:value (if per (/ (* 1e6 ms) (double per)) ms)
                       :unit (if per "ns" "ms")
                       :runs (count runs)
                       :answer (:answer (first runs))
                       :threads (when-not (:plain-threads? m)
                                  (max 0 (- (.getPeakThreadCount threads) (long n-threads-before))))}
                      (when wrong {:error (str "wrong answer: " (pr-str wrong) ", not " (pr-str expected))})))
             (catch Throwable t
               {:error (str (.getSimpleName (class t)) ": " (ex-message t))})))))

(defn note!
  "Emits what is no time: a measurement with :text, or :value and :unit. `f` returns what to merge into `m`."
  [m f]
  (emit! (merge m (try (f) (catch Throwable t {:error (str (.getSimpleName (class t)) ": " (ex-message t))})))))

(defn shared-folder
  "Returns the folder for what the processes of a run share."
  ^java.io.File []
  (io/file (or (System/getProperty "lab.shared") (System/getProperty "java.io.tmpdir"))))

(defn once
  "Returns `(f)`, data, made by the first process of a run that asks for it under the name `k`."
  [k f]
  (if-not (System/getProperty "lab.shared")
    (f)
    (let [file (io/file (shared-folder) (str k ".edn"))]
      (if (.exists file)
        (edn/read-string (slurp file))
        (let [made (f)]
          (spit file (pr-str made))
          made)))))

(defn main
  "Runs an experiment: `run` with the map of the asked size out of `sizes`. Ends the process, unless lab.stay is set.

  sizes  {:full, :quick, :tiny -> map}; its :budget-ms is the time to measure one figure in, 400 if it is not said"
  [sizes run]
  (let [size (get sizes (keyword (System/getProperty "lab.size" "quick")))]
    (binding [*budget-ms* (:budget-ms size *budget-ms*)]
      (run size))
    (flush)
    (when-not (System/getProperty "lab.stay") (System/exit 0))))
