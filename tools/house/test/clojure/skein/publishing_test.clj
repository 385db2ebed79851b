;; SPDX-License-Identifier: Apache-2.0
(ns skein.publishing-test
  "What a release promises: tested versions, whole poms, and pages with all guides."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]))

(set! *warn-on-reflection* true)

(run! #(load-file (str "tools/build/" % ".clj")) ["jar" "build" "release"])

(defn- listed
  "Returns the words that the group of `pattern` finds in a file, without commas."
  [file pattern]
  (some-> (re-find pattern (slurp file)) second (str/split #"[,\s]+")))

(deftest the-versions-that-the-page-names-are-tested
  (let [page "doc/versions.md" workflow ".github/workflows/test.yml"]
    (is (= ["21" "25"] (listed page #"\| JDK \|[^|]*\| (.*) \|") (listed workflow #"java: \[(.*)\]")))
    (is (= (listed page #"\| Clojure \|[^|]*\| (.*) \|")
           (listed workflow #"clojure: \[(.*)\]")
           (map #(str/replace % "\"" "") (listed "tools/testing/skein/run_tests.clj" #"(?s)def \^:private clojures.*?\[(.*?)\]"))))))

(deftest the-list-of-guides-is-whole
  (let [tree (:cljdoc.doc/tree (edn/read-string (slurp "doc/cljdoc.edn")))
        named (into #{} (keep :file) (tree-seq vector? seq tree))
        guides (for [file (.list (io/file "doc")) :when (str/ends-with? file ".md")] (str "doc/" file))]
    (is (= (set guides) (set/difference named #{"README.md" "CHANGELOG.md"})))))

(deftest a-pom-names-what-the-module-needs-and-what-its-users-bring
  (let [pom ((resolve 'release/pom) "modules/async" "1.2.3" "https://a" (edn/read-string (slurp "modules/async/deps.edn")))
        dependencies (into {} (for [[_ artifact version scope]
                                    (re-seq #"<artifactId>([^<]*)</artifactId><version>([^<]*)</version><scope>([^<]*)<" pom)]
                                [artifact [version scope]]))]
    (is (str/includes? pom "<artifactId>skein</artifactId><version>1.2.3</version>"))
    (is (= #{"clojure" "skein-base" "core.async"} (set (keys dependencies))))
    (is (= ["1.2.3" "compile"] (dependencies "skein-base")))
    (is (= "provided" (second (dependencies "core.async"))) "the pages of the API are made with it")))

(deftest a-version-that-can-not-be-released-is-refused
  (let [fault (resolve 'release/fault)]
    (doseq [version ["1.2" "v0.1.0" "0.1.0/x" "0.1.0 x" "0.1.x"]]
      (is (str/includes? (@fault version "commit" nil) (str "'" version "' is not a version"))))
    (is (str/includes? (@fault "0.1.0-SNAPSHOT" "commit" nil) "leave out -SNAPSHOT"))
    (is (str/includes? (@fault "0.1.0" nil nil) "not a git checkout"))))
