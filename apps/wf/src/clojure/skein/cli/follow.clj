;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.follow
  "`skein wf --follow`: a report that stays on the terminal and keeps up with the log.

  - `run`   shows it until the process is interrupted, then writes it once more

  Where standard output is no terminal, only that last report is written."
  (:require
   [clojure.string :as str]
   [skein.cli.questions :as questions]
   [skein.cli.terminal :as terminal]
   [skein.wf.follow :as follow]
   [skein.wf.query :as query]
   [skein.wf.text :as text])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io OutputStream PrintStream)
   (java.util.concurrent CountDownLatch TimeUnit)
   (skein.wf Tail$Event)))

(set! *warn-on-reflection* true)

(def ^:private enter "Switches to the terminal's other screen, so that what was on it comes back." "\u001B[?1049h\u001B[?25l")
(def ^:private leave "\u001B[?25h\u001B[?1049l")
(def ^:private home "\u001B[H")
(def ^:private ^String to-end-of-line "\u001B[K\r\n")
(def ^:private clear-below "\u001B[K\u001B[J")

(def ^:private default-size "Of a terminal that does not say." [24 80])
(def ^:private head-lines "Lines above the first tally." 2)
(def ^:private tally-lines "Lines of a tally beside its rows: a blank one, its title, the names of its columns." 3)
(def ^:private least-rows 3)

(defn fitting
  "Returns `[result left-out]`: a result with so many tallies and rows that its text has at most `lines` lines, and how many
  tallies were left out. Tallies over time keep their last rows."
  [{:keys [tallies] :as result} lines]
  (let [room (- (long lines) (long head-lines))
        n (max 1 (min (count tallies) (quot room (+ (long tally-lines) (long least-rows)))))
        rows (max 1 (- (quot room n) (long tally-lines)))
        shorter (fn shorter [tally]
                  (update tally :rows (fn keep [all] (vec (if (query/over-time? tally) (take-last rows all) (take rows all))))))]
    [(assoc result :tallies (mapv shorter (take n tallies))) (- (count tallies) n)]))

(defn- screen
  "Returns what puts a result onto the terminal, all of it on one screen, without a flicker."
  [result options]
  (let [[rows columns] (or (terminal/size) default-size)
        [shown left-out] (fitting result (dec (long rows)))
        ^String text (text/text shown (terminal/color? options) columns)
        lines (take (dec (long rows)) (str/split-lines text))]
    (str home (str/join to-end-of-line lines) to-end-of-line
         (when (pos? (long left-out)) (str left-out " more tallies do not fit; the whole report comes at the end (Ctrl-C)"))
         clear-below)))

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
        stopped (CountDownLatch. 1)
        finished (CountDownLatch. 1)
        hook (stop-on-exit! stopped finished)
        last-result (atom nil)
        leave! (fn leave! [] (when live? (write! out leave)))
        write-last! (fn write-last! []
                      (when-let [result @last-result]
                        (questions/write-all! result options streams)))]
    (when live? (write! out enter))
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
                                               (when live? (write! out (screen result options)))))))))
      (leave!)
      (write-last!)
      0
      (catch ExceptionInfo e  ; a log that can be read no more: what it had is not lost
        (leave!)
        (write-last!)
        (throw e))
      (finally
        (.countDown finished)
        (unhook! hook)))))
