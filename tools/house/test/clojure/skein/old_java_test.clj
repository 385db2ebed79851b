;; SPDX-License-Identifier: Apache-2.0
(ns skein.old-java-test
  "Loads the namespaces on a Java that is too old, if this machine has one."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.java.shell :as shell]
   [clojure.test :refer [deftest is]]
   [skein.project :as project]
   [skein.skip :refer [skip!]])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- old-java
  "Returns the program of a Java that Clojure runs on and Skein does not, or nil."
  []
  (->> [(.getParentFile (io/file (System/getProperty "java.home"))) (io/file "/usr/lib/jvm")]
       (mapcat #(.listFiles ^File %))
       (some (fn [^File home]
               (let [release (io/file home "release"), java (io/file home "bin" "java")
                     version (when (and (.canRead release) (.canExecute java))
                               (some-> (re-find #"JAVA_VERSION=\"(\d+)" (slurp release)) second parse-long))]
                 (when (<= 11 (or version 0) 20) (str java)))))))

(def ^:private load-each
  "Prints {namespace error} of the exceptions that requiring each namespace throws, one after another
  in one process."
  '(prn (into {} (for [n *command-line-args* :let [n (symbol n)]]
                   [n (try (require n)
                           (catch Throwable t
                             (:skein/error (ex-data (last (take-while some? (iterate ex-cause t)))))))]))))

(deftest each-namespace-says-that-java-is-too-old
  (if-let [java (old-java)]
    (let [for-users #"^skein\.(?!cli$|wf$)[^.]+$|^skein\.async\.[^.]+$"
          names (filter #(re-find for-users (str %)) (project/main-namespaces))
          program (doto (File/createTempFile "load-each" ".clj") .deleteOnExit (spit (pr-str load-each)))
          ran (apply shell/sh java "-XX:TieredStopAtLevel=1" "-cp" (System/getProperty "java.class.path")
                     "clojure.main" (str program) (map str names))]
      (is (= 0 (:exit ran)) (:err ran))
      (is (= (zipmap names (repeat :skein/java-too-old)) (edn/read-string (:out ran)))))
    (skip! "there is no Java from 11 to 20")))
