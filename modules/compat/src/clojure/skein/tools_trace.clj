;; SPDX-License-Identifier: Apache-2.0
(ns skein.tools-trace
  "The functions of org.clojure/tools.trace on Skein's tracer; a new program uses `skein.trace`.

  Each docstring says how the function differs from that of tools.trace. The parts of which tools.trace makes its
  `trace-forms`, such as clone-throwable, are missing. doc/trace.md says how to print in the same format."
  (:require
   [skein.impl.check :as check]
   [skein.trace :as trace]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.sink :as sink]
   [skein.trace.vars :as vars])
  (:import
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(Failures/addMachinery "skein.tools_trace$") ; its frames are left out of stack traces

(defn trace
  "Sends `value` to the sinks, under the name `tag` if there is one.
  Returns `value`.

      (trace :sum (+ 1 2))
      ;=> 3"
  ([value] (trace nil value))
  ([tag value]
   (event/quietly
     (fn tell-value []
       (event/emit! (sink/standard-sinks) (call/told :value {:name tag, :value (call/text value)}))))
   value))

;;;; Vars

(defn trace-var*
  "Traces one var, given as a var or as a symbol with `n`, its namespace. Differs: throws :skein/bad-argument if it holds no function."
  ([v] (trace-var* (ns-name *ns*) v))
  ([n sym] (trace/trace-vars* nil (ns-name n) [sym]) nil))

(defn untrace-var*
  "Ends `trace-var*`."
  ([v] (untrace-var* (ns-name *ns*) v))
  ([n sym] (trace/untrace-vars* (ns-name n) [sym])))

(defmacro ^{:style/indent 0} trace-vars
  "Traces vars, given as vars or symbols; see `skein.trace/trace-vars`. Returns the vars."
  [& vs]
  `(trace/trace-vars ~@vs))

(defmacro ^{:style/indent 0} untrace-vars
  "Ends `trace-vars`. Returns nil."
  [& vs]
  `(trace/untrace-vars ~@vs))

(defn traced?
  "Returns whether a var, or the var of a symbol in `*ns*`, is traced."
  [v]
  (contains? (set (vars/traced)) (vars/resolve-var *ns* v)))

(defn traceable?
  "Returns whether a var, or the var of a symbol in `*ns*`, can be traced."
  [v]
  (keyword? (trace/traceable v)))

(defn trace-ns*
  "Traces the functions of `n`, a namespace or its name. Returns the vars. Differs: refuses the tracer's own namespaces and clojure.core
  with :skein/bad-argument."
  [n]
  (trace/trace-ns* nil n))

(defn untrace-ns*
  "Ends `trace-ns*`. Returns nil."
  [n]
  (trace/untrace-ns* n))

(defmacro ^{:style/indent 0} trace-ns
  "Traces the functions of a namespace, given by a symbol or an expression; see `trace-ns*`."
  [n]
  `(trace/trace-ns ~n))

(defmacro ^{:style/indent 0} untrace-ns
  "Ends `trace-ns`. Returns nil."
  [n]
  `(trace/untrace-ns ~n))

(defmacro deftrace
  "Like `defn`, and traces the function. The format :tools.trace prints its name without the namespace."
  {:style/indent :defn}
  [fn-name & fn-tail]
  (when-not (simple-symbol? fn-name) (vars/refuse! fn-name "deftrace takes the name of a function, a symbol"))
  `(do (defn ~(vary-meta fn-name assoc ::trace/deftrace true) ~@fn-tail)
       (first (trace/trace-vars ~fn-name))))

(defmacro ^{:style/indent 1} dotrace
  "Evaluates the body, and traces the vars `names` for calls made in it. Differs: the vars need not be dynamic."
  [names & body]
  `(trace/with-traced [~@names] ~@body))

(defn trace-fn-call
  "Calls `f` with `args`, and sends the call to the sinks under the name `fn-name`. Throws :skein/bad-argument."
  [fn-name f args]
  (check/collection "args of trace-fn-call" args)
  (vars/call-as fn-name (check/function "f of trace-fn-call" f) args))

;;;; Forms

(defmacro trace-forms
  "Evaluates the body. If it throws, names the form that failed; see `skein.trace/trace-forms`. Differs: the exception
  stays the same object, with its own message."
  {:style/indent 0}
  [& body]
  (with-meta (list* `trace/trace-forms {} (or body [nil])) (meta &form)))
