;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async
  "The macros of core.async for ClojureScript, on Skein."
  (:require
   [cljs.analyzer :as ana]
   [cljs.env :as env]
   [skein.impl.alt :as alt]
   [skein.impl.cljs :as compiler]))

(set! *warn-on-reflection* true)

(defmacro go
  "Runs the body as a block; see skein.async/go. What it throws is reported at once."
  {:style/indent 0}
  [& body]
  (compiler/compile-reporting-go &env body &form))

(defmacro go-loop
  "Like (go (loop bindings body...))."
  {:style/indent 1}
  [bindings & body]
  `(go (loop ~bindings ~@body)))

(defn do-alt
  "Returns the form that an `alt!` expands to; `alts` is the symbol of the function that chooses."
  [alts clauses]
  (alt/alt-form alts clauses))

(defmacro alt!
  "Does one of several operations; see skein.async/alt!."
  {:style/indent 0}
  [& clauses]
  (do-alt 'cljs.core.async/alts! clauses))

(defn- mirror-method [target params]
  (let [fixed (take-while #(not= '& %) params)
        args (map (fn [i] (symbol (str "arg" i))) (range (count fixed)))]
    (if (= (count fixed) (count params))
      (list (vec args) (list* target args))
      (list (vec (concat args '[& more])) (list* 'cljs.core/apply target (concat args '[more]))))))

(defmacro ^{:no-doc true, :style/indent 0} mirror
  "Defines each public function of the namespace `from` here, except those in `without`."
  [from without]
  `(do ~@(for [[sym {:keys [private arglists protocol-symbol]}] (get-in @env/*compiler* [::ana/namespaces from :defs])
               :when (and arglists (not private) (not protocol-symbol) (not (contains? (set without) sym)))
               :let [target (symbol (name from) (name sym))
                     lists (if (= 'quote (first arglists)) (second arglists) arglists)]]
           `(defn ~sym ~@(map (fn [params] (mirror-method target params)) lists)))))
