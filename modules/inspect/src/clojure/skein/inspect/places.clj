;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.places
  "Finds where blocks park by the names of their classes, because a heap file does not have their code.

  * `of-classes` for classes that this process has
  * `by-name` for other classes"
  {:no-doc true}
  (:require
   [clojure.string :as str])
  (:import
   (clojure.lang RT)
   (java.lang.reflect Constructor)
   (skein.rt Body)
   (skein.rt.watch Sites Sites$Site)))

(set! *warn-on-reflection* true)

(defn site
  "Returns a place as a map."
  [^Sites$Site s]
  {:file (.file s) :line (.line s) :column (.column s) :form (.form s) :op (str (.operation s)) :in-try (.inTry s)})

(defn- blank
  "Returns an argument of the type: nil, false or 0."
  [^Class type]
  (condp = type
    Boolean/TYPE false
    Long/TYPE 0
    Double/TYPE 0.0
    nil))

(defn- body
  "A body of the class, whose code is never run: only its table of places is asked for."
  ^Body [name]
  (let [^Constructor c (first (.getDeclaredConstructors (RT/classForNameNonLoading name)))]
    (.newInstance c (object-array (map blank (.getParameterTypes c))))))

(defn- sites-of ^Sites [name]
  (try (Sites/of (body name))
       (catch java.lang.ReflectiveOperationException _)
       (catch java.lang.LinkageError _)
       (catch RuntimeException _)))

(defn of-classes
  "Returns the places of `wanted`, pairs of a class and a state, as far as this process has the classes: {[class state] place}."
  [wanted]
  (into {} (for [[name wanted] (group-by first wanted)
                 :let [sites (sites-of name)] :when sites
                 [_ state] wanted
                 :let [s (.at sites (int state))] :when s]
             [[name state] (site s)])))

(defn by-name
  "Returns the place as far as the name of the class alone shows it.

      (by-name \"demo.orders$exchange$reify__17\" 3)
      ;=> {:form \"demo.orders/exchange, state 3\", :in-try false}"
  [name state]
  {:form (str (str/replace (Compiler/demunge name) #"(/(reify|fn|eval)--\d+)+$" "") ", state " state) :in-try false})
