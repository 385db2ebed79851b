;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus-test
  "Each program of the corpus: its bug is found within its number of schedules from each of 20 seeds,
  and its twin passes. `./skein schedules twins` has the twins run longer."
  (:require
   [clojure.test :as test :refer [deftest is testing]]
   [skein.sim :as sim]
   [skein.sim.corpus.order :as order]
   [skein.sim.corpus.state :as state]
   [skein.sim.corpus.waiting :as waiting]))

(set! *warn-on-reflection* true)

(def programs
  "All of them; those with monitors only on JDK 24 and later, because on an older one a thread that waits for a monitor pins its carrier."
  (cond->> (concat state/programs order/programs waiting/programs)
    (< (.feature (Runtime/version)) 24) (remove (comp #{"locking on two monitors"} :name))))

(def ^:dynamic *twin-schedules*
  "How many schedules a twin passes."
  200)

(defn- outcome
  "The error of a check outside of a test, or nil."
  [options body]
  (binding [test/*testing-vars* nil]
    (try
      (sim/check* options body {})
      nil
      (catch clojure.lang.ExceptionInfo e
        (or (:skein/error (ex-data e)) (throw e))))))

(deftest bugs-of-the-corpus-are-found
  (doseq [{:keys [name within options buggy]} programs]
    (testing name
      (is (= 20 (count (keep #(outcome (merge options {:schedules within :seed (* 1000 (long %))}) buggy) (range 20))))))))

(deftest twins-pass
  (doseq [{:keys [name options fixed]} programs]
    (testing name
      (is (nil? (outcome (merge options {:schedules *twin-schedules* :seed 4711}) fixed))))))

(deftest a-token-fails-again
  (doseq [{:keys [name options buggy]} programs]
    (testing name
      (binding [test/*testing-vars* nil]
        (let [failed (try (sim/check* (assoc options :seed 5) buggy {}) (catch clojure.lang.ExceptionInfo e e))
              again (try (sim/replay* (:token (ex-data failed)) (sim/checked options) buggy {})
                         (catch clojure.lang.ExceptionInfo e e))]
          (is (= (ex-data failed) (ex-data again))))))))
