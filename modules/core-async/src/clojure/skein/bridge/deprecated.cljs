;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.deprecated
  "What only the bridge has. Most is deprecated in core.async, where channels with transducers took its place. It is not
  marked as such, since core.async does not mark it, and users of libraries would get warnings."
  {:no-doc true}
  (:refer-clojure :exclude [partition partition-by])
  (:require
   [skein.async :as a]
   [skein.bridge.filters :as filters]
   [skein.impl.operations :as operations]))

(defn onto-chan
  "Deprecated: like `onto-chan!`."
  ([ch coll] (a/onto-chan! ch coll))
  ([ch coll close?] (a/onto-chan! ch coll close?)))

(defn to-chan "Deprecated: like `to-chan!`." [coll] (a/to-chan! coll))

(defn map<
  "Returns a port whose takes return (f value) for the values of `ch`. Like core.async's."
  [f ch]
  (filters/map< f ch))

(defn map>
  "Returns a port whose puts put (f value) on `ch`. Like core.async's."
  [f ch]
  (filters/map> f ch))

(defn filter>
  "Returns a port that passes to `ch` only values for which (p value) is true. Like core.async's."
  [p ch]
  (filters/filter> p ch))

(defn remove>
  "Returns a port that passes to `ch` only values for which (p value) is false. Like core.async's."
  [p ch]
  (filter> (fn [v] (not (p v))) ch))

(defn filter<
  "Returns a channel of the values of `ch` for which (p value) is true. Like core.async's. Differs: stops
  taking when a put finds the returned channel closed, and closes it if `p` throws."
  ([p ch] (filter< p ch nil))
  ([p ch buf-or-n] (filters/through (filter p) ch (a/chan buf-or-n))))

(defn remove<
  "Returns a channel of the values of `ch` for which (p value) is false. Like core.async's; differs as `filter<` does."
  ([p ch] (remove< p ch nil))
  ([p ch buf-or-n] (filter< (fn [v] (not (p v))) ch buf-or-n)))

(defn mapcat<
  "Returns a channel of the values in the collections that `f` returns for the values of `in`. Like core.async's;
  differs as `filter<` does."
  ([f in] (mapcat< f in nil))
  ([f in buf-or-n] (filters/mapcat-into f in (a/chan buf-or-n))))

(defn mapcat>
  "Returns a channel. For each value put on it, the values in the collection (f value) go to `out`, which
  closes with it. Like core.async's. Differs: closes `out` if `f` throws."
  ([f out] (mapcat> f out nil))
  ([f out buf-or-n]
   (let [in (a/chan buf-or-n)]
     (filters/mapcat-into f in out)
     in)))

(defn unique
  "Returns a channel of the values of `ch`, except those that equal the value before them. Like core.async's;
  differs as `filter<` does."
  ([ch] (unique ch nil))
  ([ch buf-or-n] (filters/through (dedupe) ch (a/chan buf-or-n))))

(defn partition
  "Returns a channel of vectors of `n` values of `ch`; the last may have fewer. Like core.async's;
  differs as `filter<` does."
  ([n ch] (partition n ch nil))
  ([n ch buf-or-n] (filters/through (partition-all n) ch (a/chan buf-or-n))))

(defn partition-by
  "Returns a channel of vectors of successive values of `ch` with the same (f value). Like core.async's;
  differs as `filter<` does."
  ([f ch] (partition-by f ch nil))
  ([f ch buf-or-n] (filters/through (cljs.core/partition-by f) ch (a/chan buf-or-n))))

(defn ioc-alts!
  "Throws :skein/bad-argument: `ioc-alts!` is a step of core.async's own compiler."
  [state cont-block ports & {:as opts}]
  (operations/no-state-machine! state cont-block ports opts))
