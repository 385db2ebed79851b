;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.scheduler-test
  (:require-macros
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! >! chan close! go promise-chan put! timeout]]))

(defn- spin [ms]
  (let [start (js/performance.now)]
    (while (< (- (js/performance.now) start) ms))))

(defblock timers-fire-beside-blocks-that-never-rest
  (let [a (chan) b (chan) stop? (volatile! false) fired (promise-chan)]
    (go (loop [] (when-not @stop? (spin 0.1) (>! a 1) (<! b) (recur))))
    (go (loop [] (when-not @stop? (<! a) (>! b 1) (recur))))
    (js/setTimeout (fn [] (put! fired true)) 1)
    (is (true? (<! fired)))
    (vreset! stop? true)))

(defblock timers-fire-beside-a-chain-of-promises
  (let [stop? (volatile! false) fired (promise-chan)]
    (go (loop [] (when-not @stop? (spin 0.1) (<! (js/Promise.resolve 1)) (recur))))
    (js/setTimeout (fn [] (put! fired true)) 1)
    (is (true? (<! fired)))
    (vreset! stop? true)))

(defblock blocks-run-in-the-order-of-their-start
  (let [order #js [] done (chan)]
    (dotimes [i 100] (go (.push order i)))
    (go (close! done))
    (<! done)
    (is (= (range 100) (vec order)))))
