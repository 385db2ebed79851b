;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge-test
  "Runs libraries that were written for core.async, without core.async: each script of
  modules/core-async/test/libraries in a process of its own, in which Skein and its bridge stand for it."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]])
  (:import
   (java.io File)
   (java.util List)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private deadline-minutes 3)

(defn- run-process
  "Runs a command; returns [exit-code output], or [:late output] at the deadline."
  [command]
  (let [out (File/createTempFile "skein-bridge" ".txt")
        process (-> (ProcessBuilder. ^List (vec command))
                    (.redirectErrorStream true)
                    (.redirectOutput out)
                    (.start))]
    (try
      (if (.waitFor process (long deadline-minutes) TimeUnit/MINUTES)
        [(.exitValue process) (slurp out)]
        (do (.destroyForcibly process) [:late (slurp out)]))
      (finally (.delete out)))))

(def ^:private libraries
  "Libraries written for core.async, without core.async."
  '{org.clojure/clojure {:mvn/version "1.12.6"}
    com.cognitect.aws/api {:mvn/version "0.8.838", :exclusions [org.clojure/core.async]}
    com.cognitect.aws/endpoints {:mvn/version "871.2.47.0"}
    com.cognitect.aws/sqs {:mvn/version "871.2.34.1"}
    com.datomic/local {:mvn/version "1.0.291", :exclusions [org.clojure/core.async]}})

(defn- entries-but
  "Returns this process's class path, which holds both core.async and the bridge, without the entries that fit."
  [pattern]
  (remove #(re-find pattern %) (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))))

(defn- without-core-async [libraries]
  (str/join File/pathSeparator (concat (entries-but #"core\.async-[0-9.]+\.jar$") [libraries])))

(defn- without-bridge []
  (str/join File/pathSeparator (entries-but #"modules/core-async/src/clojure$")))

(def ^:private class-path
  (delay
    (let [[code output] (run-process ["./skein" "classpath" (pr-str libraries)])]
      (when-not (= 0 code) (throw (ex-info (str "The libraries could not be fetched: " output) {})))
      (without-core-async (last (str/split-lines output))))))

(defn- run-clojure
  "Runs clojure.main with a class path; returns what it printed last, read as EDN, or all output if it failed."
  [class-path & args]
  (let [[code output] (run-process (concat [(str (System/getProperty "java.home") "/bin/java") "-cp" class-path "clojure.main"]
                                           args))]
    (if (= 0 code)
      (edn/read-string {:default tagged-literal} (last (str/split-lines output)))
      output)))

(defn- run-script
  "Runs a script on the bridge, with more on its class path if wanted."
  [script & more]
  (run-clojure (str/join File/pathSeparator (cons @class-path more)) (str "modules/core-async/test/libraries/" script)))

(deftest core-async-is-not-on-the-class-path
  (is (not (re-find #"core\.async-" @class-path)))
  (is (re-find #"core\.async-" (without-bridge))))

(def ^:private names-of-core-async
  (pr-str '(do (require 'clojure.core.async)
               (let [publics (ns-publics 'clojure.core.async)]
                 (prn {:publics (sort (map (fn [[n v]] [n (pr-str (:arglists (meta v)))]) publics))
                       :macros (sort (keep (fn [[n v]] (when (:macro (meta v)) n)) publics))})))))

(deftest core-asyncs-names-are-all-there
  (let [theirs (run-clojure (without-bridge) "-e" names-of-core-async)]
    (is (seq (:macros theirs)))
    (is (= (assoc theirs
                  :parks 45
                  :alt :time
                  :alts 1
                  :shadowed 2
                  :ports [7 8 "00000000-0000-0000-0000-000000000001"]
                  :satisfied [true true false true]
                  :buffer 1
                  :lab 1
                  :timer nil
                  :executor :ran)
           (run-script "names.clj")))))

(defn- compile-with-core-async!
  "Compiles a file of the folder libraries, by core.async, into classes below `folder`."
  [folder file]
  (run-clojure (without-bridge) "-e"
               "(require 'clojure.core.async)" "-e"
               (pr-str `(with-open [in# (io/reader ~(str "modules/core-async/test/libraries/" file))]
                          (binding [*compile-path* ~(str folder), *compile-files* true, *ns* *ns*]
                            (Compiler/compile in# ~file ~file)
                            (prn :compiled))))))

(deftest what-core-async-compiled-runs
  (let [folder (io/file "target" "bridge-machines")]
    (run! #(.delete ^File %) (reverse (file-seq folder)))
    (.mkdirs folder)
    (is (= :compiled (compile-with-core-async! folder "machines.clj")))
    (is (= {:source false
            :runs-on-skein? true
            :sum 499500
            :ping-pong 1000
            :choices [1 :none :time]
            :caught [2 1 3]
            :nested [:caller :inner :caller]
            :failing [nil "unheard"]
            :many 500500}
           (run-script "compiled.clj" (str folder))))))

(deftest the-aws-api-calls-a-service
  (is (= {:runs-on-skein? true
          :list ["one" "two"]
          :refused :cognitect.anomalies/incorrect
          :retried ["one" "two"]
          :concurrent (range 20)
          :alts ["one" "two"]}
         (run-script "aws.clj"))))

(deftest datomic-keeps-a-database
  (is (= {:runs-on-skein? true
          :found 10
          :pulled {:film/year 1983}
          :qseq 10
          :in-blocks (repeat 8 10)
          :transacted 5
          :refused :cognitect.anomalies/incorrect
          :range 9}
         (run-script "datomic.clj"))))
