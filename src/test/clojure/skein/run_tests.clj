;; SPDX-License-Identifier: Apache-2.0
;; The one test runner: `./skein test [NAMESPACE...]` and `mvn test` both load this script.
;; It finds every *_test.clj, runs it, and ends with the line `N passed, N failed`, counting deftests.
(ns skein.run-tests
  "Runs the test namespaces, all or those named on the command line, and exits
  with 1 when a test failed, when none ran, or when the whole run hangs."
  (:require [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.test :as test]))

(set! *warn-on-reflection* true)

(def ^:private ^:const deadline-ms (* 14 60 1000))

(defn- test-namespaces []
  (let [root (io/file "src/test/clojure")
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
  "A hanging run says where it hangs, then dies, rather than being killed dumb."
  []
  (doto (Thread. ^Runnable (fn watch []
                             (Thread/sleep (long deadline-ms))
                             (println "The tests did not end within" (quot deadline-ms 60000) "minutes. All threads:")
                             (dump-threads!)
                             (println "0 passed, 1 failed")
                             (flush)
                             (.halt (Runtime/getRuntime) 1))
                 "test-watchdog")
    (.setDaemon true)
    (.start)))

(defn- run-var
  "Runs one deftest; returns whether every assertion of it held, and at least one was made."
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

(defn- asked-namespaces
  "The namespaces on the command line. Maven's plugin adds a file's path, which is none."
  []
  (->> *command-line-args* (remove #(str/includes? % "/")) (map symbol) seq))

(defn- check-namespaces!
  "Says which of the namespaces asked for hold no tests, and ends the run with 2."
  [asked known]
  (when-let [unknown (seq (remove (set known) asked))]
    (println (str "no test namespace " (str/join ", " unknown) "; there are:\n  " (str/join "\n  " known)))
    (println "0 passed, 1 failed")
    (flush)
    (System/exit 2)))

(start-watchdog!)
(let [known (test-namespaces)
      asked (asked-namespaces)
      _ (check-namespaces! asked known)
      outcomes (try (run-all (or asked known))
                    (catch Throwable t
                      (.printStackTrace t)
                      [false]))
      failed (count (remove true? outcomes))]
  (println (format "%d passed, %d failed" (- (count outcomes) failed) failed))
  (shutdown-agents)
  (flush)
  (System/exit (if (and (seq outcomes) (zero? failed)) 0 1)))
