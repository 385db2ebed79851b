;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs-parity.blocks
  "Random programs of blocks that start, join and close each other. The parity test compiles this text twice, the second
  time with cljs.core.async in the place of skein.async. Programs run one after the other, so that often no block but
  the joined one is queued."
  (:require
   [skein.async :as a :refer [<! >! alts! go]]
   [skein.cljs-parity.numbers :as numbers]))

(def ^:private n-programs 3000)

(def ^:private random (numbers/numbers))

(declare body)

(defn- step
  "Returns a random operation, [name argument]: a body, or a number that chooses a port or a channel."
  [depth]
  (case (if (pos? depth) (random 18) (+ 6 (random 12)))
    (0 1) [:join (body (dec depth))]
    (2 3) [:start (body (dec depth))]
    4 [:try (body (dec depth))]
    5 [:choose (body (dec depth))]
    6 [:take-port (random 8)]
    7 [:take-port! (random 8)]
    (8 9) [:choose-port (random 8)]
    10 [:poll-port (random 8)]
    11 [:close-port (random 8)]
    12 [:close-own]
    (13 14) [:put (random 3)]
    15 [:take (random 3)]
    16 [:take! (random 3)]
    17 [:close (random 3)]))

(defn- body
  "Returns a vector of random operations; its last element says whether the block has a value."
  [depth]
  (conj (vec (repeatedly (inc (random 5)) (fn [] (step depth))))
        [(if (zero? (random 4)) :return-nil :return)]))

(defn- block
  "Starts a block that does the operations `ops`, and returns its port. It notes each step in :log."
  [{:keys [log ports channels] :as program} ops]
  (let [id (count @ports)
        note (fn [& xs] (vswap! log conj (into [id] xs)))
        port-at (fn [i] (nth @ports (mod i (count @ports))))
        index (fn [port] (.indexOf (to-array (into channels @ports)) port))
        port (go (loop [[[op x] & more] ops]
                   (case op
                     :join (note op (<! (block program x)))
                     :start (do (block program x) (note op))
                     :try (try (note op (<! (block program x)))
                               (throw (js/Error. "expected"))
                               (catch :default _ (note :caught (<! (block program []))))
                               (finally (note :finally)))
                     :choose (let [[v chosen] (alts! [(nth channels 2) (block program x)] :priority true)]
                               (note op v (index chosen)))
                     :take-port (note op (<! (port-at x)))
                     :take-port! (let [n (count @log)]
                                   (a/take! (port-at x) (fn [v] (note op n v))))
                     :choose-port (let [[v chosen] (alts! [(port-at x) (first channels) (port-at (inc x))] :priority true)]
                                    (note op v (index chosen)))
                     :poll-port (note op (a/poll! (port-at x)))
                     :close-port (do (a/close! (port-at x)) (note op))
                     :close-own (do (a/close! (nth @ports id)) (note op))
                     :put (note op (>! (nth channels x) (count @log)))
                     :take (note op (<! (nth channels x)))
                     :take! (let [n (count @log)]
                              (a/take! (nth channels x) (fn [v] (note op n v))))
                     :close (do (a/close! (nth channels x)) (note op))
                     nil)
                   (cond
                     (seq more) (recur more)
                     (= :return op) id)))]
    (vswap! ports conj port)
    port))

(defn- hop
  "Calls `f` in a macro-task."
  [f]
  (if (exists? js/setImmediate)
    (js/setImmediate f)
    (let [channel (js/MessageChannel.)]
      (set! (.. channel -port1 -onmessage) (fn [_] (.close (.-port1 channel)) (f)))
      (.postMessage (.-port2 channel) 0))))

(defn run
  "Runs all programs, each until it rests, and then calls `f` with their logs."
  ([f] (run [] f))
  ([logs f]
   (if (= n-programs (count logs))
     (f logs)
     (let [program {:log (volatile! []) :ports (volatile! []) :channels [(a/chan) (a/chan 1) (a/chan)]}]
       (block program (body 4))
       ;; core.async runs its tasks in a macro-task of their own.
       (hop (fn [] (hop (fn [] (hop (fn [] (run (conj logs (pr-str @(:log program))) f)))))))))))
