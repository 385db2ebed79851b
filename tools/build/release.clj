;; SPDX-License-Identifier: Apache-2.0
(ns release
  "./skein release VERSION and ./skein install."
  (:require
   [build]
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.tools.build.api :as b]
   [clojure.tools.deps.util.maven :as maven]
   [jar])
  (:import
   (java.io File)
   (java.nio.file Files)
   (java.security MessageDigest)
   (java.util HexFormat)))

(set! *warn-on-reflection* true)

(def ^:private help "usage: ./skein release VERSION

Builds VERSION, such as 0.1.0 or 0.1.0-beta1, twice from the commit that is checked out, each time in a new folder, and compares
the jars byte for byte. The result is in target/release:

  repository/         what the registry gets: jars, sources, documentation, poms, checksums
  skein-VERSION.zip   the same in one file, to upload

SKEIN_SIGN=KEY signs the files with that GPG key. Nothing is uploaded, tagged or committed; what is left to do is printed at the end.
")

(defn- refuse! [message]
  (binding [*out* *err*] (println (str "skein: " message)))
  (System/exit 2))

(defn- run
  "Runs a command in the folder of the project. Returns what it prints, without the last line end, or nil if
  it fails."
  [& command]
  (let [{:keys [exit out]} (b/process {:command-args command, :out :capture, :err :ignore})]
    (when (zero? (long exit)) (str/trimr (str out)))))

(defn- run!! [& command]
  (let [{:keys [exit out err]} (b/process {:command-args command, :out :capture, :err :capture})]
    (when-not (zero? (long exit))
      (throw (ex-info (str (first command) " failed: " (first (str/split-lines (str err out)))) {})))))

(def ^:private java-bin (str (System/getProperty "java.home") "/bin/"))

(defn- home [] (get-in (build/module-deps) [:skein/release :home]))

;;;; Poms

(defn- element [tag & content] (str "<" tag ">" (str/join (flatten content)) "</" tag ">"))

(defn- artifact
  "Returns the artifact of a module: skein of modules/async, skein-fold of modules/fold."
  [module]
  (let [n (.getName (io/file module))] (if (= "async" n) "skein" (str "skein-" n))))

(defn- dependency [version scope [lib {:keys [local/root exclusions] own :mvn/version}]]
  (element "dependency"
           (element "groupId" (namespace lib)) (element "artifactId" (name lib))
           (element "version" (if root version own)) (element "scope" scope)
           (when exclusions
             (element "exclusions"
                      (for [x exclusions]
                        (element "exclusion" (element "groupId" (namespace x)) (element "artifactId" (name x))))))))

(defn pom
  "Returns the pom of a released module whose deps.edn is `deps`. What users of a part of it bring, its
  aliases :provided and :users, has scope provided: the pages of the API are made with it."
  [module version home {:keys [deps aliases skein/description]}]
  (str "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<project xmlns=\"http://maven.apache.org/POM/4.0.0\">"
       (element "modelVersion" "4.0.0")
       (element "groupId" "skein") (element "artifactId" (artifact module)) (element "version" version)
       (element "name" (artifact module)) (element "description" description) (element "url" home)
       (element "licenses"
                (element "license" (element "name" "Apache-2.0")
                         (element "url" "https://www.apache.org/licenses/LICENSE-2.0")))
       (element "developers" (element "developer" (element "name" "Skein's developers")))
       (element "scm" (element "connection" "scm:git:" home ".git") (element "url" home))
       (element "dependencies"
                (map #(dependency version "compile" %) (sort-by key deps))
                (map #(dependency version "provided" %)
                     (sort-by key (into {} (map #(get-in aliases [% :extra-deps])) [:provided :users]))))
       "</project>\n"))

;;;; Jars

(def ^:private compiled
  "The modules whose jars hold the Clojure also compiled, so that it loads faster."
  #{"async" "base" "compat" "fold" "trace"})

(defn- below [& folders] (into {} (mapcat #(jar/files-below (b/resolve-path %))) folders))

(defn- compiled-clojure
  "Compiles the Clojure of the module in a JVM of its own. Clojure's compiler orders the fields of a function
  by identity hashes; equal ones give the same bytes each time."
  [root]
  (run!! (str java-bin "java") "-XX:+UnlockExperimentalVMOptions" "-XX:hashCode=2"
         "-cp" (build/joined (conj (build/class-path [:provided]) (str (io/file root "tools/build"))))
         "clojure.main" "-m" "aot" (str (b/resolve-path "target/aot")) (str (b/resolve-path "src/clojure")))
  (below "target/aot"))

(defn- documentation
  "Returns the files of the jar of documentation, which a registry requires of every module. Without Java it
  holds the README."
  []
  (let [sources (filter #(str/ends-with? % ".java") (map str (vals (below "src/java"))))]
    (if (empty? sources)
      {"README.md" (b/resolve-path "README.md")}
      (do (apply run!! (str java-bin "javadoc") "-quiet" "-notimestamp" "-Xdoclint:none" "-bottom" "Apache-2.0"
                 "-encoding" "UTF-8" "-d" (str (b/resolve-path "target/javadoc"))
                 "-cp" (build/joined (build/class-path [:provided])) sources)
          (below "target/javadoc")))))

(defn- write-module!
  "Writes the pom and the jars of a module, whose Java is compiled, into a repository."
  [root module repository version home]
  (b/with-project-root (str (io/file root module))
    (let [n (artifact module)
          file (fn file [ending] (io/file repository "skein" n version (str n "-" version ending)))
          licence {"META-INF/LICENSE" (io/file root "LICENSE")}
          sources (below "src/clojure" "src/resources")]
      (io/make-parents (file ".pom"))
      (spit (file ".pom") (pom module version home (build/module-deps)))
      (jar/write! (file ".jar") (merge (below "target/classes") sources licence
                                       {(str "META-INF/maven/skein/" n "/pom.xml") (file ".pom")}
                                       (when (compiled (.getName (io/file module))) (compiled-clojure root))))
      (jar/write! (file "-sources.jar") (merge (below "src/java") sources licence))
      (jar/write! (file "-javadoc.jar") (documentation)))))

(defn- write-repository! [root repository version]
  (let [modules (filter #(str/starts-with? % "modules/") (build/modules root)), home (home)]
    (build/compile-modules! root modules)
    (run! #(write-module! root % repository version home) modules)))

(defn- digest [algorithm ^File file]
  (.formatHex (HexFormat/of)
              (.digest (MessageDigest/getInstance algorithm) (Files/readAllBytes (.toPath file)))))

(defn- seal!
  "Writes the signature and the checksums of each file of a repository beside it."
  [repository key]
  (doseq [[_ file] (jar/files-below repository)]
    (when key (run!! "gpg" "--batch" "--armor" "--detach-sign" "--local-user" key (str file))))
  (doseq [[_ file] (jar/files-below repository), [ending algorithm] {"md5" "MD5", "sha1" "SHA-1"}
          :when (not (str/ends-with? (str file) ".asc"))]
    (spit (str file "." ending) (digest algorithm file))))

;;;; A release

(defn- fault
  "Returns why VERSION can't be released from this checkout, or nil."
  [version commit sign]
  (let [tagged (run "git" "rev-parse" "-q" "--verify" (str "v" version "^{commit}"))]
    (cond
      (str/ends-with? version "-SNAPSHOT") (str version " is not a release; leave out -SNAPSHOT.")
      (not (re-matches #"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?" version))
      (str "'" version "' is not a version; use three numbers, such as 0.1.0 or 0.1.0-beta1.")
      (nil? commit)
      "this is not a git checkout, or there is no git on PATH; a release is built from a commit."
      (not= "" (run "git" "status" "--porcelain"))
      "commit or stash your changes first; a release is built from a commit."
      (not (contains? #{nil commit} tagged))
      (str "the tag v" version " names another commit, " tagged
           "; choose a version that is not released, or check that commit out.")
      (and sign (nil? (run "gpg" "--batch" "--list-secret-keys" sign)))
      (str "gpg has no secret key '" sign "', or there is no gpg; 'gpg --list-secret-keys' lists the keys that "
           "SKEIN_SIGN can name."))))

(defn- build-once!
  "Builds the commit in a new folder. Returns the repository that results."
  [commit version folder]
  (.mkdirs (io/file folder))
  (run!! "sh" "-c" "git archive \"$0\" | tar -x -C \"$1\"" commit (str folder))
  (let [repository (io/file folder "target" "repository")]
    (write-repository! (io/file folder) repository version)
    repository))

(defn- sums [repository] (update-vals (jar/files-below repository) #(digest "SHA-256" %)))

(defn- say-what-is-left [version home sign jars]
  (let [old (get-in (build/module-deps) [:skein/release :version])]
    (run! println
          (remove nil?
                  [(str "target/release/skein-" version ".zip holds " jars " jars; two builds gave the same bytes.")
                   "" "What is left to do:" ""
                   (when (str/includes? home "//example.org/")
                     (str "- set :home in deps.edn, now " home ", to the URL of the project, and run this again;"))
                   (when-not sign "- run this again with SKEIN_SIGN=KEY: a registry requires signatures;")
                   "- register the group id skein with the registry;"
                   (str "- replace " old " by " version " in deps.edn, README.md, doc/interop.md and cli.clj, and "
                        "Unreleased by it in CHANGELOG.md;")
                   (str "- commit that, tag the commit v" version ", and push both;")
                   (str "- upload target/release/skein-" version ".zip;")
                   "- set the next -SNAPSHOT version in the same files."]))))

(defn- release! [version]
  (let [commit (run "git" "rev-parse" "HEAD"), sign (System/getenv "SKEIN_SIGN")
        folder (.getAbsoluteFile (io/file "target" "release"))
        zip (io/file folder (str "skein-" version ".zip"))]
    (some-> (fault version commit sign) refuse!)
    (jar/delete-tree! folder)
    (let [[first-one second-one] (mapv #(build-once! commit version (io/file folder %)) ["first" "second"])
          [a b] (map sums [first-one second-one])]
      (when (not= a b)
        (build/fail! (str "two builds of one commit differ: "
                          (str/join " " (for [[path sum] a :when (not= sum (b path))] path)))))
      (.renameTo ^File first-one (io/file folder "repository"))
      (run! #(jar/delete-tree! (io/file folder %)) ["first" "second"])
      (seal! (io/file folder "repository") sign)
      (jar/write! zip (jar/files-below (io/file folder "repository")))
      (say-what-is-left version (home) sign (count (filter #(str/ends-with? % ".jar") (keys a)))))))

(defn- install! []
  (let [version (get-in (build/module-deps) [:skein/release :version])
        repository (str @maven/cached-local-repo)]
    (write-repository! (.getAbsoluteFile (io/file ".")) repository version)
    (println (str "The modules are in " repository ", in version " version "."))))

(defn -main [command & arguments]
  (let [[version & more] arguments]
    (try
      (cond
        (= "install" command) (if version (refuse! "install takes no arguments.") (install!))
        (contains? #{nil "-h" "--help"} version) (print help)
        more (refuse! (str "release takes one version, not '" (str/join " " arguments) "'."))
        :else (release! version))
      (catch Exception e
        (build/fail! (ex-message e)))))
  (shutdown-agents))
