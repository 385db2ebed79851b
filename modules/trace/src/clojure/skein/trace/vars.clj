;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.vars
  "Puts wrappers into vars and removes them.

  A traced var has an entry here and a watch. The root of the var is a wrapper around
  its original. If other code changes the root, by `defn`, `extend` or `with-redefs`, the
  watch wraps the new value, which is the original from then on. So untracing always restores
  the value that the var would have without tracing."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.trace.call :as call]
   [skein.trace.event :as event]
   [skein.trace.print :as print]
   [skein.trace.sink :as sink]
   [skein.trace.wrap :as wrap])
  (:import
   (clojure.lang MultiFn Namespace Var)
   (java.util Collections Map WeakHashMap)
   (skein.trace.call Target)))

(set! *warn-on-reflection* true)

(defonce ^:private ^{:doc "{var target}"} targets (atom {}))
;; {wrapper {:original f, :target t}}; only functions are looked up, since hashing another value may take for ever.
(defonce ^:private ^Map wrappers (Collections/synchronizedMap (WeakHashMap.)))

(defn- wrapper-data [x]
  (when (or (fn? x) (instance? MultiFn x)) (.get ^Map wrappers x)))

(defn- original
  "Returns the function that `x` wraps, or `x`."
  [x]
  (:original (wrapper-data x) x))

(defn function-of
  "Returns the value that a var would have without tracing."
  [^Var v]
  (original (.getRawRoot v)))

(defn- protocol-of [^Var v]
  (:protocol (meta v)))

(def ^:private preview-limits {:length 8, :level 3, :chars 80})

(defn traceable
  "Returns what a var holds: :fn, :prim-fn, :multimethod or :protocol-fn; or [:no reason]."
  [^Var v]
  (let [root (when (.hasRoot v) (original (.getRawRoot v)))]
    (cond
      (not (.hasRoot v)) [:no "it has no value yet"]
      (.isMacro v) [:no "it is a macro, whose calls are over when the program runs"]
      (instance? MultiFn root) :multimethod
      (not (fn? root)) [:no (str "it holds " (print/text root preview-limits) ", which is not a function")]
      (protocol-of v) :protocol-fn
      (seq (wrap/signatures root)) :prim-fn
      :else :fn)))

(defn- compiling-directly?
  "Returns whether a call of the var `v` that is compiled now bypasses the var."
  [^Var v]
  (let [{:keys [redef dynamic declared]} (meta v)]
    (and (:direct-linking *compiler-options*) (fn? (.getRawRoot v)) (not (or redef dynamic declared)))))

(defn note
  "Returns a sentence on the calls of a var that tracing can't see, or nil."
  [^Var v]
  (let [{:keys [inline protocol ns]} (meta v)]
    (cond
      protocol (str "calls on types that implement " (:name (meta protocol)) " inline go to the type, past the var")
      inline "calls that the compiler inlines don't go through the var"
      (= 'clojure.core (ns-name ns)) "Clojure's own calls are linked directly, past the var"
      (compiling-directly? v) "calls that are compiled now are linked directly, past the var")))

(defn- wrap [^Target target root]
  (let [wrapper (if (instance? MultiFn root) (wrap/wrap-multi target root) (wrap/wrap-fn target root))]
    (.put ^Map wrappers wrapper {:original root, :target target})
    wrapper))

(defn- wrap-root!
  "Makes the root of a traced var a wrapper for `target`, unless it is one already or can't be wrapped. If the
  root is an earlier wrapper, which `with-redefs` may have restored, wraps its original."
  [^Var v ^Target target]
  (locking v ; Var locks itself too when it changes its root
    (let [root (.getRawRoot v)]
      (when (and (contains? @targets v) (keyword? (traceable v)))
        (vreset! (.live target) (original root))
        (when-not (identical? target (:target (wrapper-data root)))
          (.bindRoot v (wrap target (original root))))))))

(defn- new-target [^Var v]
  (let [{:keys [file line] :skein.trace/keys [deftrace]} (meta v)]
    (call/target (with-meta (symbol v) (when deftrace {:skein.trace/deftrace true})) file line)))

(defn refuse!
  "Throws :skein/bad-argument for `v`."
  [v reason]
  (error/fail! :skein/bad-argument
               (str "Can't trace " (error/preview v) ", because " reason ". Trace vars that hold functions.")
               {:var v, :reason reason}))

(defn check!
  "Throws :skein/bad-argument unless a var can be traced."
  [v]
  (let [kind (traceable v)]
    (when (vector? kind) (refuse! (symbol ^Var v) (second kind)))))

(defn trace!
  "Sends calls of the var `v` to the sinks that `sinks-fn` returns. `token` is :always, or the token that
  a `with-traced` binds. Throws :skein/bad-argument."
  [^Var v token sinks-fn]
  (check! v)
  (locking v
    (let [^Target target (or (get @targets v) (new-target v))]
      (swap! (.gate target) assoc token sinks-fn)
      (swap! targets assoc v target)
      (add-watch v ::trace (fn redefined [_ _ _ _] (event/unobserved (fn wrap-it [] (wrap-root! v target)))))
      (wrap-root! v target)))
  v)

(defn untrace!
  "Ends `trace!` under `token`. Returns whether it was on."
  [^Var v token]
  (locking v
    (when-some [^Target target (get @targets v)]
      (let [traced? (contains? @(.gate target) token)]
        (when (empty? (swap! (.gate target) dissoc token))
          (swap! targets dissoc v)
          (remove-watch v ::trace)
          (when (wrapper-data (.getRawRoot v))
            (.bindRoot v (original (.getRawRoot v)))))
        traced?))))

(defn traced
  "Returns the vars that are traced by `trace!` under :always."
  []
  (into [] (keep (fn always [[v ^Target target]] (when (contains? @(.gate target) :always) v)))
        (sort-by (comp symbol key) @targets)))

(defn find-namespace
  "Returns the namespace `n`, itself or by its name. Throws :skein/bad-argument."
  [n]
  (cond
    (instance? Namespace n) n
    (and (symbol? n) (find-ns n)) (find-ns n)
    :else (refuse! n "there is no such namespace")))

(defn namespace-vars
  "Returns the vars of the namespace `n` that can be traced and whose name satisfies `wanted?`."
  [n wanted?]
  (for [[sym v] (sort-by key (ns-interns n))
        :when (and (keyword? (traceable v)) (wanted? sym))]
    v))

(defn resolve-var
  "Returns the var that `x`, a var or a symbol, names in the namespace `n`. A symbol may name a private var."
  [n x]
  (let [v (cond
            (var? x) x
            (qualified-symbol? x) (some-> (or (get (ns-aliases n) (symbol (namespace x))) (find-ns (symbol (namespace x))))
                                          (ns-interns) (get (symbol (name x))))
            (symbol? x) (let [r (ns-resolve n x)] (when (var? r) r)))]
    (or v (refuse! x "there is no such var"))))

(defn call-as
  "Calls `f` with `args`, traced as a function called `fn-name`."
  [fn-name f args]
  (apply (wrap/wrap-alone fn-name f sink/standard-sinks) args))
