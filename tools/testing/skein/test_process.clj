;; SPDX-License-Identifier: Apache-2.0
(ns skein.test-process
  "Runs test namespaces in this process. `skein.run-tests` starts it."
  (:require
   [clojure.test :as test]))

(set! *warn-on-reflection* true)

(def ^:private ^:const deadline-ms (* 14 60 1000))

(defn- dump-threads! []
  (doseq [[^Thread thread frames] (Thread/getAllStackTraces)]
    (println "Thread" (.getName thread) (str (.getState thread)))
    (doseq [frame frames] (println "   " (str frame)))))

(defn- with-watchdog
  "Calls `f`. If it hangs, prints all stacks and ends the process."
  [n f]
  (let [ended (promise)]
    (doto (Thread. ^Runnable (fn watch []
                               (when-not (deref ended deadline-ms false)
                                 (println n "did not end within" (quot deadline-ms 60000) "minutes. All threads:")
                                 (dump-threads!)
                                 (flush)
                                 (.halt (Runtime/getRuntime) 1)))
                   "test-watchdog")
      (.setDaemon true)
      .start)
    (try (f) (finally (deliver ended true)))))

(def ^:private skipped
  "reason -> the deftests that gave it"
  (atom (sorted-map)))

(defmethod test/report :skip [{:keys [reason]}]
  (test/inc-report-counter :skip)
  (swap! skipped update reason (fnil conj #{}) (first test/*testing-vars*)))

(defn- run-var
  "Runs one deftest. Returns :passed, :skipped or :failed. It passes if all its assertions hold and there is
  at least one."
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

(defn- run-namespace
  "Returns the outcomes of its deftests. A namespace that does not load is a failure."
  [n]
  (try
    (require n)
    (let [vars (->> (vals (ns-interns n)) (filter (comp :test meta)) (sort-by (comp :line meta)))
          start (System/nanoTime)
          outcomes (with-watchdog n #(mapv run-var vars))
          {:keys [failed skipped] :or {failed 0, skipped 0}} (frequencies outcomes)]
      (println (format "%-40s %3d tests, %d failed, %d skipped, %.1f s" n (count vars) failed skipped
                       (/ (- (System/nanoTime) start) 1e9)))
      outcomes)
    (catch Throwable t
      (.printStackTrace t)
      [:failed])
    (finally (flush))))

(defn -main
  "Runs the namespaces, and writes the numbers of deftests that passed, failed and were skipped into a file,
  and for each reason of `skein.skip/skip!` the number of deftests that gave it."
  [file & namespaces]
  (let [outcomes (binding [test/*report-counters* (ref test/*initial-report-counters*)]
                   (into [] (mapcat #(run-namespace (symbol %))) namespaces))]
    (spit file (pr-str (merge {:passed 0, :failed 0, :skipped 0} (frequencies outcomes)
                              {:reasons (update-vals @skipped count)})))
    (flush)
    (System/exit 0)))
