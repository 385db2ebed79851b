;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.carriers
  "Finds the virtual threads that hold their carriers while no other virtual thread gets one.

  * `starved` for a snapshot
  * `holders` in a thread dump"
  {:no-doc true}
  (:require
   [clojure.string :as str])
  (:import
   (com.sun.management HotSpotDiagnosticMXBean HotSpotDiagnosticMXBean$ThreadDumpFormat)
   (java.lang.management ManagementFactory)
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)
   (skein.inspect.rt CarrierWatch)
   (skein.rt.block Failures)))

(set! *warn-on-reflection* true)

(def ^:private thread-line #"#(\d+) \"(.*)\" virtual.*")
(def ^:private frame-line #"\s+(?:at )?(?:\S*/)?([\w.$]+)\.([\w<>$]+)\(([^:)]+)(?::(\d+))?\)")

(defn- frames [lines]
  (for [line lines, :let [[_ class method file number] (re-matches frame-line line)] :when class]
    {:class class, :file file, :line (if number (parse-long number) -1), :form (str (Compiler/demunge class) "." method)}))

(defn holders
  "Returns those virtual threads of a thread dump, the JDK's text, that have a stack and are not parked off their carriers:
  [{:name :tid :site}]."
  [text]
  (for [[head & lines] (map str/split-lines (str/split text #"\R\s*\R"))
        :let [[_ tid name] (re-matches thread-line head)
              stack (frames lines)] :when (and tid (seq stack) (not= "java.lang.VirtualThread" (:class (first stack))))]
    {:name name :tid (parse-long tid)
     :site (some-> (first (remove (comp #(Failures/isMachinery %) :class) stack)) (dissoc :class))}))

(defn- thread-dump []
  (let [folder (Files/createTempDirectory "skein-threads" (make-array FileAttribute 0)), file (.resolve folder "threads.txt")]
    (try
      (.dumpThreads ^HotSpotDiagnosticMXBean (ManagementFactory/getPlatformMXBean HotSpotDiagnosticMXBean)
                    (str file) HotSpotDiagnosticMXBean$ThreadDumpFormat/TEXT_PLAIN)
      (Files/readString file)
      (finally (Files/deleteIfExists file) (Files/deleteIfExists folder)))))

(defn starved
  "Returns {:ms n :threads [thread]} if no virtual thread has got a carrier for n ms, otherwise nil. The threads are those that hold
  a carrier."
  [^CarrierWatch carriers]
  (let [ms (.starvedMillis carriers)]
    (when (pos? ms) {:ms ms :threads (vec (holders (thread-dump)))})))
