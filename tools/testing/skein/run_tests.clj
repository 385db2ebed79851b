;; SPDX-License-Identifier: Apache-2.0
(ns skein.run-tests
  "./skein test [MODULE|NAMESPACE...], and ./skein clojures [VERSION...]. The tests run in other processes:
  most modules one after another in one, because loading Clojure and Skein takes longer than many a test."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.java.shell :refer [sh]]
   [clojure.string :as str])
  (:import
   (java.io File)
   (java.lang ProcessBuilder$Redirect)
   (java.lang.management ManagementFactory)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute PosixFilePermissions)))

(set! *warn-on-reflection* true)

(def ^:private alone
  "The modules whose tests have a process with their own class path. The bridge takes the place of core.async,
  tests of fold want libraries missing, and others need ClojureScript, Spark or a quiet process."
  #{"async" "cljs" "core-async" "fold" "inspect" "sim" "spark"})

(defn- refuse! [message]
  (binding [*out* *err*] (println (str "skein: " message)))
  (System/exit 2))

;;;; Which tests

(defn- namespaces-below [^File folder]
  (for [^File file (sort (file-seq folder)) :when (str/ends-with? (.getName file) "_test.clj")]
    (-> (str (.relativize (.toPath folder) (.toPath file)))
        (str/replace #"\.clj$" "") (str/replace \/ \.) (str/replace \_ \-))))

(defn- all-tests
  "Returns [module namespaces] of each module that has tests."
  []
  (for [group ["modules" "apps" "tools"]
        ^File module (sort (.listFiles (io/file group)))
        :let [folder (io/file module "test" "clojure")]
        :when (.isDirectory folder)]
    [(.getName module) (namespaces-below folder)]))

(defn- selected
  "Returns what of `tests` the names select: all but Spark's if there are none."
  [tests names]
  (if (empty? names)
    (remove #(= "spark" (first %)) tests)
    (for [[module namespaces] tests
          :let [chosen (if (some #{module} names) namespaces (filter (set names) namespaces))]
          :when (seq chosen)]
      [module chosen])))

(defn- check! [tests names]
  (let [known (into #{} (mapcat (fn [[module namespaces]] (cons module namespaces))) tests)]
    (when-let [unknown (first (remove known names))]
      (refuse! (str "there is no module and no test namespace '" unknown "'; the modules are "
                    (str/join ", " (map first tests)) ".")))))

(defn- processes
  "Returns [module namespaces] of each process. The modules that share one have the class path of house."
  [tests]
  (let [{own true, shared false} (group-by (comp boolean alone first) tests)]
    (cond->> own (seq shared) (cons ["house" (mapcat second shared)]))))

;;;; Running them

(defn- class-path [& arguments]
  (let [{:keys [exit out err]} (apply sh "./skein" "classpath" arguments)]
    (when-not (zero? (long exit))
      (binding [*out* *err*] (print err) (flush))
      (System/exit exit))
    (str/trim out)))

(def ^:private clojure-jar #"[^:]*/org/clojure/clojure/[^:]*\.jar")

(defn- with-clojure
  "Returns the class path with another version of Clojure, unless `version` is nil."
  [path version]
  (if version
    (let [libraries (class-path (pr-str {'org.clojure/clojure {:mvn/version version}}))]
      (str/replace path clojure-jar (re-find clojure-jar libraries)))
    path))

(defn- delete-tree! [^File folder]
  (run! (fn delete [^File file] (.delete file)) (reverse (file-seq folder))))

(def ^:private nothing {:passed 0, :failed 0, :skipped 0, :reasons {}})

(defn- sum [a b]
  (if (map? a) (merge-with sum a b) (+ (long a) (long b))))

(defn- run-process
  "Runs the namespaces in a process with the flags of this one. Returns its counts."
  [version [module namespaces]]
  (let [scratch (.toFile (Files/createTempDirectory "skein-test" (make-array FileAttribute 0)))
        counts (io/file scratch "counts")
        command (concat [(str (System/getProperty "java.home") "/bin/java")]
                        (.getInputArguments (ManagementFactory/getRuntimeMXBean))
                        [(str "-Djava.io.tmpdir=" scratch) "-cp" (with-clojure (class-path module "test") version)
                         "clojure.main" "-m" "skein.test-process" (str counts)]
                        namespaces)]
    ;; For the temporary files of the tests, which other users may read.
    (Files/setPosixFilePermissions (.toPath scratch) (PosixFilePermissions/fromString "rwxr-xr-x"))
    (try
      (.waitFor (.start (doto (ProcessBuilder. ^java.util.List (vec command)) .inheritIO
                              (.redirectInput (ProcessBuilder$Redirect/from (io/file "/dev/null"))))))
      (if (.exists counts) (edn/read-string (slurp counts)) (assoc nothing :failed 1)) ; the process died
      (finally (delete-tree! scratch)))))

(defn- run-tests
  "Runs what the names select, and prints the counts. Returns whether all is well."
  [version names]
  (let [tests (all-tests)]
    (check! tests names)
    (let [{:keys [passed failed skipped reasons]}
          (reduce sum nothing (map #(run-process version %) (processes (selected tests names))))]
      (doseq [[reason n] reasons] (println n "skipped:" reason))
      (println (str passed " passed, " failed " failed, " skipped " skipped"))
      (and (zero? (long failed)) (pos? (long passed))))))

(def ^:private clojures
  "The versions of Clojure with which the go compiler is tested: the oldest supported one, the current one,
  the newest alpha."
  ["1.12.0" "1.12.6" "1.13.0-alpha6"])

(def ^:private of-the-compiler
  "The tests of code that uses internals of Clojure."
  ["skein.impl.internals-test" "skein.impl.forms-test" "skein.impl.infer-test" "skein.impl.expand-test"
   "skein.impl.go-test" "skein.impl.go-limits-test" "skein.impl.go-property-test" "skein.async.go-forms-test"])

(defn -main [& arguments]
  (let [fine? (if (= "--clojures" (first arguments))
                (every? true? (for [version (or (next arguments) clojures)]
                                (do (println "Clojure" version) (run-tests version of-the-compiler))))
                (run-tests (System/getenv "SKEIN_CLOJURE") arguments))]
    (flush)
    (System/exit (if fine? 0 1))))
