;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.check
  "What the functions of skein.fold refuse, at the call.

  * `callable` `whole` `numbers` `collection` `options` return their argument, or throw what says what is wanted
  * `function?` `takes?` `combines?` tell whether something is meant as a function, and of how many arguments"
  (:require
   [skein.impl.error :as error])
  (:import
   (clojure.lang Fn IFn MultiFn Var)
   (skein.fold.engine Stages)))

(set! *warn-on-reflection* true)

(defn function?
  "Whether `f` is meant as a function: keywords and collections, though they can be called, are mistakes."
  [f]
  (or (instance? Fn f) (instance? Var f) (instance? MultiFn f)
      (and (instance? IFn f) (not (keyword? f)) (not (symbol? f)) (not (coll? f)))))

(defn takes?
  "Whether `f` is meant as a function and can be called with `n` arguments, 0 or 2."
  [f n]
  (and (function? f) (bit-test (Stages/arities f) n)))

(defn combines?
  "Whether `f` is meant as a function and can be called with two arguments and, unless there is an `identity`, with none."
  [f identity]
  (and (function? f)
       (let [arities (Stages/arities f)]
         (and (bit-test arities 2) (or (some? identity) (bit-test arities 0))))))

(defn callable
  "Returns `f`, or throws :skein/not-a-function if it can't be called. `what` names it, as \"the key-fn of top\" does."
  [what f]
  (when-not (ifn? f)
    (error/fail! :skein/not-a-function (str (error/preview f) " is no function, as " what " has to be.")
                 {:value (error/preview f)}))
  f)

(defn whole
  "Returns `n`, or throws :skein/bad-number if it is no whole number from 0 to the greatest int. `option` names it."
  [option n]
  (when-not (and (int? n) (<= 0 (long n) Integer/MAX_VALUE))
    (error/fail! :skein/bad-number
                 (str (name option) " must be a whole number from 0 to " Integer/MAX_VALUE ", but is " (error/preview n) ".")
                 {:option option, :value (error/preview n)}))
  n)

(defn numbers
  "Returns `xs`, or throws :skein/bad-number if it is no collection of numbers that satisfies `ok?`, as `wanted` says in words."
  [option xs wanted ok?]
  (when-not (and (seqable? xs) (every? number? xs) (ok? xs))
    (error/fail! :skein/bad-number
                 (str (name option) " must be a collection of " wanted ", but is " (error/preview xs) ".")
                 {:option option, :value (error/preview xs)}))
  xs)

(defn collection
  "Returns `coll`, or throws :skein/bad-collection if nothing can be conjoined to it. `what` names it."
  [what coll]
  (when-not (or (nil? coll) (coll? coll))
    (error/fail! :skein/bad-collection (str (error/preview coll) " is no collection to add to, as " what " has to be.")
                 {:value (error/preview coll)}))
  coll)

(defn options
  "Returns `opts`, a map or nil. Throws :skein/bad-option, or what `known` says, unless each is known and fits.

  known  map from option to [fits? should] or [fits? should error]: a test of its value, what it should be, in words, and
         a keyword of doc/errors.md"
  [known opts]
  (when-not (or (nil? opts) (map? opts))
    (error/fail! :skein/bad-option
                 (str "The options are a map, with some of the keys " (vec (keys known)) ", not " (error/preview opts) ".")
                 {:value (error/preview opts)}))
  (reduce-kv (fn check [_ k v]
               (let [[fits? should error] (known k)]
                 (when-not (and fits? (fits? v))
                   (error/fail! (or error :skein/bad-option)
                                (if fits?
                                  (str "The option " k " is " (error/preview v) ", but should be " should ".")
                                  (str "There is no option " (error/preview k) " here. The options are " (vec (keys known)) "."))
                                {:option k, :value v}))))
             nil opts)
  opts)
