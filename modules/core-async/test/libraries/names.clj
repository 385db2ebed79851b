;; SPDX-License-Identifier: Apache-2.0
;; Uses core.async's names as a library may. Prints the results as EDN.
(ns names
  "Runs in a process of its own, for skein.bridge-test."
  (:require
   [clojure.core.async :as async :refer [<! <!! >! alt! alts! go go-loop]]
   [clojure.core.async.impl.buffers :as buffers]
   [clojure.core.async.impl.channels :as channels]
   [clojure.core.async.impl.dispatch :as dispatch]
   [clojure.core.async.impl.go]
   [clojure.core.async.impl.ioc-macros]
   [clojure.core.async.impl.protocols :as impl]
   [clojure.core.async.impl.timers :as timers]
   [clojure.core.async.lab :as lab]))

(set! *warn-on-reflection* true)

(defrecord Constant [value]
  impl/ReadPort
  (take! [_ handler] (impl/commit handler) (channels/box value)))

(extend-protocol impl/ReadPort
  java.util.UUID
  (take! [id handler] (impl/commit handler) (channels/box (str id))))

(defn- locals-named-alike
  "A local that has the name of an operation is none."
  []
  (let [<! inc] (<!! (go (<! 1)))))

(prn {:publics (sort (map (fn [[n v]] [n (pr-str (:arglists (meta v)))]) (ns-publics 'clojure.core.async)))
      :macros (sort (keep (fn [[n v]] (when (:macro (meta v)) n)) (ns-publics 'clojure.core.async)))
      :parks (<!! (go-loop [sum 0, c (async/to-chan! (range 10))]
                    (if-some [v (<! c)] (recur (+ sum (long v)) c) sum)))
      :alt (<!! (go (alt! [(async/chan)] :never (async/timeout 1) :time)))
      :alts (<!! (go (let [c (async/chan 1)] (>! c 1) (first (alts! [c])))))
      :shadowed (locals-named-alike)
      :ports [(<!! (->Constant 7)) (<!! (go (<! (->Constant 8)))) (<!! #uuid "00000000-0000-0000-0000-000000000001")]
      :satisfied [(satisfies? impl/ReadPort (async/chan)) (satisfies? impl/ReadPort (->Constant 1))
                  (satisfies? impl/ReadPort 1) (satisfies? async/Mult (async/mult (async/chan)))]
      :buffer (count (doto (buffers/fixed-buffer 2) (impl/add! 1)))
      :lab (<!! (lab/multiplex (async/to-chan! [1])))
      :timer (<!! (timers/timeout 1))
      :executor (let [p (promise)] (dispatch/exec #(deliver p :ran) :io) (deref p 10000 :late))})
(System/exit 0)
