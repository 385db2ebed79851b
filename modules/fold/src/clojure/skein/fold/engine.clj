;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.engine
  "From the arguments of `skein.fold/fold` to the Java engine: checks options, makes a plan, runs it.

  The eductions around a fold's source go in front of its xform, which is taken apart into stages; skein.fold.rt decides,
  while it runs, whether they are shared by several threads."
  (:require [skein.fold.check :as check]
            [skein.fold.primitive]
            [skein.fold.source :as source]
            [skein.impl.error :as error])
  (:import (clojure.core Eduction)
           (clojure.lang IFn IReduceInit)
           (java.util.concurrent Executor)
           (skein.fold.rt Engine Plan Progress Stages Trace Trace$Piece)
           (skein.fold.spi Feed Span)))

(set! *warn-on-reflection* true)

;;;; What the caller did wrong

(def ^:private options
  "As `check/options` wants them."
  {:parallelism [#(and (int? %) (<= 1 (long %) 1024)) "a number of threads from 1 to 1024"]
   :grain [#(and (int? %) (pos? (long %))) "a positive long, so many elements (or bytes, of a file)" :skein/bad-grain]
   :unordered [boolean? "true or false"]
   :pool [#(instance? Executor %) "a java.util.concurrent.Executor"]
   :on-progress [ifn? "a function of one argument"]})

(defn- not-taken
  "Returns in words what is wrong with `f`, which should be a function that takes `arguments`, also in words."
  [f arguments]
  (str (error/preview f) (if (check/function? f) (str ", which can't be called with " arguments) ", not a function")))

(defn check-functions
  "Throws :skein/bad-combine or :skein/bad-step unless combine and step are functions of two arguments, and combine, if there is
  no other `identity`, one of none."
  [identity combine step]
  (when-not (check/combines? combine identity)
    (error/fail! :skein/bad-combine
                 (str "The fold's combine is " (not-taken combine (if (check/takes? combine 2) "no argument" "two arguments"))
                      ". It gives the identity when called with no argument, unless the fold has an :identity, and combines "
                      "the values of two neighbouring parts.")
                 {:combine combine}))
  (when-not (check/takes? step 2)
    (error/fail! :skein/bad-step
                 (str "The fold's step is " (not-taken step "two arguments") ". It takes a value so far and an element.")
                 {:step step})))

(defn check-xform
  "Throws :skein/bad-xform unless `xform` is a function."
  [xform]
  (when-not (check/function? xform)
    (error/fail! :skein/bad-xform
                 (str "A fold's xform is a transducer, such as (map inc), not " (error/preview xform) ".")
                 {:xform xform})))

(defn- stage-name
  "Returns the name of the function that made the transducer `stage`, such as clojure.core/take."
  [stage]
  (second (re-matches #"([^/]+/[^/]+?)(?:/fn.*)?" (Compiler/demunge (.getName (class stage))))))

(defn- check-unordered [^Plan plan stages]
  (let [i (.firstThatNeedsOrder plan)]
    (when (<= i (count stages))
      (let [stage (if (< i (count stages)) (stage-name (nth stages i)) "the step")]
        (error/fail! :skein/stateful-unordered
                     (str stage " needs its elements in order, and :unordered true gives up the order. Leave out one of them.")
                     {:stage stage, :index i})))))

;;;; Plans

(def ^:private no-stages (make-array IFn 0))

(defn- stages-of ^"[Lclojure.lang.IFn;" [xform]
  (if (nil? xform)
    no-stages
    (do (check-xform xform)
        (Stages/of xform))))

(defn fed-through
  "Returns the fold `f` with the transducer `xform` in front."
  [xform f]
  (let [inner (:xform f)]
    (assoc f :xform (if (and xform inner) (comp xform inner) (or xform inner)))))

(defn- fed-by
  "Returns the fold `f` with the transducer of an eduction in front."
  [^Eduction coll f]
  (check-xform (.xform coll))
  (fed-through (.xform coll) f))

(defn needs-order?
  "Whether the fold `f` gives a value only if it sees all its elements in order, from the first one on."
  [f]
  (let [stages (stages-of (:xform f))]
    (<= (.firstThatNeedsOrder (Plan. (:identity f) stages (:step f) (:combine f) (boolean (:in-order? f))))
        (count stages))))

(defn- progress [on-progress source]
  (let [[unit size] (cond
                      (instance? Span source) [(.unit ^Span source) (.size ^Span source)]
                      (instance? Feed source) [(.unit ^Feed source) -1]
                      :else ["elements" -1])
        unit (keyword unit)]
    (Progress. (fn tell [done total] (on-progress {:done done, :total total, :unit unit})) size)))

(defn- with-options ^Plan [^Plan plan opts stages]
  (let [{:keys [parallelism grain unordered pool]} opts]
    (when parallelism (.parallelism plan parallelism))
    (when grain (.grain plan grain))
    (when pool (.pool plan pool))
    (when unordered
      (check-unordered plan stages)
      (.unordered plan true))
    plan))

(defn- run-source [^Plan plan source]
  (cond
    (instance? Span source) (Engine/fold plan ^Span source)
    (instance? Feed source) (Engine/fold plan ^Feed source)
    :else (Engine/fold plan ^IReduceInit source)))

(defn- run-traced
  "As `run`, noting what happens in `trace`, which may be nil."
  [^Trace trace opts f coll]
  (if (instance? Eduction coll)
    (recur trace opts (fed-by coll f) (.coll ^Eduction coll))
    (let [step (:step f)
          combine (:combine f)]
      (check-functions (:identity f) combine step)
      (when opts (check/options options opts))
      (let [stages (stages-of (:xform f))
            plan (Plan. (or (:identity f) combine) stages step combine (boolean (:in-order? f)))]
        (when (false? (:completes? f)) (.neverComplete plan))
        (when opts (with-options plan opts stages))
        (when trace (.trace plan trace))
        ;; A source may be an open file from here on; what is refused has been refused.
        (let [source (source/source coll)]
          (when-let [tell (:on-progress opts)] (.progress plan (progress tell source)))
          (run-source plan source))))))

(defn run
  "Returns the fold of `coll`, not yet post-processed.

  opts  see `skein.fold/fold`, or nil
  f     {:identity :xform :step :combine :in-order? :completes?}; without :identity, combine's value for no argument;
        :completes? false says that step's arity of one, if there is one, has another meaning"
  [opts f coll]
  (run-traced nil opts f coll))

(defn run-plain
  "As `run`, of a fold that is no more than these functions; they need no map, which a small fold would feel."
  [xform combine step coll]
  (if (instance? Eduction coll)
    (run nil {:xform xform, :combine combine, :step step} coll)
    (do (check-functions nil combine step)
        (run-source (Plan. combine (stages-of xform) step combine false) (source/source coll)))))

(defn- piece->data [^Trace$Piece piece]
  {:from (when-not (neg? (.from piece)) (.from piece))
   :units (.units piece), :blocks (.blocks piece), :ns (.nanos piece), :thread (.thread piece)})

(defn explain
  "Returns what `run` did, and its value under :value; see `skein.fold/explain`."
  [opts f coll]
  (let [trace (Trace.)
        start (System/nanoTime)
        value (run-traced trace opts f coll)
        elapsed-ns (- (System/nanoTime) start)
        pieces (mapv piece->data (.pieces trace))
        units (long (transduce (map :units) + pieces))
        blocks (long (transduce (map :blocks) + pieces))]
    {:value value
     :path (keyword (.path trace))
     :reason (not-empty (.reason trace))
     :grain (if (pos? blocks) (quot units blocks) 0)
     :pieces (vec (sort-by #(or (:from %) 0) pieces))
     :threads (max 1 (.threads trace))
     :elapsed-ns elapsed-ns}))
