;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.sink
  "Destinations of events. `sink` makes a function of an event from one of these:

      :out :err      a line to the thread's own *out* or *err*. If the thread has no binding,
                     or its *out* captures the program's output, as in with-out-str, the line
                     goes to the *out* of the code that switched tracing on
      :ring          the last `ring-size` events, kept as data, see `events`
      :tap           `tap>`
      {:file path}   a line appended to a file
      a function     itself
      a vector       each of these

  A line is written in one call, so that lines of several threads do not mix. With :group?, so is
  a whole tree of calls; see `skein.trace.group`."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.trace.group :as group]
   [skein.trace.print :as print]
   [skein.trace.text :as text])
  (:import
   (clojure.lang Var)
   (java.io File FileOutputStream IOException StringWriter Writer)
   (java.util Collections Map WeakHashMap)
   (java.util.concurrent.atomic AtomicLong AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(def ^:const ring-size "How many events the ring holds." 16384)

(defonce ^:private ^AtomicReferenceArray ring (AtomicReferenceArray. (int ring-size)))
(defonce ^:private ^AtomicLong n-written (AtomicLong.))

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

(defn- line-of [event format]
  (some-> (text/line event format (or (:max-line event) (:chars print/default-limits)))
          (str "\n")))

(defn- text-sink
  "Returns a sink that calls `write!` with an event's `destination` and with text: a line, or the lines of
  a group."
  [{:keys [format group?]} destination write!]
  (let [line-of (fn line [event] (line-of event format))]
    (if group?
      (group/grouped line-of destination write!)
      (fn print-event [event]
        (when-some [line (line-of event)]
          (write! (destination event) line))))))

(defn- write-text! [^Writer writer ^String text]
  (locking writer
    (.write writer text)
    (.flush writer)))

;; The values of *out* and *err* in the code that switched tracing on: those of the last time, and all that there have been.
(defonce ^:private last-home (atom {}))
(defonce ^:private ^Map homes (Collections/synchronizedMap (WeakHashMap.)))

(defn- note-home! []
  (let [home {#'*out* *out*, #'*err* *err*}]
    (run! (fn add [writer] (.put homes writer true)) (vals home))
    (reset! last-home home)))

(defn- the-program's?
  "Returns whether `writer` captures the program's own output, as with-out-str does. Lines of calls don't belong there,
  although tools.trace writes them there."
  [writer phase format]
  (and (instance? StringWriter writer)
       (not (contains? #{:value :verbose :form} phase)) ; the program asks for these lines at this place
       (not= :tools.trace format)
       (not (.containsKey homes writer))))

(defn- writer-sink
  "Returns a sink that writes to the value of the var `v`, *out* or *err*, in the event's thread. If the thread has no binding,
  or captures the program's output by it, the sink writes to the value in the code that switched tracing on."
  [^Var v {:keys [format standard?] :as options}]
  (let [here (deref v)
        home (fn home [] (if standard? (get @last-home v here) here))]
    (note-home!)
    (text-sink options
               (fn writer [{:keys [phase]}]
                 (let [own (when (.getThreadBinding v) (deref v))]
                   (if (and own (not (the-program's? own phase format))) own (home))))
               write-text!)))

(defn- append!
  "Writes to a file. It does not use a channel of NIO, which an interrupt of the thread would close."
  [^File file ^String text]
  (with-open [out (FileOutputStream. file true)]
    (.write out (.getBytes text "UTF-8"))))

(defn- check-file! [^File file]
  (try (append! file "")
       (catch IOException _
         (error/fail! :skein/bad-argument
                      (str "Can't append to the file " file ". Name a file in a folder that exists and is writable.")
                      {:sink {:file (str file)}}))))

(defn- file-sink [path options]
  (let [file (File. (str path))
        lock (Object.)]
    (check-file! file)
    (text-sink options (constantly file) (fn append-text! [file text] (locking lock (append! file text))))))

(defn- unknown-sink! [x]
  (error/fail! :skein/bad-argument
               (str "There is no sink " (error/preview x) ". Events go to :out, :err, :ring, :tap, {:file path},"
                    " a function, or a vector of these.")
               {:sink (if (fn? x) :function x)}))

(defn sinks
  "Returns the sinks that `x` names, see above, as a vector of functions. In `options`, :format is the format of text, by
  default :skein. With :group? true the lines of a tree of calls are written together."
  [x options]
  (cond
    (= :out x) [(writer-sink #'*out* options)]
    (= :err x) [(writer-sink #'*err* options)]
    (= :ring x) [keep-event!]
    (= :tap x) [(fn tap [event] (tap> event))]
    (and (map? x) (:file x)) [(file-sink (:file x) options)]
    (vector? x) (into [] (mapcat (fn each [y] (sinks y options))) x)
    (ifn? x) (if (keyword? x) (unknown-sink! x) [x])
    :else (unknown-sink! x)))

;;;; Options and default sinks

(def ^:private text-options
  "The options for sinks of text; see skein.impl.check/options."
  {:format [#{:skein :tools.trace} ":skein or :tools.trace"], :group? [boolean? "true or false"]})

(def options
  "The options for the sinks of traced vars; see skein.impl.check/options."
  (assoc text-options :sink [any? "a sink"]))

(defonce ^:private standard (atom (array-map :out (sinks :out {:standard? true}))))

(defn add!
  "Adds the sink `x` under the key `k`, or replaces the one that is there. Returns `k`. Throws :skein/bad-argument."
  [options k x]
  (let [added (sinks x (assoc (check/options "add-sink!" options text-options) :standard? true))]
    (swap! standard assoc k added)
    k))

(defn remove!
  "Removes the default sink with the key `k`. Returns whether there was one."
  [k]
  (let [[before _] (swap-vals! standard dissoc k)]
    (contains? before k)))

(defn standard-keys
  "Returns the keys of the default sinks."
  []
  (vec (keys @standard)))

(defn standard-sinks
  "Returns the functions of the default sinks."
  []
  (mapcat val @standard))

(defn from-options
  "Returns a function that returns the sinks for the options {:sink x :format f :group? g}. If one of
  them is given, these are fixed sinks; otherwise the default sinks at the time of the call. Throws
  :skein/bad-argument."
  [given]
  (let [{:keys [sink format group?] :as options} (check/options "tracing" given options)]
    (cond
      (or sink format group?) (constantly (sinks (or sink :out) options))
      :else (do (note-home!) standard-sinks))))
