;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs.emit
  "Last pass of the go compiler for ClojureScript: a generator function.

      start((NS.SITE||(NS.SITE=make()))(frame(),local,..))

  `make` returns `function*(frame,local,..){body}`. V8 spends 2 us on a generator function that
  is made anew, for its prototype and hidden class. So it is made once for each site, kept under the
  site's name in the namespace's object, and gets the locals around the block as arguments."
  {:no-doc true}
  (:require
   [cljs.analyzer :as ana]
   [clojure.string :as str]
   [skein.impl.cljs.expand :as expand]
   [skein.impl.cljs.lift :as lift])
  (:import
   (cljs.tagged_literals JSValue)))

(set! *warn-on-reflection* true)

(defn- elements
  "Returns the forms in `form`, or nil. A block inside it is compiled already, so returns only its site and its names:
  walking through its code would take quadratic time for nested blocks."
  [form]
  (cond
    (::expand/block (meta form)) (::expand/block (meta form))
    (map? form) (mapcat identity form)
    (coll? form) form
    (instance? JSValue form) (let [v (.val ^JSValue form)] (if (map? v) (mapcat identity v) v))))

(defn- names-in
  "Returns the symbols in `form`, each once, in order."
  [form]
  (->> (tree-seq elements elements form)
       (filter symbol?)
       (map (fn [sym] (with-meta sym nil)))
       distinct))

(defn- field? [env sym]
  (:field (get-in env [:locals sym])))

(defn- numbered
  "Returns a function that replaces the number of a gensym by the place of its first use, so
  that each build gives a site the same name."
  []
  (let [numbers (volatile! {})]
    (fn [sym]
      (if-let [[_ stem n] (re-matches #"(.*__|G__|t_)(\d+)(?:__auto__)?" (str sym))]
        (str stem (or (get @numbers n)
                      (get (vswap! numbers assoc n (count @numbers)) n)))
        (str sym)))))

(defn- identity-of
  "Returns `form` as nested vectors of strings, for the hash that names a site."
  [form rename]
  (cond
    (symbol? form) (rename form)
    (elements form) (into [(.getName (class form))] (map (fn [x] (identity-of x rename))) (elements form))
    :else (pr-str form)))

(defn- facts
  "Returns what the analyzer knows of `sym`, a local or a global, and uses in the code that it emits."
  [env sym]
  (let [info (or (get-in env [:locals sym])
                 (binding [ana/*cljs-warnings* (zipmap (keys ana/*cljs-warnings*) (repeat false))]
                   (ana/resolve-var env sym)))]
    (-> (select-keys info [:tag :ret-tag :field :fn-var :variadic? :max-fixed-arity :dynamic :protocol])
        (assoc :params (mapv count (or (:method-params info) (map :params (:methods info))))
               :constant (:val (:const-expr info))))))

(defn- site-name
  "Returns the name of the property that keeps the function of a site. The name depends on the form, its place, and what the
  analyzer knows of the names in it, as the function does. So after a definition is loaded again, no block runs old code."
  [env form names]
  (let [facts (mapv (fn [sym] [sym (facts env sym)]) names)]
    (str "skein$" (Integer/toString (bit-and 0x7fffffff (hash (identity-of [form (:line env) (:column env) facts] (numbered))))
                                    36))))

(defn- function-name
  "Returns the generator function's name, for stack traces: the function around the block and its line. Closure
  removes the name."
  [env]
  (str (munge (or (some-> (:fn-scope env) last :name name) "block")) "$go" (:line env)))

(defn emit
  "Returns the form that makes a frame of the expanded `form` and passes its generator to the
  function `start`, a symbol."
  [env form start]
  (let [names (names-in form)
        used (filter (fn [sym] (contains? (:locals env) sym)) names)
        locals (concat (remove (fn [sym] (field? env sym)) used)
                       ;; A field is reached through its object.
                       (when (some (fn [sym] (field? env sym)) used) [(list 'js* "self__")]))
        holes (str/join (repeat (count locals) ",~{}"))
        site (str (munge (name (get-in env [:ns :name]))) "." (site-name env form names))]
    (with-meta
      (list start
        (list* 'js* (str "(" site "||(" site "=~{}()))(~{}" holes ")")
               (list 'fn* []
                     (list* 'js* (str "var skein$g=function*" (function-name env) "(skein$f" holes "){") locals)
                     (lift/lift-block form)
                     (list 'js* "}")
                     (list 'js* "skein$g"))
               (list 'skein.rt.frame/frame)
               locals))
      {::expand/block (cons site names)})))
