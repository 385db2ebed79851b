;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.programs-test
  "No false alarm: random programs of skein.impl.go-programs mean by every schedule what they mean as plain functions.

  Two run at a time, as blocks. Threads of the simulation answer them. `./skein schedules programs` runs more of them."
  (:require
   [clojure.test :as test :refer [deftest is]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as properties]
   [skein.async :refer [<!!]]
   [skein.impl.go-programs :as programs]
   [skein.sim :as sim]))

(set! *warn-on-reflection* true)

(defn- started
  "Returns a function that starts the form as a block, and returns a function that waits for its outcome. Returns nil if the
  form doesn't compile. The seed says which ports answer late."
  [form seed]
  (when-some [start (programs/compiled (list 'fn '[note] (list `programs/block (list 'try [form] '(catch Throwable t t)))))]
    (fn begin []
      (let [log (atom [])
            block (binding [programs/*ports* (java.util.Random. seed)]
                    (start (fn note [v] (swap! log conj v) v)))]
        (fn wait []
          (let [v (<!! block)]
            (programs/outcome log (fn result [] (if (vector? v) (v 0) (throw v))))))))))

(defn- wrong
  "Runs the two forms by `n` schedules of a simulation. Returns nil, or the error and message of what goes wrong."
  [forms seed n]
  (let [expected (mapv programs/plain forms)
        starts (mapv started forms [seed (inc (long seed))])]
    (when-not (or (some nil? starts) (some #{[:invalid]} expected))
      (binding [test/*testing-vars* nil]
        (try
          (sim/check {:schedules n :seed seed}
            (let [outcomes (mapv (fn [wait] (wait)) (mapv (fn [begin] (begin)) starts))]
              (when-not (every? programs/alike? (map vector expected outcomes))
                (throw (ex-info "another outcome" {:expected expected :actual outcomes})))))
          nil
          (catch clojure.lang.ExceptionInfo e [(ex-data e) (ex-message e)]))))))

(defn search
  "Runs `pairs` pairs of programs by `n` schedules each. Returns nil, or what is wrong with the smallest pair found."
  [pairs n]
  (let [forms (fn forms [trees] (mapv (partial programs/form []) trees))
        property (properties/for-all [trees (gen/tuple programs/program programs/program), seed gen/nat]
                   (nil? (wrong (forms trees) seed n)))
        {:keys [pass? shrunk] :as result} (check/quick-check pairs property :max-size 120)
        [trees seed] (:smallest shrunk)]
    (when-not pass?
      {:seed (:seed result) :forms (some-> trees forms) :wrong (if trees (wrong (forms trees) seed n) result)})))

(deftest a-program-has-one-meaning-in-every-schedule
  (is (nil? (search 40 20))))
