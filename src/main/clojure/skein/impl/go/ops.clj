;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.ops
  "The table of parking operations: which vars park, and by which method of
  skein.rt.Frame. An entry is

      {:method  take, put or alts
       :arity   [fewest most]   arguments in the call; most nil: any number,
                                those after the first are options
       :after   symbol          of a function that the value goes through, or absent}"
  (:import (clojure.lang Var)))

(set! *warn-on-reflection* true)

(def ^:private table
  (atom {'skein.async/<! {:method 'take, :arity [1 1]}
         'skein.async/>! {:method 'put, :arity [2 2]}
         'skein.async/alts! {:method 'alts, :arity [1 nil]}}))

(defn register!
  "Makes calls of the var named `sym` park, as the entry `op` says; see above."
  [sym op]
  (swap! table assoc sym op))

(defn parking
  "Returns the entry of the var that the symbol `sym` names in *ns*, or nil. A
  symbol that is a local must not be asked for."
  [sym]
  (let [v (try (resolve sym) (catch ClassNotFoundException _ nil))]
    (when (var? v)
      (get @table (.toSymbol ^Var v)))))
