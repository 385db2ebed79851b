;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.attach-test
  "Commands of jcmd, run by the JDK's own method and by the program jcmd."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.inspect.attach :as attach]
   [skein.inspect.process :refer [lines-of start without-inspect]]))

(set! *warn-on-reflection* true)

(defn- answers
  "Returns what process `pid` answers to some commands, each as text or as an exception's message."
  [pid]
  (mapv (fn ask [command] (try (apply attach/jcmd pid command) (catch clojure.lang.ExceptionInfo e (ex-message e))))
        [["VM.class_hierarchy" "clojure.lang.Keyword"] ["No.such_command"] ["GC.heap_dump" "-all" "\"/no such folder/x\""]]))

(deftest both-ways-to-run-a-command-give-the-same
  (let [process (start without-inspect '(do (println "up") (read-line)) [])
        pid (str (.pid process))]
    (try
      (is (= "up" (.readLine (lines-of process))))
      (is (some? @#'attach/execute) "./skein test allows the method")
      (let [[found unknown unwritable :as by-method] (answers pid)
            by-program (with-redefs [attach/execute nil] (answers pid))]
        (is (str/includes? found "clojure.lang.Keyword"))
        (is (re-find #"^Process \d+ can't be inspected: its JVM refuses \(.*Unknown diagnostic command.*\)\. \[:skein/not-inspectable\]$" unknown))
        (is (str/includes? unwritable "No such file or directory"))
        (is (= by-method (map (fn without-pid [said] (str/replace said (str pid ":\n") "")) by-program))
            "the program adds a line with the process's number"))
      (finally (.destroy process)))))
