;; SPDX-License-Identifier: Apache-2.0
;; Runs machines.clj, of which only core.async's class files are there. Prints what came of it, as EDN.
(ns compiled
  "Runs in a process of its own, for skein.bridge-test."
  (:require
   [clojure.core.async :as async :refer [<!!]]
   [clojure.java.io :as io]
   [machines]))

(set! *warn-on-reflection* true)

(defn- holding [& vs]
  (async/to-chan! vs))

(let [heard (promise)]
  (Thread/setDefaultUncaughtExceptionHandler
    (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ thrown] (deliver heard (ex-message (or (ex-cause thrown) thrown))))))
  (prn {:source (some? (io/resource "machines.clj"))
        :runs-on-skein? (instance? skein.rt.Channel (machines/sum (async/chan)))
        :sum (<!! (machines/sum (async/to-chan! (range 1000))))
        :ping-pong (<!! (machines/ping-pong 1000))
        :choices (<!! (machines/choices (holding 1) (async/chan)))
        :caught (<!! (machines/caught (holding 1 2 3)))
        :nested (<!! (machines/nested))
        :failing [(<!! (machines/failing)) (deref heard 10000 :late)]
        :many (reduce + (map <!! (mapv (fn [i] (machines/sum (holding i 1))) (range 1000))))})
  (System/exit 0))
