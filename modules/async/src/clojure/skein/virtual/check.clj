;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.check
  "What the functions of skein.virtual refuse, at the call.

  * `function` `collection` `whole` `window` `executor` `semaphore` return their argument or throw"
  (:require [skein.impl.error :as error])
  (:import [java.util.concurrent Executor Semaphore]))

(set! *warn-on-reflection* true)

(defn function
  "Returns `f`, or throws :skein/not-a-function if it can't be called."
  [f]
  (when-not (ifn? f)
    (error/fail! :skein/not-a-function
                 (str "A function is wanted here, but this is " (error/preview f) ".")
                 {:value (error/preview f)}))
  f)

(defn collection
  "Returns `coll`, or throws :skein/bad-collection if it is nil or nothing to go through."
  [coll]
  (when-not (and (some? coll) (seqable? coll))
    (error/fail! :skein/bad-collection
                 (str "This must be a collection, but is " (error/preview coll)
                      ". If nothing is what you mean, pass an empty one.")
                 {:value (error/preview coll)}))
  coll)

(defn whole
  "Returns `x`, or throws :skein/bad-number if it is no whole number from `least` to `most`.
  `option` names it, as :n does."
  ([option x least] (whole option x least Long/MAX_VALUE))
  ([option x least most]
   (when-not (and (int? x) (<= (long least) (long x) (long most)))
     (error/fail! :skein/bad-number
                  (str (name option) " must be a whole number from " least
                       (when (< (long most) Long/MAX_VALUE) (str " to " most)) ", but is " (error/preview x) ".")
                  {:option option :value x}))
   x))

(defn window
  "Returns `n`, or throws :skein/bad-number if so many can't be at once."
  [n]
  (whole :n n 1 Integer/MAX_VALUE))

(defn executor
  "Returns `x`, or throws :skein/bad-executor if it is none."
  [x]
  (when-not (instance? Executor x)
    (error/fail! :skein/bad-executor (str "This must be an executor, but is " (error/preview x) ".")
                 {:value (error/preview x)}))
  x)

(defn semaphore
  "Returns `x`, or throws :skein/bad-semaphore if it is none."
  [x]
  (when-not (instance? Semaphore x)
    (error/fail! :skein/bad-semaphore (str "This must be a semaphore, but is " (error/preview x) ".")
                 {:value (error/preview x)}))
  x)
