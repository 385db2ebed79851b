;; SPDX-License-Identifier: Apache-2.0
(ns skein.errors-test
  (:require
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- error-keywords [form]
  (into #{} (filter #(and (keyword? %) (= "skein" (namespace %)) (not= :skein/error %)))
        (project/parts form)))

(defn- keywords-at
  "Returns the errors that `form` itself raises: in the first argument of `fail!`, of a check, or of
  a function called `failure`, which returns an exception; or under :skein/error in a map."
  [form]
  (cond
    (and (seq? form) (symbol? (first form)) (#{"fail!" "failure" "that" "instance"} (name (first form))))
    (error-keywords (second form))

    (and (map? form) (contains? form :skein/error))
    (error-keywords (:skein/error form))))

(defn- raised-by-clojure [file]
  (into #{} (comp (mapcat project/parts) (mapcat keywords-at)) (project/forms file)))

(defn- raised-by-java
  "Returns the errors that Java code names, as \"skein/x\" or as \"skein\", \"x\"."
  [file]
  (into #{} (comp (map second) (remove #{"error"}) (map #(keyword "skein" %)))
        (re-seq #"\"skein(?:/|\"\s*,\s*\")([a-z][a-z0-9-]*)\"" (:text file))))

(defn- described-in [file]
  (into #{} (keep #(some->> (second %) (re-matches #"### `?:skein/([a-z0-9-]+)`?\s*") second
                            (keyword "skein")))
        (project/lines file)))

(defn- raised []
  (into (into #{} (mapcat raised-by-clojure) (concat (project/main-clojure) (project/for-clojurescript)))
        (mapcat raised-by-java)
        (project/main-java)))

(defn- described []
  (into #{} (mapcat described-in) (project/files ["doc/errors.md"] [".md"])))

(deftest every-error-is-described
  (is (= #{} (set/difference (raised) (described)))
      "give each of these a heading in doc/errors.md"))

(deftest every-described-error-exists
  (is (= #{} (set/difference (described) (raised)))
      "no code raises these"))

(deftest errors-are-found-where-they-are-raised
  (is (= #{:skein/a :skein/b :skein/c}
         (raised-by-clojure
           {:text (str "(defn f [x]\n"
                       "  (when x (error/fail! :skein/a \"A.\" {:kind :skein/other}))\n"
                       "  (throw (ex-info \"B\" {:skein/error (if x :skein/b :skein/c)})))")})))
  (is (= #{:skein/a :skein/bad-size}
         (raised-by-java {:text "intern(\"skein\", \"bad-size\"); x(\"skein/a\"); k(\"skein\", \"error\");"})))
  (is (= #{:skein/a :skein/b}
         (described-in {:text "# Errors\n### :skein/a\nText on :skein/c\n### `:skein/b`"}))))
