;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.exceptions
  "Exceptions in a form for people. If an exception has ended a block, its stack trace says
  which blocks waited for that block: the runtime adds them, see skein.rt.block.AsyncTrace. This
  namespace reads them."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.impl.internals :as internals]
   [skein.trace.report :as report]
   [skein.trace.text :as text])
  (:import
   (java.io Writer)
   (skein.rt Uncaught Uncaught$Report)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(def ^:private marks {"awaited-by" :awaited-by, "awaited-by-thread" :awaited-by, "spawned-by" :spawned-by})

(defn- mark? [^StackTraceElement e] (= "skein.ASYNC" (.getClassName e)))
(defn- failed-form? [^StackTraceElement e] (= "skein.FORM" (.getClassName e)))

(defn- clojure-frame?
  "Returns whether a frame is of Clojure code. A Clojure program may be in a file with any name, such as a script without an ending."
  [^StackTraceElement e]
  (let [file (.getFileName e)]
    (boolean (and file (not (re-find #"\.(java|kt|scala|groovy)$" file))))))

(defn- frame-data [via ^StackTraceElement e]
  (let [[n f] (when (clojure-frame? e) (str/split (internals/demunged (.getClassName e)) #"/" 2))
        method (.getMethodName e)]
    (cond-> {:via via, :file (.getFileName e), :line (.getLineNumber e)}
      f (assoc :ns (symbol n) :fn (symbol (first (str/split f #"/"))))
      (nil? f) (assoc :class (symbol (.getClassName e)) :method (symbol method))
      (str/starts-with? method "(") (assoc :op method))))

(defn- dedupe-frames [[frames]]
  (into [] (dedupe) frames))

(defn async-trace
  "See `skein.trace/async-trace`. If a function has several frames at one line, returns one of them."
  [^Throwable error]
  (dedupe-frames
    (reduce (fn element [[out via] ^StackTraceElement e]
              (cond
                (mark? e) [out (marks (.getMethodName e) via)]
                (failed-form? e) [out via]
                :else [(conj out (frame-data via e)) via]))
            [[] :frame]
            (Failures/userFrames error))))

(defn- describe [^Uncaught$Report u]
  (let [error (.thrown u)
        trace (async-trace error)
        form (report/of error)
        because (Failures/because error)]
    (cond-> {:error error, :at (.at u), :thread (.thread u), :trace trace
             :site (some (fn own [{:keys [ns file line]}] (when ns {:ns ns, :file file, :line line})) trace)}
      form (assoc :form (dissoc form :chain))
      because (assoc :because because))))

(defn recent
  "See `skein.trace/exceptions`."
  []
  (mapv describe (Uncaught/last)))

;; The newest exception of a block that `pst` has shown.
(defonce ^:private shown (atom nil))

(defn newest
  "See `skein.trace/last-exception`."
  []
  (let [uncaught (some-> ^Uncaught$Report (peek (vec (Uncaught/last))) .thrown)]
    (cond
      (and uncaught (not (identical? uncaught @shown))) uncaught
      (instance? Throwable *e) *e ; unbound on a thread without a REPL
      :else uncaught)))

;;;; Printing

(def ^:private via->words {:awaited-by "awaited by ", :spawned-by "spawned by "})

(defn- frame-line
  "Returns the line of a frame. `before` is the frame in the line above. If both are of the same stack, the words
  before them are not repeated."
  [before {:keys [via ns fn file line class method op]}]
  (let [words (via->words via "")
        same-stack? (and (= via (:via before)) (not op) (not (:op before)))]
    (str "\t"
         (if same-stack? (apply str (repeat (count words) \space)) words)
         (if ns (str ns "/" fn) (str class "/" method))
         " (" file (when (and line (pos? (long line))) (str ":" line)) ")"
         (when op (str "  " op)))))

(defn- frame-lines [depth frames]
  (map frame-line (cons nil frames) (take depth frames)))

(defn- form-line [error]
  (when-some [{:keys [form within args] :as r} (report/of error)]
    (str "\t" (text/site-text r) " " form " failed" (when args (str " with " (str/join " " args)))
         (when within (str ", in " within)))))

(defn- error-lines [^Throwable error depth]
  (let [[own others] (split-with (comp #{:frame} :via) (async-trace error))]
    (concat [(text/error-text error)]
            (some-> (form-line error) list)
            (when-some [words (Failures/because error)]
              [(str "\tafter nil from a block that failed: " words)])
            (frame-lines depth own)
            (frame-lines depth others))))

(def ^:private ^:const max-causes 32)

(defn- with-causes
  "Returns the exception and its causes, which may form a cycle."
  [error]
  (take max-causes (take-while some? (iterate ex-cause error))))

(defn- all-lines [error depth]
  (let [[lines & of-causes] (map (fn one [e] (error-lines e depth)) (with-causes error))]
    (into (vec lines)
          (mapcat (fn caused-by [[head & more]] (cons (str "Caused by: " head) more)))
          of-causes)))

(defn- check! [error depth]
  (when-not (or (nil? error) (= :all error) (instance? Throwable error))
    (error/fail! :skein/not-an-exception
                 (str "The argument of pst must be an exception or :all, but is " (error/preview error) ".")
                 {:value error}))
  (when-not (nat-int? depth)
    (error/fail! :skein/bad-number
                 (str "The number of frames that pst prints must be a whole number from 0, but is " (error/preview depth) ".")
                 {:option :depth, :value depth})))

(defn print-to
  "Prints `error`, nil for the newest, or :all, to a writer in one write. Returns nil. Throws
  :skein/not-an-exception and :skein/bad-number."
  [^Writer out error depth]
  (check! error depth)
  (let [errors (cond
                 (= :all error) (map :error (recent))
                 (nil? error) (some-> (newest) list)
                 :else [error])
        lines (mapcat (fn lines [e] (all-lines e depth)) errors)]
    (when-some [uncaught (some-> ^Uncaught$Report (peek (vec (Uncaught/last))) .thrown)]
      (when (some (fn same [e] (identical? uncaught e)) errors) (reset! shown uncaught)))
    (locking out
      (.write out (str (str/join "\n" (if (seq lines) lines ["There is no exception."])) "\n"))
      (.flush out))))
