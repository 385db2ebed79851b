;; SPDX-License-Identifier: Apache-2.0
(ns lab.e1-staircase
  "Blocks that sleep, more of them than a pool has threads. After Eli Bendersky, 2017.

  n blocks sleep for 10 ms each and put a number on one channel; the caller takes n numbers. The channel is unbuffered as
  published, but where more puts would wait on it than the 1024 that a channel allows.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e1-staircase"
  (:require
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)
(measure/alias-async! 'a)

(def ^:private sizes
  {:full {:steps (range 1 19), :many [64 1000 10000], :budget-ms 200}
   :quick {:steps [1 4 8 9 12 16 17 18], :many [64 1000], :budget-ms 20}
   :tiny {:steps [1 9], :many [20], :budget-ms 0}})

(defn- channel [n] (if (< (long n) 1024) (a/chan) (a/chan n)))

(defn- sum-of [n channel]
  (loop [i 0 sum 0]
    (if (< i (long n)) (recur (inc i) (+ sum (long (a/<!! channel)))) sum)))

(defn- with-go [n]
  (let [c (channel n)]
    (dotimes [i n] (a/go (Thread/sleep 10) (a/>! c i)))
    (sum-of n c)))

(defn- with-thread [n]
  (let [c (channel n)]
    (dotimes [i n] (a/thread (Thread/sleep 10) (a/>!! c i)))
    (sum-of n c)))

(defn- run [{:keys [steps many]}]
  (doseq [[form f] [["go" with-go] ["thread" with-thread]]
          n (concat steps many)]
    (measure/measure! {:row (str n " " form), :form form, :x n, :expected (quot (* n (dec n)) 2)
                       :plain-threads? (= "thread" form)}
                      #(f n))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
