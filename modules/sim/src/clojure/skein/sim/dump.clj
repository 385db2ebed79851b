;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.dump
  "The JDK's dump of all threads, virtual ones too.

  * `threads` - a text for each thread
  * `monitors` - which thread waits for which, for a monitor"
  {:no-doc true}
  (:require
   [clojure.string :as str])
  (:import
   (com.sun.management HotSpotDiagnosticMXBean HotSpotDiagnosticMXBean$ThreadDumpFormat)
   (java.io File)
   (java.lang.management ManagementFactory)))

(set! *warn-on-reflection* true)

(defn threads
  "Returns {id text}. A text has the thread's name and state, and then its stack."
  []
  (let [file (File/createTempFile "threads" ".txt"), path (.getPath file)]
    (.delete file) ; the JDK writes to new files only
    (try
      (.dumpThreads ^HotSpotDiagnosticMXBean (ManagementFactory/getPlatformMXBean HotSpotDiagnosticMXBean)
                    path HotSpotDiagnosticMXBean$ThreadDumpFormat/TEXT_PLAIN)
      (into {} (keep (fn [text] (when-some [[_ id thread] (re-find #"(?s)^#(\d+) (.*)" text)] [(parse-long id) thread])))
            (str/split (slurp path) #"\n\n"))
      (finally (.delete file)))))

(defn monitors
  "Returns {id of a thread that waits for a monitor, id of the thread that holds it}. Before JDK 25 the dump lacks this: then empty."
  []
  (let [threads (threads)
        found (fn [words] (for [[id text] threads, [_ lock] (re-seq (re-pattern (str "- " words " <(.*)>")) text)] [lock id]))
        holders (into {} (found "locked"))]
    (into {} (for [[lock id] (found "waiting to lock"), :when (holders lock)] [id (holders lock)]))))
