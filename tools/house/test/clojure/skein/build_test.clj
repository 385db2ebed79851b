;; SPDX-License-Identifier: Apache-2.0
(ns skein.build-test
  "What the deps.edn files promise, to ./skein and to users of the Clojure CLI."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.project :as project]
   [skein.sandbox :refer [copy! sandbox with-sandbox write!]])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(defn- module-deps [module]
  (edn/read-string (slurp (str module "/deps.edn"))))

(defn- local-roots [deps]
  (keep :local/root (vals deps)))

(defn- artifacts
  "Returns the dependencies that a registry has."
  [deps]
  (into {} (filter (comp :mvn/version val)) deps))

(def ^:private ordinary "All modules but Spark's." (remove #{"modules/spark"} project/modules))

(deftest deps-edn-names-existing-folders
  (doseq [module project/modules
          :let [{:keys [paths aliases] :as manifest} (module-deps module)
                folders (filter #(.isDirectory (io/file module %)) ["src/clojure" "src/resources"])
                java? (.isDirectory (io/file module "src/java"))
                java-tests? (.isDirectory (io/file module "test/java"))]]
    (is (= (cond-> (vec folders) java? (conj "target/classes")) paths) module)
    (is (= (when java? "target/classes") (get-in manifest [:deps/prep-lib :ensure])) module)
    (is (= (cond-> ["test/clojure"] java-tests? (conj "target/test-classes")) (get-in aliases [:test :extra-paths])) module)))

(deftest the-root-deps-edn-names-every-module
  (let [{:keys [deps aliases]} (edn/read-string (slurp "deps.edn"))
        of-tests (map #(get-in (module-deps %) [:aliases :test]) ordinary)]
    ;; The bridge replaces core.async, so a user has to name it.
    (is (= #{} (set/difference (set ordinary) (set (local-roots (into deps (mapcat :extra-deps) (vals aliases)))) #{"modules/core-async"})))
    (is (= (into #{"tools/house/test/clojure"} (mapcat (fn [module {:keys [extra-paths]}] (map #(str module "/" %) extra-paths)) ordinary of-tests))
           (set (get-in aliases [:test :extra-paths]))))
    ;; The CLI prefers its own Clojure to the one that a dependency names, and ignores the aliases of a
    ;; dependency.
    (is (= (get-in (module-deps "modules/base") [:deps 'org.clojure/clojure]) (get deps 'org.clojure/clojure)))
    (is (set/subset? (set (mapcat (comp artifacts :extra-deps) of-tests)) (set (get-in aliases [:test :extra-deps]))))))

(deftest the-libraries-depend-on-clojure-alone
  (doseq [module (filter #(str/starts-with? % "modules/") project/modules)]
    (is (= (into #{'org.clojure/clojure} ({"modules/console" '[org.clojure/data.json org.clojure/tools.cli]
                                           "modules/spark" '[org.clojure/data.fressian]} module))
           (set (keys (artifacts (:deps (module-deps module))))))
        module)))

(defn- prepare!
  "Runs the build function that the official CLI calls in the folder of a module, in a JVM of its own. Returns
  its exit code and what it printed."
  [module]
  (let [^java.util.List command [(str (System/getProperty "java.home") "/bin/java") "-XX:TieredStopAtLevel=1"
                                 "-cp" (str (sandbox "tools/build") File/pathSeparator (slurp "target/classpath/tools"))
                                 "clojure.main" "-e" "(require 'build) (build/compile-java {}) (shutdown-agents)"]
        process (-> (ProcessBuilder. command) (.directory (sandbox module)) (.redirectErrorStream true) .start)
        printed (slurp (.getInputStream process))]
    [(.waitFor process) printed]))

(deftest the-cli-compiles-a-clean-tree
  (doseq [path (list* "tools/build" (for [module project/modules, path ["deps.edn" "src/java"] :when (.exists (io/file module path))]
                                      (str module "/" path)))
          ^File file (file-seq (io/file path)) :when (.isFile file)]
    (copy! file (sandbox (.getPath file))))
  ;; The order in which the CLI prepares modules is unknown. Here a module comes before the one that it needs.
  (doseq [module ["modules/core-async" "modules/async"]]
    (is (= [0 ""] (prepare! module)))
    (is (some #(str/ends-with? % ".class") (map str (file-seq (sandbox module "target/classes")))) module))
  (write! (sandbox "modules/base/src/java/A.java") "class A {" "  int f() { return 1 }" "}")
  (let [[exit printed] (prepare! "modules/base")]
    (is (= 1 exit))
    (is (re-matches #"skein: the Java of base did not compile: .*A\.java:2: error: ';' expected\n" printed))
    (is (not (.exists (sandbox "modules/base/target/classes"))) "for the CLI it would be a sign that the work is done")))
