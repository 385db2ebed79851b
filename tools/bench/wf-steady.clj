;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench wf-steady [--size SIZE] [--seconds N]
(ns bench.wf-steady
  "Measures what must not grow: the memory of `skein wf` with the size of a log, and the processor time of `skein wf --follow` over hours.

  A log of a tenth of SIZE is read once, and ten times over in one run, so that the keys stay the same. Then a log is followed to
  which 1000 lines are appended each second."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.wf.sample-log :as sample-log]
   [skein.wf.units :as units])
  (:import
   (java.io ByteArrayOutputStream File FileOutputStream)
   (java.lang ProcessBuilder$Redirect)
   (java.util.concurrent TimeUnit)))

(set! *warn-on-reflection* true)

(load-file "tools/bench/timing.clj")
(load-file "tools/bench/resources.clj")
(refer 'bench.timing :only '[options whole])
(refer 'bench.resources :only '[cpu-ms resident-mb])

(def ^:private times "How often the log is read." 10)

(defn- builder ^ProcessBuilder [& command]
  (doto (ProcessBuilder. ^java.util.List (vec command)) (.redirectError ProcessBuilder$Redirect/DISCARD)))

;;;; Memory

(defn- wait-for
  "Waits for the end of a process. Returns the most memory it had."
  [^Process process]
  (loop [mb nil]
    (if (.waitFor process 20 TimeUnit/MILLISECONDS) mb (recur (or (resident-mb process) mb)))))

(defn- run-mb
  "Returns the most memory in MB that `./skein wf` has had, with these arguments."
  [arguments]
  (let [process (.start (doto ^ProcessBuilder (apply builder "./skein" "wf" arguments) (.redirectOutput ProcessBuilder$Redirect/DISCARD)))
        mb (wait-for process)]
    (when-not (zero? (.exitValue process)) (throw (ex-info "the command failed" {:arguments arguments})))
    mb))

(defn- make-log! [^File log size-bytes]
  (io/make-parents log)
  (with-open [out (io/output-stream log)] (sample-log/write! out {:size-bytes size-bytes, :seed 7})))

(defn- print-memory [size-bytes]
  (let [log (io/file "target" "bench" "steady.log")
        gib (fn gib [n] (/ (* (double n) (.length log)) 1073741824.0))]
    (make-log! log (quot (long size-bytes) times))
    (doseq [preset ["wf2" "site"]]
      (println (str "wf --preset " preset))
      (doseq [n [1 5 times]]
        (println (format "%8.0f MB for %.2f GiB" (run-mb (into ["--preset" preset] (repeat n (str log)))) (gib n)))))
    (io/delete-file log true)))

;;;; Following

(defn- lines [n]
  (let [out (ByteArrayOutputStream.)]
    (sample-log/write! out {:size-bytes (* 260 (long n)), :seed 5, :odd? false})
    (vec (take n (str/split-lines (.toString out "ISO-8859-1"))))))

(defn- append! [^File log lines seconds]
  (with-open [out (FileOutputStream. log true)]
    (dotimes [_ (* 10 (long seconds))]
      (.write out (.getBytes (str (str/join "\n" (take 100 (shuffle lines))) "\n") "ISO-8859-1"))
      (Thread/sleep 100))))

(defn- follow
  "Starts to follow, as on a terminal."
  ^Process [log]
  (let [command (builder "./skein" "wf" "--follow" "--preset" "site" (str log))]
    (.put (.environment command) "JAVA_OPTS" "-Dskein.stdout.terminal=true")
    (.start (.redirectOutput command ProcessBuilder$Redirect/DISCARD))))

(defn- print-following [seconds]
  (let [log (io/file "target" "bench" "follow.log")
        lines (lines 2000)]
    (io/make-parents log)
    (io/delete-file log true)
    (append! log lines 1)
    (let [process (follow log)]
      (append! log lines 10)  ; starting up, and compiling what is hot
      (let [cpu (cpu-ms process), start (System/nanoTime)]
        (append! log lines seconds)
        (let [ms (/ (- (System/nanoTime) start) 1e6)]
          (println (format "%-28s %8.2f %% of a core at 1000 lines/s, over %.0f s" "wf --follow" (/ (* 100.0 (- (cpu-ms process) cpu)) ms) (/ ms 1000)))))
      (.destroy process)
      (.waitFor process))
    (io/delete-file log true)))

(let [options (options "wf-steady" {"--size" "SIZE" "--seconds" "N"} *command-line-args*)]
  (print-memory (units/parse-size (get options "--size" "10G")))
  (print-following (whole options "--seconds" 60))
  (shutdown-agents))
