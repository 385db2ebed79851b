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
  "Returns the type hint of `sym` as a symbol, or nil."
  [sym]
  (let [tag (:tag (meta sym))]
    (cond
      (symbol? tag) tag
      (string? tag) (symbol tag)
      (class? tag) (symbol (.getName ^Class tag)))))

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

(declare skeleton)

(defn- skeleton-seq [form]
  (case (first form)
    fn* '__function__
    (loop* try def letfn* deftype*) '__opaque__
    reify* (with-meta '__opaque__ {:tag (first (second form))})
    (let* do) (skeleton (last form))
    if (list 'if nil (skeleton (nth form 2)) (skeleton (nth form 3 nil)))
    set! (skeleton (nth form 2))
    throw '(throw nil)
    (forms/rebuild form (map (fn part [[_ x]] (skeleton x)) (forms/parts form)))))

(defn- skeleton
  "Returns `form` without the parts that don't affect its type."
  [form]
  (cond
    (seq? form) (if (seq form) (skeleton-seq form) form)
    (and (coll? form) (not (record? form))) (empty (if (instance? IObj form) (with-meta form nil) form))
    :else form))

(defn- constant-binding [sym form]
  (cond
    (instance? Long form) (primitive sym Long/TYPE)
    (instance? Double form) (primitive sym Double/TYPE)
    (instance? Keyword form) (tagged sym 'clojure.lang.Keyword)
    (string? form) (tagged sym 'java.lang.String)
    (nil? form) (tagged sym nil)))

(defn local
  "Returns the LocalBinding of the local `sym` whose initial value is `form`, an
  expanded form; `known` maps the locals that occur in it to LocalBindings."
  [sym form known]
  (let [tag (tag-of sym)]
    (if tag
      (tagged sym tag)
      (let [slim (skeleton form)]
        (if-let [same (when (and (symbol? slim) (nil? (meta slim))) (or (known slim) (stubs slim)))]
          (renamed same sym)
          (or (constant-binding sym slim)
              (internals/local sym nil (internals/analyze slim (merge known stubs)))))))))

(defn primitive-class
  "Returns the primitive class of a local, or nil when it is an object."
  ^Class [lb]
  (internals/primitive-class lb))

(defn class-tag
  "Returns a type hint for an object of the local's type, as a symbol, or nil."
  [lb]
  (or (internals/tag-of lb)
      (when-not (internals/primitive-class lb)
        (let [c (internals/object-class lb)]
          (when-not (or (nil? c) (= c Object) (.isPrimitive c))
            (symbol (.getName c)))))))
