;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.under-way-test
  "A fold that takes a while can be seen by others."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.fold :as fold]
   [skein.fold.run :as run])
  (:import
   (java.util.concurrent CountDownLatch TimeUnit)))

(set! *warn-on-reflection* true)

(defn- of
  "Returns what `under-way` says of the folds that `thread` has called."
  [thread]
  (for [{:keys [caller] :as f} (run/under-way) :when (identical? thread caller)] (select-keys f [:unit :done :total])))

(defn- seen-at
  "Folds `source`. Returns what `under-way` says of the fold when it is at the number `at`. Asserts that the fold is not listed after it has
  ended."
  [options source at]
  (let [here (CountDownLatch. 1) release (CountDownLatch. 1)
        step (fn step
               ([] 0)
               ([a] a)
               ([a x]
                (when (= 3 x) (Thread/sleep 2)) ; so that a serial fold has taken a while
                (when (= at x) (.countDown here) (.await release))
                (inc (long a))))
        folding (Thread. (fn [] (fold/fold options {:identity step :step step :combine +} source)))]
    (.start folding)
    (try
      (is (.await here 60 TimeUnit/SECONDS))
      (vec (of folding))
      (finally
        (.countDown release)
        (.join folding)
        (is (= [] (of folding)))))))

(deftest a-long-fold-is-listed
  (let [all (vec (range 100000))]
    (doseq [options [{:workers 1} {:workers 2 :grain 100}]]
      (let [[{:keys [unit done total]} & more] (seen-at options all 99999)]
        (is (= [nil :elements 100000] [more unit total]))
        (is (< 0 (long done) 100000) "without the block that is still running")))
    (is (= [[:elements nil]] (map (juxt :unit :total) (seen-at {} (iterator-seq (.iterator ^Iterable all)) 99999))))
    (is (= [[:elements nil]] (map (juxt :unit :total) (seen-at {} (eduction (map identity) (reify clojure.lang.IReduceInit (reduce [_ f init] (reduce f init all)))) 99999))))))

(deftest a-small-fold-is-not-listed
  (is (= [] (seen-at {:workers 1} [1 2] 2))))
