;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mult
  "One channel's values for many: see skein.async/mult."
  (:require [skein.async :as a :refer [<! close! go]]
            [skein.impl.argument :as argument]
            [skein.impl.async.gather :as gather])
  (:import [skein.rt.schedule Scheduler]))

(set! *warn-on-reflection* true)

(defn- give
  "Offers `v` to the tap `ch`, as part of the round of `g`; a closed one is removed."
  [m g ch v]
  (let [arrived (fn arrived [open?]
                  (when-not open? (a/untap* m ch))
                  (gather/arrive g))]
    (try
      (when-not (gather/put g ch v arrived)
        (a/untap* m ch))
      ;; The tap's own trouble, such as too many puts: the other taps must not pay for it.
      (catch Throwable t (Scheduler/uncaught t)))))

(defn- give-all
  "Gives `v` to all taps; whether some have yet to accept it."
  [m g taps v]
  (gather/start g)
  (reduce-kv (fn each [_ ch _] (give m g ch v) nil) nil taps)
  (gather/pending? g))

(def ^:const grace-ms
  "How long a mult waits before it takes its first value. A program makes a mult and then
  taps it; a block that began at once would often be quicker, and drop what there is."
  5)

(defn hub
  "A mult of `ch`, which begins to take when the port `begin` gives a value or closes."
  [ch begin]
  (argument/source ch)
  (let [taps (atom {}) ; channel -> whether to close it with the source
        m (reify
            a/Mux
            (muxch* [_] ch)
            a/Mult
            (tap* [_ ch close?] (argument/target ch) (swap! taps assoc ch close?) nil)
            (untap* [_ ch] (swap! taps dissoc ch) nil)
            (untap-all* [_] (reset! taps {}) nil))
        g (gather/gather)]
    (go (<! begin)
        (loop []
          (if-some [v (<! ch)]
            (do (when (give-all m g @taps v) (<! (gather/signal g)))
                (recur))
            (doseq [[tap close?] @taps :when close?] (close! tap)))))
    m))

(defn mult
  "See skein.async/mult."
  [ch]
  (hub ch (a/timeout grace-ms)))
