;; SPDX-License-Identifier: Apache-2.0
(ns skein.aot-test
  "Compiled Clojure in the jar of a library, made by tools/build/aot.clj and jar.clj."
  (:require
   [clojure.edn :as edn]
   [clojure.java.shell :as shell]
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.sandbox :refer [sandbox with-sandbox write!]])
  (:import
   (java.io File)
   (java.nio.file Files)))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(load-file "tools/build/jar.clj")

(defn- clojure-main
  "Returns the output of clojure.main for `args`, with `path` on its class path."
  [path & args]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        class-path (str path File/pathSeparator "tools/build" File/pathSeparator (System/getProperty "java.class.path"))
        {:keys [exit out err]} (apply shell/sh java "-XX:+UnlockExperimentalVMOptions" "-XX:hashCode=2" "-cp" class-path "clojure.main" args)]
    (when-not (zero? (long exit)) (throw (ex-info err {:exit exit})))
    out))

(defn- compiled!
  "Compiles the sources into a new folder. Returns the files of the sources and the classes."
  [n]
  (let [sources (str (sandbox "src")), classes (str (sandbox n))
        files-below (resolve 'jar/files-below)]
    (clojure-main sources "-m" "aot" classes sources)
    (into (files-below sources) (files-below classes))))

(deftest compiled-namespaces-are-loaded
  (write! (sandbox "src" "demo" "one.clj") "(ns demo.one (:require demo.two)) (load \"one_more\") (defn f [] (demo.two/g))")
  (write! (sandbox "src" "demo" "one_more.clj") "(in-ns 'demo.one) (defn h [] 1)")
  (write! (sandbox "src" "demo" "two.clj") "(ns demo.two (:require [clojure.zip :as z])) (defn g [] (z/node (z/vector-zip [1])))")
  (write! (sandbox "src" "demo" "other.clj") "(ns demo.other (:require [no.such.library])) (defn f [] 1)")
  (let [files (compiled! "classes"), jars [(sandbox "a.jar") (sandbox "b.jar")]
        classes (filter #(str/ends-with? % ".class") (keys files))]
    (is (every? (set classes) ["demo/one__init.class" "demo/one_more__init.class" "demo/two$g.class"]))
    (is (every? #(str/starts-with? % "demo/") classes) "nothing of other libraries")
    (is (not-any? #(str/includes? % "other") classes) "what not every user can load stays source")
    ((resolve 'jar/write!) (first jars) files)
    (is (= [[1] 1 "app"]
           (edn/read-string
             (clojure-main (first jars) "-e" "(require 'demo.one)"
                           "-e" "[(demo.one/f) (demo.one/h) (.. demo.one/f getClass getClassLoader getName)]")))
        "not of a source")
    ((resolve 'jar/write!) (second jars) (compiled! "again"))
    (is (apply = (map #(vec (Files/readAllBytes (.toPath ^File %))) jars)) "the same sources give the same jar")))
