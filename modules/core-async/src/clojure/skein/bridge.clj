;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge
  "Gives core.async's namespaces what Skein's hold, so that libraries which know those run
  on Skein. Each file below clojure/core/async is one call of `mirror!`.")

(set! *warn-on-reflection* true)

(defn- mirror-var! [target v]
  (let [mirror (intern target (with-meta (:name (meta v)) (dissoc (meta v) :ns)) @v)]
    ;; To extend a protocol is to give its var a new value.
    (add-watch v [::mirror target] (fn follow [_ _ _ value] (alter-var-root mirror (constantly value))))))

(defn mirror!
  "Interns in this namespace a var for each public var of the namespace named `source`:
  with its value, now and later, and its metadata, by which the go compiler knows what parks.

  except  names to leave out: a library that refers all of core.async may define them"
  ([source] (mirror! source #{}))
  ([source except]
   (require source)
   (run! (fn [[sym v]] (when-not (except sym) (mirror-var! *ns* v))) (ns-publics source))))
