;; SPDX-License-Identifier: Apache-2.0
(ns lab.e4-mixed
  "Blocks that block beside blocks that compute. After Eli Bendersky, 2017.

  nblock tasks sleep for 250 ms, ncompute tasks factorise a number that takes 230 ms here; the caller waits for all.

      java -cp \"$(./skein classpath):.\" clojure.main -m lab.e4-mixed"
  (:require
   [lab.factors :refer [factorize]]
   [lab.measure :as measure]))

(set! *warn-on-reflection* true)
(measure/alias-async! 'a)

(def ^:private sizes
  {:full {:nblock [0 16 32 64 256 1024], :ncompute [0 4 16], :sleep-ms 250, :compute-ms 230, :budget-ms 0}
   :quick {:nblock [0 16 64], :ncompute [0 4], :sleep-ms 50, :compute-ms 46, :budget-ms 0}
   :tiny {:nblock [0 16], :ncompute [0 4], :sleep-ms 2, :compute-ms 2, :budget-ms 0}})

(defn- prime-above [n] (.longValue (.nextProbablePrime (BigInteger/valueOf n))))

(defn- elapsed-ms [f]
  (let [start (System/nanoTime)] (f) (/ (- (System/nanoTime) start) 1e6)))

(defn- tuned
  "Returns a prime that takes about `ms` to factorise: the time grows with the square root."
  [ms]
  (let [root 1000000
        prime (prime-above (* root root))
        unit-ms (apply min (repeatedly 300 #(elapsed-ms (fn [] (factorize prime))))) ; as fast as it gets, compiled
        factor (/ (double ms) (double unit-ms))]
    (prime-above (long (* factor factor root root)))))

(defn- with-go [nblock ncompute sleep-ms number]
  (let [c (a/chan)]
    (dotimes [_ nblock] (a/go (Thread/sleep (long sleep-ms)) (a/>! c :slept)))
    (dotimes [_ ncompute] (a/go (a/>! c (factorize number))))
    (frequencies (repeatedly (+ nblock ncompute) #(a/<!! c)))))

(defn- with-thread [nblock ncompute sleep-ms number]
  (let [c (a/chan)]
    (dotimes [_ nblock] (a/thread (Thread/sleep (long sleep-ms)) (a/>!! c :slept)))
    (dotimes [_ ncompute] (a/thread (a/>!! c (factorize number))))
    (frequencies (repeatedly (+ nblock ncompute) #(a/<!! c)))))

(defn- run [{:keys [nblock ncompute sleep-ms compute-ms]}]
  (let [number (measure/once "number" #(tuned compute-ms))]
    (with-go 4 2 1 101)
    (doseq [[form f] (cond-> [["go" with-go]] (measure/on? "skein") (conj ["threads" with-thread]))
            block nblock, compute ncompute ; the fewest first: a pool keeps its threads for a while
            :when (pos? (+ block compute))]
      (measure/measure! {:row (str block " block, " compute " compute"), :column (str measure/title " " form)
                         :x block, :panel (str compute " compute")
                         :expected (into {} (filter (comp pos? val)) {:slept block, [number] compute})}
                        #(f block compute sleep-ms number)))))

(defn -main "Runs the experiment." [] (measure/main sizes run))
