;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.sink
  "Where events go. `sink` makes a function of an event from what a user names:

      :out :err      a line to *out* or *err*: the thread's own, or if it has none of its
                     own, the one at the time when tracing was switched on
      :ring          the last `ring-size` events, kept as data, see `events`
      :tap           `tap>`
      {:file path}   a line appended to a file
      a function     itself
      a vector       each of these

  A line is one write, so that lines of many threads do not mix."
  (:require [skein.impl.error :as error]
            [skein.trace.text :as text])
  (:import (java.io File Writer)
           (java.nio.file Files OpenOption StandardOpenOption)
           (java.util.concurrent.atomic AtomicLong AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(def ^:const ring-size "How many events the ring holds." 16384)

(def ^:private ^AtomicReferenceArray ring (AtomicReferenceArray. (int ring-size)))
(def ^:private ^AtomicLong n-written (AtomicLong.))

(def standard-format
  "An atom with the format of text where none is asked for: :skein or :tools.trace."
  (atom :skein))

;;;; The ring

(defn- keep-event! [event]
  (let [n (.getAndIncrement n-written)]
    (.set ring (int (rem n (long ring-size))) [n event])))

(defn events
  "Returns the events in the ring, oldest first."
  []
  (->> (range ring-size)
       (keep (fn slot [i] (.get ring (int i))))
       (sort-by first)
       (mapv second)))

(defn clear!
  "Empties the ring."
  []
  (dotimes [i ring-size] (.set ring i nil)))

;;;; Text

(def ^:private ^:dynamic *max-line* nil)

(defmacro with-max-line
  "Evaluates the body with lines of at most `chars` characters."
  [chars & body]
  `(binding [*max-line* ~chars] ~@body))

(defn- line-of [event format]
  (some-> (text/line event (or format @standard-format) (or (:max-line event) 400))
          (str "\n")))

(defn- write-line! [^Writer writer ^String line]
  (locking writer
    (.write writer line)
    (.flush writer)))

(defn- writer-sink
  "A sink to the value of the var `v`, *out* or *err*, in this thread or else in the thread of the event."
  [^clojure.lang.Var v format]
  (let [captured (deref v)]
    (fn print-event [event]
      (when-some [line (line-of event format)]
        (write-line! (if (thread-bound? v) (deref v) captured) line)))))

(defn- file-sink [path format]
  (let [path (.toPath (File. (str path)))
        options (into-array OpenOption [StandardOpenOption/CREATE StandardOpenOption/APPEND])
        lock (Object.)]
    (fn append-event [event]
      (when-some [^String line (line-of event format)]
        (locking lock
          (Files/writeString path line options))))))

(defn- unknown-sink! [x]
  (error/fail! :skein/bad-sink
               (str "There is no sink " (error/preview x) ". Events go to :out, :err, :ring, :tap, {:file path},"
                    " a function, or a vector of these.")
               {:sink (if (fn? x) :function x)}))

(defn sinks
  "Returns the sinks that `x` names, see above, as a vector of functions. `format` is that
  of their text; nil: `standard-format` at the time of each event."
  [x format]
  (cond
    (= :out x) [(writer-sink #'*out* format)]
    (= :err x) [(writer-sink #'*err* format)]
    (= :ring x) [keep-event!]
    (= :tap x) [(fn tap [event] (tap> event))]
    (and (map? x) (:file x)) [(file-sink (:file x) format)]
    (vector? x) (into [] (mapcat (fn each [y] (sinks y format))) x)
    (ifn? x) (if (keyword? x) (unknown-sink! x) [x])
    :else (unknown-sink! x)))

;;;; The sinks that get what no other sink is named for

(defonce ^:private standard (atom (array-map :out (sinks :out nil))))

(defn add!
  "Adds the sink `x` under the key `k`, or replaces the one that is there."
  [k x]
  (let [added (sinks x nil)]
    (swap! standard assoc k added)
    k))

(defn remove!
  "Takes out the sink with the key `k`. Returns whether there was one."
  [k]
  (let [[before _] (swap-vals! standard dissoc k)]
    (contains? before k)))

(defn standard-keys
  "Returns the keys of the sinks in use where none is named."
  []
  (vec (keys @standard)))

(defn standard-sinks
  "Returns the functions of the sinks in use where none is named."
  []
  (mapcat val @standard))

(defn from-options
  "Returns a function that gives the sinks which {:sink x :format f} names: fixed ones if
  it names one, else the standard sinks of the moment."
  [{:keys [sink format]}]
  (cond
    sink (constantly (sinks sink format))
    format (constantly (sinks :out format))
    :else standard-sinks))
