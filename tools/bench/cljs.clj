;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench cljs [--none] [--rounds N]
;; ./skein bench cljs --limits
;; ./skein bench cljs --sizes
;; skein.async against cljs.core.async in Node: the same programs, each in a process of its own. The two libraries
;; take turns program by program. A machine can be half as fast for some seconds, and a ratio of figures from different
;; seconds then means nothing. Prints ns of the process's CPU time, and the median of the rounds' ratios. With --limits:
;; skein.bench.limits, in Node and in a headless browser. With --sizes: what small programs add to one that prints a map.
(ns bench.cljs
  (:require
   [cljs.analyzer.api :as analyzer]
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.cljs.build :as build])
  (:import
   (java.io ByteArrayOutputStream)
   (java.util.zip GZIPOutputStream)))

(set! *warn-on-reflection* true)

(def ^:private programs "tools/bench/cljs")
(def ^:private copy "target/bench-cljs")

(defn- copy-for-core-async!
  "Writes the programs into `copy`, with core.async in the place of Skein."
  []
  (let [file (io/file copy "peer" "bench" "programs.cljs")]
    (io/make-parents file)
    (spit file (-> (slurp (io/file programs "skein" "bench" "programs.cljs"))
                   (str/replace "skein.async" "cljs.core.async")
                   (str/replace "skein.bench.programs" "peer.bench.programs")))))

(defn- figure
  "Runs program number `i` of those at `path`. Returns [name ns], or nil if it did not end in time or there is no such
  program."
  [path i]
  (let [[_ name ns-each] (re-find #"(?m)^(.+)\t([0-9.]+)$" (build/run-in-node path (str i)))]
    (when name [name (parse-double ns-each)])))

(defn- median [xs]
  (nth (sort xs) (quot (count xs) 2)))

(defn- print-line [name & columns]
  (println (apply format "%-38s %12s %12s %8s" name columns)))

(defn- compare-program!
  "Measures the program number `i` `n` times and prints its line. Returns whether there is such a program."
  [ours theirs i n]
  (when-let [[name] (figure ours i)] ; not counted: the first process finds the files in no cache
    (let [pairs (for [_ (range n)] [(second (figure ours i)) (second (figure theirs i))])
          pairs (filter (fn [pair] (every? some? pair)) (doall pairs))
          text (fn [f] (if (seq pairs) (format "%.1f" (median (map f pairs))) "-"))]
      (print-line name (text first) (text second) (text (fn [[a b]] (/ (double b) (double a)))))
      true)))

(defn- option [args name default]
  (or (second (drop-while (complement #{name}) args)) default))

(defn- compare! [level n]
  (copy-for-core-async!)
  (let [ours (build/compile! programs 'skein.bench.programs level :target :nodejs)
        theirs (build/compile! [programs copy] 'peer.bench.programs level :target :nodejs)]
    (println "Node," level "median of" n "rounds")
    (print-line "ns" "skein.async" "core.async" "times")
    (loop [i 0]
      (when (compare-program! ours theirs i n) (recur (inc i))))))

(defn- limits! []
  (let [path (build/compile! programs 'skein.bench.limits :advanced)]
    (println "Node")
    (println (build/run-in-node path "--expose-gc"))
    (when (build/browser)
      (println "A headless browser")
      (println (build/run-in-browser path)))))

;;;; Sizes

(def ^:private base "(js/console.log (pr-str {:a 1}))")
(def ^:private block "(let [c (chan)] (go (>! c (inc (<! c)))))")

(defn- public-names
  "Returns the names of core.async's public functions that skein.async has too."
  []
  (let [state (analyzer/empty-state)]
    (analyzer/with-state state
      (run! analyzer/analyze-file ["cljs/core.cljs" "cljs/core/async.cljs" "skein/async.cljs"])
      (sort (for [[sym {:keys [macro type]}] (analyzer/ns-publics state 'cljs.core.async)
                  :when (and (not macro) (not type) (contains? (analyzer/ns-publics state 'skein.async) sym))]
              sym)))))

(defn- sizes
  "Returns the bytes of a program with `code`, raw and gzipped, made with the closure-defines `defines`. `library` is
  required if it is not nil."
  [library code defines]
  (let [path (io/file copy "sizes" "program.cljs")
        zipped (ByteArrayOutputStream.)]
    (io/make-parents path)
    (spit path (str "(ns sizes.program" (when library (str " (:require [" library " :as a :refer [<! >! chan go]])")) ")\n" base code))
    (let [program (build/compile! copy 'sizes.program :advanced :target :nodejs
                                  :output-dir "target/cljs/sizes" :closure-defines defines)]
      (with-open [out (GZIPOutputStream. zipped)] (io/copy (io/file program) out))
      [(.length (io/file program)) (.size zipped)])))

(defn- over
  "Returns as text how many bytes more `larger` has than `smaller`, divided by `n`."
  [larger smaller n]
  (str/join ", " (map (fn [a b] (quot (- (long a) (long b)) (long n))) larger smaller)))

(defn- print-sizes! [library plain names defines]
  (let [one (sizes library block defines)
        all (str "(js/console.log #js [" (str/join " " (map (fn [sym] (str "a/" sym)) names)) "])")]
    (println library)
    (println "  one block\t" (over one plain 1))
    (println "  each further block\t" (over (sizes library (str/join (repeat 11 block)) defines) one 10))
    (println " " (count names) "public names\t" (over (sizes library all defines) plain 1))))

(defn- sizes! []
  (let [names (public-names)
        release {'goog.DEBUG false}]
    (doseq [[texts defines] [["with the texts of errors" {}] ["without them, by goog.DEBUG" release]]
            :let [plain (sizes nil "" defines)]]
      (println (str "bytes over a program that prints a map, raw and gzipped, " texts))
      (print-sizes! "skein.async" plain names defines)
      (print-sizes! "cljs.core.async" plain names defines))
    (println "skein.async without promises either, by skein.rt.port/JS")
    (println "  one block\t" (over (sizes "skein.async" block (assoc release 'skein.rt.port/JS false)) (sizes nil "" release) 1))))

(let [args *command-line-args*]
  (cond
    (not (build/node)) (println "There is no Node on the PATH.")
    (some #{"--limits"} args) (limits!)
    (some #{"--sizes"} args) (sizes!)
    :else (compare! (if (some #{"--none"} args) :none :advanced) (parse-long (option args "--rounds" "5"))))
  (shutdown-agents))
