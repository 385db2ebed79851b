;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench cljs [--none] [--rounds N]
;; ./skein bench cljs --limits
;; skein.async against cljs.core.async in Node: the same programs, in turn, in processes of their own.
;; ns of the process's CPU time, and the median of the rounds' ratios. With --limits: skein.bench.limits, in Node
;; and in a headless browser.
(ns bench.cljs
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [skein.cljs.build :as build]))

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

(defn- figures
  "Runs a program; returns [[name ns] ...]."
  [path]
  (let [output (build/run-in-node path)]
    (or (seq (for [[_ name ns-each] (re-seq #"(?m)^(.+)\t([0-9.]+)$" output)]
               [name (parse-double ns-each)]))
        (throw (ex-info (str "The program measured nothing:\n" output) {:path path})))))

(defn- median [xs]
  (nth (sort xs) (quot (count xs) 2)))

(defn- print-table
  "Prints a line for each program. A program of core.async may not have ended in time: then there is no figure of it."
  [ours theirs]
  (println (format "%-38s %12s %12s %8s" "ns" "skein.async" "core.async" "times"))
  (doseq [[name] (first ours)
          :let [column (fn [rounds] (keep (fn [round] (get (into {} round) name)) rounds))
                figure (fn [xs] (if (seq xs) (format "%.1f" (median xs)) "-"))
                ratios (when (= (count (column ours)) (count (column theirs)))
                         (map (fn [a b] (/ (double b) (double a))) (column ours) (column theirs)))]]
    (println (format "%-38s %12s %12s %8s" name (figure (column ours)) (figure (column theirs)) (figure ratios)))))

(defn- option [args name default]
  (or (second (drop-while (complement #{name}) args)) default))

(defn- compare! [level n]
  (copy-for-core-async!)
  (let [ours (build/compile! programs 'skein.bench.programs level :target :nodejs)
        theirs (build/compile! [programs copy] 'peer.bench.programs level :target :nodejs)
        rounds (doall (for [_ (range n)] [(doall (figures ours)) (doall (figures theirs))]))]
    (println "Node," level "median of" n "rounds")
    (print-table (map first rounds) (map second rounds))))

(defn- limits! []
  (let [path (build/compile! programs 'skein.bench.limits :advanced)]
    (println "Node")
    (println (build/run-in-node path "--expose-gc"))
    (when (build/browser)
      (println "A headless browser")
      (println (build/run-in-browser path)))))

(let [args *command-line-args*]
  (cond
    (not (build/node)) (println "There is no Node on the PATH.")
    (some #{"--limits"} args) (limits!)
    :else (compare! (if (some #{"--none"} args) :none :advanced) (parse-long (option args "--rounds" "5"))))
  (shutdown-agents))
