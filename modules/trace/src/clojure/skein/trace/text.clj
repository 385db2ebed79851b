;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.text
  "Events as lines of text, in Skein's format and in that of tools.trace."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.errors :as errors])
  (:import
   (java.util TimeZone)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defn- add-digits! [^StringBuilder out ^long n ^long width]
  (loop [unit (long (case width 3 100, 2 10))]
    (when (pos? unit)
      (.append out (char (+ 48 (rem (quot n unit) 10))))
      (recur (quot unit 10)))))

(defn- add-time!
  "Writes the time of day at `t` milliseconds since 1970 as 14:03:22.118. Does not use java.time, which
  would take longer than the rest of the line."
  [^StringBuilder out ^long t]
  (let [ms (Math/floorMod (+ t (.getOffset (TimeZone/getDefault) t)) 86400000)]
    (add-digits! out (quot ms 3600000) 2)
    (.append out \:)
    (add-digits! out (rem (quot ms 60000) 60) 2)
    (.append out \:)
    (add-digits! out (rem (quot ms 1000) 60) 2)
    (.append out \.)
    (add-digits! out (rem ms 1000) 3)))

(defn- tenths
  "Returns a number of `unit`s with one decimal digit."
  [^long n ^long unit name]
  (let [tenths (quot (+ (* 10 n) (quot unit 2)) unit)]
    (str (quot tenths 10) "." (rem tenths 10) name)))

(defn elapsed-text
  "Returns a duration in nanoseconds as a person reads it: 12.0µs."
  [ns]
  (let [ns (long ns)]
    (cond
      (< ns 1000000) (tenths ns 1000 "µs")
      (< ns 1000000000) (tenths ns 1000000 "ms")
      :else (tenths ns 1000000000 "s"))))

(defn place
  "Returns the block or thread of an event: \"go-42/skein-worker-0\", \"main\"."
  [{:keys [block thread]}]
  (if block (str "go-" block "/" thread) thread))

(defn cut
  "Returns `line`. If it is longer than `chars`, cuts it, and … is its last character."
  [^String line chars]
  (if (<= (.length line) (long chars))
    line
    (str (subs line 0 (dec (long chars))) "…")))

(defn- message ^String [^Throwable error]
  (try (.getMessage error)
       (catch Throwable _ "whose message can't be read"))) ; an exception's class may override it

(defn- call-text [name args]
  (let [out (StringBuilder. "(")]
    (.append out (str name))
    (run! (fn add [^String arg] (.append (.append out \space) arg)) args)
    (.toString (.append out \)))))

(defn- form-text [{:keys [form within error args] :as event}]
  (str (errors/place event) " " form " failed: " (Failures/text error)
       (when args (str "   args [" (str/join " " args) "]"))
       (when within (str "   in " within))))

(defn- value-text [{:keys [name value] :as event}]
  (let [site (errors/place event)]
    (str (when-not (str/blank? site) (str site " "))
         (when name (str name " "))
         "=> " value)))

(defn- what [{:keys [phase name args value error elapsed-ns] :as event}]
  (case phase
    :call (call-text name args)
    :return (str "=> " value "   " (elapsed-text elapsed-ns))
    :throw (str "! " (Failures/text error) "   " (elapsed-text elapsed-ns))
    :async-return (str "⇒ " value "   " (elapsed-text elapsed-ns) " after call")
    :async-throw (str "⇒ ! " (Failures/text error) "   " (elapsed-text elapsed-ns) " after call")
    :limit (str "… " value)
    :running (str "… " name " still running")
    :note (str "note: " value)
    :form (form-text event)
    :value (value-text event)
    :verbose value))

(def ^:private ^:const place-width 10)

(defn- add-place! [^StringBuilder out event]
  (let [^String place (place event)]
    (.append out place)
    (dotimes [_ (- (long place-width) (.length place))] (.append out \space))))

(defn- own-line [{:keys [phase id depth parent away? t] :as event}]
  (let [out (StringBuilder. 100)]
    (if (= :verbose phase)
      (.append out (errors/place event))
      (do (add-time! out t)
          (.append out \space)
          (add-place! out event)))
    (.append out \space)
    (when id
      (.append (.append out \#) (str id))
      (when (and away? (= :call phase)) (.append (.append out \<) (str parent)))
      (.append out "  "))
    (dotimes [_ (long (or depth 0))] (.append out "│ "))
    (.append out ^String (what event))
    (.toString out)))

(defn- failed-forms [{:keys [chain error]}]
  (let [message (or (message error) (str ": No message attached to throwable " (.getName (class error))))]
    (str/join "\n" (cons message (map (fn failed [form] (str "  Form failed: " form)) chain)))))

(defn- old-line
  "Returns an event as tools.trace prints it, or nil for an event that tools.trace does not have."
  [{:keys [phase id depth name args value] :as event}]
  (let [head (str "TRACE t" id ": " (apply str (repeat (or depth 0) "| ")))]
    (case phase
      :call (str head (call-text (if (:skein.trace/deftrace (meta name)) (symbol (clojure.core/name name)) name) args))
      :return (str head "=> " value)
      :value (str "TRACE" (when name (str " " name)) ": " value)
      :form (failed-forms event)
      nil)))

(defn line
  "Returns an event as a line, without its end, or nil if the format does not show it.

  format   :skein or :tools.trace; nil means :skein
  chars    the length of the longest line; a line of `printfv` may be longer"
  [event format chars]
  (cond
    (= :verbose (:phase event)) (own-line event)
    (= :tools.trace format) (old-line event)
    :else (cut (own-line event) chars)))
