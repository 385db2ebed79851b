;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.internals-test
  "The internals of Clojure that Skein uses. A failure with a version of Clojure says which part of
  Skein that version breaks."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.impl.internals :as internals])
  (:import
   (clojure.lang Compiler DynamicClassLoader Range Var)
   (skein.base Internals)))

(set! *warn-on-reflection* true)

;;;; The compiler

(defmacro locals-here "The names in &env and the line, as data." []
  `'~[(set (keys &env)) @Compiler/LINE])

(defn- local [sym tag expression] (internals/local sym tag expression))

(deftest macros-see-locals-and-lines
  (is (= [''[#{x} 7] 'unchanged]
         (internals/compiling {} (fn expand []
                                   [(internals/macroexpand-once `(locals-here) {'x (local 'x nil nil)} 7 1)
                                    (internals/macroexpand-once 'unchanged {} nil nil)])))
      "go: macros in a block see a wrong &env, or errors name a wrong line"))

(deftest classes-are-told-from-locals
  (is (= [String String nil nil]
         (internals/compiling {'x (local 'x nil nil)}
                              (fn ask [] (map internals/class-named '[String java.lang.String x no-such-class]))))
      "go: (. X (f)) is taken for a static call where it is none, or for none where it is"))

(defn- type-of [form locals]
  (let [lb (local 'y nil (internals/analyze form locals))]
    (or (internals/primitive-class lb) (internals/object-class lb))))

(deftest types-come-from-the-compiler
  (is (= [Long/TYPE Integer/TYPE java.util.Date Double/TYPE nil nil]
         (map #(type-of % {'n (local 'n nil (internals/primitive-expression Double/TYPE))})
              '[(+ 1 2) (. "s" length) (new java.util.Date) (+ n 1) (identity 1) (no-such-function 1)]))
      "go: locals that live across a park are boxed, or their method calls become reflective"))

(deftest locals-keep-their-init-forms
  (let [expression (internals/analyze 1 {})
        lb (local 'x 'String nil)]
    (is (= [true false 'x 'String nil String] [(internals/local? lb) (internals/local? nil) (internals/symbol-of lb)
                                               (internals/tag-of lb) (internals/expression-of lb) (internals/object-class lb)])
        "go: type hints of the locals around a block are lost")
    (is (identical? expression (internals/expression-of (local 'x nil expression))))))

(defmacro this-and-its-type "Whether `this` has the name of the type that is being defined as its hint." [this]
  (= (some-> (internals/type-being-defined) .getName) (str (internals/tag-of (get &env this)))))

(deftype ^:private Defined []
  Object
  (toString [this] (str (this-and-its-type this))))

(deftest the-object-of-a-method-is-known-by-its-type
  (is (= "true" (str (Defined.))) "go: a block in a deftype's method can't read or set its mutable fields"))

(defmacro function-around? [] (internals/in-function?))

(deftest functions-around-are-known
  (is (= [false true] [(eval `(function-around?)) (eval `((fn [] (function-around?))))])
      "trace: the forms of trace-forms at the top level are compiled all before the first one runs"))

(deftest special-forms-are-known
  (is (every? (set (internals/special-forms)) '[if let* loop* fn* recur try catch finally . new set! case* reify* deftype*])
      "go: a special form is taken for a call"))

(deftest classes-have-the-requested-loader
  (let [loader (DynamicClassLoader.)
        class-loader (fn class-loader [x] (.getClassLoader (class x)))]
    (is (identical? loader (.getParent ^ClassLoader (class-loader (internals/eval-with-loader '(fn [x] x) loader))))
        "fold: compiled loops are never unloaded")))

;;;; Thread bindings

(def ^:dynamic *bound* 0)

(defn- elsewhere [f]
  @(future-call f))

(deftest bindings-can-be-adopted-by-another-thread
  (let [base (Var/getThreadBindingFrame)
        mine (binding [*bound* 1] (Var/cloneThreadBindingFrame))
        set-it (fn set-it [adopt?]
                 (elsewhere (fn on-other-thread []
                              (Var/resetThreadBindingFrame mine)
                              (when adopt? (Internals/adoptBindings base))
                              (try (set! *bound* (inc (long *bound*))) *bound*
                                   (catch IllegalStateException _ :refused)))))]
    (is (= :refused (set-it false)) "Clojure lets any thread set a binding: adoptBindings can go")
    (is (= 2 (set-it true)) "go: set! of a binding fails in a block that made it and resumed on another thread")))

;;;; Closures

(deftest compositions-can-be-taken-apart
  (let [f (comp inc dec)]
    (is (Internals/isComposition f) "fold: the stages of a composed transducer are not seen, and folds run slower")
    (is (= [inc dec] [(Internals/outer f) (Internals/inner f)]))
    (is (not (Internals/isComposition inc)))))

(deftest closures-show-their-locals
  (let [pred (fn pred [_] true)]
    (is (= [inc pred inc] [(Internals/closedOver (map inc) "f") (Internals/closedOver (filter pred) "pred")
                           (Internals/closedOver (complement inc) "f")])
        "fold: chains of map, filter and remove are not compiled into loops, and run slower")
    (is (nil? (Internals/closedOver inc "f")))))

(deftest ranges-show-their-ends
  (is (= [0 10 2] (map #(Internals/closedOver (Range/create 0 10 2) %) ["start" "end" "step"]))
      "fold: a range of more longs than an int counts is folded as a sequence, on one processor"))

;;;; Transactions

(deftest a-transaction-shows-whether-it-has-changed-a-ref
  (let [r (ref 0), held (fn [f] (dosync (f r) (Internals/holdsRefs)))]
    (is (= [false true true true true] [(held deref) (held #(alter % inc)) (held #(ref-set % 1)) (held #(commute % inc)) (held ensure)])
        "sim: a transaction that reads an atom or yields is refused, if another changes the same ref")
    (is (not (Internals/holdsRefs)))))

;;;; Names

(deftest function-names-are-read-from-class-names
  (is (= "demo.a-b/f" (internals/demunged "demo.a_b$f")) "errors and traces show functions under their classes' names")
  (is (= ["demo$f" "demo$f" "demo$f"] (map #(Internals/function %) ["demo$f" "demo$f$fn__1" "demo$f$reify__2$fn__3"])))
  (is (re-find #"internals_test\$.*fn__\d+" (.getName (class (fn [] 1)))) "traces show inner functions, not the one around")
  (is (Internals/isReify (class (reify Object))) "fold: a reified step is taken to keep state, and is not parallel")
  (is (not (Internals/isReify (class inc)))))

(defmulti ^:private a-multimethod identity)

(deftest multimethods-have-names
  (is (= "a-multimethod" (internals/multimethod-name a-multimethod)) "trace: a traced multimethod's errors call it another name"))

;;;; Namespaces

(deftest a-namespace-can-be-loaded-again
  (internals/unloaded! 'skein.impl.internals-test)
  (is (not (contains? (loaded-libs) 'skein.impl.internals-test))
      "with an old Java, the second require says that a namespace was not found")
  (dosync (commute @#'clojure.core/*loaded-libs* conj 'skein.impl.internals-test)))
