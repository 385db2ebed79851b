;; SPDX-License-Identifier: Apache-2.0
(ns lab.peers
  "The libraries that Skein is compared with. Each has a Maven project in tools/bench/peers with that dependency only."
  (:require
   [clojure.java.io :as io]))

(set! *warn-on-reflection* true)

(def ^:private goal "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath")

(defn- resolve! [peer file]
  (let [command ["mvn" "-q" "-B" "-f" (str "tools/bench/peers/" peer ".xml") goal (str "-Dmdep.outputFile=" file)]
        process (.start (.redirectErrorStream (ProcessBuilder. ^java.util.List command) true))
        output (slurp (.getInputStream process))] ; escape sequences, if nothing is wrong
    (when-not (zero? (.waitFor process))
      (throw (ex-info (str "Maven could not fetch " peer " to compare with; it needs the network once.\n" output) {:peer peer})))))

(defn classpath
  "Returns the class path of `peer`, such as \"core.async-1.7.701\", which Maven resolves once."
  [peer]
  (let [file (.getAbsoluteFile (io/file "target" "classpath" peer))]
    (when-not (.exists file) (resolve! peer file))
    (slurp file)))
