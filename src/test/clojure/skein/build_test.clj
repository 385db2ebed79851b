;; SPDX-License-Identifier: Apache-2.0
(ns skein.build-test
  "Holds deps.edn and build.clj to pom.xml, and the built classes to Java alone."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.set :as set]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [clojure.xml :as xml]
            [skein.project :as project])
  (:import (java.io ByteArrayInputStream)))

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
  "Returns the dependencies as {group/artifact [version scope]}."
  [pom]
  (into {}
        (for [dependency (:content (child pom :dependencies))]
          [(symbol (text-at dependency :groupId) (text-at dependency :artifactId))
           [(resolved pom (text-at dependency :version)) (or (text-at dependency :scope) "compile")]])))

(defn- pom-paths [pom]
  (set (for [resource (:content (child (child pom :build) :resources))
             :let [folder (text-at resource :directory)]
             :when (str/starts-with? folder "src/")]
         folder)))

(defn- read-pom [^String text]
  (xml/parse (ByteArrayInputStream. (.getBytes text "UTF-8"))))

;;;; deps.edn as the same data

(defn- edn-versions [deps]
  (update-vals deps :mvn/version))

(defn- version-faults
  "How the dependencies of deps.edn differ from those of pom.xml, in scope `scope`."
  [pom-deps scope edn-deps]
  (let [pom-versions (into {} (keep (fn [[lib [version s]]] (when (= scope s) [lib version]))) pom-deps)
        edn-versions (edn-versions edn-deps)]
    (for [lib (sort (set/union (set (keys pom-versions)) (set (keys edn-versions))))
          :let [a (pom-versions lib) b (edn-versions lib)]
          :when (not= a b)]
      (str lib " is " (or a "missing") " in pom.xml, " (or b "missing") " in deps.edn"))))

(defn- stray-classes
  "The class files, as paths below target/classes, that come from none of the Java
  sources, as paths below src/main/java: compiled Clojure, or leavings."
  [class-paths java-paths]
  (let [sources (into #{} (map #(str/replace % #"\.java$" "")) java-paths)]
    (remove #(contains? sources (str/replace % #"(\$.*)?\.class$" "")) class-paths)))

(defn- below [folder ending]
  (map #(subs (:path %) (inc (count folder))) (project/files [folder] [ending])))

;;;; The tests

(deftest the-two-manifests-name-the-same-versions
  (let [pom-deps (pom-dependencies (read-pom (slurp "pom.xml")))
        deps (edn/read-string (slurp "deps.edn"))]
    (is (= [] (version-faults pom-deps "compile" (:deps deps))))
    (is (= [] (version-faults pom-deps "provided" (get-in deps [:aliases :app :extra-deps]))))
    (is (= [] (version-faults pom-deps "test" (get-in deps [:aliases :test :extra-deps]))))))

(deftest a-differing-version-is-found
  (is (= ["a/a is 1 in pom.xml, 2 in deps.edn"
          "a/b is 1 in pom.xml, missing in deps.edn"
          "a/c is missing in pom.xml, 1 in deps.edn"]
         (version-faults '{a/a ["1" "compile"] a/b ["1" "compile"] a/t ["1" "test"]} "compile"
                         '{a/a {:mvn/version "2"} a/c {:mvn/version "1"}})))
  (is (= '{g/a ["7" "compile"]}
         (pom-dependencies
          (read-pom (str "<project><properties><v>7</v></properties><dependencies><dependency>"
                         "<groupId>g</groupId><artifactId>a</artifactId><version>${v}</version>"
                         "</dependency></dependencies></project>"))))))

(deftest the-two-manifests-name-the-same-paths
  (let [deps (edn/read-string (slurp "deps.edn"))]
    (is (= (conj (pom-paths (read-pom (slurp "pom.xml"))) "target/classes")
           (set (:paths deps))))
    (is (every? #(.isDirectory (io/file %)) (remove #{"target/classes"} (:paths deps))))
    (is (= "target/classes" (get-in deps [:deps/prep-lib :ensure])))))

(deftest the-library-depends-on-clojure-alone
  (is (= '[org.clojure/clojure]
         (for [[lib [_ scope]] (pom-dependencies (read-pom (slurp "pom.xml"))) :when (= "compile" scope)]
           lib))))

(deftest javac-is-called-alike-by-both-builds
  (let [build (slurp "build.clj")
        pom (slurp "pom.xml")]
    (is (str/includes? pom "<java.release>21</java.release>"))
    (is (str/includes? build "(def ^:private java-release 21)"))
    (doseq [option ["-Xlint:all,-processing" "-Werror"]]
      (is (str/includes? pom (str "<arg>" option "</arg>")))
      (is (str/includes? build (pr-str option))))))

(deftest the-library-holds-no-compiled-clojure
  (is (= [] (stray-classes (below "target/classes" ".class") (below "src/main/java" ".java"))))
  (is (= ["skein/fold__init.class" "skein/fold$f.class"]
         (stray-classes ["skein/rt/A.class" "skein/rt/A$B.class" "skein/fold__init.class" "skein/fold$f.class"]
                        ["skein/rt/A.java"]))))
