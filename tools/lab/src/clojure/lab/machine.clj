;; SPDX-License-Identifier: Apache-2.0
(ns lab.machine
  "Describes the machine and the programs: a figure means nothing without them."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str])
  (:import
   (com.sun.management OperatingSystemMXBean)
   (java.lang.management ManagementFactory)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(defn- output-of
  "Returns the first line that a command prints, or nil if the command does not exist or fails."
  [& command]
  (try
    (let [process (.start (ProcessBuilder. ^java.util.List (vec command)))
          line (with-open [in (io/reader (.getInputStream process))] (first (line-seq in)))]
      (when (and (.waitFor process 5 TimeUnit/SECONDS) (zero? (.exitValue process))) (or line "")))
    (catch java.io.IOException _ nil)))

(defn- processor []
  (or (some->> (output-of "grep" "-m1" "model name" "/proc/cpuinfo") (re-find #": (.*)") second str/trim)
      (not-empty (output-of "sysctl" "-n" "machdep.cpu.brand_string"))
      (System/getProperty "os.arch")))

(defn- commit []
  (when-let [id (not-empty (output-of "git" "rev-parse" "--short" "HEAD"))]
    (str id (when (not-empty (output-of "git" "status" "--porcelain" "--untracked-files=no")) ", changed since"))))

(def ^:private ^OperatingSystemMXBean os (ManagementFactory/getPlatformMXBean OperatingSystemMXBean))

(defn load-of-others
  "Returns the share of the processors, from 0 to 1, that other programs use. Takes half a second."
  []
  (.getCpuLoad os) ; what follows is of the time since
  (.getProcessCpuLoad os)
  (Thread/sleep 500)
  (max 0.0 (- (.getCpuLoad os) (.getProcessCpuLoad os))))

(defn describe
  "Returns an ordered list of [what text] about the machine and the programs."
  []
  [["Processor" (str (processor) ", " (.availableProcessors (Runtime/getRuntime)) " cores in use")]
   ["Memory" (str (Math/round (/ (.getTotalMemorySize os) 1073741824.0)) " GiB")]
   ["System" (str (System/getProperty "os.name") " " (System/getProperty "os.version"))]
   ["Java" (str (System/getProperty "java.runtime.version") ", " (System/getProperty "java.vendor"))]
   ["Clojure" (clojure-version)]
   ["Skein" (or (commit) "no git commit")]])
