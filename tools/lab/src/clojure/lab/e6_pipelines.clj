;; SPDX-License-Identifier: Apache-2.0
(ns lab.e6-pipelines
  "A generator, squares and a consumer, in three forms. After Eli Bendersky, 2017.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e6-pipelines"
  (:require
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)
(measure/alias-async! 'a)

(def ^:private sizes
  {:full {:n 200000, :budget-ms 1000}
   :quick {:n 20000, :budget-ms 60}
   :tiny {:n 100, :budget-ms 0}})

(defn- square [x] (* (long x) (long x)))
(defn- sum-of [channel] (a/<!! (a/reduce + 0 channel)))

(defn- go-loops [n]
  (let [numbers (a/chan) squares (a/chan)]
    (a/go (dotimes [i n] (a/>! numbers i))
          (a/close! numbers))
    (a/go-loop []
      (if-some [x (a/<! numbers)]
        (do (a/>! squares (square x)) (recur))
        (a/close! squares)))
    (sum-of squares)))

(defn- mapped [n]
  (sum-of (a/map square [(a/to-chan! (range n))])))

(defn- transduced [n]
  (let [squares (a/chan 1 (map square))]
    (a/onto-chan! squares (range n))
    (sum-of squares)))

(defn- composed
  "Fed 5 6 8 12 15."
  []
  (let [c (a/chan 1 (comp (filter even?) (filter #(< (long %) 10)) (map square) (map inc)))]
    (a/onto-chan! c [5 6 8 12 15])
    (a/<!! (a/into [] c))))

(defn- run [{:keys [n]}]
  (let [expected (reduce + (map square (range n)))]
    (doseq [[form f] [["two go loops" go-loops] ["to-chan! and map" mapped] ["a transducer" transduced]]]
      (measure/measure! {:row form, :per n, :expected expected} #(f n)))
    (measure/measure! {:row "four transducers", :per 5, :expected [37 65]} composed)))

(defn -main "Runs the experiment." [] (measure/main sizes run))
