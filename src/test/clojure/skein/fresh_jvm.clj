;; SPDX-License-Identifier: Apache-2.0
(ns skein.fresh-jvm
  "What a JVM of its own prints, started with options or for a script."
  (:require [clojure.string :as str]
            [skein.deadline :refer [within-deadline]]))

(set! *warn-on-reflection* true)

(defn output
  "Returns what clojure.main prints to both outputs, in a new JVM with these options and the
  class path of this one, for the arguments in `args`."
  [options args]
  (let [java (str (System/getProperty "java.home") "/bin/java")
        ^java.util.List command (concat [java] options ["-cp" (System/getProperty "java.class.path") "clojure.main"] args)
        process (-> (ProcessBuilder. command) (.redirectErrorStream true) .start)]
    (try
      (within-deadline (str/trim (slurp (.getInputStream process) :encoding "UTF-8")))
      (finally (.destroyForcibly process)))))
