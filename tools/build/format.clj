;; SPDX-License-Identifier: Apache-2.0
(ns format
  "./skein format [--check]: Java by Palantir's formatter and Clojure by a Node package, both of a fixed
  version."
  (:require
   [build]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.tools.build.api :as b])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(def ^:private formatter '{com.palantir.javaformat/palantir-java-format {:mvn/version "2.101.0"}})

(defn- java-files []
  (for [folder ["modules" "apps" "tools"]
        ^File file (sort (file-seq (io/file folder)))
        :when (and (str/ends-with? (.getName file) ".java") (not (str/includes? (.getPath file) "/target/")))]
    (.getPath file)))

(defn- fine? [& command]
  (zero? (long (:exit (b/process {:command-args (flatten command)})))))

(defn- format-java [options]
  (fine? (str (System/getProperty "java.home") "/bin/java")
         (for [part ["api" "code" "file" "main" "parser" "tree" "util"]]
           (str "--add-exports=jdk.compiler/com.sun.tools.javac." part "=ALL-UNNAMED"))
         "-cp" (build/libraries formatter) "com.palantir.javaformat.java.Main" "--palantir"
         "--skip-reflowing-long-strings" options (java-files)))

(defn -main [& arguments]
  (when-not (contains? #{nil ["--check"]} arguments) (build/fail! "format takes --check, or nothing."))
  (let [check? (some? arguments)
        java? (format-java (if check? ["--dry-run" "--set-exit-if-changed"] ["--replace"]))
        clojure? (try (fine? "npx" "--yes" "@chrisoakman/standard-clojure-style@0.29.0"
                             (if check? "check" "fix") "modules" "apps" "tools" "examples" "deps.edn")
                      (catch java.io.IOException _
                        (build/fail! "there is no npx on PATH; formatting needs Node 18 or newer.")))]
    (shutdown-agents)
    (System/exit (if (and java? clojure?) 0 1))))
