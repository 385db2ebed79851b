;; SPDX-License-Identifier: Apache-2.0
(ns cljs.core.async.impl.dispatch
  "The parts of core.async's dispatcher that libraries use, on Skein's run queue."
  {:no-doc true}
  (:require
   [skein.rt.callback :as callback]
   [skein.rt.scheduler :as scheduler]))

(defn run
  "Calls `f` soon."
  [f]
  (scheduler/submit (callback/callback (fn [_] (f)))))

(defn queue-delay
  "Calls `f` in `delay` milliseconds."
  [f delay]
  (js/setTimeout f delay))
