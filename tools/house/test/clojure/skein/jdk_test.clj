;; SPDX-License-Identifier: Apache-2.0
(ns skein.jdk-test
  "Which JDK ./skein takes, and what it says if there is none."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is use-fixtures]]
   [skein.sandbox :refer [bare-path delete-tree! launch! project! refused? sandbox with-sandbox write! write-script!]])
  (:import
   (java.io File)))

(set! *warn-on-reflection* true)

(use-fixtures :each with-sandbox)

(defn- jdk!
  "Makes a folder that the launcher takes for a JDK of a version."
  ^File [version & more-names]
  (let [home (apply sandbox "jdks" (or more-names [version]))]
    (write! (io/file home "release") "IMPLEMENTOR=\"Nobody\"" (str "JAVA_VERSION=\"" version "\""))
    (write-script! (io/file home "bin/java") (str "echo 'openjdk version \"" version "\"' >&2"))
    home))

(defn- no-java-env []
  {"PATH" (bare-path) "JAVA_HOME" nil "SKEIN_JAVA_HOME" nil "SKEIN_JDK_DIRS" ""})

(deftest without-a-jdk-one-line-says-what-to-install
  (let [project (project!)]
    (is (refused? 1 ["version 21 or newer" "no Java at all" "Install"]
                  (launch! {:env (no-java-env)} (io/file project "skein") "wf" "x")))))

(deftest jdks-that-are-too-old-are-named
  (let [project (project!)
        old (jdk! "17.0.9")
        older (jdk! "1.8.0_392")]
    (is (refused? 1 [(str "17.0.9 in " old) (str "1.8.0_392 in " older)]
                  (launch! {:env (assoc (no-java-env) "SKEIN_JDK_DIRS" (sandbox "jdks"))}
                           (io/file project "skein") "java-home")))))

(deftest a-named-jdk-must-be-usable
  (let [project (project!)
        java-home (fn [named] (launch! {:env {"SKEIN_JAVA_HOME" named}} (io/file project "skein") "java-home"))
        old (jdk! "20")]
    (is (refused? 1 ["SKEIN_JAVA_HOME is Java 20" old "21 or newer" "name such a JDK's folder, or unset it"] (java-home old)))
    (is (refused? 1 ["SKEIN_JAVA_HOME is /nowhere" "no bin/java"] (java-home "/nowhere")))))

(deftest a-jdk-is-chosen-by-place-then-by-version
  (let [project (project!)
        old (jdk! "17")
        [named home _ newest] (map jdk! ["21.0.1" "22" "23-ea" "24.0.2"])
        mac (jdk! "25" "x.jdk" "Contents" "Home")
        chosen (fn [env] (-> {:env (merge (no-java-env) {"SKEIN_JDK_DIRS" (sandbox "jdks")} env)}
                             (launch! (io/file project "skein") "java-home")
                             :out str/trim))]
    (is (= (str named) (chosen {"SKEIN_JAVA_HOME" named "JAVA_HOME" home})))
    (is (= (str home) (chosen {"JAVA_HOME" home})))
    (is (= (str home) (chosen {"PATH" (str (io/file home "bin") ":" (bare-path))})))
    (is (= (str mac) (chosen {"JAVA_HOME" old})))
    (delete-tree! mac)
    (is (= (str newest) (chosen {})))))

(deftest a-named-jdk-may-be-relative-and-without-a-release-file
  (let [project (project!)
        home (jdk! "21.0.2")]
    (.delete (io/file home "release"))
    (is (= (str home "\n") (:out (launch! {:dir (sandbox "jdks") :env {"SKEIN_JAVA_HOME" "21.0.2"}} (io/file project "skein") "java-home"))))))
