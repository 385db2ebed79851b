;; SPDX-License-Identifier: Apache-2.0
(ns skein.reloading
  "Makes objects, reloads namespaces, and uses the objects, in a JVM of its own."
  (:require
   [clojure.string :as str]
   [skein.fresh-jvm :as fresh-jvm]))

(set! *warn-on-reflection* true)

(defn- use-of [form x]
  (let [result (future (try ((eval form) x) (catch Throwable t (str t))))]
    (deref result 60000 "It hangs.")))

(defn print-faults
  "Prints the faults that `faults` returns. Runs in the other JVM."
  [requires reloads rows]
  (apply require requires)
  (prn (vec (for [reload (cons nil reloads)
                  :let [objects (mapv (fn [[_ make]] (eval make)) rows)]
                  [[row _ use expected] x] (do (eval reload) (mapv vector rows objects))
                  :let [got (use-of use x)]
                  :when (not= expected got)]
              [row reload (pr-str got)])))
  (flush)
  (System/exit 0))

(defn faults
  "Returns the rows that do not give what is expected, without a reload or with one of `reloads`, as [row reload got]. All
  arguments are quoted.

  requires  what `require` needs
  reloads   forms
  rows      [[name make use expected]]: the form of an object, and that of a function of the object, which is evaluated after the
            reload"
  [requires reloads rows]
  (let [out (fresh-jvm/output ["-Xmx400m"] ["-e" (str "(require 'skein.reloading) "
                                                      (pr-str `(print-faults '~requires '~reloads '~rows)))])]
    (try (read-string (last (str/split-lines out)))
         (catch Exception _ out))))
