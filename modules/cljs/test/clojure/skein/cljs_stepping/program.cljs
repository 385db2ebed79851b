;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-stepping.program
  "A function and a block with the same lines, to step through. The block parks at its last line."
  (:require
   [skein.async :refer [<! >! chan go offer! poll! put!]]))

(defn- plain [c d]
  (do
    (js-debugger)
    (let [a (poll! c)
          b (+ a 1)]
      (when (even? b)
        (println b))
      (offer! d b)
      (loop [i 0]
        (when (< i 2)
          (println i)
          (recur (inc i))))
      (println (poll! c))
      (println "end"))))

(defn- block [c d]
  (go
    (js-debugger)
    (let [a (<! c)
          b (+ a 1)]
      (when (even? b)
        (println b))
      (>! d b)
      (loop [i 0]
        (when (< i 2)
          (println i)
          (recur (inc i))))
      (println (<! c))
      (println "end"))))

(enable-console-print!)

(doseq [f [plain block]]
  (let [c (chan 1)]
    (put! c 41)
    (f c (chan 1))
    (js/setTimeout (fn [] (put! c :late)))))
