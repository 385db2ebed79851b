;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async
  "core.async's public vars, which are those of skein.async. Also loads core.async's other namespaces,
  as core.async does, because the expansions of its macros name them without requiring them."
  (:refer-clojure :exclude [into map merge partition partition-by reduce take transduce])
  (:require
   [clojure.core.async.impl.buffers]
   [clojure.core.async.impl.channels]
   [clojure.core.async.impl.dispatch]
   [clojure.core.async.impl.ioc-macros :as ioc]
   [clojure.core.async.impl.protocols]
   [clojure.core.async.impl.timers]
   [skein.async]
   [skein.bridge.mirror :as mirror]))

(set! *warn-on-reflection* true)

(def ^:private own
  "Vars that core.async does not have: a library that refers all of core.async may define these names."
  '#{<!!within <!within <? <?? async cause close-with! closed? rethrow})

(def ^:private primitive
  "Functions that take a primitive in core.async, and are defined below."
  '#{timeout})

(doseq [[sym v] (ns-publics 'skein.async) :when (not (or (own sym) (primitive sym)))]
  (mirror/mirror! *ns* v))

(defn timeout
  "See skein.async/timeout. It takes a primitive, because code compiled with core.async passes one."
  [^long msecs]
  (skein.async/timeout msecs))

(defn ioc-alts!
  "The step that core.async's compiler makes of an `alts!`. `state` is a state machine of
  clojure.core.async.impl.ioc-macros. When an operation is done, the machine continues at the block
  `cont-block`. Returns :recur if one is done at once. Skein's own blocks never call it."
  [state cont-block ports & {:as opts}]
  (ioc/alts state cont-block ports opts))
