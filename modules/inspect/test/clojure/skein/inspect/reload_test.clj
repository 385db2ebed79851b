;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.reload-test
  "The inspector goes on through a reload, and what it knows stays."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires '[[skein.async :as a] [skein.inspect :as inspect] [skein.inspect.survivors :as survivors]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload)) '[skein.inspect.snapshot skein.inspect.verdict skein.inspect.why skein.inspect])
    (require 'skein.inspect :reload-all)])

(def ^:private rows
  '[[:block
     (let [c (a/chan)] (inspect/start!) [(a/label! c "orders") (a/go (a/<! c))])
     (fn [[c port]]
       [(= :off (inspect/level)) (:ends (inspect/why port)) (some #{"orders"} (map :label (:channels (inspect/snapshot)))) (a/>!! c 1) (a/<!! port)])
     [false :nobody "orders" true 1]]
    [:snapshot (do (inspect/start!) (inspect/snapshot)) (fn [s] [(vector? (inspect/blocks {} s)) (vector? (inspect/deadlocks {} s))]) [true true]]
    [:mark
     (do (inspect/start!) (survivors/mark))
     (fn [m] (let [c (a/chan) port (a/go (a/<! c))] [(pos? (count (survivors/survivors m))) (a/>!! c 1) (a/<!! port)]))
     [true true 1]]
    [:recording
     (let [c (a/chan)] (inspect/start! {:level :events}) [c (a/go (a/<! c))])
     (fn [[c port]] [(inspect/level) (a/>!! c 1) (a/<!! port) (map? (inspect/timeline)) (inspect/stop!) (inspect/level)])
     [:events true 1 true nil :off]]])

(deftest the-inspector-goes-on-through-a-reload
  (is (= [] (reloading/faults requires reloads rows))))
