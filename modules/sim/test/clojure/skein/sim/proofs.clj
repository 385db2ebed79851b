;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.proofs
  "`./skein schedules WHAT`: what takes too long for a test. The default of N is in parentheses.

  * `twins [N]`: the bug of each program of the corpus is found, from 20 seeds; its twin passes N schedules (10,000)
  * `seeds [N]`: N seeds (300) give the same runs of each program twice here and once in two JVMs that differ
  * `trees [N]`: N random trees of scopes (300), with failures, cancels and deadlines, by 100 schedules each
  * `programs [N]`: N pairs of random programs (200) mean by 200 schedules each what they mean as functions
  * `reduced [N]`: N random programs (500) have the results of the exhaustive search in the reduced one
  * `mutants [TEXT...]`: see skein.sim.mutants"
  (:require
   [clojure.edn :as edn]
   [clojure.test :as test]
   [skein.arguments :as arguments]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.sim :as sim]
   [skein.sim.corpus-test :as corpus-test]
   [skein.sim.explore-test :as explore-test]
   [skein.sim.mutants :as mutants]
   [skein.sim.programs-test :as programs-test]
   [skein.sim.reduction-test :as reduction-test]
   [skein.virtual :as virtual]))

(set! *warn-on-reflection* true)

(def ^:private usage "./skein schedules twins [N] | seeds [N] | trees [N] | programs [N] | reduced [N] | mutants [TEXT...]")

(defn- twins
  "Runs the tests of the corpus with `n` schedules for each twin. Returns whether they pass."
  [n]
  (binding [test/*report-counters* (ref test/*initial-report-counters*)
            corpus-test/*twin-schedules* n]
    (test/test-vars [#'corpus-test/bugs-of-the-corpus-are-found #'corpus-test/twins-pass])
    (let [{:keys [pass fail error]} @test/*report-counters*]
      (println (format "%d programs, 20 seeds of 20 for each bug, %d schedules of each twin: %d claims hold, %d do not"
                       (count corpus-test/programs) n pass (+ (long fail) (long error))))
      (zero? (+ (long fail) (long error))))))

(def ^:private jvms
  "Name -> options of JVMs in which runs must be the same."
  {"-Xint" ["-Xint"]
   "another collector, another identity hash, one processor"
   ["-XX:+UseSerialGC" "-XX:+UnlockExperimentalVMOptions" "-XX:hashCode=2" "-XX:ActiveProcessorCount=1"]})

(defn- elsewhere
  "The hashes of `n` seeds in a JVM with these options."
  [options n]
  (edn/read-string
    (fresh-jvm/output (into ["--add-opens" "java.base/java.lang=ALL-UNNAMED"] options)
                      ["-e" (pr-str `(do (require 'skein.sim.explore-test)
                                         (prn ((resolve 'skein.sim.explore-test/hashes) ~n))))])))

(defn- compared
  "Prints whether `others` are the runs `here`. Returns whether they are."
  [where here others]
  (let [differ (if (map? others) (filter #(not= (here %) (others %)) (keys here)) (keys here))]
    (println (format "%-60s %s" where (if (empty? differ) "the same runs" (str "OTHER RUNS of " (vec differ)))))
    (flush)
    (empty? differ)))

(defn- seeds
  "Compares the runs of each program by `n` seeds. Returns whether all are the same."
  [n]
  (let [here (explore-test/hashes n)]
    (println (format "%d seeds of %d programs, each with its bug and without" n (count corpus-test/programs)))
    (every? true? (cons (compared "again in this JVM" here (explore-test/hashes n))
                        (doall (for [[where options] jvms] (compared where here (elsewhere options n))))))))

(defn- faulty-tree
  "Runs the tree of the scope-trees of modules/async that `seed` gives, by 100 schedules. Returns how it fails, or nil."
  [seed]
  (let [tree (requiring-resolve 'skein.scope-trees/tree)
        faults (requiring-resolve 'skein.scope-trees/faults)]
    (try
      (sim/check {:schedules 100 :seed seed :leaks :none :time (if (even? (long seed)) :jump :slow)}
        (when-some [[[text]] (seq (faults (tree seed 9) 9))]
          (throw (ex-info text {}))))
      nil
      (catch clojure.lang.ExceptionInfo e (str "tree " seed ": " (ex-message e))))))

(defn- trees
  "Returns whether the trees of the seeds below `n` are as they must be."
  [n]
  (let [failed (with-bindings {(requiring-resolve 'skein.scope-trees/*sleep*) (fn sleep [ms] (virtual/sleep ms))}
                 (into [] (keep faulty-tree) (range n)))]
    (println (format "%d trees of 9 scopes, 100 schedules each: %d have faults" n (count failed)))
    (run! println (take 3 failed))
    (empty? failed)))

(defn- programs
  "Returns whether `n` pairs of random programs are simulated as they must be."
  [n]
  (let [wrong (programs-test/search n 200)]
    (println (format "%d pairs of random programs, 200 schedules each: %s" n (if wrong "one has another outcome" "no false alarm")))
    (some-> wrong prn)
    (nil? wrong)))

(defn- reduction
  "Returns whether the reduced search of `n` random programs has all results."
  [n]
  (let [wrong (reduction-test/search n)]
    (println (format "%d random programs by the exhaustive and the reduced search: %s" n (if wrong "the results differ" "the same results")))
    (some-> wrong prn)
    (nil? wrong)))

(defn -main
  "Does `what`, and exits with 1 if something does not hold."
  [& [what & more]]
  (let [number (fn number [default] (arguments/positive usage parse-long (first more) default))
        holds? (case what
                 "twins" (twins (number 10000))
                 "seeds" (seeds (number 300))
                 "trees" (trees (number 300))
                 "programs" (programs (number 200))
                 "reduced" (reduction (number 500))
                 "mutants" (mutants/run more)
                 (do (binding [*out* *err*] (println "skein: usage:" usage))
                     (System/exit 2)))]
    (System/exit (if holds? 0 1))))
