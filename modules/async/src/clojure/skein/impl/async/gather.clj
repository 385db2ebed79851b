;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.gather
  "Lets a block start several operations together and wait until all are done.

      (start g)               ; the block holds a share itself, so that the round does not end early
      (expect g)              ; before each operation; its callback calls `arrive`
      (when (pending? g)      ; gives up the block's own share
        (<! (signal g)))

  One block uses a gather for many rounds."
  {:no-doc true}
  (:require
   [skein.impl.once :refer [deftype-once]]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent.atomic AtomicInteger)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(deftype-once Gather [^AtomicInteger shares signal])

(defn gather
  "Returns a gather without operations."
  []
  (Gather. (AtomicInteger.) (port/chan 1)))

(defn signal
  "Returns the channel that gets a value when all operations are done, if `pending?` returned true."
  [^Gather g]
  (.-signal g))

(defn start
  "Begins a round."
  [^Gather g]
  (.set ^AtomicInteger (.-shares g) 1))

(defn expect
  "Adds an operation, which will call `arrive`."
  [^Gather g]
  (.incrementAndGet ^AtomicInteger (.-shares g)))

(defn arrive
  "Notes that an operation is done."
  [^Gather g]
  (when (zero? (.decrementAndGet ^AtomicInteger (.-shares g)))
    (port/put! (.-signal g) true)))

(defn pending?
  "Ends the round. Returns whether operations are still under way, so that the signal will come."
  [^Gather g]
  (pos? (.decrementAndGet ^AtomicInteger (.-shares g))))

(defn put
  "Starts a put that is part of the round. If it can't be done at once, it is expected, and
  `arrived` is called later with its outcome, true or false. Returns false if the port is
  known to be closed."
  [g port value arrived]
  (let [accepted (if (instance? Channel port) (.put ^Channel port value nil nil) Channel/NONE)]
    (if (identical? accepted Channel/NONE)
      (do (expect g)
          (try
            (port/put! port value arrived)
            (catch Throwable t (arrive g) (throw t))))
      accepted)))
