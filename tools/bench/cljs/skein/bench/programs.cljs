;; SPDX-License-Identifier: Apache-2.0
(ns skein.bench.programs
  "The programs of `./skein bench cljs`. The benchmark compiles this text twice, the second time with
  cljs.core.async in the place of skein.async."
  (:require-macros
   [skein.async :refer [go]])
  (:require
   [skein.async :as a :refer [<! >! alts! chan close! take! timeout]]
   [skein.bench.clock :as clock]))

(defn- ping-pong [n]
  (let [a (chan) b (chan)]
    (go (loop [i 0] (when (< i n) (>! b (<! a)) (recur (inc i)))))
    (go (loop [i 0] (if (< i n) (do (>! a i) (<! b) (recur (inc i))) i)))))

(defn- spawn-join [n]
  (go (loop [i 0 s 0] (if (< i n) (recur (inc i) (+ s (<! (go i)))) s))))

(defn- transfer [n c]
  (go (loop [i 0] (if (< i n) (do (>! c i) (recur (inc i))) (close! c))))
  (go (loop [s 0] (let [x (<! c)] (if (nil? x) s (recur (+ s x)))))))

(defn- blocks [n]
  (let [out (chan 64)]
    (dotimes [i n] (go (>! out i)))
    (go (loop [i 0 s 0] (if (< i n) (recur (inc i) (+ s (<! out))) s)))))

(defn- choices [n]
  (let [n (quot n 2) a (chan) b (chan)]
    (go (loop [i 0] (when (< i n) (>! a i) (recur (inc i)))))
    (go (loop [i 0] (when (< i n) (>! b i) (recur (inc i)))))
    (go (loop [i 0 s 0] (if (< i (* 2 n)) (let [[v _] (alts! [a b])] (recur (inc i) (+ s v))) s)))))

(defn- timeouts [n]
  (let [out (chan 1)
        left (volatile! n)]
    (dotimes [i n]
      (take! (timeout (mod i 2000)) (fn [_] (when (zero? (vswap! left dec)) (close! out)))))
    out))

;; name, how many, how often, the program
(def ^:private subjects
  [["ping-pong, a round trip" 200000 1 ping-pong]
   ["spawn and join, one" 200000 1 spawn-join]
   ["unbuffered transfer, a value" 200000 1 (fn [n] (transfer n (chan)))]
   ["buffered transfer (1024), a value" 400000 1 (fn [n] (transfer n (chan 1024)))]
   ["1000 blocks put, one takes, a block" 1000 100 blocks]
   ["alts! of two, a value" 100000 1 choices]
   ["timeouts within 2 s, one of 100,000" 100000 1 timeouts]])

;; The program's argument is the number of the one to measure.
(when-let [subject (nth subjects (js/parseInt (nth (unchecked-get js/process "argv") 2)) nil)]
  (clock/run take! subject))
