;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.alt
  "The expansion of `alt!` and `alt!!`: one alts for all clauses, and a `cond` that chooses the result."
  {:no-doc true}
  (:require
   [skein.impl.check :as check]))

(set! *warn-on-reflection* true)

(defn- bind-port
  "Adds a port, or a [port value] to put, to `{:ops :bindings :names}`. Binds the port
  and the value to new names, so that each is evaluated once."
  [acc port]
  (let [port-name (gensym "port")]
    (if (vector? port)
      (let [value-name (gensym "value")]
        (-> acc
            (update :bindings conj port-name (nth port 0) value-name (nth port 1))
            (update :ops conj [port-name value-name])
            (update :names conj port-name)))
      (-> acc
          (update :bindings conj port-name port)
          (update :ops conj port-name)
          (update :names conj port-name)))))

(defn- result-form
  "Returns the result form of a clause. If it is a list that begins with a vector, that binds [value port]."
  [expr chosen]
  (if (and (seq? expr) (vector? (first expr)))
    `(let [~(first expr) ~chosen] ~@(rest expr))
    expr))

(defn- add-clause [acc [ports expr] port chosen]
  (let [{:keys [names] :as acc} (reduce bind-port (assoc acc :names [])
                                        (if (vector? ports) ports [ports]))]
    (update acc :tests conj
            `(or ~@(map (fn [n] `(identical? ~port ~n)) names))
            (result-form expr chosen))))

(defn alt-form
  "Returns the form that makes one choice by `alts`, a symbol, and evaluates the
  result of its clause. Throws AssertionError when a clause has no result."
  [alts clauses]
  (check/asserts (even? (count clauses)) "clauses of alt!" "an even number of forms"
    (str "unbalanced clauses: each port, vector of ports or option needs its result or value after it,"
         " as in (alt! c ([v] v) :default nil)"))
  (let [pairs (partition 2 clauses)
        option? (comp keyword? first)
        port (gensym "port")
        chosen (gensym "chosen")
        acc (reduce (fn [acc clause] (add-clause acc clause port chosen))
                    {:ops [] :bindings [] :tests []}
                    (remove option? pairs))]
    `(let [~@(:bindings acc)
           [value# ~port :as ~chosen] (~alts ~(:ops acc) ~@(mapcat identity (filter option? pairs)))]
       (cond
         ~@(:tests acc)
         (= :default ~port) value#))))
