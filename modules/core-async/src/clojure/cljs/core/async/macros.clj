;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.macros
  "The macros of core.async under their old name, on Skein."
  (:require
   [cljs.core.async :as a]
   [skein.impl.cljs :as compiler]))

(set! *warn-on-reflection* true)

(defmacro go
  "See cljs.core.async/go."
  {:style/indent 0}
  [& body]
  (compiler/compile-reporting-go &env body &form))

(defmacro go-loop
  "See cljs.core.async/go-loop."
  {:style/indent 1}
  [bindings & body]
  `(go (loop ~bindings ~@body)))

(defmacro alt!
  "See cljs.core.async/alt!."
  {:style/indent 0}
  [& clauses]
  (a/do-alt 'cljs.core.async/alts! clauses))
