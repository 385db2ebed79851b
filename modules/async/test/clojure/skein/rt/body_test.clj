;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.body-test
  "A block's code says where it parks, without running."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! >! alts! go]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (skein.rt.block Frame Hooks Observer)))

(set! *warn-on-reflection* true)

(defn- parked-at
  "Runs `f`, which spawns a block that parks; returns [frame state] of its first park."
  [f]
  (let [seen (promise)
        observer (reify Observer (parking [_ frame _ _] (deliver seen [frame (.state ^Frame frame)])))]
    (Hooks/add observer)
    (try (f) (within-deadline @seen) (finally (Hooks/remove observer)))))

(defn- site [[^Frame frame state]]
  (let [{:keys [file sites]} (.sites (.body frame))]
    (into [file] (get sites state))))

(def ^:private here (:line (meta #'site)))

(deftest parked-block-has-operation-file-line-column-and-form
  (let [c (a/chan) d (a/chan)
        taking (parked-at #(go (<! c)))
        putting (parked-at #(go (>! d 1)))
        choosing (parked-at #(go (alts! [c d])))]
    (doseq [[parked op line-offset form] [[taking "<!" 8 "(<! c)"]
                                          [putting ">!" 9 "(>! d 1)"]
                                          [choosing "alts!" 10 "(alts! [c d])"]]]
      (let [[file told line column text] (site parked)]
        (is (= op (name told)))
        (is (= "body_test.clj" (last (re-find #"([^/]*)$" file))))
        (is (= (+ (long here) (long line-offset)) line))
        (is (pos-int? column))
        (is (= form text))))
    (a/close! c)
    (a/close! d)))

(deftest each-park-of-a-body-has-a-site-of-its-own
  (let [c (a/chan)
        port (volatile! nil)
        [^Frame frame] (parked-at #(vreset! port (go [(<! c) (<! c) (>! c 1)])))
        {:keys [sites]} (.sites (.body frame))]
    (is (= ["(<! c)" "(<! c)" "(>! c 1)"] (map peek (sort-by #(nth % 2) (vals sites)))))
    (a/close! c)
    (is (= [nil nil false] (await-port @port)))))
