;; SPDX-License-Identifier: Apache-2.0
(ns machines
  "Go blocks that core.async compiles ahead of time, into its state machines; compiled.clj
  runs them without it."
  (:require
   [clojure.core.async :as async :refer [<! >! alt! alts! go go-loop]]))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defn sum
  "A channel of the sum of what comes on `ch`."
  [ch]
  (go-loop [n 0]
    (if-some [v (<! ch)] (recur (+ n (long v))) n)))

(defn ping-pong
  "A channel of what went to and fro over two channels."
  [n]
  (let [ping (async/chan), pong (async/chan)]
    (go (dotimes [_ n] (>! pong (inc (long (<! ping))))))
    (go (loop [i 0, v 0] (if (< i (long n)) (do (>! ping v) (recur (inc i) (long (<! pong)))) v)))))

(defn choices
  "A channel of what alts! and alt! chose."
  [ready never]
  (go [(first (alts! [never ready] :priority true))
       (first (alts! [never] :default :none))
       (alt! never :never (async/timeout 1) :time)]))

(defn caught
  "A channel of what try, catch and finally make of a park that fails."
  [ch]
  (let [order (atom [])]
    (go (try
          (try (throw (ex-info "boom" {:v (<! ch)}))
               (finally (swap! order conj (<! ch))))
          (catch Exception e (conj @order (:v (ex-data e)) (<! ch)))))))

(defn nested
  "A channel of what comes out of blocks in blocks, with bindings kept over parks."
  []
  (binding [*who* :caller]
    (go [(<! (go (<! (async/timeout 1)) *who*))
         (binding [*who* :inner] (<! (async/timeout 1)) *who*)
         *who*])))

(defn failing
  "A channel that closes, since its block throws."
  []
  (go (<! (async/timeout 1)) (throw (ex-info "unheard" {}))))
