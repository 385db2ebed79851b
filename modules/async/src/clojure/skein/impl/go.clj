;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go
  "The compiler of go blocks: five passes, data to data. doc/go-compiler.md
  follows one block through them."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]
   [skein.impl.expand :as expand]
   [skein.impl.go.blocks :as blocks]
   [skein.impl.go.emit :as emit]
   [skein.impl.go.mark :as mark]
   [skein.impl.go.slots :as slots]))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-depth
  "How deeply forms may be nested, before and after compilation. Clojure's compiler needs up to 2 kB of
  the stack for each level; a thread has 1 MB."
  450)

(def ^:private ^:const block-depth
  "How many levels a block has at least after compilation."
  12)

(def ^:private ^:dynamic *depth-around*
  "How many levels the blocks around the one at hand have at least."
  0)

(defn- deeper?
  "Returns whether collections are nested more than `limit` levels deep in `form`."
  [form ^long limit]
  (loop [parts (seq form)]
    (if parts
      (let [part (first parts)]
        (if (and (coll? part) (or (<= limit 0) (deeper? part (dec limit))))
          true
          (recur (next parts))))
      false)))

(defn- too-deep! [form]
  (error/fail! :skein/block-too-large
               (str "The forms of this block are nested too deeply to be compiled, more than " max-depth
                    " levels. Move the inner ones into a function. In: " (error/preview form))
               (expand/location form)))

(defn- check-depth [form part]
  (when (deeper? part (- (long max-depth) (long *depth-around*))) (too-deep! form)))

(defn- overflow?
  "Returns whether `t` is a StackOverflowError or has one as a cause. A macro may expand to deeply nested forms. If the error
  is thrown while a macro runs, Clojure wraps it in an exception of its own."
  [t]
  (boolean (some #(instance? StackOverflowError %) (take-while some? (iterate ex-cause t)))))

(defn- compile-block [env body form & spawn]
  (check-depth form body)
  (try
    (let [{expanded :form :keys [outer known]} (binding [*depth-around* (+ (long *depth-around*) (long block-depth))]
                                                 (expand/expand env (with-meta (list* 'do body) (meta form))))
          program (-> (mark/mark expanded)
                      (blocks/blocks known)
                      (slots/assign (update-vals outer :binding)))
          emitted (apply emit/emit program outer spawn)]
      (check-depth form emitted)
      emitted)
    (catch Throwable t
      (if (overflow? t) (too-deep! form) (throw t)))))

(defn compile-go
  "Returns a form that creates a frame running `body`, a seq of forms, and
  schedules it. The form's value is the block's result port.

  env   the value of &env at the call of `go`
  form  the value of &form there, which has the line

  Throws at compile time :skein/bad-block, :skein/block-too-large, and what macros in the body throw."
  [env body form]
  (compile-block env body form 'go))

(defn compile-reporting-go
  "Like `compile-go`, but the exception of the block is reported at once, and its port does not pass it on: as in core.async."
  [env body form]
  (compile-block env body form 'goReporting))

(defn compile-async
  "Like `compile-go`, but the block starts at once on the caller's thread."
  [env body form]
  (compile-block env body form 'async))

(defn compile-child
  "Like `compile-go`, but the block is started by `spawn`, goIn or asyncIn, as a child of a scope.
  `region` is a local of the code around the block, and holds the child's region."
  [env body form spawn region]
  (compile-block env body form spawn region))
