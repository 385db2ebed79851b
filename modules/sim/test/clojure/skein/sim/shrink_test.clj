;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.shrink-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.sim :as sim]
   [skein.sim.options :as options]
   [skein.sim.runs :as runs]
   [skein.sim.shrink :as shrink]))

(set! *warn-on-reflection* true)

(defn- fails-if
  "Returns a body that draws 0 or 1 three times, and fails if `bad?` is true of the draws."
  [bad?]
  (fn body []
    (let [drawn (vec (repeatedly 3 #(sim/pick [0 1])))]
      (when (bad? drawn) (throw (ex-info "bad" {}))))))

(defn- shrunk
  "Returns the deviations to which `deviations` are shrunk."
  [bad? deviations]
  (let [options (options/checked {}), body (runs/bound options (fails-if bad?))
        schedule (assoc runs/fifo :strategy {:kind :listed :deviations deviations})]
    (runs/supervised options
      (fn shrinks [] (get-in (shrink/shrink options schedule (runs/play options schedule body) body) [:strategy :deviations])))))

(deftest deviations-that-do-not-matter-are-left-out
  (is (= [[1 1]] (shrunk (fn [[_ y _]] (= 1 y)) [[0 1] [1 1] [2 1]])))
  (is (= [] (shrunk (constantly true) [[0 1]]))))

(deftest another-deviation-takes-the-place-of-two
  (is (= [[2 1]] (shrunk #{[1 1 0] [0 0 1]} [[0 1] [1 1]]))))

(deftest two-deviations-stay-where-one-will-not-do
  (is (= [[0 1] [1 1]] (shrunk #{[1 1 0]} [[0 1] [1 1]]))))
