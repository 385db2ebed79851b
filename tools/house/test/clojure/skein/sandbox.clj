;; SPDX-License-Identifier: Apache-2.0
(ns skein.sandbox
  "Copies of the project for tests that run ./skein, mostly on bad machines. A copy has tiny applications of
  its own, a Maven that only writes the class path of Clojure, and a build that only counts its calls and
  writes class paths."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (java.io File)
   (java.lang ProcessBuilder$Redirect)
   (java.nio.file CopyOption Files)
   (java.nio.file.attribute FileAttribute PosixFilePermissions)
   (java.util List Map)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-s 300)

;;;; Folders and files

(def ^:dynamic *sandbox*
  "The folder of the test that runs."
  nil)

(defn delete-tree! [^File file]
  (when (and (.isDirectory file) (not (Files/isSymbolicLink (.toPath file))))
    (run! delete-tree! (.listFiles file)))
  (.delete file))

(defn with-sandbox
  "Gives each test an empty folder, one that other users may read too."
  [run-test]
  (let [folder (.toFile (Files/createTempDirectory "skein-launcher" (make-array FileAttribute 0)))]
    (Files/setPosixFilePermissions (.toPath folder) (PosixFilePermissions/fromString "rwxr-xr-x"))
    (try
      (binding [*sandbox* folder] (run-test))
      (finally (delete-tree! folder)))))

(defn sandbox
  "Returns a file in the sandbox."
  ^File [& names]
  (apply io/file *sandbox* names))

(defn write! [^File file & lines]
  (io/make-parents file)
  (spit file (str (str/join "\n" lines) "\n")))

(defn write-script! [^File file & lines]
  (apply write! file "#!/bin/sh" lines)
  (.setExecutable file true false))

(defn link! [^File link to]
  (io/make-parents link)
  (Files/createSymbolicLink (.toPath link) (.toPath (io/file to)) (make-array FileAttribute 0)))

(defn copy! [from ^File to]
  (io/make-parents to)
  (Files/copy (.toPath (io/file from)) (.toPath to) ^"[Ljava.nio.file.CopyOption;" (make-array CopyOption 0))
  (.setExecutable to (.canExecute (io/file from)) false))

(defn- age!
  "Makes all files below `folder` an hour old, so that a file that changes next is newer."
  [^File folder]
  (doseq [^File file (file-seq folder)]
    (.setLastModified file (- (System/currentTimeMillis) 3600000))))

(defn on-path
  "Returns the file of a program on PATH, or nil."
  ^File [program]
  (->> (str/split (System/getenv "PATH") #":")
       (map #(io/file % program))
       (some #(when (.canExecute ^File %) %))))

;;;; A project to launch

(def ^:private application
  ["(ns skein.cli (:require [clojure.java.io :as io] [clojure.string :as str]))"
   "(defn -main [& [_ file]]"
   "  (when (= \"--fail\" file) (System/exit 7))"
   "  (println (str/trim (slurp (io/file file))))"
   "  (flush)"
   "  (System/exit 0))"])

(def ^:private inspector
  ["(ns skein.inspect.cli)"
   "(defn -main [& arguments]"
   "  (println arguments)"
   "  (flush)"
   "  (System/exit 0))"])

(defn- jars
  "Returns a class path of Clojure, in the sandbox."
  []
  (str/join ":" (for [^File jar (map io/file (str/split (System/getProperty "java.class.path") #":"))
                      :when (re-find #"^(clojure|spec\.alpha|core\.specs\.alpha)-.*\.jar$" (.getName jar))
                      :let [copy (sandbox "lib" (.getName jar))]]
                  (do (when-not (.exists copy) (copy! jar copy)) copy))))

(defn write-maven! []
  (write-script! (sandbox "bin" "mvn")
                 "if [ -f ../mvn-says ]; then cat ../mvn-says; exit 1; fi"
                 "for option; do case $option in -Dmdep.outputFile=*) file=${option#*=} ;; esac; done"
                 "mkdir -p \"${file%/*}\""
                 (str "printf %s '" (jars) "' >\"$file\"")))

(def ^:private build
  "A build that fails with the text in the file build-says, if there is one. Its first argument is not
  needed."
  '[(ns build (:require [clojure.java.io :as io]))
    (defn -main [& _]
      (spit "../builds" "called\n" :append true)
      (let [says (io/file "../build-says")]
        (when (.exists says)
          (binding [*out* *err*] (print (slurp says)) (flush))
          (System/exit 1)))
      (doseq [module ["." "apps/wf" "modules/console"], kind ["runtime" "test"]
              :let [file (io/file module "target/classpath" kind), classes (io/file module "target/classes/skein/base")]]
        (run! io/make-parents [file (io/file classes "x")])
        (doseq [launch (.listFiles (io/file launcher)) :when (re-find #"Launch.*class" (str launch))]
          (io/copy launch (io/file classes (.getName launch))))
        (spit file (str module "/src/clojure:" module "/target/classes:" jars
                        (when (= "test" kind) ":apps/wf/test/clojure:tools/house/test/clojure:tools/testing:tools")))))])

(defn project!
  "Makes a project in the sandbox, not yet built, and returns its folder."
  (^File [] (project! "project"))
  (^File [folder-name]
   (let [project (sandbox folder-name)
         launcher (.getAbsolutePath (io/file "modules/base/target/classes/skein/base"))]
     (doseq [path (into ["skein" "tools/repl/run.clj"]
                        (map #(str "tools/build/" %) ["aot.clj" "app.clj" "jar.clj" "jdk.sh" "build.sh" "deps.edn"]))]
       (copy! path (io/file project path)))
     (doseq [module ["." "apps/wf" "modules/console"]] (write! (io/file project module "deps.edn") "{}"))
     (doseq [folder ["src/clojure" "apps/wf/test/clojure" "modules/console/test/clojure" "tools/house/test/clojure" "tools/testing"]]
       (.mkdirs (io/file project folder)))
     (apply write! (io/file project "tools/build/build.clj")
            (map pr-str (list* (first build) (list 'def 'launcher launcher) (list 'def 'jars (jars)) (rest build))))
     (apply write! (io/file project "apps/wf/src/clojure/skein/cli.clj") application)
     (apply write! (io/file project "modules/console/src/clojure/skein/inspect/cli.clj") inspector)
     (.mkdirs (io/file project "modules/inspect/src/clojure"))
     (write! (io/file project "apps/wf/src/java/skein/rt/A.java") "class A {}")
     (write! (io/file project "apps/wf/src/java/skein/rt/B.java") "class B {}")
     (write! (io/file project "examples/access.log") "a line")
     (age! project)
     (write-maven!)
     project)))

(defn builds
  "Returns how often the project was built."
  []
  (let [calls (sandbox "builds")]
    (if (.exists calls) (count (str/split-lines (slurp calls))) 0)))

(defn bare-path
  "Returns a PATH that has the usual tools but neither Java nor Maven."
  []
  (delete-tree! (sandbox "tools"))
  (doseq [tool ["sh" "readlink" "sed" "sort" "find" "grep" "mkdir" "rmdir" "rm" "mv" "ln" "sleep" "ps" "cat"]
          :let [program (on-path tool)]
          :when program]
    (link! (sandbox "tools" tool) program))
  (str (sandbox "tools")))

;;;; Running it

(defn start! ^Process [{:keys [dir env]} & command]
  (let [builder (doto (ProcessBuilder. ^List (mapv str command))
                  (.directory (or dir *sandbox*))
                  (.redirectInput (ProcessBuilder$Redirect/from (File. "/dev/null"))))
        environment ^Map (.environment builder)]
    (run! #(.remove environment %) ["JAVA_OPTS" "SKEIN_JDK_DIRS"])
    (.put environment "PATH" (str (sandbox "bin") ":" (System/getenv "PATH")))
    (doseq [[k v] env]
      (if v (.put environment k (str v)) (.remove environment k)))
    (.start builder)))

(def ^:private progress
  "The pattern of a line of progress."
  #"(?m)^skein: .* \.\.\.\n")

(defn finish!
  "Returns the exit code and the output of the process, as {:exit :out :err :progress}. Lines of progress are
  separate."
  [^Process process]
  (let [out (future (slurp (.getInputStream process)))
        err (future (slurp (.getErrorStream process)))]
    (when-not (.waitFor process (long deadline-s) TimeUnit/SECONDS)
      (.destroyForcibly process))
    {:exit (.waitFor process) :out @out :err (str/replace @err progress "") :progress (vec (re-seq progress @err))}))

(defn launch!
  "Runs a command to its end. Options: `:dir`, the folder; `:env`, changes of the environment, where nil
  removes."
  [options & command]
  (dissoc (finish! (apply start! options command)) :progress))

(defn skein! [project & args]
  (apply launch! {} (io/file project "skein") args))

(defn refused?
  "Returns whether a run ended with exit code `exit` and one line on stderr that holds all `texts`."
  [exit texts result]
  (and (= exit (:exit result))
       (= "" (:out result))
       (re-matches #"skein: [^\n]+\n" (:err result))
       (every? #(str/includes? (:err result) (str %)) texts)))
