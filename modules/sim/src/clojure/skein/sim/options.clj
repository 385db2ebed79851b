;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.options
  "The options of a simulation: `checked` fills in what is not given, and refuses what is wrong."
  {:no-doc true}
  (:require
   [skein.impl.check :as check])
  (:import
   (skein.sim.rt Carriers)))

(set! *warn-on-reflection* true)

(defn- strategy? [x]
  (or (#{:mix :random :exhaustive :reduced} x)
      (and (vector? x) (= 2 (count x)) (= :pct (x 0)) (nat-int? (x 1)))))

(defn- some-of? [& all]
  (fn [x] (and (set? x) (every? (set all) x))))

(def known
  "Option -> [default, predicate of its value, the predicate in words]."
  {:schedules   [1000 pos-int? "a whole number from 1"]
   :for-ms      (into [nil] check/time-option)
   :seed        [nil nat-int? "a whole number from 0"]
   :strategy    [:mix strategy? "one of :mix :random [:pct d] :exhaustive :reduced"]
   :max-steps   [100000 pos-int? "a whole number from 1"]
   :points      [#{:channels :atoms} (some-of? :channels :atoms) "a set of :channels and :atoms"]
   :time        [:jump #{:jump :slow :manual} "one of :jump :slow :manual"]
   :leaks       [:puts #{:puts :all :none} "one of :puts :all :none"]
   :drain-ms    (into [10000] check/time-option)
   :outside     [:fail #{:fail :wait} "one of :fail :wait"]
   :faults      [{} map? "a map of names to functions, exceptions or values"]
   :fault       [:cancel (some-fn #{:cancel :throw :close :expire} fn?) "one of :cancel :throw :close :expire, or a function"]
   :threads     [:auto #{:auto :none} "one of :auto :none"]
   :tokens      [nil string? "the path of a file"]
   :watchdog-ms (into [10000] check/time-option)
   :report      [:test #{:test :throw} "one of :test :throw"]})

(defn- from
  "Returns {k number}, the number in the variable `name` of the environment `env`, or nil if it is not set.
  Throws :skein/bad-argument."
  [env name parse k]
  (when-some [text (get env name)]
    (let [n (parse text), [_ fits? wanted] (known k)]
      (check/that (str "The environment's " name) text (and n (fits? n)) wanted)
      {k n})))

(def opens
  "The JVM's option without which threads are not simulated."
  "--add-opens java.base/java.lang=ALL-UNNAMED")

(defonce ^:private warn-of-lite-mode
  (delay (binding [*out* *err*]
           (println (str "skein.sim: this JVM lacks " opens ", so threads are not simulated, and"
                         " no other block runs where a block reads or changes an atom.")))))

(defn checked
  "Returns `options` with defaults for what is missing. `env` has the environment's variables. Throws :skein/bad-argument."
  ([options] (checked options (System/getenv)))
  ([options env]
   (-> (merge (update-vals known first)
              (from env "SKEIN_SIM_SEED" parse-long :seed)
              (check/options "skein.sim" options (update-vals known rest))
              (from env "SKEIN_SIM_FOR_MS" parse-long :for-ms))
       (update :watchdog-ms (fn [ms] (check/milliseconds :watchdog-ms ms)))
       (update :drain-ms (fn [ms] (check/milliseconds :drain-ms ms)))
       (update :for-ms (fn [ms] (when ms (check/milliseconds :for-ms ms))))
       (update :threads (fn [mode]
                          (when (= :auto mode)
                            (or (Carriers/available) @warn-of-lite-mode)))))))
