;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge-test
  "Runs libraries that were written for core.async, without core.async: each script of
  src/test/bridge in a process of its own, in which Skein and its bridge stand for it."
  (:require [clojure.core.async]
            [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]])
  (:import [java.io File]
           [java.util List]
           [java.util.concurrent TimeUnit]))

(set! *warn-on-reflection* true)

(def ^:private deadline-minutes 3)

(defn- run-process
  "Runs a command; returns [exit-code output], or [:late output] at the deadline."
  [command]
  (let [out (File/createTempFile "skein-bridge" ".txt")
        process (-> (ProcessBuilder. ^List (vec command))
                    (.redirectErrorStream true)
                    (.redirectOutput out)
                    (.start))]
    (try
      (if (.waitFor process (long deadline-minutes) TimeUnit/MINUTES)
        [(.exitValue process) (slurp out)]
        (do (.destroyForcibly process) [:late (slurp out)]))
      (finally (.delete out)))))

(def ^:private libraries (io/file "target" "classpath" "bridge-libraries"))

(defn- resolve-libraries!
  "Lets Maven write the class path of the libraries, out of its cache if that has them."
  []
  (let [resolve! (fn [& options]
                   (run-process (concat ["mvn" "-q" "-B"] options
                                        ["-f" "src/test/bridge/libraries.xml"
                                         "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
                                         (str "-Dmdep.outputFile=" (.getAbsolutePath ^File libraries))])))]
    (when-not (zero? (long (first (resolve! "-o"))))
      (let [[code output] (resolve!)]
        (when-not (= 0 code) (throw (ex-info (str "Maven could not fetch the libraries: " output) {})))))))

(def ^:private class-path
  (delay
    (when-not (and (.exists ^File libraries)
                   (< (.lastModified (io/file "src/test/bridge/libraries.xml")) (.lastModified ^File libraries)))
      (resolve-libraries!))
    (str/join File/pathSeparator ["src/bridge/clojure" "src/main/clojure" "target/classes" (slurp libraries)])))

(defn- run-script
  "Runs a script; returns what it printed last, read as EDN, or all output if it failed."
  [script]
  (let [[code output] (run-process [(str (System/getProperty "java.home") "/bin/java") "-cp" @class-path
                                    "clojure.main" (str "src/test/bridge/" script)])]
    (if (= 0 code)
      (edn/read-string {:default tagged-literal} (last (str/split-lines output)))
      output)))

(deftest core-async-is-not-on-the-class-path
  (is (not (str/includes? @class-path "core.async"))))

(deftest core-asyncs-names-are-all-there
  (let [theirs (ns-publics 'clojure.core.async)]
    (is (= {:publics (sort (keys theirs))
            :macros (sort (keep (fn [[n v]] (when (:macro (meta v)) n)) theirs))
            :parks 45
            :alt :time
            :alts 1
            :shadowed 2
            :ports [7 8 "00000000-0000-0000-0000-000000000001"]
            :satisfied [true true false true]
            :buffer 1
            :lab 1
            :timer nil
            :executor :ran}
           (run-script "names.clj")))))

(deftest the-aws-api-calls-a-service
  (is (= {:channels "skein.rt.Channel"
          :list ["one" "two"]
          :refused :cognitect.anomalies/incorrect
          :retried ["one" "two"]
          :concurrent (range 20)
          :alts ["one" "two"]}
         (run-script "aws.clj"))))

(deftest datomic-keeps-a-database
  (is (= {:channels "skein.rt.Channel"
          :found 10
          :pulled {:film/year 1983}
          :qseq 10
          :in-blocks (repeat 8 10)
          :transacted 5
          :refused :cognitect.anomalies/incorrect
          :range 9}
         (run-script "datomic.clj"))))
