;; SPDX-License-Identifier: Apache-2.0
(ns skein.publishing-test
  "doc/versions.md lists the tested versions. The pages of the API have all guides and no implementation."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.set :as set]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]))

(set! *warn-on-reflection* true)

(defn- listed
  "Returns the words that the group of `pattern` finds in a file, without commas."
  [file pattern]
  (some-> (re-find pattern (slurp file)) second (str/split #"[,\s]+")))

(deftest the-versions-that-the-page-names-are-tested
  (let [page "doc/versions.md" workflow ".github/workflows/test.yml"]
    (is (= ["21" "25"] (listed page #"\| JDK \|[^|]*\| (.*) \|")))
    (is (= (listed page #"\| JDK \|[^|]*\| (.*) \|") (listed workflow #"java: \[(.*)\]")))
    (is (= (listed page #"\| Clojure \|[^|]*\| (.*) \|")
           (listed workflow #"clojure: \[(.*)\]")
           (listed "skein" #"\nclojures='(.*)'")))))

(deftest the-list-of-guides-is-whole
  (let [tree (:cljdoc.doc/tree (edn/read-string (slurp "doc/cljdoc.edn")))
        named (keep :file (filter map? (tree-seq vector? seq tree)))
        guides (into #{} (comp (map #(str "doc/" %)) (filter #(str/ends-with? % ".md"))) (.list (io/file "doc")))]
    (is (= (count named) (count (set named))))
    (is (= #{} (set/difference guides (set named))))
    (is (= #{} (set/difference (set named) guides #{"README.md" "CHANGELOG.md"})))))

(deftest no-page-shows-the-implementation
  (is (= [] (for [file (project/files ["modules"] [".clj" ".cljs"])
                  :when (re-find #"/src/.*/impl/" (:path file))
                  :let [[_ n & more] (first (project/forms file))]
                  :when (not-any? :no-doc (cons (meta n) (filter map? more)))]
              (:path file)))))

(deftest released-poms-name-what-the-users-of-one-namespace-bring
  (doseq [[module artifact] {"async" "core.async", "spark" "spark-sql_2.13"}]
    (is (str/includes? (str/replace (slurp (str "modules/" module "/pom.xml")) #">\s+<" "><")
                       (str "<artifactId>" artifact "</artifactId><scope>${users.scope}</scope>"))
        "without it, the pages of the API can't be made")))

(deftest released-poms-need-no-parent
  (let [release (re-find #"(?s)<id>release</id>.*?</profile>" (slurp "pom.xml"))]
    (is (re-find #"(?s)flatten-maven-plugin.*<flattenMode>ossrh<" release))))
