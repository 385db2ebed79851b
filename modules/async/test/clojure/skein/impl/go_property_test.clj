;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.go-property-test
  "A block means what its body means: random programs with parking operations
  all over give the same value or exception, and the same effects in the same
  order, as a block and as a function.

  1500 programs a run, or as many as the system property skein.programs says:
  5000 take 40 seconds on an idle machine with two cores, and minutes on a busy one."
  (:require
   [clojure.test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as properties]
   [skein.impl.go-programs :as programs]))

(set! *warn-on-reflection* true)

(def ^:private n-programs (Long/getLong "skein.programs" 1500))

(defn- same-meaning
  "Holds for programs that Clojure compiles, which `valid` counts: it refuses some that a
  block takes, such as a recur in a finally."
  [valid]
  (properties/for-all [tree programs/program
                       seed gen/nat]
    (let [form (programs/form [] tree)
          plain (programs/plain form)]
      (or (= [:invalid] plain)
          (do (swap! valid inc)
              (programs/alike? [plain (programs/parking form seed)]))))))

(deftest a-block-means-what-its-body-means
  (let [valid (atom 0)
        {:keys [pass? seed shrunk]} (check/quick-check n-programs (same-meaning valid) :max-size 120)
        [tree run-seed] (:smallest shrunk)
        form (when tree (programs/form [] tree))]
    (is pass? (pr-str {:seed seed, :run-seed run-seed, :form form
                       :result (:result shrunk)
                       :plain (when form (programs/plain form))
                       :block (when form (try (programs/parking form run-seed) (catch Throwable t t)))}))
    (is (< (* 0.9 (double n-programs)) (double @valid)) "few programs are invalid")))
