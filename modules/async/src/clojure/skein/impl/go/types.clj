;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.types
  "The types of locals in basic blocks, by the rules of Clojure's compiler: a
  local has the type of its initial form; a local of a loop is a long, a double
  or whatever it starts as, unless a recur passes something else to a primitive;
  where branches meet, their types must agree."
  {:no-doc true}
  (:require
   [skein.impl.infer :as infer]))

(set! *warn-on-reflection* true)

(defn locals-in
  "Adds to the set `found` the symbols in `form` that are keys of `locals`."
  [found form locals]
  (cond
    (symbol? form) (if (contains? locals form) (conj found (with-meta form nil)) found)
    (seq? form) (if (= 'quote (first form))
                  found
                  (reduce (fn part [acc x] (locals-in acc x locals))
                          (if (#{'fn* 'reify*} (first form)) (locals-in found (meta form) locals) found)
                          form))
    (map? form) (reduce-kv (fn pair [acc k v] (locals-in (locals-in acc k locals) v locals))
                           (locals-in found (meta form) locals) form)
    (coll? form) (reduce (fn part [acc x] (locals-in acc x locals)) (locals-in found (meta form) locals) form)
    :else found))

;;;; Definitions: {symbol {:declared symbol, :form form, :kind k, :args [form ...]}}

(defn bound
  "Returns the symbols that an entry of a block's code binds."
  [[sym form]]
  (cond
    (symbol? sym) [sym]
    (and (keyword? sym) (vector? form)) (take-nth 2 form)))

(defn- define-code [defs [sym form :as entry]]
  (let [define (fn define [m [s init]] (update m (with-meta s nil) assoc :declared s :form init :form? true))]
    (cond
      (symbol? sym) (define defs entry)
      (= :letfn sym) (reduce define defs (partition 2 form))
      :else (reduce (fn untyped [m s] (assoc m (with-meta s nil) {:declared s})) defs (bound entry)))))

(defn- define-params [defs {:keys [params kind]}]
  (reduce (fn param [m p] (update m (with-meta p nil) assoc :declared p :kind kind)) defs params))

(defn- define-args [defs blocks {[op target args] :exit}]
  (if (= :jump op)
    (reduce (fn arg [m [p form]]
              (if (= p form) m (update-in m [(with-meta p nil) :args] (fnil conj []) form)))
            defs (map vector (:params (nth blocks target)) args))
    defs))

(defn definitions
  "Returns how each local of the reachable blocks `ids` gets its value."
  [blocks ids]
  (reduce (fn block [defs id]
            (let [b (nth blocks id)]
              (-> (reduce define-code (define-params defs b) (:code b))
                  (define-args blocks b))))
          {} ids))

;;;; Types

(declare type-of)

(defn- type-of-form [env sym form]
  (infer/local sym form (into {} (map (fn known [s] [s (type-of env s)])) (locals-in #{} form (:defs env)))))

(defn- widened
  "Returns the type of a loop's local: an int becomes a long, and a float a double."
  [sym lb]
  (condp = (infer/primitive-class lb)
    Integer/TYPE (infer/primitive sym Long/TYPE)
    Float/TYPE (infer/primitive sym Double/TYPE)
    lb))

(defn- meet
  "Returns the type where branches with the values `args` meet: that of an if with these branches."
  [env sym args]
  (type-of-form env sym (reduce (fn branch [form arg] (list 'if nil form arg)) args)))

(defn- derive-type [env sym]
  (let [{:keys [declared form form? kind args]} ((:defs env) sym)
        tag (infer/tag-of declared)]
    (cond
      tag (infer/tagged sym tag)
      (contains? (:boxed env) sym) (infer/tagged sym nil)
      (= :loop kind) (widened sym (type-of-form env sym form))
      form? (type-of-form env sym form)
      (= :join kind) (meet env sym args)
      :else (infer/tagged sym nil))))

(defn- type-of [env sym]
  (or (get @(:memo env) sym)
      (do
        (vswap! (:memo env) assoc sym (infer/tagged sym nil)) ; what a cycle sees
        (let [t (derive-type env sym)]
          (vswap! (:memo env) assoc sym t)
          t))))

(defn- takes?
  "Returns whether recur may pass a value of type `given` to a loop's primitive `local`."
  [^Class local ^Class given]
  (condp = local
    Long/TYPE (contains? #{Long/TYPE Integer/TYPE Short/TYPE Byte/TYPE Character/TYPE} given)
    Double/TYPE (contains? #{Double/TYPE Float/TYPE} given)
    (= local given)))

(defn- mismatched
  "Returns the locals of loops that are taken for primitives but are given objects."
  [env]
  (into #{}
        (keep (fn mismatch [[sym t]]
                (let [{:keys [kind args]} ((:defs env) sym)
                      primitive (infer/primitive-class t)]
                  (when (and (= :loop kind) primitive
                             (not-every? (fn ok? [form] (takes? primitive (infer/primitive-class (type-of-form env sym form))))
                                         args))
                    sym))))
        @(:memo env)))

(defn types
  "Returns {symbol LocalBinding} for the locals `syms` of the program whose
  `definitions` are `defs`; `outer` are the LocalBindings of the locals around it."
  [defs outer syms]
  (loop [boxed #{}]
    (let [env {:defs (into defs (map (fn around [s] [s nil])) (keys outer)), :memo (volatile! outer), :boxed boxed}]
      (doseq [s syms] (type-of env s))
      (let [more (mismatched env)]
        (if (empty? more)
          (select-keys @(:memo env) syms)
          (recur (into boxed more)))))))
