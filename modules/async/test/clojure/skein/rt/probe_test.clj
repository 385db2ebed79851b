;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.probe-test
  "An installed probe sees the life of each block."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! async go]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (java.util.concurrent CountDownLatch)
   (skein.rt Channel Failure Uncaught Uncaught$Report)
   (skein.rt.block Frame Hooks Probe)))

(set! *warn-on-reflection* true)

(defn- recorder
  "A probe that conj's [what frame & details] to the atom `events`."
  [events]
  (let [note (fn [& event] (swap! events conj (vec event)))]
    (reify Probe
      (spawned [_ frame] (note :spawned frame))
      (resumed [_ frame] (note :resumed frame))
      (parking [_ frame state port] (note :parking frame state port))
      (finished [_ frame value] (note :finished frame value))
      (failed [_ frame thrown] (note :failed frame thrown))
      (handedOff [_ frame thread] (note :handed-off frame thread)))))

(defmacro ^:private with-probe
  "The value of the body, which runs while a recorder to `events` is installed."
  [events & body]
  `(let [probe# (recorder ~events)]
     (Hooks/addProbe probe#)
     (try ~@body (finally (Hooks/removeProbe probe#)))))

(defn- events-of
  "What happened to the frame whose result port is `port`, without the frame."
  [events port]
  (for [[what ^Frame frame & details] events :when (identical? port (.port frame))]
    (into [what] details)))

(deftest a-probe-sees-a-block-from-spawn-to-end
  (let [events (atom []) ^Channel c (a/chan)
        port (with-probe events
               (let [port (go (inc (long (<! c))))]
                 (within-deadline (while (zero? (.takerCount c)) (Thread/onSpinWait)))
                 (a/>!! c 41)
                 (is (= 42 (await-port port)))
                 port))
        seen (events-of @events port)]
    (is (= [:spawned] (first seen)))
    (is (= [:finished 42] (last seen)))
    (is (= [:spawned :resumed :parking :resumed :finished] (map first seen)))
    (is (identical? c (peek (first (filter #(= :parking (first %)) seen)))))))

(deftest a-probe-sees-failures
  (let [events (atom []) thrown (ex-info "meant" {})
        port (with-probe events
               (let [port (async (throw thrown))]
                 (is (identical? thrown (try (a/<?? port) (catch clojure.lang.ExceptionInfo e e))))
                 port))]
    (is (= [[:spawned] [:resumed] [:failed thrown]] (events-of @events port))))
  (let [events (atom [])
        [_ thrown] (await-uncaught #(= "meant" (ex-message %))
                                   #(with-probe events (await-port (go (throw (ex-info "meant" {}))))))]
    (is (some #(and (= :failed (first %)) (identical? thrown (peek %))) @events))))

;; skein.test/no-dropped-errors waits for the ends of blocks, and then looks for exceptions.
(deftest the-exception-is-kept-before-the-block-has-ended
  (let [held (atom []), meant? #(= "meant" (ex-message %))
        probe (reify Probe
                (failed [_ _ thrown]
                  (when (meant? thrown)
                    (swap! held conj (boolean (some #(identical? thrown %)
                                                    (concat (Failure/kept)
                                                            (map (fn [^Uncaught$Report u] (.thrown u)) (Uncaught/last)))))))))]
    (Hooks/addProbe probe)
    (try
      (is (meant? (try (a/<?? (async (throw (ex-info "meant" {})))) (catch clojure.lang.ExceptionInfo e e))))
      (await-uncaught meant? #(await-port (go (throw (ex-info "meant" {})))))
      (finally (Hooks/removeProbe probe)))
    (is (= [true true] @held))))

;; A worker that blocks with nothing behind it is given up, not handed off. Therefore one block spawns many:
;; they stand in its worker's queue, behind the first that blocks, unless other workers are quicker each time.
(deftest a-probe-sees-hand-offs
  (let [events (atom []), release (CountDownLatch. 1), blocked (atom #{})
        handed-off #(filter (fn [[what ^Frame frame]] (and (= :handed-off what) (@blocked (.port frame)))) @events)]
    (with-probe events
      (within-deadline
        (while (empty? (handed-off))
          (swap! blocked into (await-port (go (vec (repeatedly 64 #(go (.await release) :done))))))
          (is (= :ran (await-port (go :ran))) "behind those that block")))
      (.countDown release)
      (is (every? #{:done} (map await-port @blocked)))
      (is (every? (fn [[_ _ thread]] (instance? Thread thread)) (handed-off))))))

(deftest a-removed-probe-sees-nothing
  (let [events (atom [])]
    (with-probe events (within-deadline (a/<!! (go 1))))
    (let [n (count @events)]
      (await-port (go 2))
      (is (pos? n))
      (is (= n (count @events))))))

(deftest a-probe-that-throws-harms-no-block
  (let [calls (atom 0), fault (ex-info "of a probe" {})
        probe (reify Probe (resumed [_ _] (swap! calls inc) (throw fault)))]
    (Hooks/addProbe probe)
    (try
      (is (= (range 150) (map #(await-port (go %)) (range 150))))
      (is (<= 100 @calls 140) "then it is taken out")
      (is (some #(identical? fault (.thrown ^Uncaught$Report %)) (Uncaught/last)))
      (finally (Hooks/removeProbe probe)))))
