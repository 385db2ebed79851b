;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.lab
  "Ports made of several ports: core.async's experiments, for programs that use them.

  * `multiplex`  a port to take from, which gives the values of several ports
  * `broadcast`  a port to put on, which puts each value on several ports

  Like clojure.core.async.lab. Differs: if a value was taken for an alts that another port wins,
  the value is kept for the next take. `poll!` does not wait. Prefer `mult` and `merge` in new
  code.

      (let [c (a/chan 1) d (a/chan 1)]
        (a/>!! (broadcast c d) :news)
        [(a/<!! c) (a/<!! d)])
      ;=> [:news :news]"
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.impl.once :refer [deftype-once]])
  (:import
   (java.util Collection HashSet Set)
   (java.util.concurrent.atomic AtomicBoolean AtomicInteger)
   (java.util.concurrent.locks Lock ReentrantLock)
   (skein.rt NilPut Uncaught)
   (skein.rt.block Callback)
   (skein.rt.schedule Scheduler)))

(set! *warn-on-reflection* true)

(defn- call-back [f result]
  (if (:on-caller? (meta f))
    (f result)
    (Scheduler/submit (Callback/task (fn run [] (f result))))))

(defmacro ^:private with-lock [lock & body]
  `(let [lock# ~(vary-meta lock assoc :tag `Lock)]
     (.lock lock#)
     (try ~@body (finally (.unlock lock#)))))

(defn- commit
  "Commits the handler `h`. Returns its function, or nil if it has completed otherwise."
  [h]
  (with-lock h (when (impl/active? h) (impl/commit h))))

;; One of the ports of a multiplexing port. It holds values that were taken for an operation that
;; has completed otherwise. Every take waits here too, so that these values are taken.
(deftype-once ^:private Kept [ch]
  impl/ReadPort
  (take! [_ h] (impl/take! ch h)))

(alter-meta! #'->Kept assoc :private true)

(defn- kept? [port] (instance? Kept port))

(defn- give
  "Ends the take of `h` with `v`. Returns [function v]. If `h` has completed otherwise, the function
  is nil and the value is kept."
  [ports h v]
  (let [f (commit h)]
    (when (and (nil? f) (some? v))
      (run! (fn keep-here [port] (when (kept? port) (a/put! (.-ch ^Kept port) v))) ports))
    [f v]))

(defn- take-one
  "Takes for `h` from one of `ports`, and removes closed ports from it. Returns [function value], or
  nil if the take waits."
  [mutex ^Set ports h]
  (let [forget (fn forget [port] (with-lock mutex (.remove ports port)))
        late (fn late [[v port]]
               (when-some [[f v] (if (nil? v)
                                   (do (forget port) (take-one mutex ports h))
                                   (give (with-lock mutex (vec ports)) h v))]
                 (when f (call-back f v))))]
    (loop []
      (let [open (with-lock mutex (vec ports))]
        (if (every? kept? open)
          (give open h (some (fn poll [^Kept port] (a/poll! (.-ch port))) open))
          (when-some [chosen (impl/do-alts (with-meta late {:on-caller? true}) open
                               (if (impl/blockable? h) {} {:default nil}))]
            (let [[v port] @chosen]
              (cond
                (identical? port :default) nil
                (nil? v) (do (forget port) (recur))
                :else (give open h v)))))))))

(deftype-once MultiplexingReadPort [mutex read-ports]
  impl/ReadPort
  (take! [_ h]
    (when-some [[f v] (take-one mutex read-ports h)]
      (when f (impl/box v)))))

(defn multiplex
  "Returns a port whose takes return a value of any of `ports`, or nil when all are closed. Like
  clojure.core.async.lab's."
  [& ports]
  (->MultiplexingReadPort (ReentrantLock.) (HashSet. ^Collection (cons (Kept. (a/chan 8)) ports))))

(defn- put-on-all
  "Puts `v` on all ports. When all puts have ended, calls `done` with true if one was accepted, else
  false."
  [ports v done]
  (let [pending (AtomicInteger. (inc (count ports)))
        accepted (AtomicBoolean.)
        arrive (fn arrive [accepted?]
                 (when accepted? (.set accepted true))
                 (when (zero? (.decrementAndGet pending)) (done (.get accepted))))]
    (doseq [port ports]
      (try
        (a/put! port v arrive)
        (catch Throwable t
          (Uncaught/report t)
          (arrive false))))
    (arrive false)))

(deftype-once BroadcastingWritePort [write-ports]
  impl/WritePort
  (put! [_ v h]
    (when (nil? v) (throw (NilPut/refused)))
    (when-some [f (commit h)]
      (let [at-once (atom ::pending)]
        (put-on-all write-ports v
                    (fn done [accepted?]
                      (when-not (compare-and-set! at-once ::pending accepted?)
                        (call-back f accepted?))))
        (when-not (compare-and-set! at-once ::pending ::late)
          (impl/box @at-once))))))

(defn broadcast
  "Returns a port whose puts go to all of `ports`. A put ends when all have accepted it, and returns
  false if all are closed. Like clojure.core.async.lab's. Differs: in an alts, such a put is chosen
  as soon as it is tried."
  [& ports]
  (->BroadcastingWritePort (set ports)))
