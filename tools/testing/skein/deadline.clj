;; SPDX-License-Identifier: Apache-2.0
(ns skein.deadline
  "Deadlines for concurrency tests: at the deadline the threads are dumped, and the test fails."
  (:require
   [clojure.string :as str]
   [clojure.test :as test]
   [skein.async :as a])
  (:import
   (com.sun.management HotSpotDiagnosticMXBean HotSpotDiagnosticMXBean$ThreadDumpFormat)
   (java.io File)
   (java.lang.management ManagementFactory)))

(set! *warn-on-reflection* true)

(def ^:const deadline-ms
  "Generous, because only a test that hangs reaches it."
  30000)

(defn- all-threads
  "Returns the JDK's dump of all threads, virtual ones too, which Thread does not list."
  []
  (let [file (File/createTempFile "threads" ".txt")
        path (.getPath file)]
    (.delete file) ; the JDK writes to new files only
    (try
      (.dumpThreads ^HotSpotDiagnosticMXBean (ManagementFactory/getPlatformMXBean HotSpotDiagnosticMXBean)
                    path HotSpotDiagnosticMXBean$ThreadDumpFormat/TEXT_PLAIN)
      (slurp path)
      (finally (.delete file)))))

(defn- print-threads
  "Prints the workers and the threads. Threads that wait at one place are printed together, the smallest groups first."
  []
  (println (skein.rt.schedule.Scheduler/describe))
  (let [stack #(str/replace % #"#\d+ \"|[0-9a-f]{8,}|\d{4}-\d\d-\d\dT\S+" "")]
    (doseq [[_ alike] (sort-by (comp count val) (group-by (comp str/join rest str/split-lines stack)
                                                          (str/split (all-threads) #"\n\n")))]
      (println (count alike) "x" (first alike)))))

(defn await-port
  "Takes from `port` on this thread. At the deadline prints all threads, fails the test
  and returns ::late."
  [port]
  (let [late (a/timeout deadline-ms)
        [v p] (a/alts!! [port late] :priority true)]
    (a/close! late)
    (if (identical? p late)
      (do (test/is (not (identical? p late)) "the deadline passed")
          (print-threads)
          ::late)
      v)))

(defmacro within-deadline
  "Evaluates the body on a thread of its own. Returns its value, or ::late at the deadline.
  An exception fails the test."
  [& body]
  `(let [result# (await-port (a/thread (try [:value (do ~@body)] (catch Throwable t# [:thrown t#]))))]
     (if (and (vector? result#) (= :thrown (result# 0)))
       (throw (result# 1))
       (if (= ::late result#) ::late (result# 1)))))
