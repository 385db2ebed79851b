;; SPDX-License-Identifier: Apache-2.0
(ns lab.process
  "Runs programs of the lab, each in a process of its own with one library on its class path.

  * `classpath`  returns the class path of a library
  * `run`        one program on one library, figure by figure
  * `stop!`      ends the program that runs"
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [lab.experiments :as experiments]
   [lab.peers :as peers])
  (:import
   (java.io File)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private java (str (System/getProperty "java.home") File/separator "bin" File/separator "java"))
(def ^:private flags ["-Xlog:disable" "-Dclojure.main.report=stderr"])
(def ^:private root (.getAbsolutePath (io/file "tools/lab/src/clojure")))
(def ^:private running (atom nil))
(def ^:private stopped (atom false))

(defn- start ^Process [command ^File err]
  (-> (ProcessBuilder. ^java.util.List (vec command))
      (.redirectError err)
      .start))

(defn- compile-peer!
  "Compiles a release of core.async and the programs on it into a folder, so that its processes start sooner. Clojure loads
  a source instead if it has changed since. Skein is not compiled, because its sources change."
  [library path ^File folder]
  (let [new-folder (io/file (str folder ".new"))
        programs (for [{:keys [ns libraries]} experiments/experiments :when (some #{library} libraries)] ns)
        err (File/createTempFile "skein-lab" ".txt")]
    (.mkdirs new-folder)
    (when (zero? (.waitFor (start (concat [java "-XX:TieredStopAtLevel=1" (str "-Dclojure.compile.path=" new-folder)
                                           (str "-Dlab.library=" library)
                                           "-cp" (str/join File/pathSeparator [path new-folder root])
                                           "clojure.lang.Compile" "clojure.core.async"]
                                          programs)
                                  err)))
      (.renameTo new-folder folder))
    (.delete err)))

(defn- clojure-jar? [path]
  (re-find #"(?:clojure|spec\.alpha|core\.specs\.alpha)-[0-9][^/]*\.jar$" path))

(defn classpath
  "Returns the class path of a library: \"skein\", \"clojure\", or the name of a peer in tools/bench/peers. Fetches and compiles
  what is missing."
  [library]
  (let [folder (.getAbsoluteFile (io/file "target" "lab" library))]
    (case library
      "skein" (System/getProperty "java.class.path")
      "clojure" (str/join File/pathSeparator (filter clojure-jar? (str/split (System/getProperty "java.class.path") (re-pattern File/pathSeparator))))
      (let [path (peers/classpath library)]
        (when (and (str/starts-with? library "core.async") (not (.exists folder)))
          (compile-peer! library path folder))
        (str folder File/pathSeparator path)))))

(defn heap-flags
  "Returns the flags of the JVM for the heap of the program in namespace `n`."
  [n]
  (if-let [heap (some (fn heap [e] (when (= n (:ns e)) (:heap e))) experiments/experiments)]
    [(str "-Xms" heap) (str "-Xmx" heap) "-XX:+AlwaysPreTouch"]
    ["-Xms1g" "-Xmx4g"]))

(defn command
  "Returns the command, a list of words, that runs the program in namespace `n`; `properties` is a map."
  [n library properties]
  (concat [java] (heap-flags n) flags
          (for [[k v] (assoc properties "lab.library" library)] (str "-D" k "=" v))
          ["-cp" (str (classpath library) File/pathSeparator root) "clojure.main" "-m" n]))

(defn- watch!
  "Destroys `process` when `seen`, an atom with the time of its last sign of life, is too old."
  [^Process process seen limit-ms late]
  (future
    (while (not (.waitFor process 200 TimeUnit/MILLISECONDS))
      (when (< (+ (long @seen) (long limit-ms)) (System/currentTimeMillis))
        (reset! late true)
        (.destroyForcibly process)))))

(defn- first-words [^File err]
  (with-open [lines (io/reader err)]
    (->> (line-seq lines)
         (remove #(or (str/blank? %) (re-find #"^(Full report|/tmp|WARNING)" %)))
         (take 3)
         (str/join " ")
         str/trim)))

(def ^:private interrupted-exit "The exit code of a process that Ctrl-C has ended, as it ends all of a terminal's." 130)

(defn- failure [^Process process late limit-ms err]
  (cond
    @late (str "stopped, because it gave no figure for " (quot (long limit-ms) 1000) " s")
    (= interrupted-exit (.waitFor process)) nil
    (not (zero? (.exitValue process))) (str "ended with exit code " (.exitValue process) ": " (first-words err))))

(defn run
  "Runs the program in namespace `n` on `library`. Returns nil, or a sentence that says why it failed.

  properties  of the process, a map of strings
  limit-ms    how long it may take for one figure
  on-figure   called with each measurement, a map, as soon as it is there"
  [n library properties limit-ms on-figure]
  (let [err (File/createTempFile "skein-lab" ".txt")]
    (try
      (let [process (start (command n library (assoc properties "lab.pipe" "true")) err)
            seen (atom (System/currentTimeMillis))
            late (atom false)]
        (reset! running process)
        (when @stopped (.destroyForcibly process)) ; `stop!` may have seen the process before
        (watch! process seen limit-ms late)
        (with-open [lines (io/reader (.getInputStream process))]
          (doseq [line (line-seq lines) :when (str/starts-with? line "{")]
            (reset! seen (System/currentTimeMillis))
            (on-figure (edn/read-string {:default (fn [_ v] v)} line))))
        (failure process late limit-ms err))
      (catch Exception e
        (str "could not run: " (ex-message e)))
      (finally
        (reset! running nil)
        (.delete err)))))

(defn stop!
  "Ends the program that runs now, if one does, and any that is begun later."
  []
  (reset! stopped true)
  (some-> ^Process @running .destroyForcibly))
