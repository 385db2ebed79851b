;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.form-property-test
  "Tracing changes nothing: random programs give the same value or exception, and the same
  effects in the same order, in trace-forms as without, and in a block as well.

  600 programs a run, or as many as the system property skein.programs says."
  (:require [clojure.test :refer [deftest is]]
            [clojure.test.check :as check]
            [clojure.test.check.generators :as gen]
            [clojure.test.check.properties :as properties]
            [skein.impl.go-programs :as programs]
            [skein.trace :as trace]))

(set! *warn-on-reflection* true)

(def ^:private n-programs (Long/getLong "skein.programs" 600))

(defn- traced [form args?]
  (list `trace/trace-forms {:sink [] :args? args?} form))

(defn- outcomes
  "What the program does as it is, traced, and traced in a block; the last only now and then."
  [form seed]
  (let [plain (programs/plain form)]
    (cond
      (= [:invalid] plain) [plain]
      (zero? (rem (long seed) 3)) [plain (programs/plain (traced form false)) (programs/parking (traced form false) seed)]
      :else [plain (programs/plain (traced form (even? (long seed))))])))

(deftest tracing-changes-nothing
  (let [property (properties/for-all [tree programs/program, seed gen/nat]
                   (apply = (outcomes (programs/form [] tree) seed)))
        {:keys [pass? seed shrunk]} (check/quick-check n-programs property :max-size 120)
        [tree run-seed] (:smallest shrunk)
        form (when tree (programs/form [] tree))]
    (is pass? (pr-str {:seed seed, :form form, :outcomes (when form (outcomes form run-seed))}))))
