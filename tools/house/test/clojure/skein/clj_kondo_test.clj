;; SPDX-License-Identifier: Apache-2.0
(ns skein.clj-kondo-test
  "The configuration that clj-kondo copies for Skein's users explains its macros."
  (:require
   [clojure.edn :as edn]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private folder "modules/async/src/resources/clj-kondo.exports/skein/skein/")

(def ^:private config (delay (edn/read-string (slurp (str folder "config.edn")))))

(defn- explained
  "Returns the macros in the configuration."
  []
  (let [{:keys [lint-as hooks linters]} @config]
    (set (concat (keys lint-as)
                 (keys (:macroexpand hooks))
                 (map first (get-in linters [:unresolved-symbol :exclude]))))))

(defn- binds?
  "Returns whether the argument lists of a var say that it is a macro that binds names."
  [v]
  (and (:macro (meta v))
       (some #(or (vector? %) (= 'bindings %)) (apply concat (:arglists (meta v))))))

(deftest every-macro-that-binds-names-is-explained
  (let [names (remove #(str/includes? (str %) ".impl") (project/main-namespaces))
        binding-macros (comp (mapcat ns-publics) (map val) (filter binds?) (map symbol))]
    (apply require names)
    (is (= #{} (set/difference (into #{} binding-macros names)
                               (explained)
                               '#{skein.virtuoso/future-via}))))) ; its vector holds an expression

(deftest explained-macros-exist
  (doseq [sym (concat (explained) (vals (:lint-as @config)))]
    (is (:macro (meta (requiring-resolve sym))) (str sym))))
