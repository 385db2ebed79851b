;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.report
  "Reports a failed form of `trace-forms`: its event goes to the sinks, its place becomes the
  top frame of the exception's stack trace, and `of` remembers it."
  {:no-doc true}
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.sink :as sink])
  (:import
   (java.util Collections Map WeakHashMap)
   (skein.trace.rt Trail)))

(set! *warn-on-reflection* true)

;; Initializes the class: if that happens first when no stack is left, it fails, and the class stays unusable.
(Trail.)

(defonce ^:private ^Map thrown->report (Collections/synchronizedMap (WeakHashMap.)))

(defn of
  "Returns what is known of the form that threw `error`: a map of :file :line :column :form :within
  :chain, and :args if they were recorded; or nil. If the exception has no stack trace, returns nil,
  since the JVM may throw the same object elsewhere too."
  [error]
  (.get thrown->report error))

(defn- read-table
  "Returns [file rows] from the text of a table; see `skein.trace.form`."
  [text]
  (let [in (java.io.PushbackReader. (java.io.StringReader. text))]
    [(edn/read in) (edn/read in)]))

(defn- path
  "Returns the rows of form `n` and of the forms around it, from the inside out."
  [rows n]
  (->> (iterate (fn parent [k] (first (nth rows k))) n)
       (take-while some?)
       (map (fn row [k] (nth rows k)))))

(defn- report
  "Returns the report on form `n` of a table."
  [text n args]
  (let [[file rows] (read-table text)
        [[_ _ _ form] & around :as from-here] (path rows n)
        [_ line column] (first (filter second from-here))]
    (cond-> {:file file, :line line, :column column, :form form
             :within (some (fn written [[_ line _ text]] (when (and line (not= form text)) text)) around)
             :chain (mapv peek from-here)}
      args (assoc :args (mapv call/text args)))))

(defn- add-frame!
  "Adds the failed form at the top of the stack trace."
  [^Throwable error {:keys [file line form]}]
  (let [name-part (some-> file (str/split #"[/\\]") last)
        top (StackTraceElement. "skein.FORM" form (or name-part "NO_SOURCE_FILE") (int (or line -1)))]
    (.setStackTrace error (into-array StackTraceElement (cons top (.getStackTrace error))))))

(defn caught!
  "Notes that traced code has caught `error`; see skein.trace.rt.Trail."
  [trail error]
  (Trail/caught trail error))

(defn restore!
  "Ends a finally clause of traced code; see skein.trace.rt.Trail."
  [trail saved]
  (Trail/restore trail saved))

(defn- bare? [^Throwable error]
  (zero? (alength (.getStackTrace error))))

(defn- reported?
  "Returns whether an inner function has reported `error`."
  [error ^Trail trail]
  (if (bare? error)
    (.bareReported trail error)
    (.containsKey thrown->report error)))

(defn- rethrows? [table n]
  (let [[_ rows] (read-table table)
        [_ _ _ form] (nth rows n)]
    (str/starts-with? form "(throw ")))

(defn- failed-at
  "Returns the number of the form that threw `error`, or -1. If `error` has no stack trace and was caught
  before, the JVM may have thrown the same object again, unless the form is a `throw`."
  [error ^Trail trail table]
  (when (and (bare? error) (not (neg? (.last trail))) (not (rethrows? table (.last trail))))
    (.forgetCaught trail))
  (.at trail error))

(defn failed!
  "Reports that the code that marks its forms in `trail` threw `error`, unless an inner function has
  reported it.

  table     text of the rows to which the trail's numbers refer
  options   nil or {:sink :format :sinks}"
  [error ^Trail trail table options]
  (event/quietly
    (fn report-failure []
      (when-not (reported? error trail)
        (let [n (long (failed-at error trail table))
              r (when-not (neg? n) (report table n (.args trail error)))]
          (when r
            (when-not (bare? error)
              (.put thrown->report error r)
              (add-frame! error r))
            (event/emit! ((sink/from-options options))
                         (call/told :form (assoc r :error error)))))))))
