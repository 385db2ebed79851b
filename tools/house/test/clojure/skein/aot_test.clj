;; SPDX-License-Identifier: Apache-2.0
(ns skein.aot-test
  "Compiled Clojure in the jar of a library: tools/build/aot.clj, run on a jar of its own."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.java.shell :as shell]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]])
  (:import
   (java.io File OutputStream)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (java.util.jar JarFile JarOutputStream Manifest)
   (java.util.zip ZipEntry)))

(set! *warn-on-reflection* true)

(def ^:private sources
  {"demo/aot/one.clj" "(ns demo.aot.one (:require [demo.aot.two :as two])) (load \"one_more\") (defn f [] (two/g))"
   "demo/aot/one_more.clj" "(in-ns 'demo.aot.one) (defn h [] 1)"
   "demo/aot/two.clj" "(ns demo.aot.two (:require [clojure.zip :as zip])) (defn g [] (zip/node (zip/vector-zip [1])))"
   "demo/aot/other.clj" "(ns demo.aot.other (:require [no.such.library])) (defn f [] 1)"})

(def ^:private ^:dynamic ^File *folder* "The folder of the sources and the jar.")

(use-fixtures :each
  (fn in-folder [run]
    (binding [*folder* (.toFile (Files/createTempDirectory "aot-test" (make-array FileAttribute 0)))]
      (try
        (doseq [[path text] sources]
          (io/make-parents *folder* path)
          (spit (io/file *folder* path) text))
        (run)
        (finally (run! io/delete-file (reverse (file-seq *folder*))))))))

(defn- write-jar!
  "Makes a jar of the sources, all of one time, as Maven does. Returns it."
  []
  (let [jar (io/file *folder* "demo.jar")
        manifest (doto (Manifest.) (-> .getMainAttributes (.putValue "Manifest-Version" "1.0")))]
    (with-open [out (JarOutputStream. (io/output-stream jar))]
      (doseq [path (cons JarFile/MANIFEST_NAME (sort (keys sources)))]
        (.putNextEntry out (doto (ZipEntry. ^String path) (.setTime 1767225600000)))
        (if (= path JarFile/MANIFEST_NAME)
          (.write manifest ^OutputStream out)
          (.write out (.getBytes ^String (sources path))))
        (.closeEntry out)))
    jar))

(defn- clojure-main
  "Returns the output of clojure.main for `args`, with the jar on its class path."
  [jar & args]
  (let [class-path (str jar File/pathSeparator (System/getProperty "java.class.path"))
        {:keys [exit out err]} (apply shell/sh (str (System/getProperty "java.home") "/bin/java")
                                      "-cp" class-path "clojure.main" args)]
    (when-not (zero? (long exit)) (throw (ex-info err {:exit exit})))
    out))

(defn- compiled-jar []
  (let [jar (write-jar!)]
    (clojure-main jar "tools/build/aot.clj" (str *folder*) (str jar))
    jar))

(defn- class-entries [jar]
  (with-open [in (JarFile. (io/file jar))]
    (into (sorted-set) (comp (map str) (filter (fn class? [n] (str/ends-with? n ".class")))) (enumeration-seq (.entries in)))))

(deftest compiled-namespaces-are-loaded
  (let [entries (class-entries (compiled-jar))]
    (is (every? entries ["demo/aot/one__init.class" "demo/aot/one_more__init.class" "demo/aot/two$g.class"]))
    (is (every? (fn own? [n] (str/starts-with? n "demo/aot/")) entries) "nothing of other libraries")
    (is (not-any? (fn other? [n] (str/includes? n "other")) entries) "what not every user can load stays source"))
  (is (= [[[1] 1] true]
         (edn/read-string
           (clojure-main (io/file *folder* "demo.jar") "-e"
                         "(require 'demo.aot.one) (prn [[(demo.aot.one/f) (demo.aot.one/h)] (= (ClassLoader/getSystemClassLoader) (.getClassLoader (class demo.aot.one/f)))])")))))

(deftest the-same-sources-give-the-same-jar
  (let [digest (fn digest [jar] (hash (vec (Files/readAllBytes (.toPath (io/file jar))))))]
    (is (= (digest (compiled-jar)) (digest (compiled-jar))))
    (testing "also if it is made again"
      (let [jar (compiled-jar)
            before (class-entries jar)]
        (clojure-main jar "tools/build/aot.clj" (str *folder*) (str jar))
        (is (= before (class-entries jar)))))))
