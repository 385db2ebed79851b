;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-small.program
  "A program that uses little of skein.async. Prints what came out."
  (:require
   [skein.async :refer [<! >! chan go put!]]))

(enable-console-print!)

(let [c (chan 1) d (chan)]
  (go (println "GOT" (<! d)))
  (go (>! d (inc (<! c))))
  (put! c 41))
