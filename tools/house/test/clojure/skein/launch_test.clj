;; SPDX-License-Identifier: Apache-2.0
(ns skein.launch-test
  "A program starts from its compiled classes, in a process of its own."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]])
  (:import
   (clojure.lang Compiler)
   (java.io File)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)))

(set! *warn-on-reflection* true)

(defn- run
  "Returns what Launch prints when the class path begins with `folder`."
  [^File folder & arguments]
  (let [command (into [(str (System/getProperty "java.home") "/bin/java") "-cp" (str folder File/pathSeparator (System/getProperty "java.class.path"))
                       "skein.base.Launch"]
                      arguments)
        process (.start (doto (ProcessBuilder. ^java.util.List command) (.redirectErrorStream true)))
        printed (slurp (.getInputStream process))]
    (.waitFor process)
    printed))

(deftest compiled-classes-are-loaded-and-sources-otherwise
  (within-deadline
    (let [folder (.toFile (Files/createTempDirectory "start" (make-array FileAttribute 0)))
          source (fn source [^String name & forms] (spit (io/file folder name) (str/join "\n" forms)))]
      (source "start_compiled.clj" "(ns start-compiled) (set! *warn-on-reflection* true) (def from :class)")
      (source "start_source.clj" "(ns start-source) (def from :source)")
      (source "start_main.clj"
              "(ns start-main (:require start-compiled start-source))"
              "(defn -main [& arguments] (prn start-compiled/from start-source/from arguments *warn-on-reflection* (str *ns*)))")
      (binding [*compile-path* (str folder), *compile-files* true]
        (with-open [in (io/reader (io/file folder "start_compiled.clj"))]
          (Compiler/compile in "start_compiled.clj" "start_compiled.clj")))
      (.delete (io/file folder "start_compiled.clj"))
      (is (= ":class :source (\"a\" \"-b\") false \"clojure.core\"\n" (run folder "start-main" "a" "-b")))
      (run! (fn delete [^File file] (.delete file)) (reverse (file-seq folder))))))
