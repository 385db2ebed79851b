;; SPDX-License-Identifier: Apache-2.0
;; The test runner of one module: clojure.main run_tests.clj MODULE [NAMESPACE...]
;; `./skein test` starts it once for each module, in a process with that module's class path.
;; It runs every *_test.clj, and writes the numbers of deftests that passed and failed to the file
;; that the property skein.test.counts names. The launcher adds them up.
(ns skein.run-tests
  "Runs the test namespaces, all or those named on the command line, and exits
  with 1 if a test fails, if none runs, or if the whole run hangs."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test]))

(set! *warn-on-reflection* true)

(def ^:private ^:const deadline-ms (* 14 60 1000))

(defn- test-namespaces []
  (let [root (io/file (first *command-line-args*) "test" "clojure")
        prefix (count (.getPath root))]
    (->> (file-seq root)
         (map #(.getPath ^java.io.File %))
         (filter #(str/ends-with? % "_test.clj"))
         (map #(-> (subs % (inc prefix) (- (count %) 4)) (str/replace \/ \.) (str/replace \_ \-) symbol))
         sort)))

(defn- dump-threads! []
  (doseq [[^Thread thread frames] (Thread/getAllStackTraces)]
    (println "Thread" (.getName thread) (str (.getState thread)))
    (doseq [frame frames] (println "   " (str frame)))))

(defn- start-watchdog!
  "Starts a thread that prints all stacks of a hanging run and ends it."
  []
  (doto (Thread. ^Runnable (fn watch []
                             (Thread/sleep (long deadline-ms))
                             (println "The tests did not end within" (quot deadline-ms 60000) "minutes. All threads:")
                             (dump-threads!)
                             (flush)
                             (.halt (Runtime/getRuntime) 1))
                 "test-watchdog")
    (.setDaemon true)
    (.start)))

(defn- run-var
  "Runs one deftest. Returns whether all its assertions held and there was at least one."
  [v]
  (let [before @test/*report-counters*]
    (test/test-vars [v])
    (let [after @test/*report-counters*
          grew (fn [k] (- (long (after k 0)) (long (before k 0))))
          empty-test? (zero? (+ (grew :pass) (grew :fail) (grew :error)))]
      (when empty-test? (println "FAIL: no assertion was made in" v))
      (and (not empty-test?) (zero? (+ (grew :fail) (grew :error)))))))

(defn- run-namespace [n]
  (require n)
  (let [vars (->> (vals (ns-interns n)) (filter (comp :test meta)) (sort-by (comp :line meta)))
        start (System/nanoTime)
        outcomes (mapv run-var vars)]
    (println (format "%-40s %3d tests, %d failed, %.1f s" n (count vars) (count (remove true? outcomes))
                     (/ (- (System/nanoTime) start) 1e9)))
    (flush)
    outcomes))

(defn- run-all [namespaces]
  (binding [test/*report-counters* (ref test/*initial-report-counters*)]
    (into [] (mapcat run-namespace) namespaces)))

(defn- asked-namespaces []
  (->> *command-line-args* rest (map symbol) seq))

(start-watchdog!)
(let [outcomes (try (run-all (or (asked-namespaces) (test-namespaces)))
                    (catch Throwable t
                      (.printStackTrace t)
                      [false]))
      failed (count (remove true? outcomes))]
  (println (format "%s: %d passed, %d failed" (first *command-line-args*) (- (count outcomes) failed) failed))
  (some-> (System/getProperty "skein.test.counts")
          (spit (str (- (count outcomes) failed) " " failed "\n")))
  (shutdown-agents)
  (flush)
  (System/exit (if (and (seq outcomes) (zero? failed)) 0 1)))
