;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.run
  "From the arguments of `skein.fold/fold` to the Java engine: checks options, makes a Fold, runs it.

  The eductions around a fold's source go in front of its xform, which is taken apart into stages; the Java engine decides,
  while it runs, whether they are shared by several threads."
  {:no-doc true}
  (:require
   [skein.fold.arity :as arity]
   [skein.fold.kinds :as kinds]
   [skein.fold.order :as order]
   [skein.fold.primitive]
   [skein.fold.watch :as watch]
   [skein.impl.check :as check]
   [skein.impl.error :as error]
   [skein.impl.internals :as internals])
  (:import
   (clojure.core Eduction)
   (clojure.lang IFn)
   (java.util LinkedHashMap)
   (java.util.concurrent Executor)
   (skein.fold.engine Fold Fold$Options Stages Watch)))

(set! *warn-on-reflection* true)

;;;; Checks of arguments

(def ^:private known
  "Option -> what its value must be; see skein.impl.check/options."
  {:workers [#(and (int? %) (<= 1 (long %) 1024)) "a number of threads from 1 to 1024"]
   :grain [#(and (int? %) (pos? (long %))) "a positive long, a number of elements (for a file, of bytes)"]
   :ordered? [boolean? "true or false"]
   :pool [#(instance? Executor %) "a java.util.concurrent.Executor"]
   :on-progress [ifn? "a function of one argument"]})

(defn- not-taken
  "Returns a text that says what is wrong with `f`, which should be a function of `arguments`, also a text."
  [f arguments]
  (str (error/preview f) (if (arity/function? f) (str ", which can't be called with " arguments) ", not a function")))

(defn check-functions
  "Throws :skein/bad-argument unless combine and step are functions of two arguments, and combine, if there is
  no other `identity`, one of none."
  [identity combine step]
  (when-not (arity/combines? combine identity)
    (error/fail! :skein/bad-argument
                 (str "The fold's combine is " (not-taken combine (if (arity/takes? combine 2) "no argument" "two arguments"))
                   ". With no argument it returns the identity, unless the fold has an :identity. With two it combines the "
                   "values of neighbouring parts. The call is (fold f coll), where f is a fold such as sum or (top 2).")
                 {:combine combine}))
  (when-not (arity/takes? step 2)
    (error/fail! :skein/bad-argument
                 (str "The fold's step is " (not-taken step "two arguments") ". It takes the value so far and an element. Options come "
                      "first: (fold options f coll).")
                 {:step step})))

(defn check-xform
  "Throws :skein/bad-argument unless `xform` is a function."
  [xform]
  (when-not (arity/function? xform)
    (error/fail! :skein/bad-argument
                 (str "A fold's xform must be a transducer, such as (map inc), but is " (error/preview xform) ".")
                 {:xform xform})))

(defn- stage-name
  "Returns the name of the function that made the transducer `stage`, such as clojure.core/take."
  [stage]
  (second (re-matches #"([^/]+/[^/]+?)(?:/fn.*)?" (internals/demunged (.getName (class stage))))))

(defn- first-ordered
  "Returns the index of the first of `stages` that :ordered? false does not allow, their number if it is the step of `f`, or nil."
  [{:keys [step in-order?]} stages]
  (or (order/first-ordered stages step)
      (when in-order? (count stages))))

(defn- check-unordered [f stages]
  (when-let [i (first-ordered f stages)]
    (let [stage (if (< (long i) (count stages)) (stage-name (nth stages i)) "the step")]
      (error/fail! :skein/bad-argument
                   (str stage " needs its elements in order, and :ordered? false gives it up. Leave out one of them.")
                   {:stage stage, :index i}))))

;;;; Folds

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

(defn- ->fold ^Fold [{:keys [identity combine step completes? in-order?] :or {completes? true}} stages options]
  (Fold. (or identity combine) stages step (boolean completes?) (boolean in-order?) combine options))

(defn needs-order?
  "Returns whether the fold `f` needs all its elements in order, from the first one on."
  [f]
  (some? (first-ordered f (stages-of (:xform f)))))

(defn- ->options ^Fold$Options [{:keys [workers grain ordered? pool] :or {ordered? true}} watch]
  (Fold$Options. (or workers (.workers Fold/DEFAULTS)) (or grain 0) ordered? pool watch))

(defn- run-watched
  "Returns the value of a fold, and its Watch if there is one.

  pieces  see `skein.fold.watch/watch`"
  [pieces opts f coll]
  (check-functions (:identity f) (:combine f) (:step f))
  (let [opts (when opts (check/options "fold" opts known))
        stages (stages-of (:xform f))]
    (when (false? (:ordered? opts)) (check-unordered f stages))
    ;; The source may be an open file after this line, so all arguments have been checked before.
    (let [source (kinds/source coll)
          {:keys [on-progress]} opts
          watch (watch/watch source pieces on-progress)
          value (.over (->fold f stages (if (or opts watch) (->options opts watch) Fold/DEFAULTS)) source)]
      (when on-progress (on-progress (watch/progress watch)))
      [value watch])))

(defn run
  "Returns the fold of `coll`, before :complete.

  opts  see `skein.fold/fold`, or nil
  f     {:identity :xform :step :combine :in-order? :completes?}; without :identity, combine's value for no argument;
        :completes? false says that step's arity of one, if there is one, has another meaning"
  [opts f coll]
  (cond
    (instance? Eduction coll) (recur opts (fed-by coll f) (.coll ^Eduction coll))
    (kinds/remote? coll) (kinds/-fold coll opts f)
    :else (nth (run-watched nil opts f coll) 0)))

(defn under-way
  "Returns the folds of this process that have run for more than a millisecond and have not ended: {:caller Thread :start
  System/nanoTime :unit keyword :done units :total units, or nil if unknown}. Folds on a cluster are not among them."
  []
  (mapv (fn data [^Watch w] (assoc (watch/progress w) :caller (.caller w) :start (.start w)))
        (Watch/underWay)))

(defn- thread-name [^Thread thread]
  (or (not-empty (.getName thread)) (str thread)))

(defn- explain-here [opts f coll]
  (let [pieces (LinkedHashMap.)
        start (System/nanoTime)
        [value ^Watch watch] (run-watched pieces opts f coll)
        elapsed-ns (- (System/nanoTime) start)
        pieces (watch/pieces pieces)
        blocks (long (transduce (map :blocks) + pieces))]
    {:value value
     :path (keyword (.path watch))
     :reason (not-empty (.reason watch))
     :grain (if (pos? blocks) (quot (long (transduce (map :units) + pieces)) blocks) 0)
     :pieces (mapv #(-> % (assoc :thread (thread-name (first (:threads %)))) (dissoc :threads)) pieces)
     :threads (max 1 (count (into #{} (mapcat :threads) pieces)))
     :elapsed-ns elapsed-ns}))

(defn explain
  "Runs a fold, and returns how it ran, with its value under :value; see `skein.fold/explain`."
  [opts f coll]
  (cond
    (instance? Eduction coll) (recur opts (fed-by coll f) (.coll ^Eduction coll))
    (kinds/remote? coll) (kinds/-explain coll opts f)
    :else (explain-here opts f coll)))
