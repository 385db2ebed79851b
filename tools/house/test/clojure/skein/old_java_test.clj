;; SPDX-License-Identifier: Apache-2.0
(ns skein.old-java-test
  "Loads the namespaces on a Java that is too old, if this machine has one."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.java.shell :as shell]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]
   [skein.project :as project])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- version-of [^File home]
  (let [release (io/file home "release")]
    (when (and (.canRead release) (.canExecute (io/file home "bin" "java")))
      (some-> (re-find #"JAVA_VERSION=\"(\d+)" (slurp release)) second parse-long))))

(defn- old-java
  "Returns the program of a Java that Clojure runs on and Skein does not, or nil."
  []
  (->> [(.getParentFile (io/file (System/getProperty "java.home"))) (io/file "/usr/lib/jvm")]
       (mapcat #(.listFiles ^File %))
       (some (fn [home] (when (<= 11 (or (version-of home) 0) 20) (str (io/file home "bin" "java")))))))

(defn- libraries
  "Returns the namespaces of the libraries that users require, without those of applications."
  []
  (->> (project/main-namespaces)
       (filter #(re-find #"^skein\.[^.]+$|^skein\.async\.[^.]+$" (str %)))
       (remove '#{skein.cli skein.wf})))

(def ^:private load-each
  "Prints {namespace [class error]} of the exceptions that requiring each namespace throws, one after another in one process."
  '(prn (into {} (for [n *command-line-args* :let [n (symbol n)]]
                   [n (try (require n)
                           (catch Throwable t
                             (let [root (last (take-while some? (iterate ex-cause t)))]
                               [(.getName (class root)) (:skein/error (ex-data root))])))]))))

(deftest each-namespace-says-that-java-is-too-old
  (if-let [java (old-java)]
    (let [names (libraries)
          program (doto (File/createTempFile "load-each" ".clj") .deleteOnExit)
          _ (spit program (pr-str load-each))
          ran (within-deadline
                (apply shell/sh java "-XX:TieredStopAtLevel=1" "-cp" (System/getProperty "java.class.path")
                       "clojure.main" (str program) (map str names)))]
      (is (= 0 (:exit ran)) (:err ran))
      (is (contains? (set names) 'skein.scope))
      (is (= (zipmap names (repeat ["clojure.lang.ExceptionInfo" :skein/java-too-old]))
             (edn/read-string (:out ran)))))
    (do (println "skipped: this machine has no Java from 11 to 20")
        (is (nil? (old-java))))))
