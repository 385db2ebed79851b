;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus-test
  "Each program of the corpus: its bug is found within its number of schedules from each of 20 seeds,
  and its twin passes. `./skein schedules twins` has the twins run longer."
  (:require
   [clojure.test :as test :refer [deftest is testing]]
   [skein.sim :as sim]
   [skein.sim.corpus.order :as order]
   [skein.sim.corpus.state :as state]
   [skein.sim.corpus.waiting :as waiting]
   [skein.skip :refer [skip!]]))

(set! *warn-on-reflection* true)

(def ^:private monitors? (<= 24 (.feature (Runtime/version))))

(def programs
  "All of them that this JDK can run."
  (cond->> (concat state/programs order/programs waiting/programs)
    (not monitors?) (remove (comp #{"locking on two monitors"} :name))))

(defn- skip-monitors! []
  (when-not monitors? (skip! "before JDK 24 a thread that waits for a monitor keeps its carrier")))

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
  (skip-monitors!)
  (doseq [{:keys [name within options buggy]} programs]
    (testing name
      (is (= 20 (count (keep #(outcome (merge options {:schedules within :seed (* 1000 (long %))}) buggy) (range 20))))))))

(deftest twins-pass
  (skip-monitors!)
  (doseq [{:keys [name options fixed]} programs]
    (testing name
      (is (nil? (outcome (merge options {:schedules *twin-schedules* :seed 4711}) fixed))))))

(deftest a-token-fails-again
  (skip-monitors!)
  (doseq [{:keys [name options buggy]} programs]
    (testing name
      (binding [test/*testing-vars* nil]
        (let [failed (try (sim/check* (assoc options :seed 5) buggy {}) (catch clojure.lang.ExceptionInfo e e))
              again (try (sim/replay* (:token (ex-data failed)) (sim/checked options) buggy {})
                         (catch clojure.lang.ExceptionInfo e e))]
          (is (= (ex-data failed) (ex-data again))))))))
