;; SPDX-License-Identifier: Apache-2.0
(ns skein.errors-page-test
  "doc/errors.md describes the errors that are raised, and no others."
  (:require
   [clojure.set :as set]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- raised-at
  "Returns the part of `form` that holds the errors that it raises: the first argument of `fail!`
  or of a function called `failure` or `told`, or the value of
  :skein/error in a map."
  [form]
  (cond
    (map? form) (:skein/error form)
    (not (and (seq? form) (symbol? (first form)))) nil
    (#{"fail!" "failure" "told"} (name (first form))) (second form)))

(defn- raised-by-clojure [file]
  (for [form (mapcat project/parts (project/forms file))
        k (project/parts (raised-at form))
        :when (and (keyword? k) (= "skein" (namespace k)) (not= :skein/error k))]
    k))

(defn- raised-by-java
  "Returns the errors that Java code names, as \"skein/x\" or as \"skein\", \"x\"."
  [{:keys [text]}]
  (for [[_ n] (re-seq #"\"skein(?:/|\"\s*,\s*\")([a-z][a-z0-9-]*)\"" text) :when (not= "error" n)]
    (keyword "skein" n)))

(deftest every-error-is-described-and-no-other
  (let [raised (set (concat (mapcat raised-by-clojure (project/main-clojure))
                            (mapcat raised-by-clojure (project/for-clojurescript))
                            (mapcat raised-by-java (project/main-java))))
        headings (re-seq #"(?m)^### `?:skein/([a-z0-9-]+)`?\s*$" (slurp "doc/errors.md"))
        described (into #{} (map #(keyword "skein" (second %))) headings)]
    (is (= #{} (set/difference raised described)) "give each of these a heading in doc/errors.md")
    (is (= #{} (set/difference described raised)) "no code raises these")))
