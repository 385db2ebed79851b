;; SPDX-License-Identifier: Apache-2.0
(ns skein.trace.reload-test
  "Tracing goes on through a reload of the tracer, and what it knows stays."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires '[[clojure.string :as str] [skein.errors :as errors] [skein.trace :as trace]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload))
          '[skein.trace.event skein.trace.print skein.trace.call skein.trace.wrap skein.trace.group skein.trace.sink skein.trace.report
            skein.trace.vars skein.trace])
    (require 'skein.trace :reload-all)])

;; The rows share the ring, so each looks at the records of its own function.
(def ^:private rows
  '[[:traced-var
     (do (defn traced? [v] (contains? (set (:traced (trace/status))) v))
         (defn of [sym] (filter (comp #{sym} :name) (trace/records)))
         (defn half [n] (/ n 2))
         (trace/trace-vars {:sink :ring} half))
     (fn [_]
       (half 8)
       [(:value (last (of 'user/half))) (traced? #'half) (do (trace/untrace-vars half) (traced? #'half)) (half 8)])
     ["4" true false 4]]
    [:running-call
     (let [go-on (promise)]
       (defn wait [] @go-on)
       (trace/trace-vars {:sink :ring} wait)
       [go-on (let [got (future (wait))] (while (not= :running (:outcome (last (of 'user/wait)))) (Thread/yield)) got)])
     (fn [[go-on got]]
       (deliver go-on 1)
       (let [result [@got (:outcome (last (of 'user/wait)))]] (trace/untrace-vars wait) result))
     [1 :returned]]
    [:open-group
     (let [go-on (promise), file (java.io.File/createTempFile "reload" ".txt"), begun (promise)]
       (.deleteOnExit file)
       (defn wait-in-group [] (deliver begun true) @go-on)
       (trace/trace-vars {:sink {:file (str file)} :group? true} wait-in-group)
       [file go-on (let [got (future (wait-in-group))] @begun got)])
     (fn [[file go-on got]] (deliver go-on 1) @got (trace/untrace-vars wait-in-group) (boolean (re-find #"\(user/wait-in-group\)[^^]* => 1" (slurp file))))
     true]
    [:records (do (defn one [] 1) (trace/with-traced {:sink :ring} [one] (one))) (fn [_] (:value (last (of 'user/one)))) "1"]
    [:call-numbers
     (do (defn two [] 2) (trace/with-traced {:sink :ring} [two] (two)) (:id (last (of 'user/two))))
     (fn [id] (trace/with-traced {:sink :ring} [two] (two)) (< id (:id (last (of 'user/two)))))
     true]
    [:sink (trace/add-sink! :mine (fn [_])) (fn [_] [(trace/remove-sink! :mine) (trace/remove-sink! :mine)]) [true false]]
    [:format
     (do (defn four [] 4) (trace/add-sink! {:format :tools.trace} :out :out))
     (fn [_] (let [s (with-out-str (trace/with-traced [four] (four)))] (trace/add-sink! :out) (boolean (re-find #"TRACE t\d+: => 4\n" s))))
     true]
    [:dropped
     (do (defn three [] 3)
         (trace/with-limits {:calls 1} (trace/with-traced {:sink :ring} [three] (three) (three)))
         (:dropped (trace/status)))
     (fn [n] [(pos? n) (= n (:dropped (trace/status)))])
     [true true]]
    [:failed-form
     (try (binding [*out* (java.io.StringWriter.)] (trace/trace-forms (/ 1 0))) (catch Exception e e))
     (fn [e] (let [out (java.io.StringWriter.)] (binding [*err* out] (errors/pst e)) (str/includes? (str out) "(/ 1 0) failed")))
     true]])

(deftest tracing-goes-on-through-a-reload
  (is (= [] (reloading/faults requires reloads rows))))
