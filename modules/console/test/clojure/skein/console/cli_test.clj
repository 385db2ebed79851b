;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.cli-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [are deftest is]]
   [skein.console :as console]
   [skein.console.cli :as cli]
   [skein.inspect :as inspect])
  (:import
   (java.io Closeable File StringWriter)))

(set! *warn-on-reflection* true)

(defn- run
  "Runs the command. Returns [result out err]."
  [& args]
  (let [out (StringWriter.), err (StringWriter.)
        result (binding [*out* out, *err* err] (apply cli/run args))]
    [result (str out) (str err)]))

(deftest without-arguments-it-lists-the-jvms
  (let [[code out err] (run)]
    (is (nil? code))
    (is (= "" err))
    (is (every? #(re-find #"^ *\d+  " %) (remove str/blank? (str/split-lines out))))))

(deftest it-has-help
  (let [[code out err] (run "--help")]
    (is (= [nil true ""] [code (str/starts-with? out "usage: ") err]))))

(deftest bad-arguments-are-refused
  (are [code says args] (let [[result out err] (apply run args)] (and (= code result) (= "" out) (str/includes? err says)))
    2 "skein: these options need a target" ["--prove"]
    2 "skein: Unknown option: \"--kill\"; ./skein console --help lists the options.\n" ["1" "--kill"]
    2 "skein: console takes a target and an earlier file, but also got '3'.\n" ["1" "2" "3"]
    2 "skein: Failed to validate \"--port 99999\": must be a number up to 65535; 0 takes a free port; ./skein" ["no-such-file.edn" "--port" "99999"]
    2 "Missing required argument for \"--port N\"" ["1" "--port"]
    2 "\"--port x\": must be a number" ["1" "--port" "x"]
    2 "neither the number of a process" ["no-such-file.edn"]))

(deftest a-dump-is-served
  (let [file (File/createTempFile "skein-console" ".edn")]
    (try
      (inspect/start!)
      (inspect/dump! {:to (str file)})
      (let [[c out err] (run (str file) (str file) "--prove" "--record" "--port" "0")]
        (is (= "" err))
        (is (str/starts-with? out (:url c)))
        (is (re-find #"^http://127\.0\.0\.1:\d+/#t=[\w-]{22}\n" out))
        (.close ^Closeable c))
      (finally (inspect/stop!) (io/delete-file file)))))
