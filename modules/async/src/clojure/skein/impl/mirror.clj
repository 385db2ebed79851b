;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.mirror
  "Vars of one namespace that stand in another as well, with their values, now and later, and
  their metadata: so documentation, and an editor that goes to a definition, work on either.")

(set! *warn-on-reflection* true)

(defn mirror!
  "Interns in the namespace `target` a var that shows the var `v`, whose value is that of `v` or,
  if `change` is given, what this function makes of it."
  ([target v] (mirror! target v identity))
  ([target v change]
   (let [mirror (intern target (with-meta (:name (meta v)) (dissoc (meta v) :ns)) (change @v))]
     ;; To extend a protocol is to give its var a new value.
     (add-watch v [::mirror (ns-name target)]
                (fn follow [_ _ _ value] (alter-var-root mirror (constantly (change value))))))))

(defmacro import-vars
  "Interns here vars of other namespaces: each of `groups` is a vector of a namespace and of names."
  {:style/indent 0}
  [& groups]
  `(do ~@(for [[from & names] groups, sym names]
           `(mirror! *ns* (var ~(symbol (name from) (name sym)))))))
