;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.check
  "What the functions of skein.virtual refuse, at the call.

  * `function` `collection` `window` return their argument or throw"
  (:require [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(defn function
  "Returns `f`, or throws :skein/bad-function if it can't be called."
  [f]
  (when-not (ifn? f)
    (error/fail! :skein/bad-function
                 (str "This must be a function, but is " (error/preview f) ".")
                 {:function f}))
  f)

(defn collection
  "Returns `coll`, or throws :skein/bad-collection if it is nil or nothing to go through."
  [coll]
  (when-not (and (some? coll) (seqable? coll))
    (error/fail! :skein/bad-collection
                 (str "This must be a collection, but is " (error/preview coll)
                      ". If nothing is what you mean, pass an empty one.")
                 {:collection coll}))
  coll)

(defn window
  "Returns `n`, or throws :skein/bad-window if it is no whole number from 1."
  [n]
  (when-not (and (int? n) (<= 1 (long n) Integer/MAX_VALUE))
    (error/fail! :skein/bad-window
                 (str "So many at once must be a whole number from 1, but is " (error/preview n) ".")
                 {:n n}))
  n)
