;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.mark
  "Which forms park. `mark` puts metadata on them:

      ::parks   a parking operation stands in the form, outside of nested functions
      ::recurs  a recur stands in it whose loop is outside of the form
      ::loops   on loop*: its body parks, so the loop becomes blocks
      ::op      on a call: its entry in the table of operations

  All other forms stay as they are. So do functions, reify, deftype, and a
  region that holds a monitor: what parks in there is an ordinary call."
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.impl.go.ops :as ops]))

(set! *warn-on-reflection* true)

(def flags
  "The keys of the marks that go from a form to the forms around it."
  [::parks ::recurs])

(declare walk)

(defn- parks? [form] (::parks (meta form)))
(defn- recurs? [form] (::recurs (meta form)))

(defn transformed?
  "Whether the form has to become blocks, being on the way to a park or to a parking loop's recur."
  [form]
  (let [m (meta form)]
    (or (::parks m) (::recurs m))))

(defn- rebuilt
  "`form`, or if one of `parts` is marked, the form that `build` makes of it, marked likewise."
  [form parts build]
  (let [parks (some parks? parts)
        recurs (some recurs? parts)]
    (if (or parks recurs)
      (with-meta (build) (cond-> (meta form) parks (assoc ::parks true) recurs (assoc ::recurs true)))
      form)))

(defn- walk-all [forms] (mapv (fn walk-one [form] (walk form nil)) forms))

(defn- walk-body
  "The forms of a `do`: the last one is in the tail position `tail`."
  [forms tail]
  (if (seq forms)
    (conj (walk-all (butlast forms)) (walk (last forms) tail))
    []))

;; A tail is what a recur in that place would reach: nil, nothing; a number, a loop
;; with so many locals; :try, a loop that it must not reach.

(defn- bad-recur! [form message]
  (let [source (::expand/source (meta form) form)]
    (error/fail! :skein/bad-recur (str message " In: " (error/preview source))
                 (assoc (expand/location form) :form source))))

(defn- walk-recur [[_ & args :as form] tail]
  (let [args (walk-all args)]
    (cond
      (nil? tail) (bad-recur! form "Can't recur here: this is not the tail position of a loop or a function.")
      (= :try tail) (bad-recur! form "Can't recur across try. Put the try inside a function, or the loop inside the try.")
      (not= tail (count args))
      (bad-recur! form (str "recur passes " (count args) " values to a loop of " tail " locals.")))
    (-> (rebuilt form args (fn build [] (list* 'recur args)))
        (vary-meta assoc ::recurs true))))

(defn- walk-do [[op & body :as form] tail]
  (let [body (walk-body body tail)]
    (rebuilt form body (fn build [] (list* op body)))))

(defn- walk-if [[op test & branches :as form] tail]
  (let [parts (into [(walk test nil)] (map (fn branch [b] (walk b tail))) branches)]
    (rebuilt form parts (fn build [] (list* op parts)))))

(defn- walk-let [[op bindings & body :as form] tail]
  (let [inits (walk-all (take-nth 2 (rest bindings)))
        body (walk-body body tail)]
    (rebuilt form (concat inits body)
             (fn build [] (list* op (vec (interleave (take-nth 2 bindings) inits)) body)))))

(defn- walk-letfn [[op bindings & body :as form] tail]
  (let [body (walk-body body tail)]
    (rebuilt form body (fn build [] (list* op bindings body)))))

(defn- walk-loop [[op bindings & body :as form] _]
  (let [inits (walk-all (take-nth 2 (rest bindings)))
        body (walk-body body (count inits))
        loops? (some parks? body)
        build (fn build [] (list* op (vec (interleave (take-nth 2 bindings) inits)) body))]
    (cond
      loops? (with-meta (build) (assoc (meta form) ::parks true ::loops true))
      ;; Only what comes before the loop parks: the loop itself stays a loop.
      (some parks? inits) (with-meta (build) (assoc (meta form) ::parks true))
      :else form)))

(defn- walk-case [[op ge shift mask default clauses & more :as form] tail]
  (let [default (walk default tail)
        clauses (reduce-kv (fn clause [m k [test then]] (assoc m k [test (walk then tail)])) clauses clauses)]
    (rebuilt form (cons default (map second (vals clauses)))
             (fn build [] (list* op ge shift mask default clauses more)))))

(defn- walk-clause [form]
  (case (when (seq? form) (first form))
    catch (let [[op class sym & body] form
                body (walk-body body :try)]
            (rebuilt form body (fn build [] (list* op class sym body))))
    finally (let [body (walk-body (rest form) nil)]
              (rebuilt form body (fn build [] (list* 'finally body))))
    (walk form :try)))

(defn- walk-try [[op & clauses :as form] _]
  (let [clauses (mapv walk-clause clauses)]
    (rebuilt form clauses (fn build [] (list* op clauses)))))

(defn- walk-dot [[op target member & args :as form] _]
  (let [target (walk target nil)
        member' (if (seq? member) (walk-all (rest member)) [])
        args (walk-all args)]
    (rebuilt form (concat [target] member' args)
             (fn build []
               (list* op target (if (seq? member) (with-meta (list* (first member) member') (meta member)) member)
                      args)))))

(defn- walk-args
  "`new`, `throw`, `set!`, `def`, calls: everything after the first `n` parts."
  [n form]
  (let [args (walk-all (drop n form))]
    (rebuilt form args (fn build [] (concat (take n form) args)))))

(defn- walk-opaque [form _] form)

(def ^:private special-walks
  {'do walk-do, 'if walk-if, 'let* walk-let, 'letfn* walk-letfn, 'loop* walk-loop, 'case* walk-case
   'try walk-try, '. walk-dot, 'recur walk-recur
   'new (fn walk-new [form _] (walk-args 2 form)), 'def (fn walk-def [form _] (walk-args 2 form))
   'set! (fn walk-set [form _] (walk-args 1 form)), 'throw (fn walk-throw [form _] (walk-args 1 form))
   'monitor-enter walk-opaque, 'monitor-exit walk-opaque, 'quote walk-opaque, 'var walk-opaque
   'fn* walk-opaque, 'reify* walk-opaque, 'deftype* walk-opaque, 'clojure.core/import* walk-opaque})

(defn- bad-arity! [form n [fewest most]]
  (let [source (::expand/source (meta form) form)]
    (error/fail! :skein/bad-arity
                 (str (first source) " takes " fewest (when-not most " or more") " arguments, but is given " n ": "
                      (error/preview source))
                 (assoc (expand/location form) :form source :arity n))))

(defn- walk-call [form _]
  (let [op (when (symbol? (first form)) (ops/parking (first form)))
        [fewest most] (:arity op)
        n (dec (count form))]
    (if op
      (if (and (<= (long fewest) n) (or (nil? most) (<= n (long most))))
        (vary-meta (walk-args 1 form) assoc ::parks true ::op op)
        (bad-arity! form n (:arity op)))
      (walk-args 0 form))))

(defn- holds-monitor?
  "Whether one of the form's own parts enters a monitor, so that the form is the region that holds it."
  [form]
  (some (fn enter? [part] (and (seq? part) (= 'monitor-enter (first part)))) form))

(defn- walk-seq [form tail]
  (if (holds-monitor? form)
    (do ((special-walks (first form) walk-call) form (when tail :try)) ; a recur must not leave it
        form)
    ((special-walks (first form) walk-call) form tail)))

(defn- walk-collection [form]
  (let [parts (walk-all (if (map? form) (mapcat identity form) form))
        m (walk (meta form) nil)] ; the metadata of a literal is evaluated too
    (if (or (some parks? parts) (parks? m))
      (with-meta (if (map? form) (apply array-map parts) (into (empty form) parts)) (assoc m ::parks true))
      form)))

(defn- walk [form tail]
  (cond
    (seq? form) (if (seq form) (walk-seq form tail) form)
    (and (coll? form) (not (record? form))) (walk-collection form)
    :else form))

(defn mark
  "Returns `form`, an expanded form, with the marks told above. Throws
  :skein/bad-arity for a parking operation with a wrong number of arguments,
  :skein/bad-recur for a recur that reaches no loop."
  [form]
  (walk form nil))
