;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.proofs
  "`./skein proofs [MINUTES]`: 2000 random programs against a model. Then each healthy program for the given minutes, with a proof each
  minute."
  (:require
   [clojure.test :as test]
   [skein.inspect.holders-test]
   [skein.inspect.programs-test]
   [skein.inspect.random-test :as random]
   [skein.inspect.watched :as watched]))

(set! *warn-on-reflection* true)

(def ^:private rounds "How many times 500 programs run at once." 4)

(def ^:private living "The namespaces of the healthy programs." '[skein.inspect.programs-test skein.inspect.holders-test])

(defn- failures []
  (let [{:keys [fail error]} @test/*report-counters*] (+ (long fail) (long error))))

(defn- stage [title run]
  (let [before (failures), start (System/nanoTime)]
    (watched/fresh run)
    (println (format "%-60s %s, %.1f s" title (if (= before (failures)) "as it must be" "WRONG") (/ (- (System/nanoTime) start) 1e9)))
    (flush)))

(defn -main
  "Runs all. Exits with 1 if a check fails."
  [& [minutes]]
  (let [minutes (if minutes (parse-long minutes) 10)]
    (when-not (nat-int? minutes)
      (binding [*out* *err*] (println "skein: proofs takes a whole number of minutes for each program."))
      (System/exit 2))
    (binding [test/*report-counters* (ref test/*initial-report-counters*)
              watched/*minutes* minutes]
      (dotimes [i rounds] (stage (str "500 random programs, round " (inc (long i))) #(random/check-against-model 500)))
      (doseq [v (sort-by (comp :line meta) (filter (comp :silent meta) (mapcat (comp vals ns-interns) living)))]
        (stage (str (:name (meta v))) (:test (meta v))))
      (System/exit (if (zero? (long (failures))) 0 1)))))
