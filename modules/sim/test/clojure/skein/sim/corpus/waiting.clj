;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus.waiting
  "Programs that do not end: deadlocks, leaks, livelocks."
  (:require
   [skein.async :as a :refer [<! <!! >! >!! chan go go-loop]]
   [skein.async.limit :refer [concurrency-limiter with-permit]]
   [skein.sim.corpus.program :refer [expect program]]
   [skein.virtual :as virtual])
  (:import
   (java.util.concurrent.locks Lock ReentrantLock)))

(set! *warn-on-reflection* true)

(defn- locks-as-channels [second-order]
  (fn body []
    (let [lock (fn [] (doto (chan 1) (a/offer! :key)))
          x (lock), y (lock)
          work (fn [[p q]] (go (let [k (<! p), l (<! q)] (>! q l) (>! p k) :done)))
          one (work [x y]), two (work (second-order [x y]))]
      (expect = [:done :done] [(<!! one) (<!! two)]))))

(defn- with-both [^Lock p ^Lock q n]
  (.lock p)
  (try
    (swap! n inc)
    (.lock q)
    (try (swap! n inc) (finally (.unlock q)))
    (finally (.unlock p))))

(defn- java-locks [second-order]
  (fn body []
    (let [x (ReentrantLock.), y (ReentrantLock.), n (atom 0)
          one (virtual/future (with-both x y n))
          two (virtual/future (let [[p q] (second-order [x y])] (with-both p q n)))]
      @one
      @two
      (expect = 4 @n))))

(defn- feeding-itself [work]
  (fn body []
    (let [done (chan)]
      (go-loop [left 15]
        (let [x (<! work)]
          (when (< (long x) 8) (>! work (inc (long x))) (>! work (inc (long x))))
          (if (= 1 left) (>! done :end) (recur (dec left)))))
      (>!! work 5)
      (expect = :end (<!! done)))))

(defn- philosophers [order]
  (fn body []
    (let [forks (vec (repeatedly 3 #(doto (chan 1) (a/offer! :fork))))
          dine (fn [i]
                 (go (let [[left right] (order i (mod (inc (long i)) 3))
                           f (<! (forks left)), g (<! (forks right))]
                       (>! (forks right) g)
                       (>! (forks left) f)
                       :fed)))]
      (expect = [:fed :fed :fed] (mapv <!! (mapv dine (range 3)))))))

(defn- early-return [results]
  (fn body []
    (let [results (results)]
      (dotimes [i 2] (go (>! results i)))
      (expect contains? #{0 1} (<!! results)))))

(defn- polite [gives-way?]
  (fn body []
    (let [work (chan 10), stopped (atom false)
          worker (go-loop []
                   (if-some [x (a/poll! work)]
                     (do (when (gives-way? @stopped) (a/offer! work x)) (recur))
                     (reset! stopped true)))]
      (a/offer! work :job)
      (reset! stopped true)
      (<!! worker))))

(defn- limiters [second-order]
  (fn body []
    (let [x (concurrency-limiter 1), y (concurrency-limiter 1)
          work (fn [[p q]] (virtual/future (with-permit p (with-permit q :done))))
          one (work [x y]), two (work (second-order [x y]))]
      (expect = [:done :done] [@one @two]))))

(def programs
  "See skein.sim.corpus.program."
  [(program "deadlock of two channels" 50 (locks-as-channels reverse) (locks-as-channels identity))
   (program "deadlock of two locks" 50 (java-locks reverse) (java-locks identity))
   (program "deadlock of two limiters" 50 (limiters reverse) (limiters identity))
   (program "full pipeline that feeds itself" 1
            (fn body [] ((feeding-itself (chan 2))))
            (fn body [] ((feeding-itself (chan 20)))))
   (program "three philosophers" 200 (philosophers vector) (philosophers (fn [i j] (sort [i j]))))
   (program "block left behind" 1 (early-return #(chan)) (early-return #(chan 2)))
   (program "unfair loop" 5 {:max-steps 2000} (polite (constantly true)) (polite not))])
