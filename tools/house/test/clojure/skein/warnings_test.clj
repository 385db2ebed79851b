;; SPDX-License-Identifier: Apache-2.0
(ns skein.warnings-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.project :as project])
  (:import
   (java.io File)
   (java.util List)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-minutes 5)

(defn- run-process
  "Returns the output of a command, of both streams. The command is killed at the deadline."
  [command]
  (let [out (File/createTempFile "skein-warnings" ".txt")
        process (-> (ProcessBuilder. ^List (vec command))
                    (.redirectErrorStream true)
                    (.redirectOutput out)
                    (.start))]
    (try
      (when-not (.waitFor process (long deadline-minutes) TimeUnit/MINUTES)
        (.destroyForcibly process))
      (slurp out)
      (finally (.delete out)))))

(defn- class-path
  "Returns the class path of a module: what its manifest names, and nothing else."
  [module]
  (str/trim (run-process ["./skein" "classpath" (last (str/split module #"/"))])))

(defn- compiler-output
  "Returns what a fresh JVM with a class path prints while it loads the Clojure files at
  `paths`, one after the other, with reflection warnings on."
  [paths class-path]
  (run-process [(str (System/getProperty "java.home") "/bin/java") "-cp" class-path "clojure.main" "-e"
                (pr-str (list 'do '(set! *warn-on-reflection* true)
                              (list 'run! 'load-file (vec paths))
                              '(println "loaded all")))]))

(defn- warnings-about
  "Returns the warnings in `output` about files at `paths`. Warnings name a file by its path
  or by its place on the class path; libraries have warnings of their own."
  [paths output]
  (for [line (str/split-lines output)
        :let [[_ file] (re-find #"^(?:Reflection|Boxed math) warning, (.*?):\d+:\d+ - " line)]
        :when (and file (some #(str/ends-with? % file) paths))]
    line))

(defn- loadable-paths
  "Returns the Clojure files in `folders`, without scripts, which do their work when they are loaded."
  [& folders]
  (for [{:keys [path]} (project/files folders [".clj"])
        :when (not (re-find #"run_tests\.clj$" path))]
    (.getAbsolutePath (io/file path))))

(defn- switch-faults [file]
  (when-not (some #{'(set! *warn-on-reflection* true)} (project/forms file))
    [(str (:path file) ":1: does not (set! *warn-on-reflection* true)")]))

(defn- check! [paths class-path]
  (let [output (compiler-output paths class-path)]
    (is (seq paths))
    (is (str/includes? output "loaded all") output)
    (is (= [] (warnings-about paths output)))))

(deftest sources-load-with-declared-modules-and-no-warnings
  (doseq [module project/modules
          ;; Some are for programs that have core.async as well, or ClojureScript; their modules' tests load them.
          :let [paths (remove #(re-find #"async/coexist\.clj$|/modules/cljs/|/src/clojure/cljs/" %)
                              (loadable-paths (str module "/src/clojure")))]
          :when (seq paths)]
    (check! paths (class-path module))))

(deftest tests-load-without-warnings
  (let [test-folder #(str % "/test/clojure")
        ;; The bridge would take the place of core.async, which others compare with.
        modules (remove #{"modules/core-async" "modules/cljs"} project/modules)]
    (check! (apply loadable-paths (map test-folder modules))
            (str/join File/pathSeparator
                      (concat (mapcat (juxt test-folder #(str % "/target/test-classes")) modules)
                              [(System/getProperty "java.class.path")])))))

(deftest reflection-and-boxing-are-found
  (let [file (doto (File/createTempFile "skein_bad" ".clj")
               (spit (str "(set! *unchecked-math* :warn-on-boxed)\n"
                          "(defn f [x] (.length x))\n"
                          "(defn g [x] (inc x))\n")))
        path (.getAbsolutePath file)]
    (is (= [(str path ":2:13") (str path ":3:13")]
           (map #(second (re-find #"warning, (.*?) - " %))
                (warnings-about [path] (compiler-output [path] (System/getProperty "java.class.path"))))))
    (.delete file)))

(deftest every-file-asks-for-warnings
  (is (= [] (mapcat switch-faults (project/clojure-files))))
  (is (= ["a.clj:1: does not (set! *warn-on-reflection* true)"]
         (switch-faults {:path "a.clj" :text "(ns a)\n;; (set! *warn-on-reflection* true)"}))))
