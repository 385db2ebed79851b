;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.buffers
  "Buffers, for code that uses this namespace of core.async."
  {:no-doc true}
  (:require
   [skein.async :as a])
  (:import
   (skein.rt ChannelFactory)))

(set! *warn-on-reflection* true)

(defn fixed-buffer
  "See `skein.async/buffer`."
  [n]
  (a/buffer n))

(defn dropping-buffer
  "See `skein.async/dropping-buffer`."
  [n]
  (a/dropping-buffer n))

(defn sliding-buffer
  "See `skein.async/sliding-buffer`."
  [n]
  (a/sliding-buffer n))

(defn promise-buffer
  "Returns the buffer of a `skein.async/promise-chan`."
  []
  (.promise ChannelFactory/INSTANCE))
