;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.infer
  "The Java type that Clojure's own compiler gives to a local, found by asking
  it: `local` analyses the local's initial form and returns the compiler's
  record of the local, a Compiler$LocalBinding.

  Forms are fully expanded and their locals renamed apart, see
  `skein.impl.expand`. Nothing is compiled: forms that would become classes of
  their own (functions, loops, try) are replaced by what is known of their type."
  (:require
   [skein.impl.forms :as forms])
  (:import
   (clojure.lang Compiler Compiler$C Compiler$LocalBinding Compiler$MethodParamExpr IObj Keyword Reflector)))

(set! *warn-on-reflection* true)

;; The index of a deftype field in Clojure's compiler: a local that is neither `this` nor cleared.
(def ^:private no-index (int -1))

(defn- local-binding
  "A LocalBinding; by reflection, for the type of `init` is private to the compiler."
  ^Compiler$LocalBinding [sym tag init]
  (Reflector/invokeConstructor Compiler$LocalBinding (object-array [no-index sym tag init false nil])))

(defn tagged
  "Returns the LocalBinding of `sym` with the type hint `tag`, a symbol or nil."
  ^Compiler$LocalBinding [sym tag]
  (local-binding sym tag nil))

(defn primitive
  "Returns the LocalBinding of a local `sym` that is a primitive of class `c`."
  ^Compiler$LocalBinding [sym ^Class c]
  (local-binding sym nil (Compiler$MethodParamExpr. c)))

(defn renamed
  "Returns a copy of `lb` under the name `sym`. The compiler can look it up
  without noticing: that does not close the function being compiled over it."
  ^Compiler$LocalBinding [^Compiler$LocalBinding lb sym]
  (local-binding sym (.tag lb) (.init lb)))

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
  ^Compiler$LocalBinding [sym]
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
  "`form` without what has no bearing on its type."
  [form]
  (cond
    (seq? form) (if (seq form) (skeleton-seq form) form)
    (and (coll? form) (not (record? form))) (empty (if (instance? IObj form) (with-meta form nil) form))
    :else form))

(defn- analysis-bindings [known]
  {Compiler/LOCAL_ENV known, Compiler/METHOD nil, Compiler/LOOP_LOCALS nil
   Compiler/CLEAR_PATH nil, Compiler/CLEAR_ROOT nil, Compiler/CLEAR_SITES {}
   Compiler/CONSTANTS [], Compiler/CONSTANT_IDS (java.util.IdentityHashMap.)
   Compiler/KEYWORDS {}, Compiler/VARS {}
   Compiler/KEYWORD_CALLSITES [], Compiler/PROTOCOL_CALLSITES []
   #'*warn-on-reflection* false
   #'*unchecked-math* (boolean *unchecked-math*)})

(defn- analyze
  "The compiler's expression for `form`, or nil where it has none: the real
  compilation will tell the user why."
  [form known]
  (push-thread-bindings (analysis-bindings known))
  (try
    (Compiler/analyze Compiler$C/EXPRESSION form)
    (catch Throwable _ nil)
    (finally (pop-thread-bindings))))

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
  ^Compiler$LocalBinding [sym form known]
  (let [tag (tag-of sym)]
    (if tag
      (tagged sym tag)
      (let [slim (skeleton form)]
        (if (and (symbol? slim) (nil? (meta slim)) (or (known slim) (stubs slim)))
          (let [^Compiler$LocalBinding lb (or (known slim) (stubs slim))]
            (local-binding sym (.tag lb) (.init lb)))
          (or (constant-binding sym slim)
              (local-binding sym nil (analyze slim (merge known stubs)))))))))

(defn primitive-class
  "Returns the primitive class of a local, or nil when it is an object."
  ^Class [^Compiler$LocalBinding lb]
  (.getPrimitiveType lb))

(defn class-tag
  "Returns a type hint for an object of the local's type, as a symbol, or nil."
  [^Compiler$LocalBinding lb]
  (or (.tag lb)
      (when (and (nil? (.getPrimitiveType lb)) (.hasJavaClass lb))
        (when-let [c (.getJavaClass lb)]
          (when-not (or (= c Object) (.isPrimitive ^Class c))
            (symbol (.getName ^Class c)))))))
