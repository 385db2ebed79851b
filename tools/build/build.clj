;; SPDX-License-Identifier: Apache-2.0
(ns build
  "The build that deps.edn needs: a module's Java, compiled into target/classes.

      clojure -T:build compile-java

  The official CLI calls `compile-java` by itself, in the folder of each module, when a
  project that depends on Skein's sources runs `clojure -X:deps prep`. All else is built
  by ./skein or Maven."
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str]
   [clojure.tools.build.api :as b])
  (:import
   (java.io File)
   (javax.tools ToolProvider)))

(set! *warn-on-reflection* true)

(def ^:private java-release 21)
(def ^:private source-folder "src/java")
(def ^:private class-folder "target/classes")

(defn- fail!
  "Ends the build with one line. For an exception, the CLI would print a stack trace."
  [message]
  (binding [*out* *err*]
    (println (str "skein: " message)))
  (System/exit 1))

(defn- check-java! []
  (let [running (.feature (Runtime/version))]
    (when (or (< running (long java-release)) (nil? (ToolProvider/getSystemJavaCompiler)))
      (fail! (str "compiling needs a JDK with javac of version " java-release " or newer, but this is Java "
                  running " in " (System/getProperty "java.home") ". Put the bin folder of such a JDK first on the PATH: "
                  "the CLI takes the java that it finds there, whatever JAVA_HOME says.")))))

(defn- sources-of-dependencies
  "Returns the folders of Java that the module's local dependencies hold. The CLI compiles
  the modules in an unknown order, so javac reads these sources instead of classes."
  []
  (for [{:local/keys [root]} (vals (:deps (edn/read-string (slurp (b/resolve-path "deps.edn")))))
        :when root
        :let [folder (b/resolve-path (str root "/" source-folder))]
        :when (.isDirectory ^File folder)]
    (str folder)))

(defn- javac-failure
  "Runs javac; returns nil, or why it failed. It prints its own diagnostics."
  []
  (try
    (b/javac {:basis (b/create-basis {:user nil}) ; for the class path, of which Clojure is a part
              :src-dirs [source-folder]
              :class-dir class-folder
              :javac-opts ["--release" (str java-release) "-Xlint:all,-processing,-path" "-Werror" "-implicit:none"
                           "-sourcepath" (str/join File/pathSeparator (sources-of-dependencies))]})
    nil
    (catch Exception e
      (ex-message e))))

(defn compile-java
  "Compiles the module's Java into target/classes, as :deps/prep-lib asks for.

  opts  ignored; the CLI passes a map

  A failure ends the process with one line and exit code 1, and removes the folder,
  because the CLI takes its existence as a sign that the work is done."
  [_opts]
  (check-java!)
  (b/delete {:path class-folder})
  (.mkdirs ^File (b/resolve-path class-folder))
  (when-let [reason (javac-failure)]
    (b/delete {:path class-folder})
    (fail! (str "the Java of " (.getName ^File (.getCanonicalFile (b/resolve-path "."))) " did not compile: " reason))))
