;; SPDX-License-Identifier: Apache-2.0
(ns lab.measure
  "What the programs of experiments share: the library of the process, a stopwatch, and output.

  * `main`           runs the program at one of its sizes, in a process of its own
  * `when-on`        is code for some libraries only
  * `alias-async!`   lets the same program run on core.async or on Skein
  * `measure!`       times a function and checks its result
  * `note!`          emits a figure that is not a time
  * `once`           computes data that the processes of an experiment share

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
  "Evaluates the body if the process runs one of `libraries`, a string or several. Otherwise returns nil, and does not compile the body."
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

(def ^:private long-run-ms "A run that takes this long is not repeated." 8000)

(defn- spent-ms [runs] (transduce (map :ms) + runs))

(defn- samples
  "Returns the runs of `f`, at least one and at most nine, until the budget is spent. First runs `f` for half the budget, to warm up.
  If a run takes long, or if there is no budget, it is the only one."
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
  "Makes `f` the handler of uncaught exceptions of all threads and blocks."
  [f]
  (Thread/setDefaultUncaughtExceptionHandler
    (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ t] (f t)))))

(defn- settle!
  "Waits until no more exceptions come, so that they are not attributed to another figure."
  []
  (let [n-failed (atom 0)]
    (on-uncaught! (fn [_] (swap! n-failed inc)))
    (loop []
      (let [seen @n-failed]
        (Thread/sleep 300)
        (when (not= seen @n-failed) (recur))))))

(defn- watched
  "Calls `f`. Throws an exception that is uncaught meanwhile in any thread: `f` would wait for ever for a value of that thread."
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
     :expected       what `f` must return, if that is known
     :per            the number of operations: the figure is then nanoseconds per operation, otherwise milliseconds
     :plain-threads? whether it has a thread for each task, so that they are not counted
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
  "Emits a measurement that is not a time, with :text, or :value and :unit. `f` returns a map that is merged into `m`."
  [m f]
  (emit! (merge m (try (f) (catch Throwable t {:error (str (.getSimpleName (class t)) ": " (ex-message t))})))))

(defn shared-folder
  "Returns the folder for data that the processes of a run share."
  ^java.io.File []
  (io/file (or (System/getProperty "lab.shared") (System/getProperty "java.io.tmpdir"))))

(defn once
  "Returns the data `(f)`. The first process of a run that asks for the name `k` computes it, the others read it."
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
  "Runs an experiment: calls `run` with the map in `sizes` for the requested size. Ends the process, unless lab.stay is set.

  sizes  {:full, :quick, :tiny -> map}; :budget-ms in the map is the time for measuring one figure, by default 400"
  [sizes run]
  (let [size (get sizes (keyword (System/getProperty "lab.size" "quick")))]
    (binding [*budget-ms* (:budget-ms size *budget-ms*)]
      (run size))
    (flush)
    (when-not (System/getProperty "lab.stay") (System/exit 0))))
