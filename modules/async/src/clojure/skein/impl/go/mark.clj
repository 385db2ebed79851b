;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.mark
  "Which forms park. `mark` puts metadata on them:

      ::parks   a parking operation stands in the form, outside of nested functions
      ::recurs  a recur stands in it whose loop is outside of the form
      ::loops   on loop*: its body parks, so the loop becomes blocks
      ::op      on a call: its entry in the table of operations

  All other forms stay as they are. So do functions, reify, deftype, and a
  region that holds a monitor: a parking operation in there is an ordinary call."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.impl.forms :as forms]
   [skein.impl.go.ops :as ops]))

(set! *warn-on-reflection* true)

(def flags
  "The keys of the marks that a form passes to the forms around it."
  [::parks ::recurs])

(declare walk walk-parts)

(defn- parks? [form] (::parks (meta form)))
(defn- recurs? [form] (::recurs (meta form)))

(defn transformed?
  "Returns whether the form must become blocks, because it contains a park or the recur of a parking loop."
  [form]
  (let [m (meta form)]
    (or (::parks m) (::recurs m))))

(defn- walk-all [forms] (mapv (fn walk-one [form] (walk form nil)) forms))

;; A tail says what a recur in that place may jump to. nil: nothing. A number: a loop with that
;; many locals. :try: a loop that it must not jump to.

(defn- bad-recur! [form message]
  (let [source (::expand/source (meta form) form)]
    (error/fail! [:skein/bad-block :bad-recur] (str message " In: " (error/preview source))
                 (assoc (expand/location form) :form source))))

(defn- walked-parts
  "Returns the marked parts of `form`; `tail` is the target of a recur in the place of its value."
  [form tail]
  (mapv (fn walked [[role x]]
          (case role
            :tail (walk x tail)
            (:value :operator :target :place) (walk x nil)
            :clause (walk-parts x tail)
            x))
        (forms/parts form)))

(defn- rebuilt
  "Returns `form` if none of `parts` is marked. Otherwise returns the form with `parts` in place of its own, marked too."
  [form parts]
  (let [parks (some parks? parts)
        recurs (some recurs? parts)]
    (if (or parks recurs)
      (vary-meta (forms/rebuild form parts) merge (when parks {::parks true}) (when recurs {::recurs true}))
      form)))

(defn- walk-parts [form tail]
  (rebuilt form (walked-parts form tail)))

(defn- walk-recur [[_ & args :as form] tail]
  (cond
    (nil? tail) (bad-recur! form "Can't recur here: this is not the tail position of a loop or a function.")
    (= :try tail) (bad-recur! form "Can't recur across try. Put the try inside a function, or the loop inside the try.")
    (not= tail (count args))
    (bad-recur! form (str "The loop has " tail (if (= 1 tail) " local" " locals") ", but recur passes "
                       (count args) (if (= 1 (count args)) " value." " values."))))
  (vary-meta (walk-parts form nil) assoc ::recurs true))

(defn- walk-loop [[_ bindings :as form] _]
  (let [parts (walked-parts form (quot (count bindings) 2))
        [inits body] (split-at (count bindings) parts)]
    (cond
      (some parks? body) (vary-meta (forms/rebuild form parts) assoc ::parks true ::loops true)
      ;; Only what comes before the loop parks: the loop itself stays a loop.
      (some parks? inits) (vary-meta (forms/rebuild form parts) assoc ::parks true)
      :else form)))

(defn- walk-try [form _] (walk-parts form :try))

(defn- walk-opaque [form _] form)

(def ^:private special-walks
  "Special form -> its function, if walking its parts is not enough."
  {'recur walk-recur, 'loop* walk-loop, 'try walk-try
   'fn* walk-opaque, 'reify* walk-opaque, 'deftype* walk-opaque, 'monitor-enter walk-opaque, 'monitor-exit walk-opaque})

(defn- bad-arity! [form n [fewest most]]
  (let [source (::expand/source (meta form) form)]
    (error/fail! [:skein/bad-block :bad-arity]
                 (str (first source) " takes " fewest (when-not most " or more") (if (= [1 1] [fewest most]) " argument" " arguments")
                      ", but got " n ": "
                      (error/preview source))
                 (assoc (expand/location form) :form source :arity n))))

(defn- walk-form
  "A special form, or a call."
  [form tail]
  (let [[head] form
        op (when (and (symbol? head) (not (forms/special? head))) (ops/parking head))
        [fewest most] (:arity op)
        n (dec (count form))]
    (cond
      (nil? op) (walk-parts form tail)
      (and (<= (long fewest) n) (or (nil? most) (<= n (long most))))
      (vary-meta (walk-parts form nil) assoc ::parks true ::op op)
      :else (bad-arity! form n (:arity op)))))

(defn- holds-monitor?
  "Returns whether one of the form's own parts enters a monitor, so that the form is the region that holds it."
  [form]
  (some (fn enter? [part] (and (seq? part) (= 'monitor-enter (first part)))) form))

(defn- walk-seq [form tail]
  (let [walk-it (special-walks (first form) walk-form)]
    (if (holds-monitor? form)
      (do (walk-it form (when tail :try)) ; a recur must not leave it
          form)
      (walk-it form tail))))

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
  "Returns `form`, an expanded form, with the marks described above. Throws
  :skein/bad-block for a parking operation with a wrong number of arguments, and for a recur that
  reaches no loop."
  [form]
  (walk form nil))
