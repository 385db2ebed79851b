;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt-test
  "Lincheck on the Java core: model checking and stress against sequential models. The
  property skein.lincheck.invocations sets how many schedules are tried per scenario."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]])
  (:import
   (java.io File)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private invocations (str (Long/getLong "skein.lincheck.invocations" 300)))

(def ^:private jvm-flags
  ["-XX:+EnableDynamicAgentLoading" "-Xlog:disable" "--sun-misc-unsafe-memory-access=allow"
   "--add-opens" "java.base/java.lang=ALL-UNNAMED"
   "--add-opens" "java.base/java.util=ALL-UNNAMED"
   "--add-opens" "java.base/jdk.internal.misc=ALL-UNNAMED"
   "--add-exports" "java.base/jdk.internal.util=ALL-UNNAMED"])

(defn- supported-flags []
  (if (< (.feature (Runtime/version)) 23) (remove #(str/starts-with? % "--sun-misc") jvm-flags) jvm-flags))

(defn- run-checks
  "Runs checks in a JVM of their own; returns [exit output]."
  [& names]
  (let [java (str (System/getProperty "java.home") File/separator "bin" File/separator "java")
        log (File/createTempFile "lincheck" ".log")
        command (concat [java] (supported-flags) ["-cp" (System/getProperty "java.class.path")
                                                  "skein.rt.LincheckMain" invocations] names)
        process (-> (ProcessBuilder. ^java.util.List (vec command))
                    (.redirectErrorStream true)
                    (.redirectOutput log)
                    .start)]
    (try
      (if (.waitFor process 15 TimeUnit/MINUTES)
        [(.exitValue process) (slurp log)]
        [:too-long (slurp log)])
      (finally
        (.destroyForcibly process)
        (.delete log)))))

(deftest every-schedule-of-the-core-is-linearizable
  (doseq [check ["run-queue" "channel-0" "channel-1" "channel-2" "put-waits" "choice"]]
    (testing check
      (let [[exit output] (run-checks check)]
        (is (= 0 exit) output)
        (is (str/includes? output (str "held: " check)))))))
