;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.request
  "Makes what is sent to the executors: a fold as bytes, which is checked here, before anything runs."
  {:no-doc true}
  (:require
   [skein.fold :as fold]
   [skein.impl.error :as error]
   [skein.spark.codec :as codec]
   [skein.spark.names :as names]))

(set! *warn-on-reflection* true)

(def ^:const default-max-result-bytes
  "The largest partial value that a task sends, unless :max-result-bytes says otherwise. It is Spark's limit for all values of a job."
  (* 1024 1024 1024))

(defn named
  "See skein.spark/named."
  [sym args]
  (when-not (qualified-symbol? sym)
    (error/fail! :skein/bad-argument (str "A name is a symbol with a namespace, such as my.app/slower-than, not " (error/preview sym) ".")
                 {:fold (error/preview sym)}))
  (let [v (names/resolve-name sym)]
    (names/symbol-of v [])
    (names/remember (apply v args) (into [sym] args))))

(defn ->fold
  "Returns the fold that a caller means by `f`: a fold, or a function that is both step and combine."
  [f]
  (if (map? f) f {:combine f, :step f}))

(defn check
  "Throws skein.fold's error if `f` is not a fold."
  [f]
  (fold/fold (dissoc f :complete) []))

(defn far-fold
  "Returns the fold `f` for the executors. It lacks the functions that complete its values, which run in this process."
  [f]
  (let [[sym a b] (names/making-call f)]
    (case sym
      skein.fold/finish (recur b)
      skein.fold/through (fold/through a (far-fold (->fold b)))
      skein.fold/group-by (fold/group-by a (far-fold (->fold b)))
      skein.fold/fuse (fold/fuse (if (map? a) (update-vals a (comp far-fold ->fold)) (mapv (comp far-fold ->fold) a)))
      (if (names/fold-name f []) f (dissoc f :complete)))))

(defn- not-clojures [n]
  (not (re-find #"^clojure\." (str n))))

(defn encoded
  "Returns the bytes of a request for skein.spark.far/run. Throws :skein/cannot-travel."
  ^bytes [request]
  (binding [names/*used* (volatile! #{})]
    ;; Once to find the namespaces, once to send their checksums with the rest.
    (codec/encode request Integer/MAX_VALUE)
    (let [files (into {} (map (juxt identity names/fingerprint)) (filter not-clojures @names/*used*))]
      (codec/encode (assoc request :files files) Integer/MAX_VALUE))))
