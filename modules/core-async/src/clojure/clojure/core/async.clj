;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async
  "core.async's public vars: those of skein.async. Its other namespaces are loaded with it, as they
  are with core.async: what core.async has compiled names them without requiring them."
  (:refer-clojure :exclude [into map merge partition partition-by reduce take transduce])
  (:require
   [clojure.core.async.impl.buffers]
   [clojure.core.async.impl.channels]
   [clojure.core.async.impl.dispatch]
   [clojure.core.async.impl.ioc-macros :as ioc]
   [clojure.core.async.impl.protocols]
   [clojure.core.async.impl.timers]
   [skein.async]
   [skein.impl.mirror :as mirror]))

(set! *warn-on-reflection* true)

(def ^:private own
  "What core.async does not have: a library that refers all of it may define these."
  '#{async rethrow <? <??})

(def ^:private primitive
  "What takes a primitive in core.async, and is defined below."
  '#{timeout})

(doseq [[sym v] (ns-publics 'skein.async) :when (not (or (own sym) (primitive sym)))]
  (mirror/mirror! *ns* v))

(defn timeout
  "See skein.async/timeout. This one takes a primitive: what core.async has compiled calls it so."
  [^long msecs]
  (skein.async/timeout msecs))

(defn ioc-alts!
  "The step that core.async's compiler makes of an `alts!`: for `state`, a state machine of
  clojure.core.async.impl.ioc-macros, goes on at the block `cont-block` when an operation is done.
  Returns :recur if one is done at once. Skein's own blocks never call it."
  [state cont-block ports & {:as opts}]
  (ioc/alts state cont-block ports opts))
