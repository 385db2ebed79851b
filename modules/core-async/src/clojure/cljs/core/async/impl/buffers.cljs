;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.buffers
  "core.async's constructors of buffers, on Skein."
  {:no-doc true}
  (:require
   [skein.impl.operations :as impl]
   [skein.rt.buffers :as buffers]))

(defn ring-buffer [n] (buffers/fixed n))
(defn fixed-buffer [n] (buffers/fixed n))
(defn dropping-buffer [n] (impl/dropping-buffer n))
(defn sliding-buffer [n] (impl/sliding-buffer n))
(defn promise-buffer [] (buffers/Promise. nil))
