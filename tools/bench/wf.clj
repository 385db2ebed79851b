;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench wf [--size SIZE] [--rounds N]
(ns bench.wf
  "Runs `skein wf` and the other tools on this machine over one generated log, in turns, and prints a table and whether the goals
  hold. Each round runs every contestant once, after the log was read into the page cache; a figure is the median. A slow contestant
  has one round, and perhaps only the first quarter of the log. Its figures are then multiplied by four; the table says so."
  (:require
   [clojure.edn :as edn]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.wf.analysis :as analysis]
   [skein.wf.own :as own]
   [skein.wf.query :as query]
   [skein.wf.sample-log :as sample-log]
   [skein.wf.units :as units]
   [skein.wf.wf2 :as wf2])
  (:import
   (com.sun.management OperatingSystemMXBean)
   (java.io File FileInputStream)
   (java.lang.management ManagementFactory)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(load-file "tools/bench/timing.clj")
(load-file "tools/bench/resources.clj")
(refer 'bench.timing :only '[median options whole])
(refer 'bench.resources :only '[cpu-ms resident-mb])

(require '[lab.peers])

(def ^:private log (io/file "target" "bench" "wf.log"))

(defn- make-log! [size-bytes]
  (when-not (and (.exists ^File log) (>= (.length ^File log) (long size-bytes)) (< (.length ^File log) (+ 10000000 (long size-bytes))))
    (io/make-parents log)
    (with-open [out (io/output-stream log)] (sample-log/write! out {:size-bytes size-bytes, :seed 7}))))

(def ^:private quarter-log (io/file "target" "bench" "wf-quarter.log"))

(defn- make-quarter!
  "Writes the first quarter of the log, for slow contestants. Its last line may be cut off."
  []
  (with-open [in (FileInputStream. ^File log), out (io/output-stream quarter-log)]
    (io/copy (.readNBytes in (int (quot (.length ^File log) 4))) out)))

(defn- warm-page-cache! [^File log]
  (with-open [in (FileInputStream. log)]
    (let [buffer (byte-array 1048576)]
      (loop [] (when (pos? (.read in buffer)) (recur))))))

;;;; Contestants

(defn- on-path? [program]
  (some #(.canExecute (io/file % program)) (str/split (System/getenv "PATH") (re-pattern File/pathSeparator))))

(def ^:private output (io/file "target" "bench" "out"))

(defn- run-process
  "Returns {:ms :cpu-ms :mb} of one run, or nil when it fails. The last 10 ms of processor time may be missing."
  [log command environment]
  (warm-page-cache! log)
  (let [builder (doto (ProcessBuilder. ^java.util.List command) (.redirectErrorStream true) (.redirectOutput ^File output))
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
  (warm-page-cache! log)
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

(defn- duckdb
  "Runs DuckDB in a process of its own. Its time is that from the opening of the database on, without the JVM that drives it."
  [class-path]
  (let [java (str (io/file (System/getProperty "java.home") "bin" "java"))]
    (when-let [figures (run-process log [java "--enable-native-access=ALL-UNNAMED" "-cp" class-path "clojure.main" "tools/bench/wf2-duckdb.clj" (str log)]
                                    {})]
      (assoc (dissoc figures :cpu-ms) :ms (:ms (edn/read-string (slurp output)))))))

(defn- duckdb-class-path
  "Returns the class path, or nil when it can't be fetched."
  []
  (try (lab.peers/classpath "duckdb-1.3.2.0")
       (catch Exception e (println (ex-message e)))))

(defn- contestants
  "Returns the contestants: {:title, :run function -> figures}, with :rounds for the most rounds, :quarter? for a quarter of the log."
  []
  (let [path (str log)
        process (fn process [title command] {:title title, :run #(run-process log command {})})
        class-path (duckdb-class-path)]
    (cond-> [(process "skein wf" ["./skein" "wf" path])
             {:title "skein wf, no cache", :run #(run-process log ["./skein" "wf" path] {"JAVA_OPTS" no-cache})}
             (assoc (process "skein wf, log four times" (into ["./skein" "wf"] (repeat 4 path))) :rounds 3)
             {:title "warm, wf2", :run #(in-process (fn [] (wf2/report [path] {:checksums? false})))}
             (process "skein wf --preset site" ["./skein" "wf" "--preset" "site" path])
             {:title "warm, site", :run #(in-process (fn [] (analysis/analyse [path] {:site? true, :tallies query/site})))}
             {:title "warm, by url" :run #(in-process (fn [] (analysis/analyse [path] {:tallies [(query/tally-of "url" {})]})))}
             {:title "warm, -e :url", :rounds 2
              :run #(in-process (fn [] (analysis/analyse [path] {:tallies []} {:sinks (:sinks (own/tallies {:form ":url"}))})))}
             {:title "plain Clojure, wf2", :rounds 1, :run #(in-process plain-clojure)}
             (process "wc -l" ["wc" "-l" path])]
      (on-path? "mawk") (conj (assoc (process "mawk, wf2" ["mawk" "-f" "tools/bench/wf2.awk" path]) :rounds 2))
      class-path (conj {:title "DuckDB 1.3.2, wf2", :rounds 3, :run #(duckdb class-path)})
      (on-path? "goaccess")
      (conj {:title "goaccess", :rounds 1, :quarter? true
             :run #(run-process quarter-log ["goaccess" "--no-ip-validation" "--log-format=COMBINED" "-o" "json" (str quarter-log)] {})}))))

;;;; Table and goals

(defn- figures
  "Returns a contestant's figures for the whole log, or nil if all of its runs have failed."
  [{:keys [quarter?]} runs]
  (let [runs (remove nil? runs)
        whole (fn whole [ms] (if quarter? (* 4.0 (double ms)) ms))]
    (when (seq runs)
      {:ms (whole (median (map :ms runs))), :best (whole (reduce min (map :ms runs))), :cpu-ms (some->> (keep :cpu-ms runs) seq median whole)
       :mb (some->> (keep :mb runs) seq (reduce max)), :n (count runs)})))

(def ^:private goals
  "[what, contestant, other, most]: the most ms per GiB or, with another contestant as `other`, the largest part of the other's time."
  [["whole command <= 0.75 s a GiB with the start-up cache" "skein wf" nil 750]
   ["whole command <= 1.0 s a GiB without" "skein wf, no cache" nil 1000]
   ["warm <= 0.35 s a GiB" "warm, wf2" nil 350]
   ["whole command over four times the log <= 2.1 s for 4 GiB" "skein wf, log four times" nil 2100]
   ["whole command at least 2.7 times as fast as DuckDB" "skein wf" "DuckDB 1.3.2, wf2" (/ 1 2.7)]
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

(let [options (options "wf" {"--size" "SIZE" "--rounds" "N"} *command-line-args*)
      size (units/parse-size (get options "--size" "1G"))
      rounds (whole options "--rounds" 5)
      who (do (make-log! size) (make-quarter!) (contestants))]
  (dotimes [_ 3] (doseq [{:keys [title run]} who :when (str/starts-with? title "warm, ")] (run)))
  (let [runs (vec (for [i (range rounds)]
                    (mapv (fn one [{:keys [run rounds]}] (when (< i (long (or rounds Long/MAX_VALUE))) (run))) who)))
        results (into {} (map-indexed (fn [i {:keys [title] :as contestant}] [title (figures contestant (map #(nth % i) runs))])) who)
        gib (/ (.length ^File log) 1073741824.0)
        base (:ms (results "skein wf"))]
    (println (format "%n%s, Java %s, %d processors; %.2f GiB, median; memory is the most that was resident"
                     (System/getProperty "os.name") (System/getProperty "java.version") (.availableProcessors (Runtime/getRuntime)) gib))
    (println (format "%-28s %9s %9s %9s %8s %8s %8s  %s" "" "median ms" "best ms" "CPU ms" "GB/s" "ratio" "MB" "rounds"))
    (doseq [{:keys [title quarter?]} who :let [{:keys [ms best cpu-ms mb n]} (results title)] :when ms
            :let [times (if (str/includes? title "four times") 4 1)]]
      (println (format "%-28s %9.0f %9.0f %9s %8.2f %8.2f %8s  %d%s" title ms best (if cpu-ms (format "%.0f" (double cpu-ms)) "-")
                       (/ (* times gib 1073.741824) ms) (/ (double ms) (double base)) (if mb (format "%.0f" mb) "-") n
                       (if quarter? ", a quarter of the log, times 4" ""))))
    (println (if (< 0.95 gib 1.05) "" "\nThe goals are for 1 GiB: a smaller log is over before the JVM is warm."))
    (run! #(print-goal results gib %) goals)
    (doseq [[title what] [["skein wf" "once"] ["skein wf, log four times" "four times"]] :let [mb (:mb (results title))] :when mb]
      (print-goal-line (<= (double mb) 200) (str "resident memory over the log " what " <= 200 MB") mb 200))
    (println (format "%-8s a tally by -e takes %.1f times as long as the same by option" "" (/ (double (:ms (results "warm, -e :url"))) (double (:ms (results "warm, by url")))))))
  (shutdown-agents))
