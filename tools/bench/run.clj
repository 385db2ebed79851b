;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench [async] [--only PROGRAM,...] [--workers N,...] [--rounds N] [--beside FOLDER]
(ns bench.run
  "Runs the programs of async.clj on Skein and on two releases of core.async, or on another checkout of
  Skein, each in a JVM of its own, one after the other, and prints a table of ratios."
  (:require
   [clojure.edn :as edn]
   [clojure.string :as str])
  (:import
   (java.io File)
   (java.lang ProcessBuilder$Redirect)))

(set! *warn-on-reflection* true)

(require '[lab.peers])
(load-file "tools/bench/timing.clj")
(refer 'bench.timing :only '[median options whole])

(def ^:private java (str (System/getProperty "java.home") File/separator "bin" File/separator "java"))
(def ^:private jvm-flags ["-Xms2g" "-Xmx2g" "-XX:+AlwaysPreTouch"])
(def ^:private peers ["1.7.701" "1.9.865"])

(defn- run-process [command]
  (-> (ProcessBuilder. ^java.util.List (vec command)) .inheritIO .start .waitFor))

(defn- class-path-of
  "Returns the class path of the checkout of Skein in `folder`, which its launcher builds."
  [folder]
  (when-not (.exists (File. ^String folder "skein"))
    (binding [*out* *err*] (println (str "bench: there is no checkout of Skein in " folder ".")))
    (System/exit 2))
  (let [process (-> (ProcessBuilder. ["./skein" "classpath"])
                    (.directory (File. ^String folder))
                    (.redirectError ProcessBuilder$Redirect/INHERIT)
                    .start)
        printed (str/trim (slurp (.getInputStream process)))]
    (if (zero? (.waitFor process)) printed (System/exit 2)))) ; the launcher has said why

(defn- contestants [workers beside]
  (concat
    (for [n workers]
      {:title (if (nil? n) "skein" (str "skein, " n " workers"))
       :lib "skein.async" :classpath (System/getProperty "java.class.path")
       :flags (if n [(str "-Dskein.workers=" n)] [])})
    (if beside
      [{:title beside :lib "skein.async" :classpath (class-path-of beside) :flags []}]
      (for [v peers]
        {:title (str "core.async " v) :lib "clojure.core.async" :classpath (lab.peers/classpath (str "core.async-" v)) :flags []}))))

(defn- run-contestant [only {:keys [lib classpath flags]}]
  (let [out (File/createTempFile "bench" ".edn")
        command (concat [java] jvm-flags flags [(str "-Dlib=" lib) (str "-Dout=" out)]
                        (when only [(str "-Donly=" only)])
                        ["-cp" classpath "clojure.main" "tools/bench/async.clj"])]
    (try
      (when (zero? (long (run-process command))) (edn/read-string (slurp out)))
      (finally (.delete out)))))

(defn- figure [m] (some m [:ns :ms :bytes]))
(defn- unit [m] (cond (:ns m) "ns" (:ms m) "ms" (:bytes m) "bytes" :else ""))

(defn- merge-rounds
  "Returns the median of each program's figure over the rounds of one contestant."
  [rounds]
  (into {}
        (for [program (distinct (mapcat keys rounds))
              :let [ms (keep #(get % program) rounds)]]
          [program (assoc (first ms) :value (median (map figure ms)))])))

(defn- cell [m base]
  (if (nil? m)
    "-"
    (format "%.1f %s%s%s" (double (:value m)) (unit m)
            (if base (format " (x%.2f)" (/ (double (:value m)) (double (:value base)))) "")
            (if-some [t (:threads m)] (str " +" t "t") ""))))

(defn- print-table [titles columns]
  (let [programs (distinct (mapcat keys columns))]
    (println (apply format (str "%-20s" (str/join (repeat (count titles) " %28s"))) "" titles))
    (doseq [program (sort programs)
            :let [base (get (first columns) program)]]
      (println (apply format (str "%-20s" (str/join (repeat (count titles) " %28s"))) program
                      (map-indexed (fn [i c] (cell (get c program) (when (pos? (long i)) base))) columns))))))

(let [[subject & others :as args] *command-line-args*
      options (options "[async]" {"--only" "PROGRAM,..." "--workers" "N,..." "--rounds" "N" "--beside" "FOLDER"} (if (= "async" subject) others args))
      workers (or (some->> (options "--workers") (#(str/split % #",")) (map parse-long)) [nil])
      rounds (whole options "--rounds" 1)
      who (vec (contestants workers (options "--beside")))
      results (vec (repeatedly rounds #(mapv (partial run-contestant (options "--only")) who)))]
  (println)
  (println "Java" (System/getProperty "java.version") "," (.availableProcessors (Runtime/getRuntime))
           "processors; median of" rounds "processes; ratios to the first column; +Nt: platform threads added")
  (print-table (map :title who) (apply mapv (fn [& rs] (merge-rounds (remove nil? rs))) results))
  (shutdown-agents))
