;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.mirror
  "Copies of vars in other namespaces. A copy has the metadata of its var, and its value, now and
  later. So documentation, and an editor's jump to a definition, work for both."
  {:no-doc true})

(set! *warn-on-reflection* true)

(defn mirror!
  "Interns a copy of the var `v` in the namespace `target`. Its value is always that of `v` or, if
  `change` is given, (change value)."
  ([target v] (mirror! target v identity))
  ([target v change]
   (let [mirror (intern target (with-meta (:name (meta v)) (dissoc (meta v) :ns)) (change @v))]
     ;; Extending a protocol gives its var a new value.
     (add-watch v [::mirror (ns-name target)]
                (fn follow [_ _ _ value] (alter-var-root mirror (constantly (change value))))))))
