;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.exceptions
  "Exceptions as a person reads them. The runtime has put into the stack trace of one that
  ended a block who waited for it, see skein.rt.AsyncTrace; here it is read."
  (:require [clojure.string :as str]
            [skein.trace.report :as report]
            [skein.trace.text :as text])
  (:import (clojure.lang Compiler)
           (java.io Writer)
           (skein.rt Failures Failures$Uncaught)))

(set! *warn-on-reflection* true)

(def ^:private marks {"awaited-by" :awaited-by, "spawned-by" :spawned-by})
(def ^:private given-nil "given-nil-by: ")

(defn- mark? [^StackTraceElement e] (= "skein.ASYNC" (.getClassName e)))
(defn- failed-form? [^StackTraceElement e] (= "skein.FORM" (.getClassName e)))

(defn- clojure-frame? [^StackTraceElement e]
  (let [file (.getFileName e)]
    (boolean (and file (re-find #"\.clj[cs]?$|^NO_SOURCE|^REPL" file)))))

(defn- frame-data [via ^StackTraceElement e]
  (let [[n f] (when (clojure-frame? e) (str/split (Compiler/demunge (.getClassName e)) #"/" 2))
        method (.getMethodName e)]
    (cond-> {:via via, :file (.getFileName e), :line (.getLineNumber e)}
      f (assoc :ns (symbol n) :fn (symbol (first (str/split f #"/"))))
      (nil? f) (assoc :class (symbol (.getClassName e)) :method (symbol method))
      (str/starts-with? method "(") (assoc :op method))))

(defn- dedupe-frames [[frames]]
  (into [] (dedupe) frames))

(defn async-trace
  "See `skein.trace/async-trace`. A function with several frames at one line is there once."
  [^Throwable error]
  (dedupe-frames
   (reduce (fn element [[out via] ^StackTraceElement e]
             (cond
               (mark? e) [out (marks (.getMethodName e) via)]
               (failed-form? e) [out via]
               :else [(conj out (frame-data via e)) via]))
           [[] :frame]
           (.getStackTrace error))))

(defn- because
  "What is said of the block that gave this one nil, or nil."
  [^Throwable error]
  (some (fn words [^StackTraceElement e]
          (when (and (mark? e) (str/starts-with? (.getMethodName e) given-nil))
            (subs (.getMethodName e) (count given-nil))))
        (.getStackTrace error)))

(defn- describe [^Failures$Uncaught u]
  (let [error (.thrown u)
        trace (async-trace error)
        form (report/of error)
        because (because error)]
    (cond-> {:error error, :at (.at u), :thread (.thread u), :trace trace
             :site (some (fn own [{:keys [ns file line]}] (when ns {:ns ns, :file file, :line line})) trace)}
      form (assoc :form (dissoc form :chain))
      because (assoc :because because))))

(defn recent
  "See `skein.trace/exceptions`."
  []
  (mapv describe (Failures/last)))

;; The newest exception of a block that `pst` has shown.
(def ^:private shown (atom nil))

(defn newest
  "See `skein.trace/last-exception`."
  []
  (let [uncaught (some-> ^Failures$Uncaught (peek (vec (Failures/last))) .thrown)]
    (cond
      (and uncaught (not (identical? uncaught @shown))) uncaught
      (some? *e) *e
      :else uncaught)))

;;;; Printing

(defn- frame-line [{:keys [via ns fn file line class method op]}]
  (str "\t"
       (case via :awaited-by "awaited by " :spawned-by "spawned by " "")
       (if ns (str ns "/" fn) (str class "/" method))
       " (" file (when (and line (pos? (long line))) (str ":" line)) ")"
       (when op (str "  " op))))

(defn- form-line [error]
  (when-some [{:keys [form within args] :as r} (report/of error)]
    (str "\t" (text/site-text r) " " form " failed" (when args (str " with " (str/join " " args)))
         (when within (str ", in " within)))))

(defn- error-lines [^Throwable error depth]
  (let [trace (async-trace error)
        [own others] (split-with (comp #{:frame} :via) trace)]
    (concat [(text/error-text error)]
            (some-> (form-line error) list)
            (when-some [words (because error)]
              [(str "\tafter nil from a block that failed: " words)])
            (map frame-line (take depth own))
            (map frame-line (take depth others))
            (when-some [cause (.getCause error)]
              (let [[head & more] (error-lines cause depth)]
                (cons (str "Caused by: " head) more))))))

(defn print-to
  "Prints `error`, nil for the newest, or :all, to a writer in one write. Returns nil."
  [^Writer out error depth]
  (let [errors (cond
                 (= :all error) (map :error (recent))
                 (nil? error) (some-> (newest) list)
                 :else [error])
        lines (mapcat (fn lines [e] (error-lines e depth)) errors)]
    (when-some [uncaught (some-> ^Failures$Uncaught (peek (vec (Failures/last))) .thrown)]
      (when (some (fn same [e] (identical? uncaught e)) errors) (reset! shown uncaught)))
    (locking out
      (.write out (str (str/join "\n" (if (seq lines) lines ["There is no exception."])) "\n"))
      (.flush out))))
