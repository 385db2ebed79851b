;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.progress
  "A progress bar on standard error, for commands that take longer than half a second at a terminal.

  - `bar`              a bar that is not shown yet
  - `start!`, `stop!`  shows it while something is read; wipes it away
  - `line`             what it shows"
  (:require
   [skein.cli.terminal :as terminal]
   [skein.wf.units :as units])
  (:import
   (java.io PrintStream)
   (java.util.concurrent CountDownLatch TimeUnit)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(def ^:private delay-ms 500)
(def ^:private period-ms 100)
(def ^:private width 30)

(defn line
  "Returns the bar as text: how much of `total-bytes` (nil: unknown) is read, and how fast.

      (line 512 1024 1000)
      ;=> \"[===============               ]  50 %  0.00 GB  0.51 GB/s\""
  [^long bytes-read total-bytes ^long elapsed-ns]
  (let [speed (str (units/decimal bytes-read 1000000000 2) " GB  "
                   (units/decimal bytes-read (max 1 elapsed-ns) 2) " GB/s")]
    (if total-bytes
      (let [part (/ (double bytes-read) (max 1.0 (double total-bytes)))
            filled (long (* part (long width)))
            percent (str (long (* 100 part)))]
        (str "[" (.repeat "=" (int filled)) (.repeat " " (int (- (long width) filled))) "] "
             (.repeat " " (int (- 3 (count percent)))) percent " %  " speed))
      speed)))

(defn- show-until-stopped [^PrintStream err ^CountDownLatch stopped {:keys [total-bytes bytes-read]}]
  (let [start (System/nanoTime)]
    (when (and (not (.await stopped delay-ms TimeUnit/MILLISECONDS)) (terminal/error?))
      (loop []
        (.print err (str "\r" (line (bytes-read) total-bytes (- (System/nanoTime) start)) "\u001B[K"))
        (.flush err)
        (when-not (.await stopped period-ms TimeUnit/MILLISECONDS) (recur)))
      (.print err "\r\u001B[K")
      (.flush err))))

(defn bar
  "Returns a bar that is not shown yet, for `err`, a PrintStream."
  [err]
  {:err err, :running (atom nil)})

(defn stop!
  "Removes the bar, and waits until it is gone. Does nothing if it is not shown."
  [{:keys [running]}]
  (when-let [{:keys [^CountDownLatch stopped ^Thread thread]} @running]
    (reset! running nil)
    (.countDown stopped)
    (.join thread)))

(defn start!
  "Shows the bar from half a second on, if standard error is a terminal, until `stop!`.

  reading  {:total-bytes long or nil, :bytes-read (fn [] long)}, see `skein.wf.wf2/report`"
  [{:keys [err running] :as bar} reading]
  (stop! bar)
  (let [stopped (CountDownLatch. 1)
        thread (Thread. ^Runnable (fn show [] (show-until-stopped err stopped reading)) "skein-progress")]
    (.setDaemon thread true)
    (.start thread)
    (reset! running {:stopped stopped, :thread thread})))
