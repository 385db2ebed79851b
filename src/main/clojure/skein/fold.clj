;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold
  "Folds."
  (:require [skein.fold.engine :as engine]))

(set! *warn-on-reflection* true)

(defn fold "."
  ([f coll] (fold nil f coll))
  ([a b coll]
   (if (or (nil? a) (map? a))
     ((:complete b identity) (engine/run a b coll))
     (engine/run nil {:combine a :step b} coll)))
  ([xform combine step coll]
   (engine/run nil {:xform xform :combine combine :step step} coll)))
