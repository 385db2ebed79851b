;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.jfr
  "Calls as the JVM times them, by the method tracing of the Flight Recorder in JDK 25 and later.

  Nothing is put into the var, so that calls are seen that go past it: from code that is
  linked directly, and Clojure's own. There are no arguments or values, and no tree; an event
  comes up to a second after its call.

  One recording serves all vars. It ends with the last of them, after what it has seen is told.

  Source: JEP 520, Method Timing & Tracing."
  (:require [clojure.string :as str]
            [skein.trace.event :as event]
            [skein.trace.vars :as vars])
  (:import (clojure.lang Compiler Var)
           (java.time Instant)
           (jdk.jfr EventType FlightRecorder)
           (jdk.jfr.consumer RecordedEvent RecordedFrame RecordedMethod RecordingStream)
           (skein.rt.watch Failures)))

(set! *warn-on-reflection* true)

(def ^:private ^String event-name "jdk.MethodTrace")

;; A var that is or was traced: the methods in which the code of its function is, ["demo$f::invokeStatic"], where to tell
;; of their calls, and until when, nil while traced.
(deftype ^:private Timed [^Var v methods sinks-fn ^Instant until])

;; `timed`, an atom with a vector of Timed, changes under the lock of `current`.
(deftype ^:private Recording [^RecordingStream stream timed])

(def ^:private current "An atom with the recording, or nil." (atom nil))

(defn- supported? []
  (and (FlightRecorder/isAvailable)
       (some (fn method-trace? [^EventType t] (= event-name (.getName t)))
             (.getEventTypes (FlightRecorder/getFlightRecorder)))))

(def ^:private functions #{:fn :prim-fn})

(defn check!
  "Throws :skein/not-traceable unless the JVM can time the calls of what the var `v` holds."
  [v]
  (vars/check! v)
  (when-not (functions (vars/traceable v))
    (vars/refuse! (symbol ^Var v) "the JVM times the calls of plain functions alone"))
  (when-not (supported?)
    (vars/refuse! (symbol ^Var v)
                  (str "the Flight Recorder of Java " (System/getProperty "java.version") " can't trace methods, as that of 25 can"))))

;;;; What is recorded

(defn- methods-of
  "The methods that the calls of a function go through, each through one: a static one unless it closes over something."
  [f]
  (let [declared (into #{} (map (fn method-name [^java.lang.reflect.Method m] (.getName m))) (.getDeclaredMethods (class f)))]
    (into [] (map (fn qualified [method] (str (.getName (class f)) "::" method)))
          (or (some (fn one [method] (when (declared method) [method])) ["invokeStatic" "invokePrim"])
              (filter declared ["invoke" "doInvoke"])))))

(defn- timed-now [v sinks-fn]
  (Timed. v (methods-of (vars/function-of v)) sinks-fn nil))

(defn- filter-of [timed]
  (str/join ";" (mapcat (fn methods [^Timed t] (when (nil? (.until t)) (.methods t))) timed)))

(defn- set-filter! [^RecordingStream stream timed]
  (-> (.enable stream event-name) (.with "filter" (filter-of timed))))

(defn- frame-data [^RecordedFrame f]
  (let [class-name (.getName (.getType (.getMethod f)))]
    (when-not (Failures/isMachinery class-name)
      {:name (symbol (Compiler/demunge class-name)), :line (.getLineNumber f)})))

(defn- callers
  "The frames of the user's code that called, innermost first. A function's own `invoke`, above its
  static method, is none."
  [^RecordedEvent e]
  (let [^RecordedMethod timed (.getValue e "method")
        own-invoke? (fn own-invoke? [^RecordedFrame f]
                      (and (= (.getName (.getType timed)) (.getName (.getType (.getMethod f))))
                           (not= (.getName timed) (.getName (.getMethod f)))))]
    (into [] (comp (drop-while own-invoke?) (keep frame-data) (dedupe))
          (some-> (.getStackTrace e) .getFrames))))

(defn- event-of [^RecordedEvent e ^Timed t]
  (let [{:keys [file line]} (meta (.v t))
        thread (.getThread e)]
    (event/map->Event {:phase :timed, :name (symbol (.v t)), :file file, :line line
                       :thread (or (some-> thread .getJavaName not-empty) (str "virtual-" (some-> thread .getJavaThreadId)))
                       :t (.toEpochMilli (.getStartTime e)), :elapsed-ns (.toNanos (.getDuration e))
                       :callers (callers e)})))

(defn- own?
  "Whether a call was made by the thread that tells of calls, which would go on for ever."
  [^RecordedEvent e]
  (= (some-> (.getThread e) .getJavaThreadId) (.threadId (Thread/currentThread))))

(defn- tell!
  "Tells of the call `e` to whom it may concern among `timed`."
  [^RecordedEvent e timed]
  (let [^RecordedMethod m (.getValue e "method")
        method (str (.getName (.getType m)) "::" (.getName m))]
    (when-not (own? e)
      (doseq [^Timed t timed
              :when (and (some #{method} (.methods t))
                         (or (nil? (.until t)) (.isBefore (.getStartTime e) (.until t))))]
        (event/quietly (fn tell-one [] (event/emit! ((.sinks-fn t)) (event-of e t))))))))

;;;; Which vars

(defn- active [timed]
  (filter (fn active? [^Timed t] (nil? (.until t))) timed))

(defn- ended
  "`timed` with what is traced of `v` ended now."
  [timed v]
  (let [now (Instant/now)]
    (mapv (fn end [^Timed t]
            (if (and (nil? (.until t)) (identical? v (.v t)))
              (Timed. v (.methods t) (.sinks-fn t) now)
              t))
          timed)))

(defn- start! ^Recording [timed]
  (let [stream (RecordingStream.)
        timed (atom timed)]
    (.onEvent stream event-name (reify java.util.function.Consumer (accept [_ e] (tell! e @timed))))
    (set-filter! stream @timed)
    (.startAsync stream)
    (Recording. stream timed)))

(defn- stop! [^Recording recording]
  (let [stop (fn stop []
               (.stop ^RecordingStream (.stream recording)) ; which tells of all that is recorded
               (.close ^RecordingStream (.stream recording)))]
    (if (event/busy?) ; called by a sink, for the end of which it would wait
      (.start (Thread. ^Runnable stop "skein-trace-jfr"))
      (stop))))

(defn- change!
  "Has `f` of the vars that are timed be those, and the recording follow."
  [f]
  (when-some [unused (locking current
                       (let [^Recording recording @current
                             after (f (if recording @(.timed recording) []))]
                         (when recording (reset! (.timed recording) after))
                         (cond
                           (empty? (active after)) (do (reset! current nil) recording)
                           recording (do (set-filter! (.stream recording) after) nil)
                           :else (do (reset! current (start! after)) nil))))]
    (stop! unused)))

(defn- timed-of ^Timed [v]
  (when-some [^Recording recording @current]
    (first (filter (fn same? [^Timed t] (identical? v (.v t))) (active @(.timed recording))))))

(defn- follow!
  "Follows a var that has been defined anew."
  [v]
  (when-some [t (timed-of v)]
    (if-not (functions (vars/traceable v))
      (change! (fn stop [timed] (ended timed v)))
      (when-not (= (.methods t) (methods-of (vars/function-of v)))
        (change! (fn replace-methods [timed] (conj (ended timed v) (timed-now v (.sinks-fn t)))))))))

(defn trace!
  "Tells the sinks that `sinks-fn` gives of calls of these vars. Throws :skein/not-traceable."
  [vs sinks-fn]
  (run! check! vs)
  (change! (fn start [timed] (into (reduce ended timed vs) (map (fn one [v] (timed-now v sinks-fn))) vs)))
  (doseq [v vs]
    (add-watch v ::trace (fn redefined [_ _ _ _] (follow! v)))))

(defn untrace!
  "Ends `trace!` of these vars. Returns nil."
  [vs]
  (run! (fn unwatch [v] (remove-watch v ::trace)) vs)
  (change! (fn stop [timed] (reduce ended timed vs))))

(defn traced
  "Returns the vars that are traced so."
  []
  (if-some [^Recording recording @current]
    (mapv (fn of-var [^Timed t] (.v t)) (active @(.timed recording)))
    []))
