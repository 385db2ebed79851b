;; SPDX-License-Identifier: Apache-2.0
;; ./skein bench sim: how fast skein.sim runs schedules, by both of its modes.
(require '[skein.async :as a :refer [<! >! <!! chan go go-loop]]
         '[skein.sim :as sim])

(set! *warn-on-reflection* true)

(defn- ping-pong [n]
  (let [there (chan), back (chan)
        ping (go (dotimes [i n] (>! there i) (<! back)) :done)]
    (go (dotimes [_ n] (>! back (<! there))))
    ping))

(defn- small []
  (let [c (chan)] (go (>! c 1)) (go (>! c 2)) (go (<! c) (<! c))))

(defn- hours []
  (<!! (go-loop [n 0] (when (< (long n) 1000) (<! (a/timeout 3600000)) (recur (inc (long n)))))))

(def ^:private rows
  "What, and the options and body of its check."
  [["3 blocks, 1 channel" {} small]
   ["ping-pong of 500 rounds, points" {} #(ping-pong 500)]
   ["ping-pong of 500 rounds, no points" {:points #{}} #(ping-pong 500)]
   ["the body waits for the ping-pong" {} #(<!! (ping-pong 500))]
   ["1000 timers of one hour" {} hours]])

(defn- measure
  "Schedules a second and ns a step, of a check of `seconds`."
  [options body seconds]
  (let [start (System/nanoTime)
        {:keys [schedules steps]} (sim/check* (merge {:strategy :random :seed 1 :seconds seconds} options) body {})
        ns (double (- (System/nanoTime) start))]
    [(/ (long schedules) (/ ns 1e9)) (/ ns (double steps))]))

(println (format "%-38s %-8s %14s %12s" "program" "threads" "schedules/s" "ns a step"))
(doseq [[what options body] rows, threads [:none :auto]]
  (let [options (assoc options :threads threads)]
    (measure options body 1)
    (let [[rate ns] (measure options body 2)]
      (println (format "%-38s %-8s %14.0f %12.0f" what (name threads) rate ns)))))
(shutdown-agents)
