;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.inspector-test
  "An installed inspector gives each block a note, and hears of threads that wait."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >!! alts!! go]]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (skein.rt Channel Result Waiter World)
   (skein.rt.block Frame Hooks Inspector Note Sites)))

(set! *warn-on-reflection* true)

(defn- recorder
  "An inspector whose notes conj [what result-port & details] to the atom `events`."
  ^Inspector [events]
  (reify Inspector
    (note [_ frame conveyed]
      (let [port (.port ^Frame frame)]
        (swap! events conj [:note port])
        (proxy [Note] [conveyed]
          (parking [_ state op on] (swap! events conj [:parking port op on]))
          (refused [] (swap! events conj [:refused port]))
          (resumed [_] (swap! events conj [:resumed port]))
          (ended [] (swap! events conj [:ended port])))))
    (waits [_ waiter port] (swap! events conj [:waits (.thread ^Waiter waiter) port]))
    (goesOn [_ waiter] (swap! events conj [:goes-on (.thread ^Waiter waiter)]))))

(defmacro ^:private with-inspector [events & body]
  `(do (Hooks/inspector (recorder ~events))
       (try ~@body (finally (Hooks/inspector nil)))))

(defn- of-port [events port]
  (for [[what p & details] @events :when (identical? p port)] (into [what] details)))

(defn- await-takers [^Channel c n]
  (within-deadline (while (< (.takerCount c) (long n)) (Thread/onSpinWait))))

(deftest a-note-stays-with-its-block-from-spawn-to-end
  (let [events (atom []), c (a/chan), port (volatile! nil)]
    (with-inspector events
      (vreset! port (go (<! c)))
      (await-takers c 1)
      (a/close! c)
      (await-port @port))
    (is (= [[:note] [:resumed] [:parking World/TAKE c] [:resumed] [:ended]] (of-port events @port)))))

(deftest an-older-block-gets-a-note-at-its-next-step
  (let [events (atom []), c (a/chan), port (go (<! c) (<! c))]
    (await-takers c 1)
    (with-inspector events
      (is (= [] (of-port events port)))
      (>!! c 1)
      (await-takers c 1)
      (is (= [[:note] [:resumed] [:parking World/TAKE c]] (of-port events port))))
    (testing "and keeps it, without notifications"
      (a/close! c)
      (await-port port)
      (is (= 3 (count (of-port events port)))))))

(deftest waiting-threads-are-reported
  (let [events (atom []), c (a/chan), d (a/chan)
        ours (fn [] (filter (fn [[what _ port]] (and (= :waits what) (#{c [d]} port))) @events))]
    (with-inspector events
      (let [one (a/thread (<!! c)), several (a/thread (alts!! [d]))]
        (within-deadline (while (< (count (ours)) 2) (Thread/onSpinWait)))
        (run! a/close! [c d])
        (run! await-port [one several])))
    (is (= #{c [d]} (set (map peek (ours)))))
    (doseq [[_ thread] (ours)]
      (is (some #{[:goes-on thread]} @events)))))

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
