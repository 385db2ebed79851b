;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.places
  "Makes the maps that say where blocks park.

  * `site`, `of-element` from what a running process knows
  * `of-text`, `by-name` from what a heap file has"
  {:no-doc true}
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str])
  (:import
   (skein.rt.block Sites$Site)))

(set! *warn-on-reflection* true)

(defn site
  "Returns a place as a map."
  [^Sites$Site s]
  {:file (.file s) :line (.line s) :column (.column s) :form (.form s) :op (str (.operation s)) :in-try (.inTry s)})

(defn of-element
  "Returns the place of a frame of a thread's stack."
  [^StackTraceElement e]
  {:file (.getFileName e) :line (.getLineNumber e) :form (Compiler/demunge (.getClassName e))})

(defn of-text
  "Returns the place of `state` in `text`, the table of places in a block's class; its file for the state before the first park;
  or nil."
  [text state]
  (let [{:keys [file sites]} (edn/read-string text)]
    (if-some [[op line column form in-try] (get sites state)]
      {:file file :line (or line -1) :column (or column -1) :form form :op (str op) :in-try (boolean in-try)}
      (when file {:file file}))))

(defn by-name
  "Returns the place as far as the name of the class alone shows it.

      (by-name \"demo.orders$exchange$reify__17\" 3)
      ;=> {:form \"demo.orders/exchange, state 3\", :in-try false}"
  [name state]
  {:form (str (str/replace (Compiler/demunge name) #"(/(reify|fn|eval)--\d+)+$" "") ", state " state) :in-try false})
