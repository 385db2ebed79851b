;; SPDX-License-Identifier: Apache-2.0
(ns skein.cli.follow
  "`skein wf --follow`: a report that stays on the terminal and keeps up with the log.

  - `run`   shows it until the process is interrupted, then writes it once more

  If standard output is not a terminal, it gets one report after another."
  (:require
   [clojure.string :as str]
   [skein.cli.questions :as questions]
   [skein.cli.screen :as screen]
   [skein.cli.terminal :as terminal]
   [skein.wf.follow :as follow])
  (:import
   (java.io OutputStream PrintStream)
   (java.util.concurrent CountDownLatch TimeUnit)
   (skein.wf Tail$Event)))

(set! *warn-on-reflection* true)

(def ^:private enter "Switches to the terminal's alternate screen, so that `leave` restores what was shown before." "\u001B[?1049h\u001B[?25l\u001B[?7l")
(def ^:private leave "\u001B[?7h\u001B[?25h\u001B[?1049l")
(def ^:private home "\u001B[H")
(def ^:private ^String to-end-of-line "\u001B[K\r\n")
(def ^:private clear-below "\u001B[K\u001B[J")

(def ^:private default-size "The size of a terminal that does not report one." [24 80])

(defn- write! [^OutputStream out ^String text]
  (.write out (.getBytes text "UTF-8"))
  (.flush out))

(defn- event-text [path event]
  (str "skein wf: " path (if (= event Tail$Event/ROTATED) ": rotated, going on with the new file" ": truncated, reading it from its start")))

(defn- stop-on-exit!
  "Adds a shutdown hook that counts `stopped` down and waits for `finished`. Returns the hook."
  [^CountDownLatch stopped ^CountDownLatch finished]
  (let [hook (Thread. ^Runnable (fn stop []
                                  (.countDown stopped)
                                  (.await finished 10 TimeUnit/SECONDS))
                      "skein-wf-stop")]
    (.addShutdownHook (Runtime/getRuntime) hook)
    hook))

(defn- unhook! [^Thread hook]
  (try (.removeShutdownHook (Runtime/getRuntime) hook)
       ;; The process is shutting down, so the hook runs already.
       (catch IllegalStateException _ nil)))

(defn- shaper
  "Returns the :shape of `live`: a function without arguments that returns the function that adapts tallies to `view`. It returns the
  same function until the view wants another order."
  [view approx?]
  (let [shape (memoize (fn shape [sorts] (partial screen/shaped {:sorts sorts})))]
    (fn shape-now [] (shape (if approx? {} (:sorts @view))))))

(defn- live
  "Starts the live view. Returns {:show (fn [result]), :say (fn [text]), :shape as `skein.wf.follow/follow` takes it, :leave (fn [])}."
  [{:keys [approx?] :as options} {:keys [^OutputStream out ^PrintStream notes]} ^CountDownLatch stopped]
  (let [view (atom screen/start)
        shown (atom nil)
        size (atom (or (terminal/size) default-size))
        said (atom [])
        color? (terminal/color? options)
        paint (fn paint []
                (locking shown
                  (when-let [result @shown]
                    (write! out (str home (str/join to-end-of-line (screen/lines @view result @size color?)) clear-below)))))
        restore (terminal/raw!)
        left? (atom false)]
    (write! out enter)
    (when restore
      (terminal/keys! (fn press [key]
                        (when-let [result @shown]
                          (when (:quit? (swap! view screen/pressed key result)) (.countDown stopped))
                          (paint)))))
    (terminal/on-resize! (fn resize []
                           (reset! size (or (terminal/size) default-size))
                           (paint)))
    {:shape (shaper view approx?)
     :say (fn say [text]
            (swap! said conj text)
            (swap! view assoc :said text)
            (paint))
     :show (fn show [result] (reset! shown result) (paint))
     :leave (fn leave-screen []
              (locking shown
                (when (compare-and-set! left? false true)
                  (reset! shown nil)
                  (write! out leave)
                  (when restore (restore))
                  (doseq [text @said] (.println notes ^String text)))))}))

(defn- plain
  "Like `live`, for a standard output that is not a terminal: writes each result in full, unless it equals the one before."
  [options {:keys [out ^PrintStream notes]}]
  (let [before (atom nil)]
    {:shape (constantly identity)
     :say (fn say [text] (.println notes ^String text))
     :show (fn show [result]
             (let [shown (dissoc result :elapsed-ns)]
               (when (not= shown @before)
                 (reset! before shown)
                 (questions/write-result result options out))))
     :leave (fn leave [])}))

(defn- served
  "Like `live`, on a page that is served."
  [{:keys [show say]}]
  {:shape (constantly identity), :say say, :show show, :leave (fn leave [])})

(defn run
  "Follows the logs at `paths` until the process is interrupted or the user presses q. Returns the exit code."
  [paths query options streams]
  (let [stopped (CountDownLatch. 1)
        finished (CountDownLatch. 1)
        hook (stop-on-exit! stopped finished)
        live? (and (not (:show options)) (terminal/output?))
        {:keys [shape show say leave]} (cond (:show options) (served options)
                                             live? (live options streams stopped)
                                             :else (plain options streams))
        code (atom 0)
        write-last! (fn write-last! [result]
                      (leave)
                      (questions/write-all! result (cond-> options (not live?) (assoc :show show)) streams)
                      (reset! code (questions/exit-code result streams)))]
    (try
      (questions/with-plan-options options streams
        (fn follow [plan-options add-own]
          (follow/follow paths query
                         (assoc plan-options
                                :stopped? (fn stopped? [] (zero? (.getCount stopped)))
                                :on-event (fn event [path event] (say (event-text path event)))
                                :shape shape
                                :on-result (comp show add-own)
                                :on-last (comp write-last! add-own)))))
      @code
      (finally
        (leave)
        (.countDown finished)
        (unhook! hook)))))
