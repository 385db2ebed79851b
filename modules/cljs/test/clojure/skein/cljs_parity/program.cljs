;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity.program
  "Runs the scripts and the blocks on both libraries. Prints as EDN how many there are of each, and the first that differ."
  (:require
   [skein.cljs-parity.blocks :as blocks]
   [skein.cljs-parity.core-async-blocks :as their-blocks]
   [skein.cljs-parity.core-async-scripts :as their-scripts]
   [skein.cljs-parity.scripts :as scripts]))

(defn- say [text]
  (if (exists? js/document)
    (js/fetch "/result" #js {:method "POST" :body text})
    (js/console.log text)))

(defn- compared
  "Calls `ours` and then `theirs`, functions of a callback that gets the outcomes. Calls `f` with what differs."
  [ours theirs f]
  (ours
    (fn [a]
      (theirs
        (fn [b]
          (f {:skein (count a)
              :core-async (count b)
              :differences (vec (take 3 (remove (fn [[_ x y]] (= x y)) (map vector (range) a b))))}))))))

(compared scripts/run their-scripts/run
  (fn [scripts]
    (compared blocks/run their-blocks/run
      (fn [blocks]
        (say (pr-str {:scripts scripts :blocks blocks}))))))
