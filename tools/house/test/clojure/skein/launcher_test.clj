;; SPDX-License-Identifier: Apache-2.0
(ns skein.launcher-test
  "Runs ./skein in copies of the project, mostly on bad machines: without Maven,
  read-only."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing use-fixtures]]
   [skein.sandbox :refer [*sandbox* bare-path builds delete-tree! finish! launch! link! on-path project! refused? sandbox skein! start! with-sandbox write! write-maven!]]
   [skein.skip :refer [skip!]])
  (:import
   (java.io File)
   (java.nio.file Files LinkOption)
   (java.util.jar JarEntry JarOutputStream)))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

;;;; Help and usage errors

(deftest help-is-printed-in-every-way-it-is-asked-for
  (let [project (project!)
        help (skein! project "help")]
    (is (= 0 (:exit help)))
    (is (re-find #"(?m)^  wf +FILE" (:out help)))
    (is (= help (skein! project) (skein! project "--help") (skein! project "-h")))))

(deftest every-command-has-help
  (let [project (project!)]
    (is (= {:exit 0 :err ""} (dissoc (skein! project "test" "--help") :out)))
    (is (re-find #"^usage: ./skein test \[MODULE" (:out (skein! project "test" "-h"))))
    (is (re-find #"rlwrap ./skein repl(?s).*clojure -P -M:dev" (:out (skein! project "help" "repl"))))))

(deftest what-is-unknown-is-refused-with-the-list
  (let [project (project!)]
    (doseq [unknown ["tset" "\\n" ""]]
      (is (refused? 2 [(str "unknown command '" unknown "'") "the commands are tour repl " " wf " " release"] (skein! project unknown))))
    (is (refused? 2 ["'nothing'"] (skein! project "help" "nothing")))
    (is (refused? 2 ["no module 'nothing'" "the modules are " "wf"] (skein! project "classpath" "nothing")))
    (is (refused? 2 ["there is no benchmark of nothing"] (skein! project "bench" "nothing")))
    (is (refused? 2 ["takes --nrepl" "./skein clojure FILE"] (skein! project "repl" "x.clj")))))

;;;; Building

(deftest without-maven-one-line-says-so
  (let [project (project!)]
    (is (refused? 1 ["no Maven" "install Maven 3.8"]
                  (launch! {:env {"PATH" (bare-path)}} (io/file project "skein") "classpath")))
    (is (not (.exists (io/file project "target/skein/lock"))))))

(deftest a-failure-of-the-build-is-one-line-and-a-log
  (let [project (project!)
        log (io/file project "target/skein/build.log")]
    (write! (sandbox "mvn-says") "[ERROR] Could not transfer artifact a.b:c:jar:1.0 from/to central: Unknown host x -> [Help 1]")
    (is (refused? 1 ["Maven could not fetch tools.build" "a.b:c:jar:1.0" "Unknown host x" log] (skein! project "classpath")))
    (.delete (sandbox "mvn-says"))
    (write! (sandbox "build-says") "A.java:3: error: ';' expected" "skein: the Java of a does not compile")
    (is (refused? 1 ["the build failed: the Java of a does not compile" log] (skein! project "classpath")))
    (is (str/includes? (slurp log) "';' expected"))
    (.delete (sandbox "build-says"))
    (is (= 0 (:exit (skein! project "classpath"))))))

(deftest only-what-changed-is-built
  (let [project (project!)
        builds-after (fn [change]
                       (change)
                       (is (= 0 (:exit (skein! project "classpath"))))
                       (builds))]
    (is (= 1 (builds-after (fn nothing-built []))))
    (is (= 1 (builds-after (fn nothing-changed []))))
    (is (= 1 (builds-after (fn clojure-edited [] (spit (io/file project "apps/wf/src/clojure/skein/cli.clj") "")))))
    (is (= 2 (builds-after (fn java-edited [] (spit (io/file project "apps/wf/src/java/skein/rt/A.java") "")))))
    (is (= 3 (builds-after (fn java-deleted [] (.delete (io/file project "apps/wf/src/java/skein/rt/B.java"))))))
    (is (= 4 (builds-after (fn deps-edited [] (spit (io/file project "apps/wf/deps.edn") "{}")))))
    (is (= 5 (builds-after (fn cleaned [] (delete-tree! (io/file project "target/classes"))))))
    (is (= 6 (builds-after (fn jar-gone [] (let [[^File jar] (.listFiles (sandbox "lib"))]
                                             (.renameTo jar (sandbox "moved.jar"))
                                             (spit (io/file project "tools/build/build.clj")
                                                   (str/replace (slurp (io/file project "tools/build/build.clj")) (str jar) (str (sandbox "moved.jar"))))
                                             (spit (sandbox "bin/mvn") (str/replace (slurp (sandbox "bin/mvn")) (str jar) (str (sandbox "moved.jar")))))))))))

(deftest two-at-once-build-once-and-both-work
  (let [project (project!)
        log (sandbox "a.log")
        launcher (io/file project "skein")]
    (write! log "some text")
    (let [runs (mapv (fn [_] (start! {} launcher "wf" log)) (range 3))]
      (is (= (repeat 3 {:exit 0 :out "some text\n" :err ""}) (map #(dissoc (finish! %) :progress) runs))))
    (is (= 1 (builds)))))

(deftest the-lock-of-a-dead-process-is-taken
  (let [project (project!)
        dead (doto (start! {} "true") (.waitFor))]
    (link! (io/file project "target/skein/lock") (str (.pid dead)))
    (is (= 0 (:exit (skein! project "classpath"))))
    (is (not (Files/exists (.toPath (io/file project "target/skein/lock"))
                           (into-array [LinkOption/NOFOLLOW_LINKS]))))))

;;;; Running

(deftest it-runs-from-anywhere
  (let [project (project! "a folder with spaces")
        elsewhere (sandbox "else where")
        link (sandbox "links" "skein link")
        expected {:exit 0 :out "from here\n" :err ""}]
    (write! (io/file elsewhere "my log") "from here")
    (link! link (str "../a folder with spaces/skein"))
    (is (= expected (launch! {:dir elsewhere} (io/file project "skein") "wf" "my log")))
    (is (= expected (launch! {:dir elsewhere} link "wf" "my log")))
    (is (= expected (launch! {:dir elsewhere} "sh" "../a folder with spaces/skein" "wf" "my log")))
    (is (= expected (launch! {:dir elsewhere :env {"CDPATH" (str *sandbox*)}}
                             "../a folder with spaces/skein" "wf" "my log")))
    (is (= {:exit 0 :out "\n" :err ""} (launch! {} "sh" "-c" "exec \"$0\" wf /dev/stdin <&-" (str (io/file project "skein"))))
        "a closed standard input is empty")
    (is (= 7 (:exit (skein! project "wf" "--fail"))) "the application's exit code is the launcher's")))

(deftest java-opts-reach-the-jvm
  (let [project (project!)
        print-them "(print (System/getProperty \"a\") (System/getProperty \"b\"))"]
    (is (= {:exit 0 :out "1 *" :err ""}
           (launch! {:env {"JAVA_OPTS" "-Da=1 -Db=*"}} (io/file project "skein") "clojure" "-e" print-them)))))

(defn- write-jar! [^File jar path & lines]
  (with-open [out (JarOutputStream. (io/output-stream jar))]
    (.putNextEntry out (JarEntry. ^String path))
    (.write out (.getBytes (str/join "\n" lines)))))

(deftest editors-connect-to-nrepl
  (let [project (project!)
        nrepl (fn [jar & args] (apply launch! {:env {"SKEIN_NREPL" jar}} (io/file project "skein") "repl" "--nrepl" args))]
    (is (refused? 2 ["SKEIN_NREPL names /nowhere.jar, but there is no such file"] (nrepl "/nowhere.jar")))
    (is (refused? 2 ["no nREPL" "clojure -P -M:dev" "nrepl 1.7.0 from Clojars" "SKEIN_NREPL="] (skein! project "repl" "--nrepl")))
    (write-jar! (sandbox "nrepl.jar") "nrepl/cmdline.clj" "(ns nrepl.cmdline)" "(defn -main [& args]"
                "  (prn args (.isOpen (.getModule Object) \"java.lang\" (.getModule clojure.lang.RT))"
                "       (System/getProperty \"jdk.attach.allowAttachSelf\")))")
    (is (= {:exit 0 :out "(\"--port\" \"7888\") true \"\"\n" :err ""} (nrepl (sandbox "nrepl.jar") "--port" "7888"))
        "as simulations need, and nREPL to stop an endless loop")))

(deftest an-application-is-compiled-once-and-anew-when-edited
  (let [project (project!)
        source (io/file project "apps/wf/src/clojure/skein/cli.clj")
        log (sandbox "a.log")
        said (fn [] (map #(second (re-find #"skein: (\w+ \w+ \w+)" %)) (:progress (finish! (start! {} (io/file project "skein") "wf" log)))))]
    (write! log "some text")
    (is (= ["building with JDK" "compiling the application" "preparing a fast"] (said)))
    (is (= [] (said)))
    (is (= "some text\n" (:out (skein! project "wf" log))))
    (spit source (str/replace (slurp source) "str/trim" "str/upper-case"))
    (is (= "SOME TEXT\n\n" (:out (skein! project "wf" log))))
    (spit source "(ns skein.cli")
    (is (refused? 1 ["did not compile" "skein/cli.clj" "build.log"] (skein! project "wf" log)))
    (is (= 1 (builds)))))

(deftest a-broken-start-up-cache-is-no-error
  (let [project (project!)
        log (sandbox "a.log")
        expected {:exit 0 :out "some text\n" :err ""}]
    (write! log "some text")
    (is (= expected (skein! project "wf" log)))
    (let [[^File cache & others] (.listFiles (io/file project "target/skein/wf/cache"))
          good (Files/readAllBytes (.toPath cache))
          size (alength good)
          put! (fn [^bytes content] (.delete cache) (io/copy content cache))]
      (is (and cache (nil? others) (pos? size)))
      (doseq [[how content] {"garbage" (byte-array 5000 (byte 7))
                             "empty" (byte-array 0)
                             "cut off" (java.util.Arrays/copyOf good (quot size 2))
                             "damaged inside" (let [bad (aclone good)
                                                    at (quot size 2)]
                                                (java.util.Arrays/fill bad at (+ at 4000) (byte 7))
                                                bad)}]
        (testing how
          (put! content)
          (is (= expected (skein! project "wf" log))))))))

;;;; Read-only

(defn- unprivileged
  "Returns the words to put before a command so that it may not write to the sandbox,
  or nil if this machine has no way."
  []
  (if (= "root" (System/getProperty "user.name"))
    (when (on-path "setpriv") ["setpriv" "--reuid=65534" "--regid=65534" "--clear-groups"])
    []))

(defn- seal! [^File folder]
  (doseq [^File file (file-seq folder)]
    (.setWritable file false false)))

(defn- unseal! [^File folder]
  (.setWritable folder true true)
  (doseq [^File file (file-seq folder)]
    (.setWritable file true true)))

(deftest a-read-only-project-runs-if-it-is-built
  (if-let [words (unprivileged)]
    (let [project (project!)
          log (sandbox "a.log")
          launch-sealed! (fn [& args] (apply launch! {} (concat words [(io/file project "skein")] args)))]
      (write! log "some text")
      (try
        (seal! project)
        (is (refused? 1 ["not built" project "can't be written"] (launch-sealed! "wf" log)))
        (unseal! project)
        (is (= 0 (:exit (skein! project "wf" log))))
        (delete-tree! (io/file project "target/skein/wf/cache"))
        (seal! project)
        (.setReadable (sandbox "lib") false false)
        (.setExecutable (sandbox "lib") false false)
        (is (= {:exit 0 :out "some text\n" :err ""} (launch-sealed! "wf" log)))
        (finally (unseal! project))))
    (skip! "root may write everywhere, and there is no setpriv")))
