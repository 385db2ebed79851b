;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs.error
  "The macro by which Skein's code in ClojureScript throws; see skein.impl.error there."
  {:no-doc true})

(set! *warn-on-reflection* true)

(defmacro fail!
  "Throws an ex-info with `message` and the map `data`, with the keyword `error` under :skein/error. If
  goog.DEBUG is false, the name of the keyword is all that is left in the program."
  {:style/indent 1}
  [error message data]
  `(if ~(with-meta 'goog.DEBUG {:tag 'boolean})
     (skein.impl.error/throw! ~error (str ~message " [" ~(str error) "]") ~data)
     (skein.impl.error/throw-name! ~(name error))))
