;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.arity
  "Whether a value is meant as a function, and how many arguments it takes: `function?` `takes?`
  `combines?`."
  {:no-doc true}
  (:require
   [skein.impl.error])
  (:import
   (clojure.lang Fn IFn MultiFn Var)
   (skein.fold.engine Stages)))

(set! *warn-on-reflection* true)

(defn function?
  "Returns whether `f` is meant as a function: keywords and collections, though they can be called, are mistakes."
  [f]
  (or (instance? Fn f) (instance? Var f) (instance? MultiFn f)
      (and (instance? IFn f) (not (keyword? f)) (not (symbol? f)) (not (coll? f)))))

(defn takes?
  "Returns whether `f` is meant as a function and can be called with `n` arguments, 0 or 2."
  [f n]
  (and (function? f) (bit-test (Stages/arities f) n)))

(defn combines?
  "Returns whether `f` is meant as a function and can be called with two arguments and, unless there is an `identity`, with none."
  [f identity]
  (and (function? f)
       (let [arities (Stages/arities f)]
         (and (bit-test arities 2) (or (some? identity) (bit-test arities 0))))))
