;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.observer-test
  "An installed observer sees the life of each block and hears of threads that wait."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >!! alts!! async go]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (java.util.concurrent CountDownLatch)
   (skein.rt Channel Failure Kept Operation Result Uncaught Uncaught$Report Waiter)
   (skein.rt.block Frame Hooks Observer Sites)))

(set! *warn-on-reflection* true)

(defn- recorder
  "An observer that conj's [what frame & details], or for a thread [what thread & details], to the atom `events`."
  [events]
  (let [note (fn [& event] (swap! events conj (vec event)))]
    (reify Observer
      (spawned [_ frame] (note :spawned frame))
      (resumed [_ frame] (note :resumed frame))
      (parking [_ frame operation port] (note :parking frame operation port))
      (refused [_ frame] (note :refused frame))
      (ended [_ frame value thrown] (if thrown (note :failed frame thrown) (note :finished frame value)))
      (handedOff [_ frame thread] (note :handed-off frame thread))
      (waits [_ waiter port] (note :waits (.thread ^Waiter waiter) port))
      (goesOn [_ waiter] (note :goes-on (.thread ^Waiter waiter))))))

(defmacro ^:private with-observer
  "The value of the body, which runs while a recorder to `events` is installed."
  [events & body]
  `(let [observer# (recorder ~events)]
     (Hooks/add observer#)
     (try ~@body (finally (Hooks/remove observer#)))))

(defn- events-of
  "What happened to the frame whose result port is `port`, without the frame."
  [events port]
  (for [[what frame & details] events :when (and (instance? Frame frame) (identical? port (.port ^Frame frame)))]
    (into [what] details)))

(deftest an-observer-sees-a-block-from-spawn-to-end
  (let [events (atom []) ^Channel c (a/chan)
        port (with-observer events
               (let [port (go (inc (long (<! c))))]
                 (within-deadline (while (zero? (.takerCount c)) (Thread/onSpinWait)))
                 (a/>!! c 41)
                 (is (= 42 (await-port port)))
                 port))
        seen (events-of @events port)]
    (is (= [:spawned] (first seen)))
    (is (= [:finished 42] (last seen)))
    (is (= [:spawned :resumed :parking :resumed :finished] (map first seen)))
    (is (some #{[:parking Operation/TAKE c]} seen))))

(deftest an-observer-sees-failures
  (let [events (atom []) thrown (ex-info "meant" {})
        port (with-observer events
               (let [port (async (throw thrown))]
                 (is (identical? thrown (try (a/<?? port) (catch clojure.lang.ExceptionInfo e e))))
                 port))]
    (is (= [[:spawned] [:resumed] [:failed thrown]] (events-of @events port))))
  (let [events (atom [])
        [_ thrown] (await-uncaught #(= "meant" (ex-message %))
                                   #(with-observer events (await-port (go (throw (ex-info "meant" {}))))))]
    (is (some #(and (= :failed (first %)) (identical? thrown (peek %))) @events))))

;; skein.test/no-dropped-errors waits for the ends of blocks, and then looks for exceptions.
(deftest the-exception-is-kept-before-the-block-has-ended
  (let [held (atom []), meant? #(= "meant" (ex-message %))
        observer (reify Observer
                   (ended [_ _ _ thrown]
                     (when (and thrown (meant? thrown))
                       (swap! held conj (boolean (some #(identical? thrown %)
                                                       (concat (Failure/kept)
                                                               (map (fn [^Uncaught$Report u] (.thrown u)) (Uncaught/last)))))))))]
    (Hooks/add observer)
    (try
      (is (meant? (try (a/<?? (async (throw (ex-info "meant" {})))) (catch clojure.lang.ExceptionInfo e e))))
      (await-uncaught meant? #(await-port (go (throw (ex-info "meant" {})))))
      (finally (Hooks/remove observer)))
    (is (= [true true] @held))))

;; A worker that blocks with nothing behind it is given up, not handed off. Therefore one block spawns many:
;; they stand in its worker's queue, behind the first that blocks, unless other workers are quicker each time.
(deftest an-observer-sees-hand-offs
  (let [events (atom []), release (CountDownLatch. 1), blocked (atom #{})
        handed-off #(filter (fn [[what frame]] (and (= :handed-off what) (@blocked (.port ^Frame frame)))) @events)]
    (with-observer events
      (within-deadline
        (while (empty? (handed-off))
          (swap! blocked into (await-port (go (vec (repeatedly 64 #(go (.await release) :done))))))
          (is (= :ran (await-port (go :ran))) "behind those that block")))
      (.countDown release)
      (is (every? #{:done} (map await-port @blocked)))
      (is (every? (fn [[_ _ thread]] (instance? Thread thread)) (handed-off))))))

(deftest a-removed-observer-sees-nothing
  (let [events (atom [])]
    (with-observer events (within-deadline (a/<!! (go 1))))
    (let [n (count @events)]
      (await-port (go 2))
      (is (pos? n))
      (is (= n (count @events))))))

(deftest an-observer-that-throws-harms-no-block
  (let [calls (atom 0), fault (ex-info "of an observer" {})
        observer (reify Observer (resumed [_ _] (swap! calls inc) (throw fault)))]
    (Hooks/add observer)
    (try
      (is (= (range 150) (map #(await-port (go %)) (range 150))))
      (is (<= 100 @calls 140) "then it is taken out")
      (is (some #(identical? fault (.thrown ^Uncaught$Report %)) (Uncaught/last)))
      (finally (Hooks/remove observer)))))

(defn- await-takers [^Channel c n]
  (within-deadline (while (< (.takerCount c) (long n)) (Thread/onSpinWait))))

(deftest an-older-block-is-seen-from-its-next-step-on
  (let [events (atom []), c (a/chan), port (go (<! c) (<! c))]
    (await-takers c 1)
    (with-observer events
      (is (= [] (events-of @events port)))
      (>!! c 1)
      (await-takers c 1)
      (is (= [[:resumed] [:parking Operation/TAKE c]] (events-of @events port))))
    (testing "and no longer when the observer is removed"
      (a/close! c)
      (await-port port)
      (is (= 2 (count (events-of @events port)))))))

(deftest refused-operations-are-reported
  (let [events (atom []), closed (doto (a/chan) a/close!)
        port (with-observer events (doto (go (<! closed) (a/>! closed 1)) await-port))]
    (is (= [:parking :refused :parking :refused :finished] (drop 2 (map first (events-of @events port)))))))

(deftest waiting-threads-are-reported
  (let [events (atom []), c (a/chan), d (a/chan)
        ours (fn [] (filter (fn [[what _ port]] (and (= :waits what) (#{c [d]} port))) @events))]
    (with-observer events
      (let [one (a/thread (<!! c)), several (a/thread (alts!! [d]))]
        (within-deadline (while (< (count (ours)) 2) (Thread/onSpinWait)))
        (run! a/close! [c d])
        (run! await-port [one several])))
    (is (= #{c [d]} (set (map peek (ours)))))
    (doseq [[_ thread] (ours)]
      (is (some #{[:goes-on thread]} @events)))))

(deftest an-observer-keeps-an-object-with-a-block
  (let [kept (Kept.), seen (atom [])
        observer (reify Observer
                   (spawned [_ frame] (.keep ^Frame frame kept))
                   (ended [_ frame _ _] (swap! seen conj (.kept ^Frame frame))))]
    (Hooks/add observer)
    (try (await-port (go 1)) (finally (Hooks/remove observer)))
    (is (some #(identical? kept %) @seen)))
  (testing "but not two of different kinds"
    (let [thrown (atom nil)
          observer (reify Observer
                     (spawned [_ frame]
                       (try (.keep ^Frame frame (proxy [Kept] []))
                            (.keep ^Frame frame (proxy [Kept java.util.concurrent.Callable] []))
                            (catch IllegalStateException e (reset! thrown e)))))]
      (Hooks/add observer)
      (try (await-port (go 1)) (finally (Hooks/remove observer)))
      (is (some? @thrown)))))

(defn- waiting-frame ^Frame [^Channel c]
  (await-takers c 1)
  (.block ^Waiter (first (.waiters c true))))

(deftest sites-are-read-once-for-all-blocks-of-a-form
  (let [cs [(a/chan) (a/chan)]
        ports (mapv (fn [c] (go (try (<! c) (finally (inc 1))))) cs)
        sites (mapv (fn [c] (Sites/of (.body (waiting-frame c)))) cs)
        site (.at ^Sites (sites 0) (.state (waiting-frame (cs 0))))]
    (is (identical? (sites 0) (sites 1)))
    (is (= ["(<! c)" true] [(.form site) (.inTry site)]))
    (is (nil? (.at ^Sites (sites 0) 1000)))
    (run! a/close! cs)
    (run! await-port ports)))

(deftest a-result-port-carries-the-note-of-its-block
  (let [^Channel port (go 1)]
    (Result/block port :known)
    (is (= :known (Result/block port)))
    (await-port port)))
