;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.internals
  "The internals of Clojure that Skein uses. Clojure does not promise to keep them. They are all
  here or in the Java class skein.base.Internals. internals_test says what breaks without each, and
  runs with each supported version, see `./skein clojures`.

  * the compiler: `compiling` `set-locals!` `macroexpand-once` `class-named` `analyze`
    `type-being-defined` `in-function?` `eval-with-loader`
  * the compiler's records of locals: `local` `primitive-expression` and their readers
  * names: `demunged` `multimethod-name`
  * namespaces: `unloaded!`"
  {:no-doc true}
  (:import
   (clojure.lang Compiler Compiler$C Compiler$HostExpr Compiler$LocalBinding Compiler$MethodParamExpr MultiFn Reflector)
   (java.util IdentityHashMap)))

(set! *warn-on-reflection* true)

;;;; The compiler at work

(defn compiling
  "Calls `f` as if Clojure were compiling a form outside of any function, in the scope of `locals`,
  {symbol LocalBinding}. Returns the result of `f`."
  [locals f]
  (push-thread-bindings {Compiler/LOCAL_ENV locals, Compiler/METHOD nil, Compiler/LOOP_LOCALS nil
                         Compiler/LINE @Compiler/LINE, Compiler/COLUMN @Compiler/COLUMN})
  (try (f) (finally (pop-thread-bindings))))

(defn set-locals!
  "Sets the locals of the form that is being compiled."
  [locals]
  (.set Compiler/LOCAL_ENV locals))

(defn macroexpand-once
  "Returns `form` expanded by one step of Clojure's compiler, or `form` itself if it is not a macro
  call. Macros see `locals` as &env. Errors name `line` and `column`, if there is a line."
  [form locals line column]
  (set-locals! locals)
  (when line
    (.set Compiler/LINE line)
    (.set Compiler/COLUMN column))
  (Compiler/macroexpand1 form))

(defn class-named
  "Returns the class that the compiler takes `sym` for, or nil."
  ^Class [sym]
  (Compiler$HostExpr/maybeClass sym false))

(defn type-being-defined
  "Returns the class that stands for the deftype whose method is being compiled, or nil."
  ^Class []
  @Compiler/COMPILE_STUB_CLASS)

(defn in-function?
  "Returns whether the form that is being compiled is in a function."
  []
  (some? @Compiler/METHOD))

(defn special-forms
  "Returns the symbols that Clojure's compiler takes for the operators of special forms."
  []
  (keys Compiler/specials))

(defn- analysis-bindings [locals]
  {Compiler/LOCAL_ENV locals, Compiler/METHOD nil, Compiler/LOOP_LOCALS nil
   Compiler/CLEAR_PATH nil, Compiler/CLEAR_ROOT nil, Compiler/CLEAR_SITES {}
   Compiler/CONSTANTS [], Compiler/CONSTANT_IDS (IdentityHashMap.)
   Compiler/KEYWORDS {}, Compiler/VARS {}
   Compiler/KEYWORD_CALLSITES [], Compiler/PROTOCOL_CALLSITES []
   #'*warn-on-reflection* false
   #'*unchecked-math* (boolean *unchecked-math*)})

(defn analyze
  "Returns the compiler's expression for `form` in the scope of `locals`, or nil if the compiler
  throws: the real compilation will show the user why."
  [form locals]
  (push-thread-bindings (analysis-bindings locals))
  (try
    (Compiler/analyze Compiler$C/EXPRESSION form)
    (catch Throwable _ nil)
    (finally (pop-thread-bindings))))

(defn eval-with-loader
  "Evaluates `form` with `loader`, a DynamicClassLoader, as the loader of its classes. Returns the value."
  [form loader]
  (with-bindings {Compiler/LOADER loader} (eval form)))

;;;; The compiler's records of locals

(defn local
  "Returns the compiler's record of the local `sym`. `tag` is its type hint, a symbol or nil.
  `expression` is the result of `analyze` for its initial value, or nil."
  ^Compiler$LocalBinding [sym tag expression]
  ;; By reflection, since the type of `expression` is private to the compiler. The index -1 is that of a deftype's
  ;; field. The compiler does not take such a local for `this`, and does not clear it after its last use.
  (Reflector/invokeConstructor Compiler$LocalBinding (object-array [(int -1) sym tag expression false nil])))

(defn local?
  "Returns whether `x` is the compiler's record of a local. Other compilers put other values into &env."
  [x]
  (instance? Compiler$LocalBinding x))

(defn primitive-expression
  "Returns an expression whose value is a primitive of class `c`."
  [^Class c]
  (Compiler$MethodParamExpr. c))

(defn symbol-of "Returns the symbol of a local's record." [^Compiler$LocalBinding lb] (.sym lb))
(defn tag-of "Returns the type hint in a local's record, a symbol or nil." [^Compiler$LocalBinding lb] (.tag lb))
(defn expression-of "Returns the expression in a local's record, or nil." [^Compiler$LocalBinding lb] (.init lb))

(defn primitive-class
  "Returns the primitive class of a local, or nil when it is an object."
  ^Class [^Compiler$LocalBinding lb]
  (.getPrimitiveType lb))

(defn object-class
  "Returns the class that the compiler has inferred for a local's value, or nil. It also returns nil for a type hint that
  names no class: the compiler throws only where it needs the class."
  ^Class [^Compiler$LocalBinding lb]
  (try
    (when (.hasJavaClass lb) (.getJavaClass lb))
    (catch Exception _ nil)))

;;;; Names

(defn demunged
  "Returns the Clojure name for the name of a class: demo/f for demo$f."
  [class-name]
  (Compiler/demunge class-name))

(defn multimethod-name
  "Returns the name of a multimethod, as text."
  [mm]
  (let [field (.getDeclaredField MultiFn "name")]
    (if (.trySetAccessible field) (.get field mm) "multimethod")))

;;;; Namespaces

(defn unloaded!
  "Makes the next `require` load the namespace called `ns-name`, as if for the first time. Clojure records a namespace as
  loaded at its ns form, even if the rest of the file then throws."
  [ns-name]
  (dosync (commute @#'clojure.core/*loaded-libs* disj ns-name)))
