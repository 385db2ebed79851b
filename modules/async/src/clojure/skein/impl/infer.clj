;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.infer
  "The Java type that Clojure's own compiler infers for a local, found by calling that compiler.
  `local` analyses the local's initial form and returns the compiler's record of the local, a
  LocalBinding; see `skein.impl.internals/local`.

  Forms are fully expanded, and no two locals have the same name; see `skein.impl.expand`. Nothing
  is compiled: forms that would become classes of their own (functions, loops, try) are replaced
  by what is known of their type."
  {:no-doc true}
  (:require
   [skein.impl.forms :as forms]
   [skein.impl.internals :as internals])
  (:import
   (clojure.lang IObj Keyword)))

(set! *warn-on-reflection* true)

(defn tagged
  "Returns the LocalBinding of `sym` with the type hint `tag`, a symbol or nil."
  [sym tag]
  (internals/local sym tag nil))

(defn primitive
  "Returns the LocalBinding of a local `sym` that is a primitive of class `c`."
  [sym c]
  (internals/local sym nil (internals/primitive-expression c)))

(defn renamed
  "Returns a copy of `lb` under the name `sym`. When the compiler looks it up, the function being
  compiled does not close over it."
  [lb sym]
  (internals/local sym (internals/tag-of lb) (internals/expression-of lb)))

(defn tag-of
  "Returns the type hint of `form` as a symbol, or nil."
  [form]
  (let [tag (:tag (meta form))]
    (cond
      (symbol? tag) tag
      (string? tag) (symbol tag)
      (class? tag) (symbol (.getName ^Class tag)))))

(defn hinted-class
  "Returns the class that the type hint of `form` names, or nil."
  [form]
  (internals/object-class (tagged 'x (tag-of form))))

(defn parameter
  "Returns the LocalBinding of a parameter, whose hint ^long or ^double makes it a primitive."
  [sym]
  (let [tag (tag-of sym)]
    (case tag
      long (primitive sym Long/TYPE)
      double (primitive sym Double/TYPE)
      (tagged sym tag))))

(def ^:private opaque (tagged '__opaque__ nil))
(def ^:private function (tagged '__function__ 'clojure.lang.AFunction))
(def ^:private stubs {'__opaque__ opaque, '__function__ function})

(declare local skeleton)

(defn- bind-all!
  "Adds the LocalBindings of the locals that `bindings` of a let* bind to those in the volatile `known`."
  [known bindings]
  (doseq [[sym init] (partition 2 bindings) :when (not (contains? @known sym))]
    (vswap! known assoc (with-meta sym nil) (local sym init @known))))

(defn- body
  "Returns the skeleton of the last form of `forms`, the body of a do or let*."
  [known forms]
  (let [slim (skeleton known (last forms))]
    (if (seq? slim) (list 'do slim) slim))) ; a hint ^long counts in a do, but not on the initial value of a local

(defn- skeleton-seq [known form]
  (case (first form)
    fn* (with-meta '__function__ (not-empty (select-keys (meta form) [:tag])))
    (loop* try deftype*) '__opaque__
    reify* (with-meta '__opaque__ {:tag (first (second form))})
    def (with-meta '__opaque__ {:tag 'clojure.lang.Var})
    do (body known (rest form))
    let* (do (bind-all! known (second form))
             (body known (nnext form)))
    letfn* (do (vswap! known into (map (fn bind [sym] [(with-meta sym nil) function])) (take-nth 2 (second form)))
               (body known (nnext form)))
    if (list 'if nil (skeleton known (nth form 2)) (skeleton known (nth form 3 nil)))
    set! (skeleton known (nth form 2))
    throw '(throw nil)
    (forms/rebuild form (map (fn part [[_ x]] (skeleton known x)) (forms/parts form)))))

(defn- constant? [form]
  (cond
    (symbol? form) false
    (seq? form) (= 'quote (first form))
    (coll? form) (every? constant? (if (map? form) (mapcat identity form) form))
    :else true))

(defn- skeleton
  "Returns `form` without the parts that don't affect its type. The locals that it binds are added to
  the volatile `known`."
  [known form]
  (cond
    (seq? form) (if (seq form) (skeleton-seq known form) form)
    (and (coll? form) (not (record? form)))
    (if (and (nil? (meta form)) (constant? form)) form (empty (if (instance? IObj form) (with-meta form nil) form)))
    :else form))

(defn- constant-binding [sym form]
  (cond
    (instance? Long form) (primitive sym Long/TYPE)
    (instance? Double form) (primitive sym Double/TYPE)
    (instance? Keyword form) (tagged sym 'clojure.lang.Keyword)
    (string? form) (tagged sym 'java.lang.String)))

(defn local
  "Returns the LocalBinding of the local `sym` whose initial value is `form`, an
  expanded form; `known` maps the locals that occur in it to LocalBindings."
  [sym form known]
  (let [tag (tag-of sym)]
    (if tag
      (tagged sym tag)
      (let [known (volatile! (merge known stubs))
            slim (skeleton known form)]
        (if-let [same (when (and (symbol? slim) (nil? (meta slim))) (@known slim))]
          (renamed same sym)
          (or (constant-binding sym slim)
              (internals/local sym nil (internals/analyze slim @known))))))))

(defn primitive-class
  "Returns the primitive class of a local, or nil when it is an object."
  ^Class [lb]
  (internals/primitive-class lb))

(defn hinted-object?
  "Returns whether the value of `form`, a local or a call, is an object for the compiler, though with the class of a
  primitive, because of a hint such as ^long."
  [form known]
  (boolean
    (when (or (symbol? form) (:tag (meta form)))
      (let [lb (local 'x form known)
            ^Class c (or (hinted-class form) (internals/object-class lb))]
        (and c (.isPrimitive c) (nil? (internals/primitive-class lb)))))))

(defn class-tag
  "Returns a type hint for an object of the local's type, as a symbol, or nil."
  [lb]
  (or (internals/tag-of lb)
      (when-not (internals/primitive-class lb)
        (let [c (internals/object-class lb)]
          (when-not (or (nil? c) (= c Object))
            (symbol (.getName c)))))))
