;; SPDX-License-Identifier: Apache-2.0
(ns skein.spark.bed
  "Clusters for the tests: :local runs tasks in this process; :pair has a master and two workers, processes in folders of their
  own, whose executors know nothing but Spark and the jars that were shipped. Spark allows one connection at a time."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.fold :as fold]
   [skein.spark :as spark]
   [skein.spark.jars :as jars])
  (:import
   (java.io BufferedReader File)
   (java.lang ProcessBuilder$Redirect ProcessHandle)
   (java.nio.file Files Path)
   (java.nio.file.attribute FileAttribute)
   (java.util List)))

(set! *warn-on-reflection* true)

(defn temp-dir ^File [label]
  (.toFile (Files/createTempDirectory label (make-array FileAttribute 0))))

(def home
  "The folder of an installation of Spark, with links to its jars in the folder jars."
  (delay
    (let [home (temp-dir "skein-spark-home")
          folder (io/file home "jars")]
      (.mkdirs folder)
      (doseq [^String entry (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))
              :let [jar (io/file entry)]
              :when (and (.isFile jar) (jars/sparks? (.getName jar)))]
        (Files/createSymbolicLink (.toPath (io/file folder (.getName jar))) (Path/of (.getAbsolutePath jar) (make-array String 0))
                                  (make-array FileAttribute 0)))
      (str home))))

;;;; Processes of Spark

(def ^:private opens
  (mapv #(str "--add-opens=java.base/" % "=ALL-UNNAMED") ["java.lang" "java.nio" "sun.nio.ch" "java.util"]))

(def ^:private ending-with-us
  "A shell command that starts its arguments and ends them when its input ends, however this process ends. Then it deletes their files."
  ["sh" "-c" "\"$@\" & exec >/dev/null 2>&1; cat; kill $!; wait; rm -r \"$PWD\"" "sh"])

(defn- start
  "Starts a class of Spark as a process in a folder of its own. Returns what `look` finds in a line of its log."
  [look main & args]
  (let [command (concat ending-with-us [(str (System/getProperty "java.home") "/bin/java") "-Xmx256m"] opens
                        ["-cp" (str @home "/jars/*") main] args)
        folder (temp-dir "skein-spark")
        builder (doto (ProcessBuilder. ^List (vec command))
                  (.directory folder)
                  (.redirectErrorStream true)
                  (.redirectOutput ProcessBuilder$Redirect/PIPE))]
    (doto (.environment builder)
      (.put "SPARK_HOME" @home) (.put "SPARK_WORKER_DIR" (str folder)) (.put "SPARK_SCALA_VERSION" "2.13") (.put "SPARK_LOCAL_IP" "127.0.0.1"))
    (let [process (.start builder)
          ^BufferedReader out (io/reader (.getInputStream process))
          log (StringBuilder.)
          found (loop []
                  (when-let [line (.readLine out)]
                    (.append log line)
                    (.append log "\n")
                    (or (look line) (recur))))]
      (when-not found (throw (ex-info (str main " did not start:\n" log) {})))
      ;; So that it never waits for a reader.
      (doto (Thread. (fn [] (while (.readLine out)))) (.setDaemon true) (.start))
      found)))

(defn- start-master
  "Starts a master. Returns its address, spark://host:port."
  []
  (start #(re-find #"spark://127\.0\.0\.1:\d+" %) "org.apache.spark.deploy.master.Master" "--host" "127.0.0.1" "--port" "0" "--webui-port" "0"))

(defn- start-worker
  "Starts a worker with one core for the master at `address`."
  [address]
  (start #(str/includes? % "Successfully registered with master") "org.apache.spark.deploy.worker.Worker"
         "--host" "127.0.0.1" "--cores" "1" "--memory" "700m" "--webui-port" "0" address))

(def ^:private standalone
  "The address of a master with two workers."
  (delay (doto (start-master) start-worker start-worker)))

(defn address
  "Returns the address of the master of the bed :pair, spark://host:port."
  []
  @standalone)

;;;; Connections

(defn conf
  "Returns the settings that all beds have."
  []
  {"spark.driver.host" "127.0.0.1", "spark.driver.bindAddress" "127.0.0.1", "spark.ui.enabled" false
   "spark.executor.memory" "600m", "spark.default.parallelism" 2})

(def ^:const patience-ms "How long a fold waits for executors: on a busy machine they take minutes to start." 600000)

(defonce ^:private current (atom nil))

(defn close!
  "Closes the connection that is open, if one is."
  []
  (when-let [[_ cluster] @current]
    (reset! current nil)
    (.close ^java.io.Closeable cluster)))

(defn bed
  "Returns the cluster called `k`, :local or :pair, which stays connected until another is wanted."
  [k]
  (let [[open cluster] @current]
    (if (= k open)
      cluster
      (do (close!)
          (let [cluster (spark/connect {:conf (conf)} (if (= :local k) "local[2]" (address)))]
            (reset! current [k cluster])
            (fold/fold {:lost-after-ms patience-ms} + (spark/range cluster 0 2))
            cluster)))))

(defn- tasks-here
  "Returns the threads of this process that run a task; Spark names them so."
  []
  (filterv #(str/starts-with? (.getName ^Thread %) "Executor task launch worker for task") (keys (Thread/getAllStackTraces))))

(defn idle?
  "Waits until no thread of this process runs a task. Returns whether that is so within a minute. Otherwise prints what the threads do."
  []
  (let [deadline (+ (System/nanoTime) 60000000000)]
    (loop []
      (let [tasks (tasks-here)]
        (cond
          (empty? tasks) true
          (< (System/nanoTime) deadline) (do (Thread/yield) (recur))
          :else (doseq [^Thread task tasks] (println (.getName task)) (run! println (.getStackTrace task))))))))

(defn executors
  "Returns the handles of the executors, which are descendants of this process."
  []
  (filterv (fn [^ProcessHandle p]
             (str/includes? (.orElse (.commandLine (.info p)) "") "CoarseGrainedExecutorBackend"))
           (iterator-seq (.iterator (.descendants (ProcessHandle/current))))))
