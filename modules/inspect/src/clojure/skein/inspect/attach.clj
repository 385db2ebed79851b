;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.attach
  "Reaches another JVM of the same user.

  * `attached` attaches to it
  * `jcmd` runs one of the JVM's own commands there. It loads no class, so it does not make the JVM collect garbage, which could remove the
    blocks that never end. A management agent may: it loads a thousand
  * `on?`, `has-skein?`, `bytes-used`, `monitor-waits`: what such commands tell"
  {:no-doc true}
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.impl.error :as error]
   [skein.inspect.snapshot :as snapshot])
  (:import
   (clojure.lang ExceptionInfo)
   (com.sun.tools.attach AttachNotSupportedException AttachOperationFailedException VirtualMachine)
   (java.io IOException)
   (java.lang.reflect InvocationTargetException Method)
   (java.nio.charset StandardCharsets)
   (java.nio.file Files)
   (java.util List)))

(set! *warn-on-reflection* true)

(defn fail!
  "Throws :skein/not-inspectable."
  [pid why]
  (error/fail! :skein/not-inspectable (str "Process " pid " can't be inspected: " why) {:pid pid}))

(defn- status
  "Returns what the system says of the process under `field`, or nil. Only Linux says so."
  [pid field]
  (let [file (io/file "/proc" pid "status")
        ;; Not by slurp, which asks for the file's size; that fails in /proc.
        lines (try (Files/readAllLines (.toPath file) StandardCharsets/ISO_8859_1)
                   (catch IOException _))]
    (some (fn value [line] (second (re-matches (re-pattern (str field ":\\s*(\\w+).*")) line))) lines)))

(defn- ends-when-attached?
  "Returns whether an attempt to attach would end the process. A JDK before 24 sends the signal QUIT (3) to any process. A process
  that is not a JVM may not catch it, and then ends. Returns false if the system does not say which signals the process catches."
  [pid]
  (let [caught (status pid "SigCgt")]
    (and (some? caught) (not (bit-test (Long/parseUnsignedLong caught 16) 2)))))

(defn- no-jvm! [pid]
  (fail! pid "it is not a JVM, it does not answer, or it forbids tools to attach (-XX:+DisableAttachMechanism)."))

(defn- exists? [pid]
  (let [n (parse-long pid)]
    (and (some? n)
         (.isPresent (java.lang.ProcessHandle/of (long n)))
         (not= "Z" (status pid "State"))))) ; it has ended, but its parent has not asked for its exit code

(defn refused!
  "Throws :skein/not-inspectable, with `why` unless the process ends within a second: then that was the reason."
  [pid why]
  (loop [n 20]
    (when (and (pos? n) (exists? pid))
      (Thread/sleep 50)
      (recur (dec n))))
  (fail! pid (if (exists? pid) why "it ended meanwhile.")))

(defn attached
  "Attaches to the process, and calls `f` with its VirtualMachine. Throws :skein/not-inspectable."
  [^String pid f]
  (when (ends-when-attached? pid) (no-jvm! pid))
  (when (= "T" (status pid "State"))
    (fail! pid (str "it is stopped, so it does not answer. kill -CONT " pid " lets it go on.")))
  (try (let [vm (VirtualMachine/attach pid)]
         (try (f vm) (finally (.detach vm))))
       (catch AttachNotSupportedException _ (no-jvm! pid))
       (catch AttachOperationFailedException e (fail! pid (str "its JVM refuses (" (ex-message e) ").")))
       (catch IOException e
         (fail! pid (if (exists? pid)
                      (str "the JVM can't attach to it (" (ex-message e) "). It must be a process of the same user.")
                      "there is no such process.")))))

(defn- first-line
  "Returns what jcmd has printed, without the line that has the process's number and without a stack trace."
  [printed]
  (first (remove (partial re-matches #"\d+:|\s*") (str/split-lines printed))))

(def ^:private execute
  "The JDK's own method that runs a command of jcmd by a VirtualMachine. nil unless the program was started with
  --add-exports jdk.attach/sun.tools.attach=ALL-UNNAMED, as `./skein` does."
  (try (let [c (Class/forName "sun.tools.attach.HotSpotVirtualMachine")]
         (when (.isExported (.getModule c) (.getPackageName c) (.getModule (class refused!)))
           (.getMethod c "executeJCmd" (into-array Class [String]))))
       (catch ClassNotFoundException _))) ; not a HotSpot JVM

(defn- refused-command! [pid printed]
  (refused! pid (str "its JVM refuses (" (first-line printed) ").")))

(defn- by-method [pid command]
  (attached pid (fn ask [^VirtualMachine vm]
                  (try (slurp (.invoke ^Method execute vm (object-array [(str/join " " command)])))
                       (catch InvocationTargetException e (refused-command! pid (str (ex-message (ex-cause e)))))
                       (catch IOException e (refused-command! pid (str e)))))))

(defn- by-program [pid command]
  (attached pid identity) ; jcmd prints a stack trace where this gives the reason
  (let [tool (str (io/file (System/getProperty "java.home") "bin" "jcmd"))
        ^List words (into [tool pid] command)
        ^Process process (try (.start (.redirectErrorStream (ProcessBuilder. words) true))
                              (catch IOException e (fail! pid (str "this needs jcmd of a JDK (" (ex-message e) ")."))))
        printed (slurp (.getInputStream process))]
    (when-not (zero? (.waitFor process)) (refused-command! pid printed))
    printed))

(defn jcmd
  "Runs a command of jcmd in the process, and returns what it prints. Throws :skein/not-inspectable."
  ^String [pid & command]
  ((if execute by-method by-program) pid command))

(defn on?
  "Returns whether the inspector of the process is on: then it has a thread. Throws :skein/not-inspectable."
  [pid]
  (some? (re-find #"(?m)^\"skein-inspect\" #" (jcmd pid "Thread.print"))))

(defn has-skein?
  "Returns whether the process has loaded Skein. False if that can't be read."
  [pid]
  (try (str/includes? (jcmd pid "VM.class_hierarchy" "skein.rt.Channel") "skein.rt.Channel")
       (catch ExceptionInfo _ false)))

(defn bytes-used
  "Returns about how many bytes of its heap the process uses, with garbage. Throws :skein/not-inspectable."
  [pid]
  (let [heap (first (str/split (jcmd pid "GC.heap_info") #"(?i)metaspace"))
        size {"B" 1, "K" 1024, "M" (* 1024 1024), "G" (* 1024 1024 1024)}]
    ;; A collector prints "used 25K" for each of its generations, and Shenandoah "25M used".
    (reduce + (for [[_ n unit n2 unit2] (re-seq #"\bused (\d+)([BKMG])|\b(\d+)([BKMG]) used" heap)]
                (* (long (parse-long (or n n2))) (long (size (or unit unit2))))))))

;;;; Monitors

(defn- frames [printed]
  (for [[_ class method file line] (re-seq #"(?m)^\s+at (\S+)\.([^.(\s]+)\((?:[^/():]+/)?([^/():]+)(?::(\d+))?\)" printed)]
    (StackTraceElement. class method file (if line (parse-long line) -1))))

(defn- monitors
  "Returns a thread that Thread.print has printed, with the monitor that it waits for and those that it holds."
  [printed]
  (when-some [[_ name tid] (re-find #"^\"(.*)\" #(\d+)" printed)]
    (let [waits (re-find #"- waiting to (?:re-lock in wait\(\)|lock) <(\w+)> \(a ([^\s)]+)" printed)
          of (fn of [pattern] (into #{} (map second) (re-seq pattern printed)))]
      {:name name :tid (parse-long tid) :printed printed :waits-for (second waits) :lock (peek waits)
       ;; A thread in Object.wait is printed as if it had still locked the monitor.
       :holds (reduce disj (of #"- locked <(\w+)>") (of #"- waiting (?:on|to re-lock in wait\(\)) <(\w+)>"))})))

(defn monitor-waits
  "Returns the platform threads that wait for monitors which platform threads hold, as `snapshot/lock-waits` does. A heap file does
  not show them. Throws :skein/not-inspectable."
  [pid]
  (let [threads (keep monitors (str/split (jcmd pid "Thread.print") #"\n\n"))
        holder (into {} (for [t threads, monitor (:holds t)] [monitor t]))]
    (for [{:keys [name tid printed waits-for lock]} threads
          :let [by (holder waits-for)]
          :when by]
      {:name name :tid tid :virtual? false :site (snapshot/place (frames printed))
       :waits [{:op :lock :lock (str lock "@" waits-for) :held-by {:thread (:name by) :tid (:tid by)}}]})))
