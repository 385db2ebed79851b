;; SPDX-License-Identifier: Apache-2.0
(ns lab.e3-factorize
  "A thousand copies of a number, factorised on all cores. After Eli Bendersky, 2017.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e3-factorize"
  (:require
   [clojure.core.reducers :as r]
   [lab.factors :refer [factorize]]
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)

(def ^:private sizes
  {:full {:n 1000, :budget-ms 1500}
   :quick {:n 1000, :budget-ms 60}
   :tiny {:n 10, :budget-ms 0}})

(def ^:private mynum (* 29 982451653))
(def ^:private parallelism 8)

(defn- count-one [counts n] (update counts (factorize n) (fnil inc 0)))

(measure/when-on "clojure"
  (defn- with-reducers [numbers]
    (r/fold (fn merge-counts ([] {}) ([a b] (merge-with + a b))) count-one numbers))

  (def ^:private forms [["serial" #(reduce count-one {} %)] ["fold" with-reducers]]))

(measure/when-on ["skein" "core.async-1.7.701" "core.async-1.9.865"]
  (measure/alias-async! 'a)

  (defn- with-go [numbers]
    (let [in (a/to-chan! numbers)
          out (repeatedly parallelism
                          #(a/go-loop [counts {}] (if-some [n (a/<! in)] (recur (count-one counts n)) counts)))]
      (apply merge-with + (map a/<!! (doall out)))))

  (defn- with-thread [numbers]
    (let [in (a/to-chan! numbers)
          out (repeatedly parallelism
                          #(a/thread (loop [counts {}] (if-some [n (a/<!! in)] (recur (count-one counts n)) counts))))]
      (apply merge-with + (map a/<!! (doall out)))))

  (defn- with-pipeline [numbers]
    (let [out (a/chan)]
      (a/pipeline parallelism out (map factorize) (a/to-chan! numbers))
      (a/<!! (a/reduce (fn [counts factors] (update counts factors (fnil inc 0))) {} out))))

  (def ^:private forms [["go" with-go] ["thread" with-thread] ["pipeline" with-pipeline]]))

(measure/when-on "skein"
  (require '[skein.fold :as fold])

  (def ^:private forms
    (conj forms ["fold" #(fold/fold fold/frequencies (eduction (map factorize) %))])))

(defn- run [{:keys [n]}]
  (measure/when-on "clojure"
    (measure/measure! {:row "one number", :expected [29 982451653]} #(factorize mynum)))
  (let [numbers (vec (repeat n mynum))
        cores (.availableProcessors (Runtime/getRuntime))]
    (doseq [[form f] forms]
      (measure/measure! {:row form, :form "all", :cores cores, :expected {[29 982451653] n}} #(f numbers)))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
