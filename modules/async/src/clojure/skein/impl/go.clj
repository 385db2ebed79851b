;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go
  "The compiler of go blocks: five passes, data to data. doc/go-compiler.md
  follows one block through them."
  (:require [skein.impl.expand :as expand]
            [skein.impl.go.blocks :as blocks]
            [skein.impl.go.emit :as emit]
            [skein.impl.go.mark :as mark]
            [skein.impl.go.slots :as slots]))

(set! *warn-on-reflection* true)

(defn- compile-block [env body form & spawn]
  (let [{:keys [form outer known]} (expand/expand env (with-meta (list* 'do body) (meta form)))]
    (-> (mark/mark form)
        (blocks/blocks known)
        (slots/assign (update-vals outer :binding))
        (as-> program (apply emit/emit program outer spawn)))))

(defn compile-go
  "Returns a form that creates a frame running `body`, a seq of forms, and
  schedules it; its value is the block's result port.

  env   the value of &env at the call of `go`
  form  the value of &form there; tells the line

  Throws at compile time :skein/bad-arity, :skein/bad-recur,
  :skein/immutable-local, :skein/shadowed-this, and what macros in the body throw."
  [env body form]
  (compile-block env body form 'go))

(defn compile-async
  "As `compile-go`, but the block starts at once on the caller's thread."
  [env body form]
  (compile-block env body form 'async))

(defn compile-child
  "As `compile-go`, but the block is started by `spawn`, goIn or asyncIn, as the child that
  `region` is, a local of the code around the block."
  [env body form spawn region]
  (compile-block env body form spawn region))
