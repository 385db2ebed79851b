;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.process
  "Processes that tests look at, and the commands that look."
  (:require
   [clojure.string :as str]
   [skein.inspect.cli :as cli])
  (:import
   (java.io BufferedReader File InputStreamReader StringWriter)
   (java.lang ProcessBuilder$Redirect)
   (java.util List)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(defn run
  "Runs a command. Returns [exit-code out err]."
  [& args]
  (let [out (StringWriter.), err (StringWriter.)
        code (binding [*out* out, *err* err] (apply cli/run args))]
    [code (str out) (str err)]))

(def class-path
  "The class path of this process."
  (System/getProperty "java.class.path"))

(def without-inspect
  "The class path without this module."
  (str/join File/pathSeparator
            (remove #(re-find #"modules.inspect" %) (str/split class-path (re-pattern File/pathSeparator)))))

(defn start
  "Starts a program, which is a form, with a class path and options of Java. Ends it after ten minutes, which fails the test."
  ^Process [class-path program options]
  (let [^List command (concat [(str (System/getProperty "java.home") "/bin/java") "-Xmx300m"] options
                              ["-cp" class-path "clojure.main" "-e" (pr-str program)])
        process (-> (ProcessBuilder. command) (.redirectError ProcessBuilder$Redirect/INHERIT) .start)
        end-it (fn end-it [] (when-not (.waitFor process 10 TimeUnit/MINUTES) (.destroyForcibly process)))]
    (doto (Thread. ^Runnable end-it "ends-the-program") (.setDaemon true) .start)
    process))

(defn lines-of
  "Returns the output of the process."
  ^BufferedReader [^Process process]
  (BufferedReader. (InputStreamReader. (.getInputStream process))))
