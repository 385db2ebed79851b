;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.forms-test
  "Random forms: in a block, with parks anywhere, each has the value that it has without, and does
  the same in the same order."
  (:require-macros
   [skein.cljs.forms :refer [compare-all]]
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! chan]]))

(defn- f3 [& xs] (apply + xs))

(defn- park [x] x)

(defn- port
  "Returns a port of `x`, which may have to be waited for."
  [x]
  (let [c (chan 1)]
    (if (< (rand) 0.5)
      (a/put! c x)
      (js/queueMicrotask (fn [] (a/put! c x))))
    c))

(defn- noting [notes]
  (fn note [k x] (.push notes k) x))

(def ^:private forms
  (let [all (atom [])]
    (compare-all (fn [i plain parked] (swap! all conj [i plain parked])) 500 1)
    @all))

(defblock forms-with-parks-have-their-plain-value
  (doseq [[i plain parked] forms]
    (let [notes #js [] notes-in-block #js []
          expected (try (plain (noting notes)) (catch :default _ :thrown))
          value (<! (parked (noting notes-in-block) port))]
      (is (= expected value) (str "form " i))
      (is (= (vec notes) (vec notes-in-block)) (str "notes of form " i)))))
