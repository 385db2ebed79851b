;; SPDX-License-Identifier: Apache-2.0
(ns skein.publishing-test
  "What a release promises: tested versions, and pages with all guides and the whole API."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]))

(set! *warn-on-reflection* true)

(defn- listed
  "Returns the words that the group of `pattern` finds in a file, without commas."
  [file pattern]
  (some-> (re-find pattern (slurp file)) second (str/split #"[,\s]+")))

(deftest the-versions-that-the-page-names-are-tested
  (let [page "doc/versions.md" workflow ".github/workflows/test.yml"]
    (is (= ["21" "25"] (listed page #"\| JDK \|[^|]*\| (.*) \|") (listed workflow #"java: \[(.*)\]")))
    (is (= (listed page #"\| Clojure \|[^|]*\| (.*) \|")
           (listed workflow #"clojure: \[(.*)\]")
           (listed "skein" #"\nclojures='(.*)'")))))

(deftest the-list-of-guides-is-whole
  (let [tree (:cljdoc.doc/tree (edn/read-string (slurp "doc/cljdoc.edn")))
        named (into #{} (keep :file) (tree-seq vector? seq tree))
        guides (for [file (.list (io/file "doc")) :when (str/ends-with? file ".md")] (str "doc/" file))]
    (is (= (set guides) (set/difference named #{"README.md" "CHANGELOG.md"})))))

(deftest released-poms-let-the-pages-of-the-api-be-made
  ;; The users of one namespace of these modules bring the library.
  (doseq [[module artifact] {"async" "core.async", "spark" "spark-sql_2.13"}]
    (is (str/includes? (str/replace (slurp (str "modules/" module "/pom.xml")) #">\s+<" "><")
                       (str "<artifactId>" artifact "</artifactId><scope>${users.scope}</scope>"))))
  (let [release (re-find #"(?s)<id>release</id>.*?</profile>" (slurp "pom.xml"))]
    (is (re-find #"(?s)flatten-maven-plugin.*<flattenMode>ossrh<" release) "a pom is whole without its parent")))
