;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.present
  "Throws :skein/missing-library when it is loaded, unless Spark is on the class path."
  {:no-doc true}
  (:require
   [skein.impl.error :as error]))

(set! *warn-on-reflection* true)

(defn check!
  "Throws :skein/missing-library unless the class called `class-name`, of the library `artifact` of Spark, is on the class path."
  [class-name artifact]
  (try
    (Class/forName class-name false (.getContextClassLoader (Thread/currentThread)))
    (catch ClassNotFoundException _
      (error/fail! :skein/missing-library
                   (str "Apache Spark is not on the class path. Add org.apache.spark/" artifact " 4.2.0 to the dependencies, or the "
                        "jars folder of a Spark 4.2 installation to the class path.")
                   {:wanted (str "org.apache.spark/" artifact), :version "4.2.0"}))))

(check! "org.apache.spark.SparkContext" "spark-core_2.13")
