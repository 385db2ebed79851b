;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.event
  "The events of traced code, and their way to sinks. `skein.trace` has the keys of an event.

  A sink is called on the thread of the event. An exception of a sink is counted, and does not reach the
  program. Calls that a sink makes are not traced."
  {:no-doc true}
  (:require
   [skein.impl.once :refer [defrecord-once]])
  (:import
   (java.util Collections Map WeakHashMap)
   (java.util.concurrent.atomic AtomicLong)
   (skein.rt Runner)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defrecord-once Event [phase id parent group depth name file line args value error thread block t elapsed-ns])

(defonce ^:private ^AtomicLong ids (AtomicLong.))

(defn next-id
  "Returns the number of a new call."
  ^long []
  (.incrementAndGet ids))

(defn restart-ids!
  "Makes the next call number 1."
  []
  (.set ids 0))

;;;; Where it happens

(defonce ^:private ^Map frame->number (Collections/synchronizedMap (WeakHashMap.)))
(defonce ^:private ^AtomicLong blocks (AtomicLong.))

(defn block-number
  "Returns the number of the go block of a frame. The block gets its number at the first call."
  [frame]
  (or (.get frame->number frame)
      (.computeIfAbsent frame->number frame
                        (reify java.util.function.Function
                          (apply [_ _] (.incrementAndGet blocks))))))

(defn current-block
  "Returns the number of the go block that this thread runs, or nil."
  []
  (when-some [runner (Runner/current)]
    (some-> (.-block runner) block-number)))

(defn thread-name
  "Returns the name of a thread. For a virtual thread without a name, returns one such as virtual-17."
  [^Thread thread]
  (let [own (.getName thread)]
    (if (= "" own) (str "virtual-" (.threadId thread)) own)))

;;;; To the sinks

;; For each thread an array that says whether it is in the tracer itself.
(defonce ^:private ^ThreadLocal busy
  (proxy [ThreadLocal] []
    (initialValue [] (boolean-array 1))))

(defn busy?
  "Returns whether this thread is in the tracer itself, so that calls must not be traced."
  []
  (aget ^booleans (.get busy) 0))

(defonce ^{:doc "How often a sink has thrown."} ^AtomicLong sink-failures (AtomicLong.))

(defn unobserved
  "Calls `f`, the tracer's own work, which must not be traced. Returns its value."
  [f]
  (let [^booleans flag (.get busy)]
    (if (aget flag 0)
      (f)
      (do
        (aset flag 0 true)
        (try (f) (finally (aset flag 0 false)))))))

(defn quietly
  "Like `unobserved`, for work that may throw without harm to the program. Returns nil if it threw. Within other
  such work, its exception ends that work."
  [f]
  (if (busy?)
    (f)
    (try
      (unobserved f)
      (catch Throwable _ ; a user's sink may throw anything, and the stack may be exhausted
        (.incrementAndGet sink-failures)
        nil))))

(defn- sink-failed!
  "Counts an exception of a sink. Reports the first one, because missing lines can't be seen."
  [^Throwable error]
  (when (= 1 (.incrementAndGet sink-failures))
    (.println System/err (str "skein.trace: a sink threw " error ", and has missed an event."
                              " (skein.trace/status) counts such failures."))))

(defn emit!
  "Gives `event` to each of `sinks`, a seq of functions. Called within `quietly`."
  [sinks event]
  (run! (fn emit-to [sink]
          (try
            (sink event)
            (catch Throwable t ; the other sinks must still get the event
              (sink-failed! t))))
        sinks))

(defn about
  "Returns an event of the calling thread at this moment with `fields`."
  [phase fields]
  (map->Event (merge {:phase phase, :t (System/currentTimeMillis)
                      :thread (thread-name (Thread/currentThread)), :block (current-block)}
                     fields)))
