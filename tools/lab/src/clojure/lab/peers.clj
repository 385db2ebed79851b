;; SPDX-License-Identifier: Apache-2.0
(ns lab.peers
  "The libraries that Skein is compared with. Each is a Maven project in tools/bench/peers that only names them."
  (:require
   [clojure.java.io :as io])
  (:import
   (java.lang ProcessBuilder$Redirect)))

(set! *warn-on-reflection* true)

(def ^:private goal "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath")

(defn- resolve! [peer file]
  (let [command ["mvn" "-q" "-B" "-f" (str "tools/bench/peers/" peer ".xml") goal (str "-Dmdep.outputFile=" file)]
        process (-> (ProcessBuilder. ^java.util.List command)
                    (.redirectOutput ProcessBuilder$Redirect/INHERIT)
                    (.redirectError ProcessBuilder$Redirect/INHERIT)
                    .start)]
    (when-not (zero? (.waitFor process))
      (throw (ex-info (str "Maven could not fetch " peer " to compare with; it needs the network once.") {:peer peer})))))

(defn classpath
  "Returns the class path of `peer`, such as \"core.async-1.7.701\", which Maven resolves once."
  [peer]
  (let [file (.getAbsoluteFile (io/file "target" "classpath" peer))]
    (when-not (.exists file) (resolve! peer file))
    (slurp file)))
