;; SPDX-License-Identifier: Apache-2.0
(ns lab.peers
  "The libraries that Skein is compared with."
  (:require
   [clojure.java.io :as io]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str]))

(set! *warn-on-reflection* true)

(def ^:private name->library
  '{"core.async" org.clojure/core.async, "tools.trace" org.clojure/tools.trace, "duckdb" org.duckdb/duckdb_jdbc})

(defn- resolve! [peer]
  (let [[_ n version] (re-matches #"(.*)-([^-]+)" peer)
        {:keys [exit out err]} (sh "./skein" "classpath" (pr-str {'org.clojure/clojure {:mvn/version (clojure-version)}
                                                                  (name->library n) {:mvn/version version}}))]
    (when-not (zero? (long exit))
      (throw (ex-info (str peer ", to compare with, could not be fetched; that needs the network once.\n" err) {:peer peer})))
    (str/trim out)))

(defn classpath
  "Returns the class path of `peer`, such as \"core.async-1.7.701\", which is resolved once."
  [peer]
  (let [file (.getAbsoluteFile (io/file "target" "classpath" peer))]
    (when-not (.exists file) (spit file (resolve! peer)))
    (slurp file)))
