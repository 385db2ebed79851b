;; SPDX-License-Identifier: Apache-2.0
;; The test runner of one module: clojure.main run_tests.clj MODULE [NAMESPACE...]
;; `./skein test` starts it once for each module, in a process with that module's class path.
;; It runs every *_test.clj, and writes to the file that the property skein.test.counts names: a line with the numbers of
;; deftests that passed, failed and were skipped, and for each reason of `skein.skip/skip!` a line with the number of
;; deftests that gave it. The launcher adds them up.
(ns skein.run-tests
  "Runs the test namespaces, all or those named on the command line, and exits
  with 1 if a test fails, if none passes, or if the whole run hangs."
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

(def ^:private skipped
  "reason -> the deftests that gave it"
  (atom (sorted-map)))

(defmethod test/report :skip [{:keys [reason]}]
  (test/inc-report-counter :skip)
  (swap! skipped update reason (fnil conj #{}) (first test/*testing-vars*)))

(defn- run-var
  "Runs one deftest. Returns :passed, :skipped or :failed. It passes if all its assertions hold and there is at least one."
  [v]
  (let [before @test/*report-counters*]
    (test/test-vars [v])
    (let [after @test/*report-counters*
          grew? (fn grew? [k] (< (long (before k 0)) (long (after k 0))))]
      (cond
        (or (grew? :fail) (grew? :error)) :failed
        (grew? :skip) :skipped
        (grew? :pass) :passed
        :else (do (println "FAIL: no assertion was made in" v) :failed)))))

(defn- counts
  "Returns the numbers of deftests that passed, failed and were skipped."
  [outcomes]
  (mapv #(count (filter #{%} outcomes)) [:passed :failed :skipped]))

(defn- run-namespace [n]
  (require n)
  (let [vars (->> (vals (ns-interns n)) (filter (comp :test meta)) (sort-by (comp :line meta)))
        start (System/nanoTime)
        outcomes (mapv run-var vars)
        [_ failed skipped] (counts outcomes)]
    (println (format "%-40s %3d tests, %d failed, %d skipped, %.1f s" n (count vars) failed skipped
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
                      [:failed]))
      [passed failed left-out] (counts outcomes)]
  (println (format "%s: %d passed, %d failed, %d skipped" (first *command-line-args*) passed failed left-out))
  (some-> (System/getProperty "skein.test.counts")
          (spit (str/join (cons (str passed " " failed " " left-out "\n")
                                (for [[reason tests] @skipped] (str (count tests) " " reason "\n"))))))
  (shutdown-agents)
  (flush)
  (System/exit (if (and (pos? (long passed)) (zero? (long failed))) 0 1)))
