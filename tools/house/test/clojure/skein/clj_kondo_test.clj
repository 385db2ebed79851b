;; SPDX-License-Identifier: Apache-2.0
(ns skein.clj-kondo-test
  "Compares the configuration for clj-kondo with Skein's macros."
  (:require
   [clojure.edn :as edn]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private folder "modules/async/src/resources/clj-kondo.exports/skein/skein/")

(defn- config []
  (edn/read-string (slurp (str folder "config.edn"))))

(defn- explained
  "Returns the macros in the configuration."
  [{:keys [lint-as hooks linters]}]
  (set (concat (keys lint-as)
               (keys (:macroexpand hooks))
               (map first (get-in linters [:unresolved-symbol :exclude])))))

(defn- macros []
  (for [n (project/main-namespaces)
        :when (not (str/includes? (str n) ".impl"))
        [_ v] (do (require n) (ns-publics n))
        :when (:macro (meta v))]
    v))

(def ^:private evaluates-its-vector
  "Macros that take expressions in a vector, which need no explanation."
  '#{skein.virtual/future-via})

(defn- binds?
  "Returns whether the arglists of a macro say that it binds names."
  [v]
  (some (fn [args] (some #(or (vector? %) (= 'bindings %)) args)) (:arglists (meta v))))

(deftest every-macro-that-binds-names-is-explained
  (let [binding-macros (into #{} (comp (filter binds?) (map symbol)) (macros))]
    (is (contains? binding-macros 'skein.async/go-loop))
    (is (= #{} (set/difference binding-macros (explained (config)) evaluates-its-vector)))))

(deftest macros-that-define-public-vars-are-explained
  (is (set/subset? '#{skein.impl.mirror/import-vars skein.impl.once/defprotocol-once} (explained (config)))))

(deftest namespaces-whose-vars-are-made-at-run-time-are-named
  (is (= (set (for [{:keys [text]} (project/files ["modules/core-async/src/clojure/clojure"] [".clj"])
                    :when (str/includes? text "(mirror/mirror! *ns*")]
                (symbol (second (re-find #"\(ns (\S+)" text)))))
         (-> (slurp "modules/core-async/src/resources/clj-kondo.exports/skein/skein-core-async/config.edn")
             edn/read-string
             (get-in [:linters :unresolved-var :exclude])
             set))))

(deftest explained-macros-exist
  (doseq [sym (concat (explained (config)) (vals (:lint-as (config))))
          :when (not= 'potemkin/import-vars sym)] ; clj-kondo knows it
    (is (:macro (meta (requiring-resolve sym))) (str sym))))

(deftest the-hook-of-scope-keeps-its-parts
  (load-string (slurp (str folder "hooks/skein/scope.clj_kondo")))
  (let [hook (get-in (config) [:hooks :macroexpand 'skein.scope/scope])
        expand (fn [form] (apply (deref (resolve hook)) form nil (rest form)))]
    (is (= '(clojure.core/let [s {:deadline-ms 5}] (f s) (g s))
           (expand '(scope [s {:deadline-ms 5}] (f s) (g s)))))
    (is (= '(clojure.core/let [s nil] (f s))
           (expand '(scope [s] (f s)))))))
