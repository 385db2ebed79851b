;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.block
  "Blocks: the entry to the go compiler, and what Skein's own blocks use: `go`, `<!`, `>!` and `alts!`. In other code
  `<!`, `>!` and `alts!` wait too, if a block runs there.

  The compiler is loaded when a block is first compiled. Programs whose blocks are all compiled ahead of time never load it."
  {:no-doc true}
  (:require
   [skein.impl.go :as-alias compiler]
   [skein.impl.port :as port])
  (:import
   (skein.base Assertion)
   (skein.rt Runner World)))

(set! *warn-on-reflection* true)

;;;; The compiler

(defonce ^:private loading (Object.))

(defn- compiler
  "Returns the function of the compiler that `sym` names."
  [sym]
  ;; Threads may compile their first blocks at the same time. `require` returns at once while another thread still loads the
  ;; namespace, so there is a lock. It is not that of requiring-resolve: a thread may hold that one while it loads a program
  ;; that waits for a block. Each call asks again, so that a failed load, as by a stack overflow, can be repeated.
  (locking loading
    (World/unseen (fn load [] (require 'skein.impl.go))))
  @(find-var sym))

(defn compile-go
  "See skein.impl.go/compile-go."
  [env body form]
  (if (:ns env) ; ClojureScript
    ((requiring-resolve 'skein.impl.cljs/compile-go) env body form)
    ((compiler `compiler/compile-go) env body form)))

(defn compile-reporting-go
  "See skein.impl.go/compile-reporting-go."
  [env body form]
  ((compiler `compiler/compile-reporting-go) env body form))

(defn compile-async
  "See skein.impl.go/compile-async."
  [env body form]
  (if (:ns env)
    ((requiring-resolve 'skein.impl.cljs/compile-async) env body form)
    ((compiler `compiler/compile-async) env body form)))

(defn compile-child
  "See skein.impl.go/compile-child."
  [env body form spawn region]
  ((compiler `compiler/compile-child) env body form spawn region))

(defmacro go
  "See skein.async/go."
  {:style/indent 0
   :skein.impl.go/block true}
  [& body]
  (compile-go &env body &form))

;;;; Waiting

(defn check-in-block
  "Throws core.async's error unless a block runs here. On a thread the operation has the same name with its last character doubled."
  [op]
  (when-not (Runner/inBlock)
    (throw (Assertion.
             (str "Assert failed: " op " used not in (go ...) block\nnil\n"
                  op " parks a block, but no go or async block runs here. On a thread, such as a REPL's, use "
                  op (last op) (when (= "alts!" op) ", or alt!! for alt!") "."
                  " A lazy sequence must be realized in the block: use mapv or doall. [:skein/not-in-block]")
             {:skein/error :skein/not-in-block :operation op}))))

(defn <!
  "See skein.async/<!."
  {:skein.impl.go/op '{:method take, :arity [1 1]}}
  [port]
  (check-in-block "<!")
  (port/<!! port))

(defn >!
  "See skein.async/>!."
  {:skein.impl.go/op '{:method put, :arity [2 2]}}
  [port value]
  (check-in-block ">!")
  (port/>!! port value))

(defn alts!
  "See skein.async/alts!."
  {:skein.impl.go/op '{:method alts, :arity [1 nil]}}
  [ports & options]
  (check-in-block "alts!")
  (port/alts!! ports options))

;;;; Operations that are more than a park: the compiler puts these forms in the place of a call

(defn expand-<?
  "Returns the form for (<? port)."
  [port]
  `(let [port# ~port] (port/rethrow port# (<! port#))))

(defn expand-<!within
  "Returns the form for (<!within port ms default)."
  [port ms default]
  `(let [port# ~port, limit# (port/limit "<!within" ~ms), default# ~default]
     (port/within limit# default# (alts! [port# limit#] :priority true))))

;;;; Operations that block the thread

(defn- checked
  "Returns the function `f` of the var `v`, made to throw when it is called in a block."
  [f v]
  (fn checked [& args]
    (when (Runner/inBlock)
      (throw (IllegalStateException.
               (str (:name (meta v)) " was called in a block, which clojure.core.async.go-checking forbids."
                    " Park instead, or unset the property: Skein's blocks may block."))))
    (apply f args)))

(defmacro defblockingop
  "Defines a function that blocks its thread. Like core.async's: if the system property
  clojure.core.async.go-checking is true at the definition, the function throws in a block.
  Differs: it throws everywhere in a block, not only up to the first park."
  {:style/indent :defn}
  [op doc arglist & body]
  `(do (defn ~op ~doc ~arglist ~@body)
       (when (Boolean/getBoolean "clojure.core.async.go-checking")
         (alter-var-root (var ~op) @#'checked (var ~op)))
       (var ~op)))
