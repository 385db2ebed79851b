;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.scheduler
  "The run queue: tasks are objects with a method `run`, which must not throw.

  Tasks run in microtasks, so that a hop costs some 100 ns, until they have used 3 ms since the
  page or the process last had its turn. Then a macro-task continues with them, so that timers, input and
  painting come first. The clock is read after up to 16 tasks, or after each task if they take long."
  {:no-doc true}
  (:require
   [skein.rt.ring :as ring]))

(goog-define
  ^{:doc "\"micro\", or \"macro\": run tasks in macro-tasks only, as core.async does."}
  TURN "micro")

(def ^:private budget-ms 3)
(def ^:private longest-step 16) ; the most tasks between two readings of the clock
(def ^:private long-ms 1)       ; if these tasks take longer, the clock is read after each task

(defn now
  "Returns a time in milliseconds that never goes back."
  []
  (.now js/performance))

(def soonest
  "The first task. If it is nil, the queue has the first one, if any."
  nil)

(def ^:private queue (ring/ring 64)) ; the others
(def ^:private around nil)     ; the outermost task within which another runs, or nil
(def ^:private pending? false) ; a drain is going to run
(def ^:private marked? false)  ; a macro-task is going to begin a new turn
(def ^:private began-ms 0)     ; when this turn began: at its first reading; 0 before
(def ^:private read-ms 0)      ; when the clock was read
(def ^:private step longest-step)
(def ^:private left 1)         ; tasks until the clock is read

(declare ^{:arglists '([])} turn channel) ; with :arglists, so that a call is compiled to a direct one

(defn- mark
  "Makes a macro-task begin a new turn."
  []
  (when-not ^boolean marked?
    (set! marked? true)
    (if (some? channel)
      (.postMessage (.-port2 channel) 0)
      (js/setImmediate turn))))

(defn- over-budget?
  "Reads the clock. Returns whether the other tasks have to wait for the next turn."
  {:jsdoc ["@noinline"]}
  []
  (let [ms (now)]
    (if (pos? began-ms)
      (do (mark)
          (set! step (if (> (- ms read-ms) long-ms) 1 (js/Math.min longest-step (* 2 step)))))
      (set! began-ms ms))
    (set! read-ms ms)
    (set! left step)
    (> (- ms began-ms) budget-ms)))

(defn- next-task
  "Removes the first task and returns it, or nil."
  []
  (let [task soonest]
    (if (some? task)
      (do (set! soonest nil)
          task)
      (when (pos? (.-len queue)) (.shift queue)))))

(defn- drain []
  (loop []
    (let [task (next-task)]
      (if (some? task)
        (do (.run task)
            (set! left (dec left))
            (when-not (and (== 0 left) ^boolean (over-budget?)) (recur)))
        (set! pending? false)))))

(defn- turn []
  (set! marked? false)
  (set! began-ms 0)
  (set! left 1)
  (when ^boolean pending? (drain)))

(def ^:private channel
  "Its messages are macro-tasks; nil where there is setImmediate, as in Node."
  (when-not (exists? js/setImmediate) (js/MessageChannel.)))

(when (some? channel)
  (set! (.. channel -port1 -onmessage) turn))

(defn submit
  "Runs `task` soon, after those submitted before."
  [task]
  (if (and (nil? soonest) (zero? (.-len queue)))
    (set! soonest task)
    (.push queue task))
  (when-not ^boolean pending?
    (set! pending? true)
    (if (identical? TURN "macro")
      (mark)
      (js/queueMicrotask drain))))

(defn run-now
  "Runs `task` at once, within the task that runs, if any."
  [task]
  (let [before around]
    (when (nil? before) (set! around task))
    (.run task)
    (set! around before)))

(defn ^boolean join
  "Called for the running task `waiter`, which is about to wait for the end of the task `soonest`. If no other task is queued,
  runs that one within the waiter. Returns whether the waiter is then the next task of the queue. If so, it is removed
  from the queue, and need not wait. All tasks run in the queue's order. Only one task runs within another,
  so that no stack overflows. The clock is read as often as by the queue."
  {:jsdoc ["@noinline"]}
  [waiter]
  (if (and (nil? around) (zero? (.-len queue)) (> left 1))
    (let [task soonest]
      (set! soonest nil)
      (set! left (dec left))
      (set! around waiter)
      (.run task)
      (set! around nil)
      (if (identical? waiter soonest)
        (do (set! soonest nil)
            true)
        false))
    false))

(defn flush!
  "Runs tasks until none is left, or until the next is one within which this is called. Ignores the budget. For tests."
  []
  (loop []
    (let [task (next-task)]
      (cond
        (nil? task) nil
        (identical? task around) (set! soonest task) ; its generator runs; see `join`
        :else (do (.run task)
                  (recur))))))

(defn report
  "Reports `thrown`, an exception that nobody catches, to the environment. Returns nil at once."
  [thrown]
  (js/queueMicrotask (fn [] (throw thrown)))
  nil)
