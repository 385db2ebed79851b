;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.cljs.ops
  "The operations that park in a block. They are in a table, since in ClojureScript
  a macro can't always see the metadata of a name."
  {:no-doc true})

(set! *warn-on-reflection* true)

(defn- take-or-throw [port]
  `(let [port# ~port] (skein.async/rethrow port# (skein.async/<! port#))))

(defn- take-within [port ms default]
  `(let [port# ~port, limit# (skein.async/timeout ~ms), default# ~default]
     (skein.impl.operations/within limit# default# (skein.async/alts! [port# limit#] :priority true))))

(def ^:private operations
  {"<!" '{:function skein.rt.frame/take :fewest 1 :most 1}
   ">!" '{:function skein.rt.frame/put :fewest 2 :most 2}
   "alts!" '{:function skein.rt.alts/alts :fewest 1 :most nil}
   "<?" {:expansion take-or-throw :fewest 1 :most 1}
   "<!within" {:expansion take-within :fewest 3 :most 3}})

(defn parking
  "Returns how calls of the var `sym`, a qualified symbol or nil, park; nil if they don't.

  :function      symbol; takes the frame and the arguments, returns true if done at once
  :expansion     in its place: function of the arguments that returns a form for the call
  :fewest :most  numbers of arguments; most nil: those after the first are options
  :lenient?      in a function inside a block, the call is left as it is and throws if it runs"
  [sym]
  (when sym
    (case (namespace sym)
      ("skein.async" "skein.impl.operations") (operations (name sym))
      "cljs.core.async" (some-> (operations (name sym)) (assoc :lenient? true))
      nil)))

(defn arguments
  "Returns the arguments for the function of an operation: options become one map."
  [most args]
  (if most
    args
    (let [[ports & options] args]
      [ports (if (= 1 (count options)) (first options) (apply hash-map options))])))
