;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.reload-test
  "Schedules from before a reload can be replayed after it, and what was wrapped is put back."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires '[[skein.async :as a] [skein.async.limit :as limit] [skein.scope :as scope] [skein.sim :as sim] [skein.test]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload)) '[skein.sim.options skein.sim.wrap skein.sim.runs skein.sim skein.test])
    (require 'skein.sim 'skein.test :reload-all)])

(def ^:private rows
  '[[:token
     (let [body (fn [] (let [c (a/chan)] (a/go (a/>! c 1)) (a/go (a/>! c 2)) [(a/<!! c) (a/<!! c)]))]
       [body (:token (sim/run {:seed 1} (body))) (:value (sim/run {:seed 1} (body)))])
     (fn [[body token value]] (= value (:value (binding [*out* (java.io.StringWriter.)] (sim/replay token (body))))))
     true]
    [:limiter-outside (limit/concurrency-limiter 1) (fn [lim] [(sim/with-virtual-time (limit/with-permit (limit/concurrency-limiter 1) 1)) (limit/with-permit lim 2)]) [1 2]]])

(deftest simulations-go-on-through-a-reload
  (is (= [] (reloading/faults requires reloads rows))))
