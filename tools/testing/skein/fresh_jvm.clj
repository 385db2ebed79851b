;; SPDX-License-Identifier: Apache-2.0
(ns skein.fresh-jvm
  "Runs a JVM with options or for a script, and returns its output."
  (:require
   [clojure.string :as str])
  (:import
   (java.util List)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private ^:const max-minutes "Generous, because only a JVM that hangs should reach it. On a busy machine Spark takes minutes to start." 10)

(defn output
  "Returns what clojure.main prints to both outputs, in a new JVM with these options and the
  class path of this one, for the arguments in `args`. If it does not end in time, returns what it has printed so far.
  `before` is a command that gets the one of the JVM as its last arguments, and runs it."
  [options args & {:keys [before]}]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        ^List command (concat before [java] options ["-cp" (System/getProperty "java.class.path") "clojure.main"] args)
        process (-> (ProcessBuilder. command) (.redirectErrorStream true) .start)
        end-it (fn end-it [] (when-not (.waitFor process max-minutes TimeUnit/MINUTES) (.destroyForcibly process)))]
    (doto (Thread. ^Runnable end-it "fresh-jvm") (.setDaemon true) (.start))
    (str/trim (slurp (.getInputStream process) :encoding "UTF-8"))))
