;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.heap-names-test
  "The names that a heap file is read by are those of classes and fields."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]])
  (:import
   (java.lang.reflect Field)
   (skein.rt HeapNames)))

(set! *warn-on-reflection* true)

(def ^:private texts
  "Name of a constant -> its value, a string."
  (into {} (for [^Field f (.getFields HeapNames) :when (= String (.getType f))] [(.getName f) (.get f nil)])))

(def ^:private classes
  (filter (fn [[_ v]] (str/includes? v ".")) texts))

(defn- declares? [class-name field-name]
  (try (some? (.getDeclaredField (Class/forName class-name) field-name))
       (catch NoSuchFieldException _ false)))

(defn- class-of
  "Returns the class whose field `constant` names: the longest constant of a class that begins it."
  [constant]
  (->> classes
       (filter (fn [[k]] (str/starts-with? constant (str k "_"))))
       (sort-by (comp count key))
       last
       val))

(deftest each-name-is-one-of-a-class-or-field
  (is (< 15 (count classes) (count texts)))
  (doseq [[_ class-name] classes] (is (some? (Class/forName class-name))))
  (doseq [[constant field] (remove (set classes) texts)]
    (is (declares? (class-of constant) field) constant))
  (doseq [field HeapNames/FRAME_LOCALS] (is (declares? HeapNames/FRAME field))))
