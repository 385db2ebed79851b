;; SPDX-License-Identifier: Apache-2.0
(ns skein.build-test
  "Compares each module's deps.edn with its pom.xml, and build.clj with the parent, and checks that the built classes are Java's only."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [clojure.xml :as xml]
   [skein.project :as project])
  (:import
   (java.io ByteArrayInputStream File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)))

(set! *warn-on-reflection* true)

;;;; pom.xml as data

(defn- child [element tag]
  (some #(when (= tag (:tag %)) %) (:content element)))

(defn- text-at [element & tags]
  (some-> (reduce child element tags) :content first str/trim))

(defn- properties [pom]
  (into {} (map (fn [e] [(name (:tag e)) (text-at e)])) (:content (child pom :properties))))

(defn- resolved
  "Returns `text` with its ${properties} filled in."
  [pom text]
  (str/replace text #"\$\{([^}]+)\}" #(get (properties pom) (second %) (first %))))

(defn- pom-dependencies
  "Returns the dependencies that `element` lists as {group/artifact [version scope]}; version and scope may be nil."
  [pom element]
  (into {}
        (for [dependency (:content (child element :dependencies))]
          [(symbol (text-at dependency :groupId) (text-at dependency :artifactId))
           [(some->> (text-at dependency :version) (resolved pom)) (text-at dependency :scope)]])))

(defn- read-pom [^String text]
  (xml/parse (ByteArrayInputStream. (.getBytes text "UTF-8"))))

(defn- module-pom [module]
  (read-pom (slurp (str module "/pom.xml"))))

(def ^:private parent (delay (read-pom (slurp "pom.xml"))))

(def ^:private versions
  "Returns the versions that the parent manages, {group/artifact version}. The version of a module is :local."
  (delay (update-vals (pom-dependencies @parent (child @parent :dependencyManagement))
                      (fn [[version]] (if (= "${project.version}" version) :local version)))))

(defn- in-scope
  "Returns {group/artifact version} for the dependencies in a module's pom.xml, of scope test or of the others. The dependencies that users of one
  namespace bring have scope test here, and scope provided in a released pom."
  [pom test?]
  (into {}
        (for [[lib [_ scope]] (pom-dependencies pom pom) :when (= test? (contains? #{"test" "${users.scope}"} scope))]
          [lib (@versions lib)])))

;;;; deps.edn in the same form

(defn- edn-versions
  "Returns a map of dependencies in deps.edn in the same form. skein/testing and skein/build are folders, not artifacts."
  [deps]
  (update-vals (dissoc deps 'skein/testing 'skein/build)
               (fn [{:keys [mvn/version local/root]}] (or version (when root :local)))))

(defn- version-faults
  "Returns the differences between the versions in deps.edn and in pom.xml."
  [module pom-versions edn-versions]
  (for [lib (sort (set/union (set (keys pom-versions)) (set (keys edn-versions))))
        :let [a (pom-versions lib) b (edn-versions lib)]
        :when (not= a b)]
    (str module ": " lib " is " (or a "missing") " in pom.xml, " (or b "missing") " in deps.edn")))

(defn- module-deps [module]
  (edn/read-string (slurp (str module "/deps.edn"))))

(defn- local-roots [deps]
  (keep :local/root (vals deps)))

(defn- artifacts
  "Returns the dependencies that a registry has."
  [deps]
  (into {} (filter (comp :mvn/version val)) deps))

(defn- test-folders
  "Returns the folders on the class path of a module's tests that hold the tests. ./skein compiles those in Java."
  [module]
  (cond-> [(str module "/test/clojure")]
    (.isDirectory (io/file module "test/java")) (conj (str module "/target/test-classes"))))

(defn- stray-classes
  "Returns the class files, as paths below target/classes, that come from none of the Java
  sources, as paths below src/java: compiled Clojure, or old files."
  [class-paths java-paths]
  (let [sources (into #{} (map #(str/replace % #"\.java$" "")) java-paths)]
    (remove #(contains? sources (str/replace % #"(\$.*)?\.class$" "")) class-paths)))

(defn- below [folder ending]
  (map #(subs (:path %) (inc (count folder))) (project/files [folder] [ending])))

;;;; The tests

(deftest the-two-manifests-of-a-module-name-the-same-versions
  (is (seq project/modules))
  (doseq [module project/modules
          :let [pom (module-pom module)
                deps (module-deps module)]]
    (is (= [] (version-faults module (in-scope pom false) (edn-versions (:deps deps)))))
    (is (= [] (version-faults module (in-scope pom true)
                              (edn-versions (get-in deps [:aliases :test :extra-deps])))))))

(deftest a-differing-version-is-found
  (is (= ["m: a/a is 1 in pom.xml, 2 in deps.edn"
          "m: a/b is :local in pom.xml, missing in deps.edn"
          "m: a/c is missing in pom.xml, 1 in deps.edn"]
         (version-faults "m" '{a/a "1" a/b :local} (edn-versions '{a/a {:mvn/version "2"} a/c {:mvn/version "1"}}))))
  (let [pom (read-pom (str "<project><properties><v>7</v></properties><dependencies><dependency>"
                           "<groupId>g</groupId><artifactId>a</artifactId><version>${v}</version>"
                           "</dependency></dependencies></project>"))]
    (is (= '{g/a ["7" nil]} (pom-dependencies pom pom)))))

(deftest deps-edn-names-existing-folders
  (doseq [module project/modules
          :let [{:keys [paths deps aliases] :as manifest} (module-deps module)
                folders (filter #(.isDirectory (io/file module %)) ["src/clojure" "src/resources"])
                java? (.isDirectory (io/file module "src/java"))]]
    (is (= (cond-> (vec folders) java? (conj "target/classes")) paths) module)
    (is (= (when java? "target/classes") (get-in manifest [:deps/prep-lib :ensure])) module)
    (doseq [root (local-roots (concat deps (get-in aliases [:test :extra-deps]) (get-in aliases [:build :deps])))]
      (is (.isFile (io/file module root "deps.edn")) (str module " names " root)))))

(deftest the-root-deps-edn-names-every-module
  (let [{:keys [deps aliases]} (edn/read-string (slurp "deps.edn"))
        named (set (local-roots (into deps (mapcat :extra-deps) (vals aliases))))]
    ;; The bridge replaces core.async, so a user has to name it.
    (is (= #{} (set/difference (set project/modules) named #{"modules/core-async"})))
    (is (= (set (mapcat test-folders project/modules)) (set (get-in aliases [:test :extra-paths]))))
    ;; The CLI prefers its own Clojure to the one that a dependency names.
    (is (= (@versions 'org.clojure/clojure) (get-in deps ['org.clojure/clojure :mvn/version])))
    ;; The CLI ignores the aliases of a dependency.
    (is (= (into {} (mapcat #(artifacts (get-in (module-deps %) [:aliases :test :extra-deps]))) project/modules)
           (artifacts (get-in aliases [:test :extra-deps]))))))

(deftest the-libraries-depend-on-clojure-alone
  (doseq [module (filter #(str/starts-with? % "modules/") project/modules)]
    (is (= (cond-> #{'org.clojure/clojure} (= "modules/console" module) (conj 'org.clojure/data.json 'org.clojure/tools.cli))
           (set (remove #(= "skein" (namespace %)) (keys (in-scope (module-pom module) false)))))
        module)))

(deftest javac-is-called-alike-by-both-builds
  (let [build (slurp "tools/build/build.clj")
        pom (slurp "pom.xml")]
    (is (str/includes? pom "<java.release>21</java.release>"))
    (is (str/includes? build "(def ^:private java-release 21)"))
    (doseq [option ["-Xlint:all,-processing,-path" "-Werror"]]
      (is (str/includes? pom (str "<arg>" option "</arg>")))
      (is (str/includes? build (pr-str option))))))

(defn- copy-tree!
  "Copies a file of the project, or all below a folder of it, to the same place below `to`."
  [path ^File to]
  (doseq [^File file (file-seq (io/file path)) :when (.isFile file)
          :let [copy (io/file to (.getPath file))]]
    (io/make-parents copy)
    (io/copy file copy)))

(defn- prepare!
  "Runs the build function that the official CLI calls in the folder of a module, with tools.build, in a JVM of its own.
  Returns its exit code and what it printed."
  [^File root module]
  (let [jars (filter #(str/ends-with? % ".jar") (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator)))
        ^java.util.List command [(str (System/getProperty "java.home") "/bin/java")
                                 "-cp" (str/join File/pathSeparator (cons (str (io/file root "tools/build")) jars))
                                 "clojure.main" "-e" "(require 'build) (build/compile-java {}) (shutdown-agents)"]
        process (-> (ProcessBuilder. command)
                    (.directory (io/file root module))
                    (.redirectErrorStream true)
                    .start)
        printed (slurp (.getInputStream process))]
    [(.waitFor process) printed]))

(defn- delete-tree! [^File file]
  (run! delete-tree! (.listFiles file))
  (.delete file))

(deftest the-cli-compiles-a-clean-tree
  (let [root (.toFile (Files/createTempDirectory "skein-prep" (make-array FileAttribute 0)))]
    (try
      (doseq [path (list* "tools/build" (for [module project/modules, path ["deps.edn" "src/java"]
                                              :when (.exists (io/file module path))]
                                          (str module "/" path)))]
        (copy-tree! path root))
      ;; The order in which the CLI prepares modules is unknown. Here a module comes before the one that it needs.
      (doseq [module ["modules/core-async" "modules/async"]]
        (is (= [0 ""] (prepare! root module)))
        (is (some #(str/ends-with? % ".class") (map str (file-seq (io/file root module "target/classes")))) module))
      (finally (delete-tree! root)))))

(deftest the-modules-hold-no-compiled-clojure
  (doseq [module project/modules]
    (is (= [] (stray-classes (below (str module "/target/classes") ".class") (below (str module "/src/java") ".java")))))
  (is (= ["skein/fold__init.class" "skein/fold$f.class"]
         (stray-classes ["skein/rt/A.class" "skein/rt/A$B.class" "skein/fold__init.class" "skein/fold$f.class"]
                        ["skein/rt/A.java"]))))
