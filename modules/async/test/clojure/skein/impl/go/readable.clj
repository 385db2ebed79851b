;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.readable
  "Makes what the passes produce comparable: generated names are numbered in the
  order in which they are met, x__4711 becoming x1.")

(set! *warn-on-reflection* true)

(defn- base [sym] (second (re-matches #"(.+?)__\d+" (name sym))))

(defn- walk [f form]
  (cond
    (symbol? form) (f form)
    (seq? form) (apply list (mapv (fn part [x] (walk f x)) form))
    (map? form) (into (empty form) (mapv (fn pair [[k v]] [(walk f k) (walk f v)]) form))
    (coll? form) (into (empty form) (mapv (fn part [x] (walk f x)) form))
    :else form))

(defn readable
  "Returns `form` with its generated names replaced; metadata goes."
  [form]
  (let [seen (volatile! {})
        rename (fn rename [sym]
                 (if-let [b (when-not (namespace sym) (base sym))]
                   (or (@seen sym)
                       (let [n (symbol (str b (inc (count @seen))))] (vswap! seen assoc sym n) n))
                   (with-meta sym nil)))]
    (walk rename form)))
