;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.proofs
  "`./skein schedules WHAT`: what takes too long for a test.

  * `twins [N]`: the bug of each program of the corpus is found, from 20 seeds; its twin passes N schedules, 10,000
  * `seeds [N]`: N seeds, 300, give the same runs of each program twice here and once in two JVMs that differ
  * `mutants [TEXT...]`: see skein.sim.mutants"
  (:require
   [clojure.edn :as edn]
   [clojure.test :as test]
   [skein.arguments :as arguments]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.sim.corpus-test :as corpus-test]
   [skein.sim.explore-test :as explore-test]
   [skein.sim.mutants :as mutants]))

(set! *warn-on-reflection* true)

(def ^:private usage "./skein schedules twins [N] | seeds [N] | mutants [TEXT...]")

(defn- twins
  "Runs the tests of the corpus with `n` schedules for each twin. Returns whether they pass."
  [n]
  (binding [test/*report-counters* (ref test/*initial-report-counters*)
            corpus-test/*twin-schedules* n]
    (test/test-vars [#'corpus-test/bugs-are-found #'corpus-test/twins-pass])
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
  "Says whether `others` are the runs `here`. Returns whether they are."
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

(defn -main
  "Does `what`, and exits with 1 if something does not hold."
  [& [what & more]]
  (let [number (fn number [default] (arguments/positive usage parse-long (first more) default))
        holds? (case what
                 "twins" (twins (number 10000))
                 "seeds" (seeds (number 300))
                 "mutants" (mutants/run more)
                 (do (binding [*out* *err*] (println "skein: usage:" usage))
                     (System/exit 2)))]
    (System/exit (if holds? 0 1))))
