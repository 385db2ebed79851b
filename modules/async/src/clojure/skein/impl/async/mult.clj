;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mult
  "The values of one channel for many: see skein.async/mult.

  A mult begins at its first tap. Before that, when a put has to wait, the mult takes one value
  and drops it. The first value is offered to all taps until one accepts it, and then goes to
  all other taps that exist by then. So taps that are made one after the other miss nothing,
  whatever the scheduler does between them."
  {:no-doc true}
  (:require
   [skein.impl.async.gather :as gather]
   [skein.impl.block :refer [<! alts! go]]
   [skein.impl.port :as port])
  (:import
   (skein.rt Buffers$Sliding Channel Uncaught)
   (skein.rt.block Callback)
   (skein.rt.schedule Scheduler)))

(set! *warn-on-reflection* true)

;; A hub is a map:
;;
;; source  the channel whose values go to the taps
;; taps    atom of a vector of [channel close?], in the order in which they were made; nil before
;;         the first
;; change  channel that gets a value after each change of the taps
;; ended   atom: nil, and at the end the channel as which the taps close: the source, or the failed port of
;;         `run`; a later `tap` closes its channel itself

(defn- without [taps ch]
  (when taps (filterv (fn other [[c]] (not (identical? c ch))) taps)))

(defn untap
  "Removes a tap."
  [h ch]
  (swap! (:taps h) without ch)
  (port/put! (:change h) true)
  nil)

(defn untap-all
  "Removes all taps."
  [h]
  (swap! (:taps h) (fn none [taps] (when taps [])))
  (port/put! (:change h) true)
  nil)

(defn- give
  "Offers `v` to the tap `ch`, as part of the round. Removes the tap if it is closed."
  [h ch v]
  (let [g (:gather h)
        arrived (fn arrived [open?]
                  (when-not open? (untap h ch))
                  (gather/arrive g))]
    (try
      (when-not (gather/put g ch v arrived)
        (untap h ch))
      ;; An error of this tap, such as too many puts, must not reach the other taps.
      (catch Throwable t (Uncaught/report t)))))

(defn- give-all
  "Gives `v` to all taps but `except`. Returns whether some have not accepted it yet."
  [h v except]
  (gather/start (:gather h))
  (run! (fn each [[ch]] (when-not (identical? ch except) (give h ch v))) @(:taps h))
  (gather/pending? (:gather h)))

(defn- offers
  "Returns the operations that offer `v` to the taps, or nil if there are none. Only taps that are
  channels count, since a port of another kind may throw."
  [h v]
  (when-some [puts (seq (for [[ch] @(:taps h) :when (instance? Channel ch)] [ch v]))]
    (into [(:change h)] puts)))

(defn- end
  "Closes the taps as `from` was closed."
  [h from]
  (reset! (:ended h) from)
  (doseq [[tap close?] @(:taps h) :when close?]
    (try (port/close-as! tap from)
         (catch Throwable t (Uncaught/report t)))))

(defn- run
  "Moves values from the source to the taps, and closes the taps at the end."
  [h]
  (go
    (let [source (:source h)
          g (:gather h) ; in a local, for the inspector
          first-value (<! source)
          ;; the tap that accepted it, or nil if there is none left
          taker (when (some? first-value)
                  (loop []
                    (when-some [ports (offers h first-value)]
                      (let [[accepted ch] (try (alts! ports)
                                               (catch AssertionError _ nil))] ; too many puts: `give-all` reports the tap
                        (cond
                          (nil? ch) nil
                          (identical? ch (:change h)) (recur)
                          accepted ch
                          :else (do (untap h ch) (recur)))))))]
      (loop [v first-value, except taker]
        (when (some? v)
          (when (give-all h v except) (<! (gather/signal g)))
          (recur (<! source) nil)))
      (end h source))))

(defn- begin [h]
  (port/when-ended (run h) (fn ended [port] (when (port/failed? port) (end h port)))))

(defn- drop-waiting
  "Until the first tap: takes a value from `source` whenever a put waits there, and drops it."
  [h]
  (let [^Channel source (:source h)
        drop-one (fn drop-one []
                   (when (nil? @(:taps h))
                     (port/poll! source)
                     (drop-waiting h)))]
    (.whenPutWaits source (fn tell [] (Scheduler/submit (Callback/task drop-one))))))

(defn tap
  "Adds a tap, or changes its `close?`."
  [h ch close?]
  (port/target "ch of tap" ch)
  (let [[before] (swap-vals! (:taps h)
                             (fn with [taps]
                               (if (some (fn same? [[c]] (identical? c ch)) taps)
                                 (mapv (fn [[c _ :as t]] (if (identical? c ch) [ch close?] t)) taps)
                                 (conj (or taps []) [ch close?]))))]
    (if (nil? before)
      (begin h)
      (port/put! (:change h) true))
    ;; `end` sets ended and then reads the taps. `tap` adds one and then reads ended. So at least one of the
    ;; two closes the tap.
    (when-some [from (when close? @(:ended h))] (port/close-as! ch from))
    nil))

(defn hub
  "Returns a hub for the values of `source`, without taps."
  [source]
  (port/source "ch of mult" source)
  (let [h {:source source :taps (atom nil) :change (Channel. (Buffers$Sliding. 1)) :gather (gather/gather)
           :ended (atom nil)}]
    (if (instance? Channel source)
      (drop-waiting h)
      (do (reset! (:taps h) []) (begin h))) ; a channel of another library does not say whether a put waits
    h))
