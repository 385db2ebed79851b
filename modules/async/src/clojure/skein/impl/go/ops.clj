;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go.ops
  "The table of vars that park. The entries are in the vars' metadata, under :skein.impl.go/op. So the definition of a parking
  operation declares its entry. An entry is

      {:method     take, put or alts: the method of skein.rt.block.Frame
       :expansion  symbol, in place of :method: the function of the arguments that returns a form for the call
       :arity      [fewest most]   arguments in the call; most nil: any number, those after the first are options}"
  {:no-doc true})

(set! *warn-on-reflection* true)

(defn register!
  "Makes calls of the var named `sym` park, as the entry `op` says."
  [sym op]
  (alter-meta! (find-var sym) assoc :skein.impl.go/op op))

(defn var-named
  "Returns the var that the symbol `sym` names in *ns*, or nil. A symbol that is a local must not
  be passed, nor to the next two."
  [sym]
  (let [v (try (resolve sym) (catch ClassNotFoundException _ nil))]
    (when (var? v) v)))

(defn parking
  "Returns the entry of the var that `sym` names, or nil."
  [sym]
  (:skein.impl.go/op (meta (var-named sym))))

(defn expansion
  "Returns the form that stands for the call `form`, whose operator is no local, or nil if the operator has no expansion."
  [[sym & args]]
  (let [{f :expansion [fewest most] :arity} (when (symbol? sym) (parking sym))]
    (when (and f (<= (long fewest) (count args) (long most))) ; otherwise the call is refused later
      (apply @(find-var f) args))))

(defn block-macro?
  "Returns whether `sym` names a macro whose body has a compiler of its own."
  [sym]
  (boolean (:skein.impl.go/block (meta (var-named sym)))))
