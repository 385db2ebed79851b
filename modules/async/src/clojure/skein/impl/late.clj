;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.late
  "The code that is loaded on first use: the go compiler, and the protocols for ports of other
  kinds. They take longer to load than the rest of skein.async, and many programs start without
  them.

  All other namespaces are loaded by :require. Ahead-of-time compilation includes the namespaces
  that are named here."
  {:no-doc true}
  (:require
   [skein.impl.async.ports :as-alias ports]
   [skein.impl.channel :as-alias channel]
   [skein.impl.go :as-alias compiler]
   [skein.impl.protocols :as-alias impl])
  (:import
   (skein.rt Foreign Late)))

(set! *warn-on-reflection* true)

;;;; The go compiler

(defn compile-go
  "See skein.impl.go/compile-go."
  [env body form]
  (if (:ns env) ; ClojureScript
    ((requiring-resolve 'skein.impl.cljs/compile-go) env body form)
    ((Late/var `compiler/compile-go) env body form)))

(defn compile-async
  "See skein.impl.go/compile-async."
  [env body form]
  (if (:ns env)
    ((requiring-resolve 'skein.impl.cljs/compile-async) env body form)
    ((Late/var `compiler/compile-async) env body form)))

(defn compile-child
  "See skein.impl.go/compile-child."
  [env body form spawn region]
  ((Late/var `compiler/compile-child) env body form spawn region))

;;;; Ports, buffers and handlers of other kinds

(defn source?
  "Returns whether `x`, which is not a channel of the runtime, is a port to take from."
  [x]
  (satisfies? @(Late/var `impl/ReadPort) x))

(defn target?
  "Returns whether `x`, which is not a channel of the runtime, is a port to put on."
  [x]
  (satisfies? @(Late/var `impl/WritePort) x))

(defn closeable?
  "Returns whether `x`, which is not a channel of the runtime, is a port that can be closed."
  [x]
  (satisfies? @(Late/var `impl/Channel) x))

(defn take!
  "See skein.impl.protocols/take!."
  [port handler]
  ((Late/var `impl/take!) port handler))

(defn put!
  "See skein.impl.protocols/put!."
  [port value handler]
  ((Late/var `impl/put!) port value handler))

(defn close!
  "See skein.impl.protocols/close!."
  [port]
  ((Late/var `impl/close!) port))

(defn behind
  "See skein.impl.protocols/behind."
  [port]
  ((Late/var `impl/behind) port))

(defn failure
  "See skein.impl.protocols/failure."
  [port]
  ((Late/var `impl/failure) port))

(defn unblocking-buffer?
  "Returns whether `buffer` is marked as skein.impl.protocols/UnblockingBuffer."
  [buffer]
  (satisfies? @(Late/var `impl/UnblockingBuffer) buffer))

(defn foreign-buffer
  "See skein.impl.channel/foreign-buffer."
  [buffer]
  ((Late/var `channel/foreign-buffer) buffer))

(defn fn-handler
  "See skein.impl.channel/fn-handler."
  [f blockable]
  ((Late/var `channel/fn-handler) f blockable))

(defn map<
  "See skein.async/map<."
  [f ch]
  ((Late/var `ports/map<) f ch))

(defn map>
  "See skein.async/map>."
  [f ch]
  ((Late/var `ports/map>) f ch))

(defn filter>
  "See skein.async/filter>."
  [p ch]
  ((Late/var `ports/filter>) p ch))

;; The runtime calls this at the first operation on a port of another kind.
(Foreign/loadBy (fn load-ports [] (Late/var `channel/foreign-alts)))

(when *compile-files*
  (require 'skein.impl.async.ports 'skein.impl.channel 'skein.impl.go))
