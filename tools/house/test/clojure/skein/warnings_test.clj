;; SPDX-License-Identifier: Apache-2.0
(ns skein.warnings-test
  "Our code loads with what its module's manifest names, and without warnings of reflection or
  boxed mathematics."
  (:require
   [clojure.java.io :as io]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- compiler-output
  "Returns what a fresh JVM prints while it loads the Clojure files at `paths`, one after the other."
  [paths class-path]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        load-all (list 'do
                       '(set! *warn-on-reflection* true)
                       (list 'run! 'load-file (vec paths))
                       '(println "loaded all"))
        {:keys [out err]} (sh java "-XX:TieredStopAtLevel=1" "-cp" class-path "clojure.main" "-e" (pr-str load-all))]
    (str out err)))

(defn- warnings-about
  "Returns the warnings in `output` about files at `paths`. Warnings name a file by its path
  or by its place on the class path; libraries have warnings of their own."
  [paths output]
  (for [line (str/split-lines output)
        :let [[_ file] (re-find #"^(?:Reflection|Boxed math) warning, (.*?):\d+:\d+ - " line)]
        :when (and file (some #(str/ends-with? % file) paths))]
    line))

(defn- clojure-paths [folder]
  (for [{:keys [path]} (project/files [folder] [".clj"])] (.getAbsolutePath (io/file path))))

(defn- check! [paths class-path]
  (let [output (compiler-output paths class-path)]
    (is (str/includes? output "loaded all") output)
    (is (= [] (warnings-about paths output)))))

(def ^:private for-others
  "Sources for programs that have core.async as well, or ClojureScript; their modules' tests load them."
  #"async/coexist\.clj$|/modules/cljs/|/src/clojure/cljs/")

(deftest sources-load-with-declared-modules-and-no-warnings
  (doseq [module (remove #{"modules/spark"} project/modules)
          :let [paths (remove #(re-find for-others %) (clojure-paths (str module "/src/clojure")))]
          :when (seq paths)]
    (check! paths (str/trim (:out (sh "./skein" "classpath" (last (str/split module #"/"))))))))

(deftest tests-load-without-warnings
  ;; The bridge would take the place of core.async, which others compare with.
  (let [modules (cons "tools/house" (remove #{"modules/core-async" "modules/cljs" "modules/spark"} project/modules))]
    (check! (mapcat #(clojure-paths (str % "/test/clojure")) modules) (System/getProperty "java.class.path"))))

(deftest reflection-and-boxing-are-found
  (let [file (doto (File/createTempFile "skein_bad" ".clj") .deleteOnExit
               (spit (str "(set! *unchecked-math* :warn-on-boxed)\n"
                          "(defn f [x] (.length x))\n"
                          "(defn g [x] (inc x))\n")))
        path (.getAbsolutePath file)]
    (is (= [(str path ":2:13") (str path ":3:13")]
           (map #(second (re-find #"warning, (.*?) - " %))
                (warnings-about [path] (compiler-output [path] (System/getProperty "java.class.path"))))))))
