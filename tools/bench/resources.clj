;; SPDX-License-Identifier: Apache-2.0
(ns bench.resources
  "Memory and processor time of another process."
  (:import
   (java.nio.file Files Path)
   (java.time Duration)))

(set! *warn-on-reflection* true)

(defn resident-mb
  "Returns the most memory in MB that a process has had so far, on Linux; elsewhere nil."
  [^Process process]
  (try
    (some->> (Files/readString (Path/of (str "/proc/" (.pid process) "/status") (make-array String 0)))
             (re-find #"VmHWM:\s+(\d+) kB") second parse-long (* 1/1024) double)
    (catch Exception _ nil)))

(defn cpu-ms
  "Returns the processor time in ms that a process has used so far, or nil if the system does not provide it."
  [^Process process]
  (when-let [^Duration cpu (.orElse (.totalCpuDuration (.info process)) nil)]
    (.toMillis cpu)))
