;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.text
  "Events as lines of text, in Skein's format and in that of tools.trace."
  (:require [clojure.string :as str])
  (:import (java.time Instant LocalTime ZoneId)
           (java.time.format DateTimeFormatter)))

(set! *warn-on-reflection* true)

(def ^:private ^DateTimeFormatter clock (DateTimeFormatter/ofPattern "HH:mm:ss.SSS"))

(defn- time-text [t]
  (.format clock (LocalTime/ofInstant (Instant/ofEpochMilli t) (ZoneId/systemDefault))))

(defn elapsed-text
  "Returns a duration in nanoseconds as a person reads it: 12.0µs."
  [ns]
  (let [ns (double ns)]
    (cond
      (< ns 1e6) (format "%.1fµs" (/ ns 1e3))
      (< ns 1e9) (format "%.1fms" (/ ns 1e6))
      :else (format "%.1fs" (/ ns 1e9)))))

(defn place
  "Returns the block or thread of an event: \"go-42/skein-worker-0\", \"main\"."
  [{:keys [block thread]}]
  (if block (str "go-" block "/" thread) thread))

(defn cut
  "Returns `line`, its last character … where it is longer than `chars`."
  [^String line chars]
  (if (<= (.length line) (long chars))
    line
    (str (subs line 0 (dec (long chars))) "…")))

(defn error-text
  "Returns class and message of an exception on one line, the message in 200 characters at most."
  [^Throwable error]
  (let [message (.getMessage error)]
    (str (.getSimpleName (class error))
         (when message
           (str " " (cut (str/replace (subs message 0 (min 300 (count message))) "\n" "\\n") 200))))))

(defn- call-text [{:keys [name args]}]
  (str "(" (str/join " " (cons name args)) ")"))

(defn site-text
  "Returns file and place of an event: demo.clj:12:9."
  [{:keys [file line column]}]
  (str (when file (last (str/split file #"[/\\]")))
       (when line (str ":" line))
       (when column (str ":" column))))

(defn- form-text [{:keys [form within error args] :as event}]
  (str (site-text event) " " form " failed: " (error-text error)
       (when args (str "   args [" (str/join " " args) "]"))
       (when within (str "   in " within))))

(defn- value-text [{:keys [name value] :as event}]
  (let [site (site-text event)]
    (str (when-not (str/blank? site) (str site " "))
         (when name (str name " "))
         "=> " value)))

(defn- what [{:keys [phase value error elapsed-ns] :as event}]
  (case phase
    :call (call-text event)
    :return (str "=> " value "   " (elapsed-text elapsed-ns))
    :throw (str "! " (error-text error) "   " (elapsed-text elapsed-ns))
    :async-return (str "⇒ " value "   " (elapsed-text elapsed-ns) " after call")
    :async-throw (str "⇒ ! " (error-text error) "   " (elapsed-text elapsed-ns) " after call")
    :limit (str "… " value)
    :note (str "note: " value)
    :form (form-text event)
    :value (value-text event)))

(defn- own-line [{:keys [phase id depth parent away? t value] :as event}]
  (if (= :verbose phase)
    (str (site-text event) " " value)
    (str (time-text t) " " (format "%-10s" (place event)) " "
         (when id (str "#" id (when away? (str "<" parent)) "  "))
         (apply str (repeat (or depth 0) "│ "))
         (what event))))

(defn- failed-forms [{:keys [chain error]}]
  (let [message (or (ex-message error) (str ": No message attached to throwable " (class error)))]
    (str/join "\n" (cons message (map (fn failed [form] (str "  Form failed: " form)) chain)))))

(defn- old-line
  "As tools.trace prints it, or nil for what it does not know."
  [{:keys [phase id depth name value] :as event}]
  (let [head (str "TRACE t" id ": " (apply str (repeat (or depth 0) "| ")))]
    (case phase
      :call (str head (call-text event))
      :return (str head "=> " value)
      :value (str "TRACE" (when name (str " " name)) ": " value)
      :form (failed-forms event)
      :verbose (own-line event)
      nil)))

(defn line
  "Returns an event as a line, without its end, or nil if the format does not show it.

  format   :skein or :tools.trace
  chars    the length of the longest line"
  [event format chars]
  (case format
    :skein (cut (own-line event) chars)
    :tools.trace (old-line event)))
