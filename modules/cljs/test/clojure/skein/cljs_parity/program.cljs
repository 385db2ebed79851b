;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity.program
  "Runs the scripts on both libraries. Says as EDN how many there are, and the first that differ."
  (:require
   [skein.cljs-parity.core-async-scripts :as theirs]
   [skein.cljs-parity.scripts :as ours]))

(defn- say [text]
  (if (exists? js/document)
    (js/fetch "/result" #js {:method "POST" :body text})
    (js/console.log text)))

(ours/run
  (fn [a]
    (theirs/run
      (fn [b]
        (say (pr-str {:skein (count a)
                      :core-async (count b)
                      :differences (vec (take 3 (remove (fn [[_ x y]] (= x y)) (map vector (range) a b))))}))))))
