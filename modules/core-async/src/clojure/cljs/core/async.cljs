;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async
  "core.async's functions for ClojureScript, on Skein: each calls the function of skein.async with the
  same name. Put the module on the class path in place of core.async."
  (:refer-clojure :exclude [into map merge partition partition-by reduce take transduce])
  (:require-macros
   [cljs.core.async :refer [mirror]])
  (:require
   [cljs.core.async.impl.channels] ; libraries name its type without requiring it
   [cljs.core.async.impl.protocols :as impl]
   [skein.async]
   [skein.async.spi]
   [skein.bridge.deprecated]
   [skein.rt.buffers :as buffers]
   [skein.rt.port :as port]))

(mirror skein.async #{<? <!within cause close-with! closed? rethrow})
(mirror skein.async.spi #{})
(mirror skein.bridge.deprecated #{})

;; Ports and buffers of libraries that implement core.async's protocols.

(set! port/other-port
      (fn [p]
        (when (or (satisfies? impl/ReadPort p) (satisfies? impl/WritePort p))
          (impl/->Foreign p))))

(set! buffers/other-buffer
      (fn [b]
        (when (satisfies? impl/Buffer b)
          (impl/->ForeignBuffer b false))))
