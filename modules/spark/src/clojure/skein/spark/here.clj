;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.here
  "Forms typed at a prompt, sent as text with the values of the locals that they use, and compiled once in each process.

  A form is read in a namespace made for it, which has the aliases, the referred vars and the imports that the form uses."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.spark.names :as names])
  (:import
   (clojure.lang Namespace Var)
   (java.util Map)
   (java.util.concurrent ConcurrentHashMap)))

(set! *warn-on-reflection* true)

;;;; Here: what a form uses

(defn- symbols [form]
  (into #{} (filter symbol?) (tree-seq coll? seq form)))

(defn- class-part
  "Returns the symbol of the class that `Month/MAY` or `Month.` names, or nil."
  [s]
  (cond
    (namespace s) (symbol (namespace s))
    (str/ends-with? (name s) ".") (symbol (subs (name s) 0 (dec (count (name s)))))))

(defn- check-var
  "Throws :skein/cannot-travel if the form uses a var that no file holds."
  [^Var v form]
  (when (names/at-repl? v)
    (error/fail! :skein/cannot-travel
                 (str "The form uses " (.toSymbol v) ", which was defined at a prompt, so no file holds it. Put its definition into the form, by let, or "
                      "save it in a file.")
                 {:var (.toSymbol v), :form (error/preview form), :path []})))

(defn context
  "Returns what the form needs to be compiled elsewhere, of the namespace `n`: {:aliases {alias namespace}, :refers {symbol var},
  :imports [class name]}. Throws :skein/cannot-travel."
  [^Namespace n form locals]
  (let [used (remove locals (symbols form))
        aliases (into {} (for [s used
                               :let [alias (some-> (namespace s) symbol)
                                     target (get (ns-aliases n) alias)]
                               :when target]
                           [alias (ns-name target)]))
        resolved (for [s (into (set used) (keep class-part) used)
                       :let [x (try (when-not (= "" (name s)) (ns-resolve n s)) (catch Exception _ nil))]
                       :when x]
                   [s x])]
    (run! (fn [[_ x]] (when (var? x) (check-var x form))) resolved)
    {:aliases aliases
     :refers (into {} (for [[s x] resolved
                            :when (and (var? x) (nil? (namespace s)) (not= 'clojure.core (ns-name (.ns ^Var x))))]
                        [s (.toSymbol ^Var x)]))
     :imports (vec (for [[s x] resolved :when (and (class? x) (get (ns-imports n) s))] (.getName ^Class x)))}))

(defn used-locals
  "Returns those of the symbols `locals` that occur in the form, in a fixed order."
  [form locals]
  (vec (sort (filter (symbols form) locals))))

;;;; There: compiling

(defn- new-namespace [{:keys [aliases refers imports]}]
  (let [n (create-ns (gensym "skein.spark.here."))]
    (binding [*ns* n]
      (refer-clojure :exclude (keys refers))
      (doseq [[alias target] aliases]
        (require target)
        (.addAlias ^Namespace n alias (the-ns target)))
      (doseq [[s v] refers] (.refer ^Namespace n s (names/resolve-name v)))
      (doseq [c imports] (.importClass ^Namespace n (Class/forName c))))
    n))

(defonce ^:private ^Map compiled (ConcurrentHashMap.))

(defn- compile-form [[context text locals]]
  (binding [*ns* (new-namespace context)]
    (eval (list `fn (mapv symbol locals) (read-string text)))))

(defn make
  "Returns the value of the form `text`, with the locals called `locals` bound to `values`. Compiles a form once."
  [context text locals values]
  (let [k [context text locals]
        f (or (.get compiled k)
              (locking compiled
                (or (.get compiled k)
                    (let [f (compile-form k)]
                      (.put compiled k f)
                      f))))]
    (apply f values)))
