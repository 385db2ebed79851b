;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.argument
  "Checks of arguments. Each returns its argument, or throws an exception that says what is
  expected."
  {:no-doc true}
  (:require-macros
   [skein.impl.cljs.error :refer [fail!]])
  (:require
   [skein.impl.error :as error]
   [skein.rt.port :as port]))

(defn source
  "Returns `value`, which must be a port to take from. Throws :skein/bad-argument."
  [value]
  (port/source value)
  value)

(defn target
  "Returns `value`, which must be a port to put on. Throws :skein/bad-argument."
  [value]
  (port/target value)
  value)

(defn function
  "Returns `value`, which must be callable. Throws :skein/bad-argument."
  [value]
  (when-not (ifn? value)
    (fail! :skein/bad-argument (str "An argument must be a function, but is " (error/preview value) ".")
      {:value (error/preview value)}))
  value)
