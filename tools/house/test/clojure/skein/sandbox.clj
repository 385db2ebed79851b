;; SPDX-License-Identifier: Apache-2.0
(ns skein.sandbox
  "Copies of the project for tests that run ./skein, mostly on bad machines. A copy
  has tiny applications of its own, and a Maven that only counts its calls and
  writes the class path files."
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

(defn- clojure-jars
  "Returns the jars of Clojure on the class path, as both builds write it down. A JVM that Maven starts has them in a jar of paths."
  []
  (filter #(str/ends-with? % ".jar") (str/split (slurp "modules/base/target/classpath/runtime") #":")))

(defn write-maven!
  "Writes a Maven that notes its call and waits a little, as a real one would. It fails with
  the text in the file mvn-says if there is one."
  [^File project]
  (let [jars (str/join ":" (for [jar (clojure-jars)]
                             (let [copy (io/file *sandbox* "lib" (.getName (io/file jar)))]
                               (when-not (.exists copy) (copy! jar copy))
                               (str copy))))]
    (write-script! (sandbox "bin" "mvn")
                   "echo called >>../mvn-calls"
                   "sleep 0.3"
                   "if [ -f ../mvn-says ]; then cat ../mvn-says; exit 1; fi"
                   "for module in apps/wf modules/console tools/house; do"
                   "  mkdir -p $module/target/classpath $module/target/classes/skein/base"
                   (str "  printf %s '" jars "' >$module/target/classpath/runtime")
                   "  cp $module/target/classpath/runtime $module/target/classpath/test"
                   (str "  cp " (.getAbsolutePath (io/file "modules/base/target/classes/skein/base")) "/Launch*.class $module/target/classes/skein/base")
                   "done")
    project))

(defn project!
  "Makes a project in the sandbox, not yet built, and returns its folder."
  (^File [] (project! "project"))
  (^File [folder-name]
   (let [project (sandbox folder-name)]
     (doseq [path ["skein" "tools/build/app.clj" "tools/build/jdk.sh" "tools/build/build.sh" "tools/build/release.sh"]]
       (copy! path (io/file project path)))
     (write! (io/file project "pom.xml") "<modules>" "  <module>apps/wf</module>" "  <module>modules/console</module>"
             "  <module>tools/house</module>" "</modules>")
     (doseq [module ["apps/wf" "modules/console" "tools/house"]] (write! (io/file project module "pom.xml") "<project/>"))
     (apply write! (io/file project "apps/wf/src/clojure/skein/cli.clj") application)
     (apply write! (io/file project "modules/console/src/clojure/skein/inspect/cli.clj") inspector)
     (write! (io/file project "apps/wf/src/java/skein/rt/A.java") "class A {}")
     (write! (io/file project "apps/wf/src/java/skein/rt/B.java") "class B {}")
     (write! (io/file project "examples/access.log") "a line")
     (age! project)
     (write-maven! project))))

(defn maven-calls []
  (let [calls (sandbox "mvn-calls")]
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
  "Returns the exit code and the output of the process, as {:exit :out :err :progress}. Lines of progress are separate."
  [^Process process]
  (let [out (future (slurp (.getInputStream process)))
        err (future (slurp (.getErrorStream process)))]
    (when-not (.waitFor process (long deadline-s) TimeUnit/SECONDS)
      (.destroyForcibly process))
    {:exit (.waitFor process) :out @out :err (str/replace @err progress "") :progress (vec (re-seq progress @err))}))

(defn launch!
  "Runs a command to its end. Options: `:dir`, the folder; `:env`, changes of the environment, where nil removes."
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
