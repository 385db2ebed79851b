;; SPDX-License-Identifier: Apache-2.0
(ns skein.warnings-test
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :refer [deftest is]]
            [skein.project :as project])
  (:import (java.io File)
           (java.util List)
           (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-minutes 5)

(defn- compiler-output
  "Returns what a fresh JVM prints while it loads the Clojure files at `paths`, one
  after the other, with reflection warnings on. `folders` precede its class path."
  [paths & folders]
  (let [out (File/createTempFile "skein-warnings" ".txt")
        form (pr-str (list 'do '(set! *warn-on-reflection* true)
                           (list 'run! 'load-file (vec paths))
                           '(println "loaded all")))
        command [(str (System/getProperty "java.home") "/bin/java")
                 "-cp" (str/join File/pathSeparator (concat folders [(System/getProperty "java.class.path")]))
                 "clojure.main" "-e" form]
        process (-> (ProcessBuilder. ^List command)
                    (.redirectErrorStream true)
                    (.redirectOutput out)
                    (.start))]
    (try
      (when-not (.waitFor process (long deadline-minutes) TimeUnit/MINUTES)
        (.destroyForcibly process))
      (slurp out)
      (finally (.delete out)))))

(defn- warnings-about
  "The warnings in `output` about files at `paths`. Warnings name a file by its path
  or by its place on the class path; libraries have warnings of their own."
  [paths output]
  (for [line (str/split-lines output)
        :let [[_ file] (re-find #"^(?:Reflection|Boxed math) warning, (.*?):\d+:\d+ - " line)]
        :when (and file (some #(str/ends-with? % file) paths))]
    line))

(defn- loadable-paths
  "The Clojure files in `folders` but for scripts, which do their work when they are loaded."
  [& folders]
  (for [{:keys [path]} (project/files folders [".clj"])
        :when (not (re-find #"run_tests\.clj$" path))]
    (.getAbsolutePath (io/file path))))

(defn- switch-faults [file]
  (when-not (some #{'(set! *warn-on-reflection* true)} (project/forms file))
    [(str (:path file) ":1: does not (set! *warn-on-reflection* true)")]))

(defn- test-folder [module]
  (str module "/test/clojure"))

(def ^:private others
  "The modules whose tests load beside core.async; the bridge takes its place."
  (remove #{"modules/core-async"} project/modules))

(deftest no-code-of-ours-is-reflective-or-boxed
  (doseq [[paths & class-path] [(cons (apply loadable-paths (concat (map :path (project/main-clojure)) (map test-folder others)))
                                      (cons "tools/testing" (mapcat (juxt test-folder #(str % "/target/test-classes")) others)))
                                [(loadable-paths "tools/lab/src/clojure")]
                                [(loadable-paths "modules/core-async/src/clojure" (test-folder "modules/core-async"))
                                 "modules/core-async/src/clojure"]]
          :let [output (apply compiler-output paths class-path)]]
    (is (seq paths))
    (is (str/includes? output "loaded all") output)
    (is (= [] (warnings-about paths output)))))

(deftest reflection-and-boxing-are-found
  (let [file (doto (File/createTempFile "skein_bad" ".clj")
               (spit (str "(set! *unchecked-math* :warn-on-boxed)\n"
                          "(defn f [x] (.length x))\n"
                          "(defn g [x] (inc x))\n")))
        path (.getAbsolutePath file)]
    (is (= [(str path ":2:13") (str path ":3:13")]
           (map #(second (re-find #"warning, (.*?) - " %))
                (warnings-about [path] (compiler-output [path])))))
    (.delete file)))

(deftest every-file-asks-for-warnings
  (is (= [] (mapcat switch-faults (project/clojure-files))))
  (is (= ["a.clj:1: does not (set! *warn-on-reflection* true)"]
         (switch-faults {:path "a.clj" :text "(ns a)\n;; (set! *warn-on-reflection* true)"}))))
