;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench wf [--size SIZE] [--rounds N]
(ns bench.wf
  "Runs `skein wf` and whoever else is on this machine over one generated log, in turns, and prints a table and whether the goals
  hold. Each round runs every contestant once, after the log was read into the page cache; a figure is the median."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [skein.widefinder :as widefinder]
            [skein.widefinder.analysis :as analysis]
            [skein.widefinder.own :as own]
            [skein.widefinder.query :as query]
            [skein.widefinder.sample-log :as sample-log])
  (:import (java.io File FileInputStream)
           (com.sun.management OperatingSystemMXBean)
           (java.lang.management ManagementFactory)
           (java.nio.file Files Path)
           (java.time Duration)
           (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private log (io/file "target" "bench" "wf.log"))

(defn- make-log! [size-bytes]
  (when-not (and (.exists ^File log) (>= (.length ^File log) (long size-bytes)) (< (.length ^File log) (+ 10000000 (long size-bytes))))
    (io/make-parents log)
    (with-open [out (io/output-stream log)] (sample-log/write! out {:size-bytes size-bytes, :seed 7}))))

(defn- warm-page-cache! []
  (with-open [in (FileInputStream. ^File log)]
    (let [buffer (byte-array 1048576)]
      (loop [] (when (pos? (.read in buffer)) (recur))))))

;;;; Contestants

(defn- on-path? [program]
  (some #(.canExecute (io/file % program)) (str/split (System/getenv "PATH") (re-pattern File/pathSeparator))))

(defn- resident-mb
  "The most memory that a process has had so far, on Linux."
  [^Process process]
  (try (some->> (Files/readString (Path/of (str "/proc/" (.pid process) "/status") (make-array String 0))) (re-find #"VmHWM:\s+(\d+) kB") second parse-long (* 1/1024) double)
       (catch Exception _ nil)))

(defn- cpu-ms [^Process process]
  (when-let [^Duration cpu (.orElse (.totalCpuDuration (.info process)) nil)]
    (.toMillis cpu)))

(defn- run-process
  "Returns {:ms :cpu-ms :mb} of one run, or nil when it fails. The last 10 ms of processor time may be missing."
  [command environment]
  (warm-page-cache!)
  (let [builder (doto (ProcessBuilder. ^java.util.List command) (.redirectErrorStream true) (.redirectOutput (io/file "target" "bench" "out")))
        _ (.putAll (.environment builder) environment)
        start (System/nanoTime)
        process (.start builder)]
    (loop [mb nil, cpu nil]
      (if (.waitFor process 10 TimeUnit/MILLISECONDS)
        (when (zero? (.exitValue process)) {:ms (/ (- (System/nanoTime) start) 1e6), :cpu-ms cpu, :mb mb})
        (recur (or (resident-mb process) mb) (or (cpu-ms process) cpu))))))

(defn- own-cpu-ns ^long []
  (.getProcessCpuTime ^OperatingSystemMXBean (ManagementFactory/getOperatingSystemMXBean)))

(defn- in-process [f]
  (warm-page-cache!)
  (let [start (System/nanoTime), cpu (own-cpu-ns)]
    (f)
    {:ms (/ (- (System/nanoTime) start) 1e6), :cpu-ms (/ (- (own-cpu-ns) cpu) 1e6)}))

(def ^:private no-cache
  (if (>= (.feature (Runtime/version)) 25) "-XX:AOTMode=off" "-Xshare:off"))

;; The report of Wide Finder 2 as one writes it first: lines, strings, maps.

(def ^:private article #"/ongoing/When/\d\d\dx/\d\d\d\d/\d\d/\d\d/[^ .]+")

(defn- count-line [report ^String line]
  (let [[client _ _ _ _ method url _ status size referrer] (str/split line #" ")
        add (fn add [report tally k n] (update-in report [tally k] (fnil + 0) n))]
    (cond
      (or (nil? referrer) (not= method "\"GET")) report
      (= status "404") (add report :s404s url 1)
      (#{"200" "304"} status) (cond-> (add report :bytes url (or (parse-long size) 0))
                                (re-matches article url) (-> (add :hits url 1) (add :clients client 1) (add :refs referrer 1)))
      :else report)))

(defn- plain-clojure []
  (with-open [in (io/reader log :encoding "ISO-8859-1")]
    (reduce count-line {} (line-seq in))))

(defn- contestants []
  (let [path (str log)
        process (fn process [title command] {:title title, :run #(run-process command {})})]
    (cond-> [(process "skein wf" ["./skein" "wf" path])
             {:title "skein wf, no cache", :run #(run-process ["./skein" "wf" path] {"JAVA_OPTS" no-cache})}
             {:title "warm, wf2", :run #(in-process (fn [] (widefinder/report [path] {:checksums? false})))}
             (process "skein wf --preset site" ["./skein" "wf" "--preset" "site" path])
             {:title "warm, site", :run #(in-process (fn [] (analysis/analyse [path] {:site? true, :tallies query/site})))}
             {:title "warm, one own tally"
              :run #(in-process (fn [] (analysis/analyse [path] {:tallies []} {:sinks (:sinks (own/tallies {:form ":url"}))})))}
             {:title "plain Clojure, wf2", :run #(in-process plain-clojure)}
             (process "wc -l" ["wc" "-l" path])]
      (on-path? "mawk") (conj (process "mawk, wf2" ["mawk" "-f" "bench/wf2.awk" path]))
      (on-path? "goaccess") (conj (process "goaccess" ["goaccess" "--no-ip-validation" "--log-format=COMBINED" "-o" "json" path])))))

;;;; Table and goals

(defn- median [xs] (nth (sort xs) (quot (count xs) 2)))

(defn- figures [runs]
  (let [runs (remove nil? runs)]
    (when (seq runs)
      {:ms (median (map :ms runs)), :best (reduce min (map :ms runs)), :cpu-ms (some->> (keep :cpu-ms runs) seq median)
       :mb (some->> (keep :mb runs) seq (reduce max))})))

(def ^:private goals
  "[what, contestant, number of it, most]; from the second on, as a part of another's time."
  [["whole command <= 0.75 s a GiB with the start-up cache" "skein wf" nil 750]
   ["whole command <= 1.0 s a GiB without" "skein wf, no cache" nil 1000]
   ["warm <= 0.35 s a GiB" "warm, wf2" nil 350]
   ["whole command at least 4.5 times as fast as mawk" "skein wf" "mawk, wf2" (/ 1 4.5)]
   ["whole command at least 8 times as fast as plain Clojure" "skein wf" "plain Clojure, wf2" 1/8]
   ["whole command at least 25 times as fast as GoAccess" "skein wf" "goaccess" 1/25]
   ["the general report is no slower than mawk's" "skein wf --preset site" "mawk, wf2" 1]])

(defn- print-goal-line [holds? what figure most]
  (println (format "%-8s %s (%.2f, at most %.2f)" (if holds? "holds" "MISSED") what (double figure) (double most))))

(defn- print-goal [results gib [what contestant other most]]
  (let [ms (:ms (results contestant))
        other-ms (:ms (results other))]
    (when (and ms (or (nil? other) other-ms))
      (let [figure (if other (/ (double ms) (double other-ms)) (/ (double ms) (double gib)))]
        (print-goal-line (<= figure (double most)) what figure most)))))

(defn- parse-args [args]
  (when (or (odd? (count args)) (not-every? #{"--size" "--rounds"} (take-nth 2 args)))
    (binding [*out* *err*] (println "bench: usage: bench wf [--size SIZE] [--rounds N]"))
    (System/exit 2))
  (apply hash-map args))

(let [options (parse-args *command-line-args*)
      size (sample-log/parse-size (get options "--size" "1G"))
      rounds (or (some-> (options "--rounds") parse-long) 5)
      who (do (make-log! size) (contestants))]
  (dotimes [_ 3] (doseq [{:keys [title run]} who :when (str/starts-with? title "warm, ")] (run)))
  (let [runs (vec (repeatedly rounds (fn round [] (mapv (fn [{:keys [run]}] (run)) who))))
        results (into {} (map-indexed (fn [i {:keys [title]}] [title (figures (map #(nth % i) runs))])) who)
        gib (/ (.length ^File log) 1073741824.0)
        base (:ms (results "skein wf"))]
    (println (format "%n%s, Java %s, %d processors; %.2f GiB, median of %d; memory is the most that was resident"
                     (System/getProperty "os.name") (System/getProperty "java.version") (.availableProcessors (Runtime/getRuntime)) gib rounds))
    (println (format "%-28s %9s %9s %9s %8s %8s %8s" "" "median ms" "best ms" "CPU ms" "GB/s" "ratio" "MB"))
    (doseq [{:keys [title]} who :let [{:keys [ms best cpu-ms mb]} (results title)] :when ms]
      (println (format "%-28s %9.0f %9.0f %9s %8.2f %8.2f %8s" title ms best (if cpu-ms (format "%.0f" (double cpu-ms)) "-") (/ (* gib 1073.741824) ms) (/ (double ms) (double base))
                       (if mb (format "%.0f" mb) "-"))))
    (println)
    (run! #(print-goal results gib %) goals)
    (when-let [mb (:mb (results "skein wf"))] (print-goal-line (<= (double mb) 200) "resident memory of the whole command, in MB" mb 200)))
  (shutdown-agents))
