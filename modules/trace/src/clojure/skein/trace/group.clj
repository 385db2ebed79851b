;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.group
  "Holds lines back until their tree of calls is complete, so that the trees of several threads
  and blocks are not mixed.

  A group is a call and the calls inside it that the same thread or block makes; see :group in
  `skein.trace`. The outermost call opens the group. When that call ends, all lines of the
  group are written together. If a group stays open or grows for too long, the lines so far are
  written, with a mark. Its later lines are written as they come."
  {:no-doc true}
  (:require
   [skein.impl.once :refer [deftype-once]])
  (:import
   (java.util.concurrent CompletableFuture ConcurrentHashMap Executor TimeUnit)
   (java.util.concurrent.atomic AtomicBoolean)
   (java.util.function BiFunction)))

(set! *warn-on-reflection* true)

(def ^:const default-hold-ms "How long a group stays open at most, in milliseconds." 5000)
(def ^:private ^:const max-lines "The most lines that are held for a group." 10000)
(def ^:private ^:const sweep-ms 100)

;; An open group: its lines in a vector, a function that writes text to its destination, the line that says that the call
;; still runs, the number of the call that opened the group, and the time until which it may stay open.
(deftype-once ^:private Held [lines write! running-line id ^long until])

(defonce ^:private ^{:doc "{[sink group] Held}"} ^ConcurrentHashMap open (ConcurrentHashMap.))
(defonce ^:private ^AtomicBoolean sweeping (AtomicBoolean.))

(defn- replace!
  "Replaces the open group `k` by the result of `f` on it, or on nil if there is none. If `f` returns nil, removes it."
  [k f]
  (.compute open k (reify BiFunction (apply [_ _ held] (f held)))))

(defn- write-whole! [^Held held]
  ((.write! held) (apply str (.lines held))))

(defn- write-unfinished! [^Held held]
  ((.write! held) (str (apply str (.lines held)) (.running-line held))))

(defn- close-expired!
  "Writes and removes the open group `k` if its time is over."
  [k ^long now]
  (let [expired (volatile! nil)]
    (replace! k (fn expire [^Held held]
                  (if (and held (<= (.until held) now))
                    (do (vreset! expired held) nil)
                    held)))
    (some-> @expired write-unfinished!)))

(defn- sweep-soon!
  "Starts the check for groups that are open too long. It runs again as long as a group is open."
  []
  (when (.compareAndSet sweeping false true)
    (.execute ^Executor (CompletableFuture/delayedExecutor sweep-ms TimeUnit/MILLISECONDS)
              (fn sweep []
                (try
                  (let [now (System/currentTimeMillis)]
                    (run! (fn look [k] (close-expired! k now)) (keys open)))
                  (finally
                    (.set sweeping false) ; before the check: a thread that opens a group later starts a sweep
                    (when-not (.isEmpty open) (sweep-soon!))))))))

(defonce ^:private written-at-exit
  (delay (.addShutdownHook (Runtime/getRuntime) (Thread. ^Runnable (fn write-rest [] (run! write-unfinished! (vals open)))))))

(defn- step
  "Adds an event to the open group `held`, or to none. Returns [group write]: the group that is then open, or nil, and a
  function that writes the lines that are due, or nil.

  open-group   called for the group that the event opens
  write-line   writes the line of an event outside of any group; nil if it has none"
  [^Held held {:keys [phase id]} line open-group write-line]
  (if (nil? held)
    (if (= :call phase) [(open-group) nil] [nil write-line])
    (let [lines (cond-> (.lines held) line (conj line))
          held (Held. lines (.write! held) (.running-line held) (.id held) (.until held))]
      (cond
        (and (= id (.id held)) (or (= :return phase) (= :throw phase))) [nil #(write-whole! held)]
        (<= (long max-lines) (count lines)) [nil #(write-unfinished! held)]
        :else [held nil]))))

(defn grouped
  "Returns a sink that holds groups back, for `hold-ms` at most.

  line-of       a function of an event that returns its line, with the line's end, or nil
  destination   a function of an event that returns where its line goes
  write!        a function of a destination and text"
  ([line-of destination write!]
   (grouped line-of destination write! default-hold-ms))
  ([line-of destination write! hold-ms]
   (force written-at-exit)
   (let [sink (Object.)]
     (fn hold [{:keys [group id] :as event}]
       (let [line (line-of event)
             out (destination event)
             open-group (fn open-group []
                          (Held. (if line [line] []) (fn write-to [text] (write! out text))
                                 (line-of (assoc event :phase :running)) id (+ (System/currentTimeMillis) (long hold-ms))))
             to-write (volatile! nil)] ; called when the map is not locked
         (replace! [sink group]
                   (fn next-group [held]
                     (let [[held write] (step held event line open-group (when line #(write! out line)))]
                       (vreset! to-write write)
                       held)))
         (if-some [write @to-write]
           (write)
           (sweep-soon!)))))))
