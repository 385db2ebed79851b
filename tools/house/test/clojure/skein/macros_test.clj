;; SPDX-License-Identifier: Apache-2.0
(ns skein.macros-test
  "Every public macro has metadata that tells editors how to indent it."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- sources []
  (filter #(re-find #"^(modules|apps)/[^/]+/src/" (:path %)) (concat (project/clojure-files) (project/for-clojurescript))))

(defn- faults
  "Returns the public macros of a file whose metadata lacks :style/indent."
  [file]
  (for [[op macro-name & more :as form] (filter seq? (project/forms file))
        :when (and (= 'defmacro op)
                   (not (:private (meta macro-name)))
                   (not-any? #(contains? % :style/indent) (cons (or (meta macro-name) {}) (filter map? (take 2 more)))))]
    (str (:path file) ":" (:line (meta form)) ": " macro-name " has no :style/indent")))

(deftest every-public-macro-says-how-it-is-indented
  (is (= [] (mapcat faults (distinct (sources))))))

(deftest a-macro-without-indentation-is-found
  (is (= ["m.clj:1: a has no :style/indent"]
         (faults {:path "m.clj" :text (str/join "\n" ["(defmacro a \"Does.\" [x] x)"
                                                      "(defmacro b \"Does.\" {:style/indent 1} [x] x)"
                                                      "(defmacro ^:private c [x] x)"
                                                      "(defmacro ^{:style/indent 0} d [] 1)"])}))))
