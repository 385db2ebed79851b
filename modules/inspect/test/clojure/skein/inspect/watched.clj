;; SPDX-License-Identifier: Apache-2.0
(ns skein.inspect.watched
  "Code that the inspector's tests share: a fresh inspector, and functions that wait for what it must see."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [is]]
   [skein.deadline :refer [deadline-ms]]
   [skein.inspect :as inspect]))

(set! *warn-on-reflection* true)

(defn fresh
  "A fixture that runs the tests with an inspector that is on and knows nothing yet."
  [run]
  (inspect/stop!)
  (inspect/start!)
  (try (run) (finally (inspect/stop!))))

(defn eventually
  "Returns the first truthy value of `f`, asked again and again. At the deadline the test fails and shows the dump."
  [f]
  (let [end (+ (System/nanoTime) (* 1000000 (long deadline-ms)))]
    (loop []
      (or (f)
          (if (neg? (- end (System/nanoTime)))
            (do (is (not "the deadline passed")) (inspect/dump!) nil)
            (do (Thread/sleep 1) (recur)))))))

(defn forms
  "Returns the forms at which blocks wait, sorted."
  [blocks]
  (sort (map (comp str :form :site) blocks)))

(defn here?
  "Returns whether the block's code is in the file whose path ends with `file`. Blocks that Skein makes for such code don't count."
  [file {{at :file column :column} :site}]
  (and (str/ends-with? (str at) file) (not= -1 column)))

(def ^:dynamic *minutes*
  "How many minutes each healthy program is watched, with a proof each minute. nil: three proofs, one after the other."
  nil)

(defn silent
  "Asserts, by several proofs, that nothing is reported about the healthy program `state`, not even a suspicion."
  [state]
  (dotimes [i (or (some-> *minutes* long inc) 3)]
    (when (and *minutes* (pos? i)) (Thread/sleep 60000))
    (is (= [] (inspect/deadlocks {:prove true})))
    (is (= [] (inspect/leaks)))
    (is (= [] (filter (fn error? [{:keys [lint severity]}] (and (= :error severity) (not= :dropped-error lint))) (inspect/lints)))))
  (is (some? state)))

(defn silent-ms
  "Returns how long `silent` watches a program, plus `ms`, in ms."
  [ms]
  (+ (long ms) (* 60000 (long (or *minutes* 0)))))
