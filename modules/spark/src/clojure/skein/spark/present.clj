;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.present
  "Throws :skein/no-spark when it is loaded, unless Spark is on the class path and this JVM is one that Skein runs on."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(try
  (Class/forName "org.apache.spark.SparkContext" false (.getContextClassLoader (Thread/currentThread)))
  (catch ClassNotFoundException _
    (error/fail! :skein/no-spark
                 (str "Apache Spark is not on the class path. Add org.apache.spark/spark-core_2.13 4.2.0 to the dependencies, or the "
                      "jars folder of a Spark 4.2 installation to the class path.")
                 {:wanted "org.apache.spark/spark-core_2.13", :version "4.2.0"})))
