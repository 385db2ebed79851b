;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.gather
  "Lets a block start several operations together and wait until all are done.

      (start g)               ; the block itself holds a share, so that the round does not end early
      (expect g)              ; before each operation; its callback calls `arrive`
      (when (pending? g)      ; gives up the block's own share
        (<! (signal g)))

  One block uses a gather for many rounds."
  {:no-doc true}
  (:require
   [skein.impl.once :refer [deftype-once]]
   [skein.impl.port :as port])
  (:import
   (java.util.concurrent.atomic AtomicInteger AtomicReference)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(deftype-once Gather [^AtomicInteger shares signal
                      ^AtomicReference slow]) ; see `slow-puts`

(defn gather
  "Returns a gather without operations."
  []
  (Gather. (AtomicInteger.) (port/chan 1) (AtomicReference.)))

(defn signal
  "Returns the channel that gets a value when all operations are done, if `pending?` returned true."
  [^Gather g]
  (.-signal g))

(defn start
  "Begins a round."
  [^Gather g]
  (.set ^AtomicInteger (.-shares g) 1))

(defn expect
  "Adds an operation, whose callback must call `arrive`."
  [^Gather g]
  (.incrementAndGet ^AtomicInteger (.-shares g)))

(defn slow-puts
  "Returns [[port callback]], the puts of this round that could not be done at once, if `x` is the gather with this signal. For
  inspection."
  [x signal]
  (when (and (instance? Gather x) (identical? signal (.-signal ^Gather x)))
    (.get ^AtomicReference (.-slow ^Gather x))))

(defn- give-up-share
  "Gives up a share. Returns whether it was the last one of the round."
  [^Gather g]
  (when (zero? (.decrementAndGet ^AtomicInteger (.-shares g)))
    (when (.get ^AtomicReference (.-slow g)) (.set ^AtomicReference (.-slow g) nil)) ; a gather that waits holds no port
    true))

(defn arrive
  "Notes that an operation is done."
  [^Gather g]
  (when (give-up-share g)
    (port/put! (.-signal g) true)))

(defn pending?
  "Ends the round. Returns whether operations are still under way, so that the signal will come."
  [^Gather g]
  (not (give-up-share g)))

(defn put
  "Starts a put that is part of the round. If it can't be done at once, it is expected, and
  `arrived` is called later with its outcome, true or false. Returns false if the port is
  known to be closed."
  [g port value arrived]
  (let [accepted (if (instance? Channel port) (.put ^Channel port value nil nil) Channel/NONE)]
    (if (identical? accepted Channel/NONE)
      (do (expect g)
          (let [^AtomicReference slow (.-slow ^Gather g)] (.set slow (conj (or (.get slow) []) [port arrived])))
          (try
            (port/put! port value arrived)
            (catch Throwable t (arrive g) (throw t))))
      accepted)))
