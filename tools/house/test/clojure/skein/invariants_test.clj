;; SPDX-License-Identifier: Apache-2.0
(ns skein.invariants-test
  "Each named invariant of the Java core is borne by a test that names it, as in \"Bears I1\"."
  (:require [clojure.set :as set]
            [clojure.test :refer [deftest is]]
            [skein.project :as project]))

(set! *warn-on-reflection* true)

(def ^:private named #"\b[ICFQHSVW][1-9]\b")

(defn- names-in
  "The invariants that `texts` name; a range such as I1 to I5 names all between."
  [texts]
  (let [text (apply str texts)]
    (into (set (re-seq named text))
          (mapcat (fn [[_ letter from to]] (map #(str letter %) (range (parse-long from) (inc (long (parse-long to)))))))
          (re-seq #"\b([ICFQHSVW])([1-9]) to [ICFQHSVW]([1-9])\b" text))))

(deftest every-invariant-is-borne-by-a-test
  (let [declared (names-in (map :text (project/files ["modules/async/src/java"] [".java"])))
        borne (names-in (mapcat #(re-seq #"(?s)Bears [^\"*]*" (:text %))
                                (project/files ["modules/async/test"] [".java" ".clj"])))]
    (is (seq declared))
    (is (= #{} (set/difference declared borne)))))
