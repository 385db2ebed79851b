;; SPDX-License-Identifier: Apache-2.0
(ns build
  "Compiles the Java of the modules, and writes down their class paths. What a module needs is in its
  deps.edn, and nowhere else.

  The Clojure CLI calls `compile-java` in the folder of each module when a project that depends on Skein's
  sources runs `clojure -X:deps prep`. ./skein calls `-main`."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.tools.build.api :as b])
  (:import
   (java.io ByteArrayOutputStream File)
   (javax.tools ToolProvider)))

(set! *warn-on-reflection* true)

(def ^:private java-release 21)

(defn fail!
  "Ends the process with one line. For an exception, the CLI would print a stack trace."
  [message]
  (binding [*out* *err*]
    (println (str "skein: " message)))
  (System/exit 1))

(defn- check-java! []
  (let [running (.feature (Runtime/version))]
    (when (or (< running (long java-release)) (nil? (ToolProvider/getSystemJavaCompiler)))
      (fail! (str "compiling needs a JDK with javac of version " java-release " or newer, but this is Java "
                  running " in " (System/getProperty "java.home")
                  ". Put the bin folder of such a JDK first on the PATH: the CLI takes the java that it finds there, whatever JAVA_HOME says.")))))

;;;; Class paths

(defn module-deps
  "Returns the deps.edn of the module that is the project's root now."
  []
  (edn/read-string (slurp (b/resolve-path "deps.edn"))))

(defn class-path
  "Returns the class path of the module that is the project's root now, as absolute paths."
  [aliases]
  (->> (b/create-basis {:user nil, :aliases aliases}) :classpath-roots (mapv #(str (b/resolve-path %)))))

(defn joined "Returns the paths as one text." [paths] (str/join File/pathSeparator paths))

(defn libraries
  "Returns the class path of libraries, a map as deps.edn has it."
  [deps]
  (joined (:classpath-roots (b/create-basis {:user nil, :project {:paths [], :deps deps}}))))

(defn- write-class-path!
  "Writes the class path into a file below target, with paths relative to `root`, so that the checkout may be
  moved."
  [^File root name aliases]
  (let [prefix (str (.getCanonicalPath root) File/separator)
        short-path (fn [path]
                     (let [canonical (.getCanonicalPath (io/file path))]
                       (cond-> canonical (str/starts-with? canonical prefix) (subs (count prefix)))))
        file (b/resolve-path (str "target/classpath/" name))]
    (io/make-parents file)
    (spit file (joined (map short-path (class-path aliases))))))

;;;; Java

(defn- javac!
  "Compiles all sources below a folder of the module, if there are any. Throws what javac says first."
  [source-folder class-folder class-path source-path]
  (let [sources (filter #(str/ends-with? % ".java") (map str (file-seq (b/resolve-path source-folder))))
        ^"[Ljava.lang.String;" arguments
        (into-array String (concat ["--release" (str java-release) "-Xlint:all,-processing,-path" "-Werror"
                                    "-implicit:none" "-proc:none" "-encoding" "UTF-8" "-d" (str (b/resolve-path class-folder))
                                    "-cp" (joined class-path) "-sourcepath" (joined source-path)]
                                   sources))
        said (ByteArrayOutputStream.)
        run-javac (fn run-javac [] (.run (ToolProvider/getSystemJavaCompiler) nil said said arguments))]
    (b/delete {:path class-folder})
    (.mkdirs ^File (b/resolve-path class-folder))
    (when (and (seq sources) (not (zero? (long (run-javac)))))
      (b/delete {:path class-folder}) ; the CLI takes its existence as a sign that the work is done
      (throw (ex-info (first (str/split-lines (str said))) {:said (str said)})))))

(defn- sources-of-dependencies
  "Returns the folders of Java in the modules that this one needs, directly or not. Modules are compiled in any
  order, so javac reads these sources instead of classes."
  []
  (for [{:local/keys [root]} (vals (:libs (b/create-basis {:user nil})))
        :let [folder (io/file (str root) "src/java")]
        :when (and root (.isDirectory folder))]
    (str folder)))

(defn- compile-sources! []
  (javac! "src/java" "target/classes" (class-path [:provided]) (sources-of-dependencies)))

(defn- compile-tests! []
  (javac! "test/java" "target/test-classes" (class-path [:test]) []))

(defn compile-java
  "Compiles the module's Java into target/classes, as :deps/prep-lib asks for.

  opts  ignored; the CLI passes a map

  A failure ends the process with one line and exit code 1."
  [_opts]
  (check-java!)
  (try (compile-sources!)
       (catch Exception e
         (fail! (str "the Java of " (.getName (.getCanonicalFile ^File (b/resolve-path "."))) " did not compile: "
                     (ex-message e))))))

;;;; For the launcher

(defn modules
  "Returns the folders of the modules below `root`, such as \"modules/fold\": those whose deps.edn has the
  alias :test."
  [root]
  (for [group ["modules" "apps" "tools"]
        ^File folder (sort (.listFiles (io/file root group)))
        :let [manifest (io/file folder "deps.edn")]
        :when (and (.isFile manifest) (get-in (edn/read-string (slurp manifest)) [:aliases :test]))]
    (str group "/" (.getName folder))))

(defn- has-java? [folder] (.isDirectory ^File (b/resolve-path folder)))

(defn compile-modules!
  "Compiles the Java of modules."
  [root modules]
  (doseq [module modules]
    (b/with-project-root (str (io/file root module))
      (when (has-java? "src/java") (compile-sources!)))))

(defn- build!
  "Compiles the Java of modules and of their tests, and writes down their class paths."
  [^File root modules]
  (compile-modules! root modules)
  (doseq [module modules]
    (b/with-project-root (str (io/file root module))
      (when (has-java? "test/java") (compile-tests!))
      (write-class-path! root "runtime" [])
      (write-class-path! root "test" [:test])
      (when (get-in (module-deps) [:aliases :provided]) (write-class-path! root "provided" [:provided])))))

(defn- root-cause-message [thrown]
  (ex-message (last (take-while some? (iterate ex-cause thrown)))))

(defn -main
  "Builds the named modules, or all that no other names, and the class paths of the whole. After the word
  libraries, prints the class path of libraries, a map as :deps of deps.edn has it. A failure is one line,
  after what led to it, and exit code 1."
  [& [command & arguments]]
  (try
    (let [root (.getCanonicalFile (io/file "."))]
      (case command
        "all" (do (build! root (remove (set arguments) (modules root)))
                  (write-class-path! root "runtime" [:wf :lab])
                  (write-class-path! root "test" [:wf :lab :test]))
        "module" (build! root arguments)
        "libraries" (println (libraries (edn/read-string (first arguments))))))
    (catch Exception e
      (some-> (:said (ex-data e)) print)
      (fail! (root-cause-message e))))
  (shutdown-agents))
