;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.options
  "The options of a simulation: `checked` fills in what is not given, and refuses what is wrong."
  {:no-doc true}
  (:require
   [clojure.string :as str]
   [skein.impl.error :as error])
  (:import
   (skein.sim.rt Carriers)))

(set! *warn-on-reflection* true)

(defn- strategy? [x]
  (or (#{:mix :fifo :reversed :random :pos :exhaustive} x)
      (and (vector? x) (= 2 (count x)) (#{:pct :delay} (x 0)) (nat-int? (x 1)))))

(defn- some-of? [& all]
  (fn [x] (and (set? x) (every? (set all) x))))

(def ^:private known
  "Option -> [default, what its value must satisfy, that in words]."
  {:schedules   [1000 pos-int? "a whole number from 1"]
   :seconds     [nil (some-fn nil? #(and (number? %) (pos? (double %)))) "a positive number"]
   :seed        [nil (some-fn nil? nat-int?) "a whole number from 0"]
   :strategy    [:mix strategy? "one of :mix :fifo :reversed :random [:pct d] :pos [:delay b] :exhaustive"]
   :max-steps   [100000 pos-int? "a whole number from 1"]
   :points      [#{:channels :atoms} (some-of? :channels :atoms) "a set of :channels and :atoms"]
   :time        [:jump #{:jump :slow :manual} "one of :jump :slow :manual"]
   :leaks       [:puts #{:puts :all :none} "one of :puts :all :none"]
   :outside     [:fail #{:fail :wait} "one of :fail :wait"]
   :faults      [{} map? "a map of names to functions, exceptions or values"]
   :fault       [:cancel (some-fn #{:cancel :throw :close :expire} fn?) "one of :cancel :throw :close :expire, or a function"]
   :threads     [:auto #{:auto :none} "one of :auto :none"]
   :watchdog-ms [10000 pos-int? "a whole number from 1"]})

(defn- fail! [message data]
  (error/fail! :skein/bad-option message data))

(defn- check [[option value]]
  (let [[_ fits? words] (known option)]
    (cond
      (nil? words) (fail! (str "A simulation has no option " (error/preview option) ". There are "
                               (str/join " " (sort (keys known))) ".")
                          {:option option})
      (not (fits? value)) (fail! (str option " must be " words ", but is " (error/preview value) ".")
                                 {:option option :value (error/preview value)}))))

(defn- from-environment [options]
  (let [env (fn [name] (System/getenv name))]
    (cond-> options
      (and (env "SKEIN_SIM_SEED") (nil? (:seed options))) (assoc :seed (parse-long (env "SKEIN_SIM_SEED")))
      (env "SKEIN_SIM_SECONDS") (assoc :seconds (parse-double (env "SKEIN_SIM_SECONDS"))))))

(defn checked
  "Returns `options` with defaults for what is missing. Throws :skein/bad-option."
  [options]
  (when-not (or (nil? options) (map? options))
    (fail! (str "The options of a simulation are a map, but this is " (error/preview options) ".")
           {:value (error/preview options)}))
  (run! check options)
  (-> (update-vals known first)
      (merge options)
      from-environment
      (update :threads (fn [mode] (and (= :auto mode) (Carriers/available))))))
