;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.spi
  "For those who write operations of their own. Ports and buffers that implement cljs.core.async.impl.protocols work
  when the bridge is loaded, which has these protocols."
  (:require
   [skein.impl.operations :as operations]
   [skein.rt.buffers :as buffers]))

(defn unblocking-buffer?
  "Returns whether puts never wait on a channel with this buffer. Like core.async's."
  [buff]
  (buffers/unblocking? buff))

(defn do-alts
  "Does one of several operations without waiting. Returns a derefable `[value port]` if one is ready. Otherwise
  returns nil, and calls `fret` with `[value port]` later. Like core.async's; for `opts` see `alts!`."
  [fret ports opts]
  (operations/do-alts fret ports opts))
