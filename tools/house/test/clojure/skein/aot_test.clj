;; SPDX-License-Identifier: Apache-2.0
(ns skein.aot-test
  "Compiled Clojure in the jar of a library: tools/build/aot.clj, run on a jar of its own."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.java.shell :as shell]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.sandbox :refer [*sandbox* sandbox with-sandbox write!]])
  (:import
   (java.io File PrintStream)
   (java.nio.file Files)
   (java.util.jar JarFile)
   (java.util.spi ToolProvider)))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(defn- clojure-main
  "Returns the output of clojure.main for `args`, with the jar on its class path."
  [jar & args]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        class-path (str jar File/pathSeparator (System/getProperty "java.class.path"))
        {:keys [exit out err]} (apply shell/sh java "-cp" class-path "clojure.main" args)]
    (when-not (zero? (long exit)) (throw (ex-info err {:exit exit})))
    out))

(defn- add-classes! [jar]
  (clojure-main jar "tools/build/aot.clj" (str *sandbox*) (str jar)))

(defn- compiled-jar
  "Returns a new jar of some sources, all of one time, as Maven makes it, with their compiled Clojure."
  []
  (write! (sandbox "demo" "one.clj") "(ns demo.one (:require demo.two)) (load \"one_more\") (defn f [] (demo.two/g))")
  (write! (sandbox "demo" "one_more.clj") "(in-ns 'demo.one) (defn h [] 1)")
  (write! (sandbox "demo" "two.clj") "(ns demo.two (:require [clojure.zip :as z])) (defn g [] (z/node (z/vector-zip [1])))")
  (write! (sandbox "demo" "other.clj") "(ns demo.other (:require [no.such.library])) (defn f [] 1)")
  (let [jar (sandbox "demo.jar")
        arguments ["--create" "--file" (str jar) "--date=2026-01-01T00:00:00Z" "-C" (str *sandbox*) "demo"]]
    (.run ^ToolProvider (.get (ToolProvider/findFirst "jar"))
          ^PrintStream System/out System/err ^"[Ljava.lang.String;" (into-array arguments))
    (add-classes! jar)
    jar))

(defn- class-entries [^File jar]
  (with-open [in (JarFile. jar)]
    (into #{} (comp (map str) (filter #(str/ends-with? % ".class"))) (enumeration-seq (.entries in)))))

(deftest compiled-namespaces-are-loaded
  (let [jar (compiled-jar), entries (class-entries jar)]
    (is (every? entries ["demo/one__init.class" "demo/one_more__init.class" "demo/two$g.class"]))
    (is (every? #(str/starts-with? % "demo/") entries) "nothing of other libraries")
    (is (not-any? #(str/includes? % "other") entries) "what not every user can load stays source")
    (is (= [[1] 1 "app"]
           (edn/read-string
             (clojure-main jar "-e" "(require 'demo.one)"
                           "-e" "[(demo.one/f) (demo.one/h) (.. demo.one/f getClass getClassLoader getName)]")))
        "not of a source")))

(deftest the-same-sources-give-the-same-jar
  (let [content #(vec (Files/readAllBytes (.toPath ^File %)))
        jar (compiled-jar), before (class-entries jar)]
    (is (= (content jar) (content (compiled-jar))))
    (testing "also if it is made again"
      (add-classes! jar)
      (is (= before (class-entries jar))))))
