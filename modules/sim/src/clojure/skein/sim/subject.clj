;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.subject
  "What the events of a run are about, in words: names of ports and tasks, and places in the user's code.

  * `events` - those that belong in a story
  * `naming` - names of tasks, ports and atoms
  * `site`, `place` - of an event or wait"
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.inspect.places :as places]
   [skein.inspect.words :as words])
  (:import
   (clojure.lang Agent IAtom Ref Volatile)
   (skein.rt Channel Labels)
   (skein.rt.block Failures Frame Sites)
   (skein.rt.schedule Timeout)
   (skein.sim.rt Simulation Task Trace$Event Trace$Kind)))

(set! *warn-on-reflection* true)

(defn- inside?
  "Returns whether Skein's own code reads or writes the atom, which tells the user nothing."
  [^Trace$Event e]
  (and (#{Trace$Kind/AT Trace$Kind/READ Trace$Kind/WRITE Trace$Kind/UNSET} (.kind e))
       (some-> ^StackTraceElement (first (remove (fn [^StackTraceElement e]
                                                   (re-find #"^(java|clojure|skein\.sim\.(rt|wrap))[.$]" (.getClassName e)))
                                                 (.site e)))
               .getClassName
               Failures/isMachinery)))

(defn events
  "Returns the events of a run that belong in its story."
  [^Simulation sim]
  (remove (fn [^Trace$Event e]
            (or (#{Trace$Kind/DEREF Trace$Kind/PARK Trace$Kind/CLOSING} (.kind e)) (inside? e)))
          (.events (.-trace sim))))

;;;; Names

(defn limiter
  "Returns the description of a concurrency limiter, {:name :n}, or nil for all else."
  [x]
  (when (instance? Channel x)
    (let [label (.label ^Channel x)]
      (when (:n label) label))))

(defn kind-of
  "Returns the kind of a port, as in a snapshot of `skein.inspect`, or :atom, :ref, :agent or :port."
  [x]
  (cond
    (and (instance? Channel x) (instance? Timeout (.role ^Channel x))) :timeout
    (limiter x) :limiter
    (instance? Channel x) :chan
    (or (instance? IAtom x) (instance? Volatile x)) :atom
    (instance? Ref x) :ref
    (instance? Agent x) :agent
    :else :port))

(defn scopes
  "Returns {port scope} for the ports in which tasks have waited for the end of a scope."
  [^Simulation sim]
  (into {} (for [^Trace$Event e (.events (.-trace sim)) :when (= Trace$Kind/CLOSING (.kind e))] [(:done (.on e)) (:scope (.on e))])))

(defn collect-ports
  "Returns the ports in the subject of an event or wait, which may be one, or those of an alts."
  [x]
  (cond
    (vector? x) (if (and (= 2 (count x)) (instance? Channel (x 0)) (not (instance? Channel (x 1))))
                  [(x 0)]
                  (mapcat collect-ports x))
    (sequential? x) (mapcat collect-ports x)
    (or (nil? x) (instance? Task x)) nil
    :else [x]))

(defn- task-name
  "Returns what label! calls the result of the task's block, or the task's path."
  [^Task task]
  (or (some-> ^Frame (.frame task) .port Labels/of) (str task)))

(defn naming
  "Returns a function from a task, port or atom of a run to its name: its label, or numbered in the order in which the events
  name them. `more` are ports that no event names."
  [^Simulation sim more]
  (let [known (java.util.IdentityHashMap.)
        numbers (volatile! {})
        numbered (fn numbered [x kind]
                   (or (Labels/of x)
                       (:name (limiter x))
                       (str (name kind) "-" (get (vswap! numbers update kind (fnil inc 0)) kind))))
        own-name (fn own-name [x] (str (numbered x (kind-of x))))]
    (doseq [^Trace$Event e (events sim), :let [x (.on e)], :when (instance? Task x)]
      (when-some [^Frame frame (.frame ^Task x)]
        (.putIfAbsent known (.port frame) (str "the result of " (task-name x)))))
    (doseq [[done scope] (scopes sim)]
      (.put known done (str (or (Labels/of scope) (numbered done :scope)))))
    (doseq [x (concat (mapcat (fn [^Trace$Event e] (collect-ports (.on e))) (events sim)) more)]
      (when-not (.containsKey known x) (.put known x (own-name x))))
    (fn name-of [x]
      (or (.get known x) (if (instance? Task x) (task-name x) (own-name x))))))

(defn port-names
  "Returns the names of the ports of an operation, as text."
  [name-of on]
  (str/join ", " (map name-of (distinct (collect-ports on)))))

;;;; Places

(defn users-frame
  "Returns the innermost of the StackTraceElements that is of the user's code, or nil."
  [frames]
  (first (remove (fn [^StackTraceElement e]
                   (or (Failures/isMachinery (.getClassName e)) (neg? (.getLineNumber e))))
                 frames)))

(defn users-site
  "Returns {:file :line}, and of a block's wait the :form, for where an event or wait is in the user's code, or nil."
  [^Task task site]
  (if (integer? site)
    (when-some [body (some-> task .frame .body)]
      (when-not (Failures/isMachinery (.getName (class body)))
        (some-> (.at (Sites/of body) (int site)) places/site)))
    (some-> site seq users-frame places/of-element (dissoc :form)))) ; the class of the body tells nothing

(defn site
  "Returns {:file :line :form} for where an event or wait is, or nil. For Skein's own code, that is where the user's code started it."
  [^Task task site]
  (or (users-site task site)
      (when (and task site) (recur (.-parent task) (.site task)))))

(defn place
  "Returns a `site` as text, \"file.clj:12\", or nil."
  [task site-or-stack]
  (some-> (site task site-or-stack) (dissoc :form) words/place))
