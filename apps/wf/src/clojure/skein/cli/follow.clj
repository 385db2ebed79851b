;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.follow
  "`skein wf --follow`: a report that stays on the terminal and keeps up with the log.

  - `run`   shows it until the process is interrupted, then writes it once more

  Where standard output is no terminal, only that last report is written."
  (:require [skein.cli.questions :as questions]
            [skein.cli.terminal :as terminal]
            [skein.widefinder.follow :as follow]
            [skein.widefinder.text :as text])
  (:import (clojure.lang ExceptionInfo)
           (java.io OutputStream PrintStream)
           (java.util.concurrent CountDownLatch TimeUnit)
           (skein.wf Tail$Event)))

(set! *warn-on-reflection* true)

(def ^:private live-top
  "Rows of each tally on the terminal, unless --top says otherwise, so that much fits on one screen."
  5)

(def ^:private home "\u001B[H")
(def ^:private ^String to-end-of-line "\u001B[K\n")
(def ^:private clear-below "\u001B[J")

(defn- screen
  "Returns what puts `text` onto the terminal from its first line on, without a flicker."
  [^String text]
  (str home (.replace text "\n" to-end-of-line) clear-below))

(defn- write! [^OutputStream out ^String text]
  (.write out (.getBytes text "UTF-8"))
  (.flush out))

(defn- event-text [path event]
  (str "skein wf: " path (if (= event Tail$Event/ROTATED) ": rotated, going on with the new file" ": truncated, reading it from its start")))

(defn- stop-on-exit!
  "Lets an interrupt stop the following, and holds the process up until `finished`. Returns the hook."
  [^CountDownLatch stopped ^CountDownLatch finished]
  (let [hook (Thread. ^Runnable (fn stop []
                                  (.countDown stopped)
                                  (.await finished 10 TimeUnit/SECONDS))
                      "skein-wf-stop")]
    (.addShutdownHook (Runtime/getRuntime) hook)
    hook))

(defn- unhook! [^Thread hook]
  (try (.removeShutdownHook (Runtime/getRuntime) hook)
       ;; The process is going down, and the hook is what waits for us.
       (catch IllegalStateException _ nil)))

(defn run
  "Follows the logs at `paths`; returns the exit code once the process is interrupted."
  [paths query options {:keys [^OutputStream out ^PrintStream notes] :as streams}]
  (let [live? (terminal/output?)
        query (cond-> query
                (and live? (:site? query) (not (:top options)))
                (update :tallies (fn fewer [tallies] (mapv #(assoc % :top live-top) tallies))))
        stopped (CountDownLatch. 1)
        finished (CountDownLatch. 1)
        hook (stop-on-exit! stopped finished)
        last-result (atom nil)
        write-last! (fn write-last! []
                      (when-let [result @last-result]
                        (when live? (write! out (str home clear-below)))
                        (questions/write-all! result options streams)))]
    (try
      (questions/with-plan-options options streams
        (fn follow [plan-options add-own]
          (follow/follow paths query
                         (assoc plan-options
                                :stopped? (fn stopped? [] (zero? (.getCount stopped)))
                                :on-event (fn say [path event] (.println notes ^String (event-text path event)))
                                :on-result (fn show [result]
                                             (let [result (add-own result)]
                                               (reset! last-result result)
                                               (when live? (write! out (screen (text/text result (terminal/color? options)))))))))))
      (write-last!)
      0
      (catch ExceptionInfo e  ; a log that can be read no more: what it had is not lost
        (write-last!)
        (throw e))
      (finally
        (.countDown finished)
        (unhook! hook)))))
