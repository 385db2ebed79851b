;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-small.program
  "A program that uses little of skein.async, and no :require-macros. Prints what came out."
  (:require
   [skein.async :refer [<! >! chan go put!]]))

#?(:cljs (enable-console-print!))

(let [c (chan 1) d (chan)]
  (go (println "GOT" (<! d)))
  (go (>! d (inc (<! c))))
  (put! c 41))
