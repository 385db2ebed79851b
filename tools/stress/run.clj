;; SPDX-License-Identifier: Apache-2.0
;; ./skein stress [OPTIONS of jcstress...], such as -m quick, -t OnceStress
(ns stress.run
  "Compiles the jcstress tests against the Java core and runs them. They show what the memory model allows, which a search
  through interleavings does not."
  (:require
   [clojure.java.io :as io]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str])
  (:import
   (java.io File)
   (javax.tools ToolProvider)))

(set! *warn-on-reflection* true)

(def ^:private java (str (System/getProperty "java.home") File/separator "bin" File/separator "java"))
(def ^:private out (io/file "target" "stress"))

(defn- jcstress
  "Returns the class path of jcstress."
  []
  (let [{:keys [exit out err]} (sh "./skein" "classpath" (pr-str '{org.openjdk.jcstress/jcstress-core {:mvn/version "0.16"}}))]
    (when-not (zero? (long exit)) (throw (ex-info (str "jcstress could not be fetched: " err) {})))
    (str/trim out)))

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
    (let [command (concat [java "-cp" (str classes File/pathSeparator classpath) "org.openjdk.jcstress.Main"]
                          (or (seq *command-line-args*) ["-m" "quick"]))]
      (-> (ProcessBuilder. ^java.util.List (vec command)) .inheritIO (.directory out) .start .waitFor))))
