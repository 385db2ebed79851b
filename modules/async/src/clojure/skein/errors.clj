;; SPDX-License-Identifier: Apache-2.0
(ns skein.errors
  "Exceptions for people and for programs, those of blocks too.

  * `pst` prints an exception, and the code that waited for the block that it ended
  * `exceptions` has the last ones that nobody has taken, `async-trace` the stack trace of one as data
  * `kind` says which of Skein's errors an exception is

  The runtime itself adds to the stack trace of an exception that ends a block which code waited for the block. This
  namespace reads it. If `skein.trace` is loaded, the form that failed in a `trace-forms` is shown too.
  doc/trace.md is the guide, and doc/errors.md lists the kinds."
  (:require
   [clojure.string :as str]
   [skein.impl.check :as check]
   [skein.impl.internals :as internals])
  (:import
   (java.io Writer)
   (skein.rt Uncaught Uncaught$Report)
   (skein.rt.block Failures Hooks SpawnTraces)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-causes 32)

(defn- with-causes
  "Returns the exception and its causes, which may form a cycle."
  [error]
  (take max-causes (take-while some? (iterate ex-cause error))))

(defn kind
  "Returns the keyword under :skein/error in the data of an exception, or of the first of its causes that has one;
  otherwise nil. doc/errors.md lists the keywords.

      (kind (RuntimeException. (ex-info \"No.\" {:skein/error :skein/nil-put})))
      ;=> :skein/nil-put"
  [error]
  (some (comp :skein/error ex-data) (with-causes error)))

;;;; Stack traces

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

(defn async-trace
  "Returns the stack trace of an exception as maps, user frames first: :via (:frame, :awaited-by or
  :spawned-by), :ns, :fn, :file, :line, and :op for a park. If a function has several frames at one line, one of
  them is there. Throws :skein/bad-argument."
  [error]
  (check/instance "error of async-trace" error Throwable "an exception")
  (let [[frames] (reduce (fn element [[out via] ^StackTraceElement e]
                           (cond
                             (mark? e) [out (marks (.getMethodName e) via)]
                             (failed-form? e) [out via]
                             :else [(conj out (frame-data via e)) via]))
                         [[] :frame]
                         (Failures/userFrames error))]
    (into [] (dedupe) frames)))

(defonce ^:private spawn-traces (atom nil))

(defn set-spawn-traces!
  "Sets whether each block records where it was spawned, for the stack trace if it fails. Returns
  `on?`. Recording costs one or two microseconds for each block. The blocks that await a block
  are known without it."
  [on?]
  (locking spawn-traces
    (when-some [observer @spawn-traces] (Hooks/remove observer))
    (reset! spawn-traces (when on? (doto (SpawnTraces.) (Hooks/add)))))
  on?)

;;;; What nobody has taken

;; A function that returns what is known of the form that threw an exception, or nil; see skein.trace.report/of.
(defonce ^:private form-of (atom (constantly nil)))

(defn ^:no-doc set-form-of!
  "Sets the function that knows the forms that failed."
  [f]
  (reset! form-of f))

(defn- describe [^Uncaught$Report u]
  (let [error (.thrown u)
        trace (async-trace error)
        form (@form-of error)
        because (Failures/because error)]
    (cond-> {:error error, :at (.at u), :thread (.thread u), :trace trace
             :site (some (fn own [{:keys [ns file line]}] (when ns {:ns ns, :file file, :line line})) trace)}
      form (assoc :form (dissoc form :chain))
      because (assoc :because because))))

(defn exceptions
  "Returns the last exceptions that ended a block, a thread or a future, and that no code has taken.
  There are at most 16, newest last: {:error :at :site :trace}; for :trace see `async-trace`.
  :form is the form that failed, if `skein.trace/trace-forms` knows it. :because is present if the block got
  nil from another block that had failed."
  []
  (mapv describe (Uncaught/last)))

;;;; Printing

(defn- newest-of-blocks []
  (some-> ^Uncaught$Report (peek (vec (Uncaught/last))) .thrown))

;; The newest exception of a block that `pst` has shown.
(defonce ^:private shown (atom nil))

(defn- newest []
  (let [uncaught (newest-of-blocks)]
    (cond
      (and uncaught (not (identical? uncaught @shown))) uncaught
      (instance? Throwable *e) *e ; unbound on a thread without a REPL
      :else uncaught)))

(defn ^:no-doc place
  "Returns the place of a frame, form or event: demo.clj:12:9."
  [{:keys [file line column]}]
  (str (when file (last (str/split file #"[/\\]")))
       (when (and line (pos? (long line))) (str ":" line))
       (when column (str ":" column))))

(def ^:private via->words {:awaited-by "awaited by ", :spawned-by "spawned by "})

(defn- frame-line
  "Returns the line of a frame. `before` is the frame in the line above. If both are of the same stack, the words
  before them are not repeated."
  [before {:keys [via ns fn class method op] :as frame}]
  (let [words (via->words via "")
        same-stack? (and (= via (:via before)) (not op) (not (:op before)))]
    (str "\t"
         (if same-stack? (apply str (repeat (count words) \space)) words)
         (if ns (str ns "/" fn) (str class "/" method))
         " (" (place frame) ")"
         (when op (str "  " op)))))

(defn- frame-lines [depth frames]
  (map frame-line (cons nil frames) (take depth frames)))

(defn- form-line [error]
  (when-some [{:keys [form within args] :as failed} (@form-of error)]
    (str "\t" (place failed) " " form " failed" (when args (str " with " (str/join " " args)))
         (when within (str ", in " within)))))

(defn- error-lines [^Throwable error depth]
  (let [[own others] (split-with (comp #{:frame} :via) (async-trace error))]
    (concat [(Failures/text error)]
            (some-> (form-line error) list)
            (when-some [words (Failures/because error)]
              [(str "\tafter nil from a block that failed: " words)])
            (frame-lines depth own)
            (frame-lines depth others))))

(defn- all-lines [error depth]
  (let [[lines & of-causes] (map (fn one [e] (error-lines e depth)) (with-causes error))]
    (into (vec lines)
          (mapcat (fn caused-by [[head & more]] (cons (str "Caused by: " head) more)))
          of-causes)))

(defn pst
  "Prints exceptions to `*err*`, with their causes, blocks that waited, and failed forms. Returns nil.

  - error   the exception; :all: all of `exceptions`; by default the newer one of `*e` and the last of `exceptions`
  - depth   how many frames of each, by default 12

  Throws :skein/bad-argument."
  ([] (pst nil 12))
  ([x] (if (integer? x) (pst nil x) (pst x 12)))
  ([error depth]
   (check/that "error of pst" error
               (or (nil? error) (= :all error) (instance? Throwable error)) "an exception or :all")
   (check/whole "depth of pst" depth 0)
   (let [errors (cond
                  (= :all error) (map :error (exceptions))
                  (nil? error) (some-> (newest) list)
                  :else [error])
         lines (mapcat (fn lines [e] (all-lines e depth)) errors)
         ^Writer out *err*]
     (when-some [uncaught (newest-of-blocks)]
       (when (some (fn same [e] (identical? uncaught e)) errors) (reset! shown uncaught)))
     (locking out ; so that the lines stay together
       (.write out (str (str/join "\n" (if (seq lines) lines ["There is no exception."])) "\n"))
       (.flush out)))))
