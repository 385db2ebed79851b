;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.conveyor-test
  "An installed conveyor carries a thread's context along with its blocks."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! async go]]
   [skein.deadline :refer [await-port]])
  (:import
   (skein.rt.block Conveyor Hooks)))

(set! *warn-on-reflection* true)

(def ^:private ^ThreadLocal context (ThreadLocal.))

(def ^:private conveyor
  (reify Conveyor
    (capture [_] (.get context))
    (install [_ mine] (let [outer (.get context)] (.set context mine) outer))
    (restore [_ outer] (.set context outer))))

(defn- with-context [mine f]
  (let [outer (.get context)]
    (.set context mine)
    (try (f) (finally (.set context outer)))))

(defn- conveyed [f]
  (Hooks/conveyor conveyor)
  (try (f) (finally (Hooks/conveyor nil))))

(deftest no-block-sees-the-context-of-another
  (conveyed
    (fn []
      (let [blocks (vec (for [i (range 1000)]
                          (with-context i
                            #(go (loop [n 0]
                                   (if (and (< n 100) (= i (.get context)))
                                     (do (if (even? (+ n (long i))) (<! (go 1)) (<! (a/timeout 0)))
                                         (recur (inc n)))
                                     n))))))]
        (is (= (repeat 1000 100) (map await-port blocks)))))))

(deftest the-context-goes-to-nested-blocks-and-comes-back
  (conveyed
    (fn []
      (with-context :mine
        (fn []
          (is (= [:mine :changed]
                 (await-port (async (let [inner (await-port (go (.get context)))]
                                      (.set context :changed)
                                      [inner (.get context)])))))
          (is (= :mine (.get context)) "what a block sets ends with it"))))))

(deftest a-worker-keeps-nothing
  (conveyed #(with-context :mine (fn [] (dotimes [_ 100] (await-port (go (<! (a/timeout 0))))))))
  (is (every? nil? (map await-port (repeatedly 100 #(go [(.get context)] (.get context)))))))
