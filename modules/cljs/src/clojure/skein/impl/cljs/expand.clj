;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs.expand
  "First pass of the go compiler for ClojureScript: macros.

  The result has special forms only. A call of a parking operation has become a park,
  `(::park f arg ...)`, where `f` is the function of the runtime that takes a frame and the
  arguments. Blocks inside the block are compiled by their own macro, which
  marks them with ::block, and left as they are."
  {:no-doc true}
  (:require
   [cljs.analyzer :as ana]
   [skein.impl.cljs.ops :as ops]
   [skein.impl.error :as error])
  (:import
   (cljs.tagged_literals JSValue)))

(set! *warn-on-reflection* true)

(declare expand)

(defn- with-local [env sym]
  (let [sym (with-meta sym nil)]
    (assoc-in env [:locals sym] {:op :binding :name sym :local :let})))

(defn- expand-all [env forms]
  (mapv (fn [form] (expand env form)) forms))

(defn- expand-let [env [op bindings & body]]
  (let [[env bindings] (reduce (fn [[env out] [sym init]]
                                 [(with-local env sym) (conj out sym (expand env init))])
                               [env []]
                               (partition 2 bindings))]
    (list* op bindings (expand-all env body))))

(defn- expand-letfn [env [op bindings & body]]
  (let [env (reduce with-local env (take-nth 2 bindings))]
    (list* op
           (vec (mapcat (fn [[sym f]] [sym (expand env f)]) (partition 2 bindings)))
           (expand-all env body))))

(defn- in-function [env params]
  (assoc (reduce with-local env (remove #{'&} params)) ::in-function? true))

(defn- expand-method [env [params & body :as method]]
  (with-meta (list* params (expand-all (in-function env params) body)) (meta method)))

(defn- expand-fn [env [op & more]]
  (let [[self more] (if (symbol? (first more)) [(first more) (rest more)] [nil more])
        env (if self (with-local env self) env)
        methods (if (vector? (first more)) (list (apply list more)) more)]
    (concat [op] (when self [self]) (map (fn [m] (expand-method env m)) methods))))

(defn- expand-try [env [op & more]]
  (list* op (map (fn [form]
                   (case (when (seq? form) (first form))
                     catch (let [[c type sym & body] form]
                             (list* c type sym (expand-all (with-local env sym) body)))
                     finally (list* 'finally (expand-all env (rest form)))
                     (expand env form)))
                 more)))

(defn- expand-dot [env [op target member & more]]
  (list* op
         (expand env target)
         (if (seq? member) (cons (first member) (expand-all env (rest member))) member)
         (expand-all env more)))

(defn- expand-special [env [op & args :as form]]
  (case op
    (let* loop*) (expand-let env form)
    letfn* (expand-letfn env form)
    fn* (expand-fn env form)
    (quote var ns ns*) form
    (deftype* defrecord*) (let [[sym fields masks & body] args]
                            (list* op sym fields masks (expand-all (in-function env fields) body)))
    try (expand-try env form)
    case* (let [[sym tests thens default] args]
            (list op sym tests (expand-all env thens) (expand env default)))
    (new js* def) (list* op (first args) (expand-all env (rest args)))
    . (expand-dot env form)
    (list* op (expand-all env args))))

(defn- global
  "Returns the qualified name of the var that `op` names, or nil for a local and for what is not a symbol."
  [env op]
  (when (and (symbol? op) (not (get-in env [:locals op])))
    (:name (binding [ana/*cljs-warnings* (zipmap (keys ana/*cljs-warnings*) (repeat false))]
             (ana/resolve-var env op)))))

(defn- place [env]
  (str ana/*cljs-file* ":" (:line env) ":" (:column env)))

(defn- park-in-function! [env form]
  (error/fail! [:skein/bad-block :park-in-function]
               (str (error/preview form) " at " (place env) " is in a function inside a block. A JavaScript"
                    " function can't be suspended from outside. Move the operation out of the function:"
                    " use loop or doseq instead of map or for, or give the function a block of its own.")
               {:form (error/preview form) :line (:line env) :column (:column env)}))

(defn- bad-arity! [env fewest most form]
  (error/fail! [:skein/bad-block :bad-arity]
               (str (error/preview form) " at " (place env) ": the number of arguments is " (count (rest form)) ", but "
                    (name (first form)) " takes " (if most fewest (str fewest " or more")) ".")
               {:form (error/preview form) :line (:line env) :column (:column env)}))

(defn- park [env {:keys [function expansion fewest most lenient?]} form]
  (let [n (count (rest form))]
    (when-not (and (<= fewest n) (or (nil? most) (<= n most)))
      (bad-arity! env fewest most form))
    (cond
      (and expansion (not (::in-function? env))) (expand env (apply expansion (rest form)))
      (not (::in-function? env)) (list* ::park function (ops/arguments most (expand-all env (rest form))))
      lenient? (list* (first form) (expand-all env (rest form)))
      :else (park-in-function! env form))))

(defn- keep-meta [original form]
  (if (and (seq? form) (meta original))
    (with-meta form (merge (meta original) (meta form)))
    form))

(defn- expand-seq [env [op :as form]]
  (let [env (if (:line (meta form)) (merge env (select-keys (meta form) [:line :column])) env)
        special? (and (symbol? op) (contains? ana/specials op))
        name (when-not special? (global env op))
        parking (ops/parking name)]
    (cond
      special? (keep-meta form (expand-special env form))
      parking (keep-meta form (park env parking form))
      :else (let [expanded (ana/macroexpand-1 env form)]
              (cond
                (identical? expanded form) (keep-meta form (apply list (expand-all env form)))
                (::block (meta expanded)) expanded
                :else (expand env (keep-meta form expanded)))))))

(defn- expand-js [env ^JSValue form]
  (let [v (.val form)]
    (JSValue. (if (map? v)
                (into (empty v) (map (fn [[k x]] [k (expand env x)])) v)
                (expand-all env v)))))

(defn expand
  "Returns `form` without macros, in the environment `env` of the analyzer. Throws
  :skein/bad-block, and what macros throw."
  [env form]
  (cond
    (and (seq? form) (seq form)) (expand-seq env form)
    (map? form) (with-meta (into (empty form) (map (fn [[k v]] [(expand env k) (expand env v)])) form)
                  (meta form))
    (or (vector? form) (set? form)) (with-meta (into (empty form) (expand-all env form)) (meta form))
    (instance? JSValue form) (expand-js env form)
    :else form))
