;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.corpus.order
  "Programs whose bug is that something comes too early or too late."
  (:require
   [skein.async :as a :refer [<! <!! >! alts! chan close! go go-loop timeout]]
   [skein.scope :as scope]
   [skein.sim :as sim]
   [skein.sim.corpus.program :refer [expect program]]))

(set! *warn-on-reflection* true)

(defn- wake-up [bell]
  (fn body []
    (let [box (chan 1), bell (bell)
          consumer (go-loop []
                     (or (a/poll! box)
                         (do (<! bell) (recur))))]
      (go (>! box :letter)
          (a/offer! bell :ring))
      (expect = :letter (<!! consumer)))))

(defn- subscribers [start]
  (fn body []
    (let [in (chan), p (a/pub in :topic), got (chan 10)]
      (start (fn subscribe [] (a/sub p :t got))
             (fn publish [] (go (>! in {:topic :t :n 1}) (close! in))))
      (expect = [1] (map :n (<!! (a/into [] got)))))))

(defn- settings [read]
  (fn body []
    (let [config (atom nil), loaded (a/promise-chan)]
      (go (reset! config {:port 80}) (>! loaded true))
      (expect = 80 (<!! (go (<! (read config loaded))))))))

(defn- log-writer [stop]
  (fn body []
    (let [lines (chan 1), written (atom [])
          writer (go-loop [] (when-some [line (<! lines)] (swap! written conj line) (recur)))
          client (go (when-not (>! lines "last words") (swap! written conj :refused)))]
      (stop lines client)
      (<!! writer)
      (<!! client)
      (expect = ["last words"] @written))))

(defn- summing [finish]
  (fn body []
    (let [in (chan)
          sum (go-loop [sum 0] (if-some [n (<! in)] (recur (+ sum (long n))) sum))]
      (go (>! in 1) (>! in 2) (finish in))
      (expect = 3 (<!! sum)))))

(defn- courier [carry]
  (fn body []
    (let [in (chan 1), out (chan 1)]
      (a/offer! in :parcel)
      (scope/scope [s]
        (carry s in out)
        (sim/yield)
        (scope/cancel! s))
      (expect = 1 (count (remove nil? [(a/poll! in) (a/poll! out)]))))))

(defn- request [reply]
  (fn body []
    (let [reply (reply)]
      (go (<! (timeout 10)) (>! reply :done))
      (<!! (go (alts! [reply (timeout 10)]))))))

(defn- shop [charge]
  (fn body []
    (let [orders (chan), charged (atom [])]
      (go-loop []
        (when-some [{:keys [id reply]} (<! orders)]
          (charge charged id)
          (>! reply :ok)
          (recur)))
      (<!! (go-loop [tries 0]
             (let [reply (chan 1)]
               (>! orders {:id 7 :reply reply})
               (let [[v] (alts! [reply (timeout 100)])]
                 (when (and (nil? v) (< tries 3)) (recur (inc tries)))))))
      (close! orders)
      (expect = [7] @charged))))

(defn- limiter [refill]
  (fn body []
    (let [bucket (atom {:tokens 2.0 :at (sim/now-ms)})
          allowed? (fn allowed? []
                     (let [now (sim/now-ms)
                           {:keys [tokens]} (swap! bucket (fn [{:keys [tokens at]}]
                                                            {:tokens (refill tokens (* 0.01 (- (long now) (long at)))) :at now}))]
                       (when (<= 1.0 (double tokens)) (swap! bucket update :tokens dec) true)))]
      (<!! (timeout 10000))
      (expect = 2 (count (filter true? (repeatedly 10 allowed?)))))))

(def programs
  "See skein.sim.corpus.program."
  [(program "lost wake-up" 50 (wake-up #(chan)) (wake-up #(chan 1)))
   (program "subscribed after publishing" 20
            (subscribers (fn [subscribe publish] (publish) (go (subscribe))))
            (subscribers (fn [subscribe publish] (subscribe) (publish))))
   (program "read before it is there" 20
            (settings (fn [config _] (go (:port @config :none))))
            (settings (fn [config loaded] (go (<! loaded) (:port @config)))))
   (program "use after close" 20
            (log-writer (fn [lines _] (close! lines)))
            (log-writer (fn [lines client] (<!! client) (close! lines))))
   (program "missed close" 20 (summing (fn [_])) (summing close!))
   (program "value lost on cancellation" 200
            (courier (fn [s in out] (scope/go s (let [v (<! in)] (>! out v)))))
            (courier (fn [s in out] (scope/go s (scope/shield (let [v (<! in)] (>! out v)))))))
   (program "reply after the timeout" 50 (request #(chan)) (request #(chan 1)))
   (program "charged twice by a retry" 200 {:time :slow}
            (shop (fn [charged id] (swap! charged conj id)))
            (shop (fn [charged id] (swap! charged #(if (some #{id} %) % (conj % id))))))
   (program "burst after a pause" 20
            (limiter +)
            (limiter (fn [tokens more] (min 2.0 (+ (double tokens) (double more))))))])
