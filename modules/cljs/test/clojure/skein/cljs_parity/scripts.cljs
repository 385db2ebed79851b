;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity.scripts
  "Random scripts of operations on channels. The parity test compiles this text twice, the second
  time with cljs.core.async in the place of skein.async."
  (:require
   [skein.async :as a]
   [skein.async.spi :as spi]
   [skein.cljs-parity.numbers :as numbers]))

(def ^:private n-scripts 2000)
(def ^:private n-steps 25)

(def ^:private random (numbers/numbers))

(defn- channel []
  (case (random 8)
    0 (a/chan)
    1 (a/chan 1)
    2 (a/chan 3)
    3 (a/chan (a/dropping-buffer 2))
    4 (a/chan (a/sliding-buffer 2))
    5 (a/chan 2 (filter even?))
    6 (a/chan 3 (take 3))
    7 (a/chan 2 (partition-all 2))))

(defn- step!
  "Does one random operation on one or two of `channels`; outcomes come by (note outcome), now or later."
  [channels note i]
  (let [c (nth channels (random 3))
        d (nth channels (random 3))]
    (case (random 9)
      (0 1) (note [:put (a/put! c i (fn [v] (note [:accepted v])))])
      (2 3) (do (a/take! c (fn [v] (note [:taken v]))) (note :take))
      4 (note [:offer (a/offer! c i)])
      5 (note [:poll (a/poll! c)])
      6 (when (zero? (random 4)) (a/close! c) (note :closed))
      7 (when-not (identical? c d)
          (note [:alts (some-> (spi/do-alts (fn [[v _]] (note [:chosen v])) [c d] {:priority true}) deref first)]))
      8 (when-not (identical? c d)
          (note [:alts-put (some-> (spi/do-alts (fn [[v p]] (note [:chosen v (identical? p c)])) [[c i] d] {:priority true})
                                   deref first)])))))

(defn- run-script
  "Returns a vector of the outcomes of each step, filled by and by."
  []
  (let [channels (vec (repeatedly 3 channel))
        outcomes (vec (repeatedly n-steps (fn [] (atom []))))]
    (dotimes [i n-steps]
      (step! channels (fn [x] (swap! (nth outcomes i) conj x)) i))
    outcomes))

(defn run
  "Runs all scripts, and then calls `f` with the outcomes: a text for each script."
  [f]
  (let [scripts (vec (repeatedly n-scripts run-script))
        end (a/chan)]
    ;; Callbacks run in order, so this one comes after those of the scripts.
    (a/take! end (fn [_]
                   (f (mapv (fn [outcomes] (pr-str (mapv (fn [o] (vec (sort-by pr-str @o))) outcomes))) scripts))))
    (a/put! end true)))
