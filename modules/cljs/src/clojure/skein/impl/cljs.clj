;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs
  "The compiler of go blocks for ClojureScript: a block becomes a generator of JavaScript, in
  three passes. Used by the macros of skein.async when ClojureScript expands them."
  {:no-doc true}
  (:require
   [skein.impl.cljs.emit :as emit]
   [skein.impl.cljs.expand :as expand]))

(set! *warn-on-reflection* true)

(defn- compile-block [env body form start]
  (let [env (merge (dissoc env ::expand/in-function?) (select-keys (meta form) [:line :column]))]
    (emit/emit env (expand/expand env (list* 'do body)) start)))

(defn compile-go
  "Returns a form that starts `body`, a seq of forms, as a block; its value is the block's port.

  env   the value of &env in the macro
  form  the value of &form there; tells the line

  Throws :skein/bad-block."
  [env body form]
  (compile-block env body form 'skein.rt.frame/start))

(defn compile-reporting-go
  "Like `compile-go`, but what the block throws is reported at once: as in core.async."
  [env body form]
  (compile-block env body form 'skein.rt.frame/start-reporting))

(defn compile-async
  "Like `compile-go`, but the block starts at once."
  [env body form]
  (compile-block env body form 'skein.rt.frame/start-now))
