;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.argument
  "Checks of what callers pass: each returns its argument, or throws an exception that says
  what is wanted."
  (:require [skein.impl.error :as error]
            [skein.impl.protocols :as-alias impl])
  (:import [skein.rt Channel Late]))

(set! *warn-on-reflection* true)

(defn- port [value protocol verb]
  (when-not (or (instance? Channel value) (satisfies? @(Late/var protocol) value))
    (error/fail! :skein/not-a-port
                 (str "A channel to " verb " is wanted here, but this is " (error/preview value) ".")
                 {:value (error/preview value)}))
  value)

(defn source
  "Returns `value`, which must be a port to take from. Throws :skein/not-a-port."
  [value]
  (port value `impl/ReadPort "take from"))

(defn target
  "Returns `value`, which must be a port to put on. Throws :skein/not-a-port."
  [value]
  (port value `impl/WritePort "put on"))

(defn function
  "Returns `value`, which must be callable. Throws :skein/not-a-function."
  [value]
  (when-not (ifn? value)
    (error/fail! :skein/not-a-function (str "A function is wanted here, but this is " (error/preview value) ".")
                 {:value (error/preview value)}))
  value)

(defn number
  "Returns `n`, which must satisfy `ok?`, as `wanted` says in words. Throws
  :skein/bad-number.

      (number :size 3 \"a whole number above 0\" pos-int?)
      ;=> 3"
  [option n wanted ok?]
  (when-not (ok? n)
    (error/fail! :skein/bad-number (str (name option) " must be " wanted ", but is " (error/preview n) ".")
                 {:option option :value n}))
  n)

(defn whole
  "Returns `n`, which must be a whole number above 0. Throws :skein/bad-number."
  [option n]
  (number option n "a whole number above 0" pos-int?))

(defn policy
  "Returns `value`, which must satisfy `ok?`, as `wanted` says in words. Throws
  :skein/bad-policy."
  [value wanted ok?]
  (when-not (ok? value)
    (error/fail! :skein/bad-policy (str "The policy must be " wanted ", but is " (error/preview value) ".")
                 {:policy value}))
  value)
