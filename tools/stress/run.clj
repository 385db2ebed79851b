;; SPDX-License-Identifier: Apache-2.0
;; ./skein stress [OPTIONS of jcstress...], such as -m quick, -t OnceStress
(ns stress.run
  "Compiles the jcstress tests against the Java core and runs them. They show what the memory model allows, which a search
  through interleavings does not."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File)
   (javax.tools ToolProvider)))

(set! *warn-on-reflection* true)

(def ^:private java (str (System/getProperty "java.home") File/separator "bin" File/separator "java"))
(def ^:private out (io/file "target" "stress"))

(defn- run-process [command directory]
  (-> (ProcessBuilder. ^java.util.List (vec command)) .inheritIO (.directory directory) .start .waitFor))

(defn- jcstress
  "Returns the class path of jcstress, resolved by Maven once."
  []
  (let [file (io/file "target" "classpath" "jcstress")]
    (when-not (.exists file)
      (when-not (zero? (long (run-process ["mvn" "-q" "-B" "-f" "tools/stress/pom.xml"
                                           "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
                                           (str "-Dmdep.outputFile=" (.getAbsolutePath file))]
                                          nil)))
        (throw (ex-info "Maven could not fetch jcstress" {}))))
    (slurp file)))

(defn- compile-tests [classpath]
  (let [classes (io/file out "classes")
        sources (filter #(str/ends-with? % ".java") (map str (file-seq (io/file "tools/stress" "java"))))]
    (.mkdirs classes)
    (when-not (zero? (.run (ToolProvider/getSystemJavaCompiler) nil nil nil
                           (into-array String (concat ["-proc:full" "-cp" classpath "-d" (str classes)] sources))))
      (throw (ex-info "The stress tests don't compile" {})))
    (.getAbsolutePath classes)))

(let [classpath (str/join File/pathSeparator
                          (cons (jcstress)
                                (map #(.getAbsolutePath (io/file %))
                                     (str/split (System/getProperty "java.class.path")
                                                (re-pattern File/pathSeparator)))))
      classes (compile-tests classpath)]
  (System/exit
    (run-process (concat [java "-cp" (str classes File/pathSeparator classpath) "org.openjdk.jcstress.Main"]
                         (or (seq *command-line-args*) ["-m" "quick"]))
                 out)))
