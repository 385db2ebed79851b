;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.foreign
  "Connects the runtime's channels and waiters with foreign ports, buffers and handlers.

  * Skein's blocks, threads and callbacks on foreign ports: `foreign-alts`, installed in skein.rt.Foreign. A single take or
    put is an alts of one operation
  * foreign buffers in Skein's channels: `foreign-buffer`

  The other direction, foreign handlers on Skein's channels, is in skein.async.spi."
  {:no-doc true}
  (:require
   [skein.async.spi :as impl]
   [skein.impl.check :as check]
   [skein.impl.once :refer [defprotocol-once deftype-once]])
  (:import
   (clojure.lang IDeref IPersistentVector)
   (java.util.concurrent CompletionStage Future)
   (java.util.concurrent.atomic AtomicBoolean AtomicLong AtomicReference)
   (java.util.concurrent.locks Lock ReentrantLock)
   (java.util.function BooleanSupplier)
   (skein.rt Alts Buffer Channel Foreign Uncaught Waiter World)))

(set! *warn-on-reflection* true)

(defprotocol-once Source
  "Something that will have one result and can be taken from like a port."
  (source-channel [source]
    "Returns the skein.rt.Channel that stands for it, in which takes wait, or nil for other values."))

(extend-protocol Source
  Object
  (source-channel [_] nil)
  nil
  (source-channel [_] nil))

;;;; Buffers

(defn foreign-buffer
  "Returns a buffer of the runtime for `b`, which satisfies the protocol. Throws :skein/bad-argument
  if it does not."
  [b]
  (check/that "buf-or-n of chan" b (satisfies? impl/Buffer b)
              (str "a number, a buffer or nil" (when (fn? b) " (a transducer is the second argument: (chan 1 (map inc)))")))
  (reify Buffer
    (full [_] (boolean (impl/full? b)))
    (remove [_] (impl/remove! b))
    (add [_ value] (impl/add!* b value))
    (close [_] (impl/close-buf! b))
    (capacity [_] (int (or (when (satisfies? impl/Capacity b) (impl/capacity b)) -1)))
    (count [_] (count b))))

;;;; Skein's waiters on foreign ports

(defn- taking
  "Starts a take with `handler`. Throws :skein/bad-argument; only a call that fails pays for the check."
  [port handler]
  (try
    (impl/take! port handler)
    (catch IllegalArgumentException e
      (check/port "The port of a take" port (satisfies? impl/ReadPort port)
        (if (or (instance? IDeref port) (instance? Future port) (instance? CompletionStage port))
          "a channel (take from a future by deref, or load skein.async.interop)"
          "a channel"))
      (throw e))))

(defn- putting
  "Starts a put with `handler`; see `taking`."
  [port value handler]
  (try
    (impl/put! port value handler)
    (catch IllegalArgumentException e
      (check/port "The port of a put" port (satisfies? impl/WritePort port)
        "a channel, which comes before the value")
      (throw e))))

;; Far from core.async's, which count from 1: two handlers that meet must not have the same id.
(defonce ^:private ^AtomicLong next-lock-id (AtomicLong. (bit-shift-left 1 62)))

;; The flag of an alts. `by` holds the operation that has closed it, or :nobody; nil while it is open.
(deftype-once ^:private OneShot [^ReentrantLock lock ^AtomicReference by ^long id])

(defn- open? [^OneShot flag]
  (nil? (.get ^AtomicReference (.-by flag))))

(defn- close! [^OneShot flag by]
  (.set ^AtomicReference (.-by flag) by))

(defn- arm
  "Returns the handler of the operation `op` of an alts. All share a flag, and the first to commit wins."
  [^OneShot flag op f]
  (reify
    Lock
    (lock [_] (.lock ^ReentrantLock (.-lock flag)))
    (unlock [_] (.unlock ^ReentrantLock (.-lock flag)))
    impl/Handler
    (active? [_] (open? flag))
    (blockable? [_] true)
    (lock-id [_] (.-id flag))
    (commit [_] (close! flag op) f)))

(defn- claim-flag
  "Ends the alts of `flag`. Returns false if an operation has won before."
  [^OneShot flag]
  (let [^ReentrantLock lock (.-lock flag)]
    (.lock lock)
    (try
      (when (open? flag) (close! flag :nobody) true)
      (finally (.unlock lock)))))

(defn- order
  "Returns the indices below n, shuffled unless `priority?`."
  ^ints [^long n priority?]
  (let [a (int-array (range n))]
    (when-not priority?
      (loop [i (dec n)]
        (when (pos? i)
          (let [j (World/draw (inc i)) x (aget a i)]
            (aset a i (aget a j))
            (aset a j x)
            (recur (dec i))))))
    a))

(defn- try-arm
  "Starts one operation. Returns a box of [value port] if that ends the alts. Throws an exception
  of the port, unless another operation has been done by then."
  [op ^OneShot flag deliver]
  (let [put? (vector? op)
        port (if put? (op 0) op)
        h (arm flag op (with-meta (fn won [v] (deliver [v port])) {:on-caller? true}))]
    (try
      (when-some [b (if put? (putting port (op 1) h) (taking port h))]
        (impl/box [@b port]))
      (catch Throwable t
        (if (or (claim-flag flag) (identical? op (.get ^AtomicReference (.-by flag))))
          (throw t)
          (Uncaught/report t))))))

(defn- try-arms
  "Starts the operations in order. Returns the [value port] of one that is done at once, or nil.

  `settle` returns true once, to the caller that must give the waiter its result. An alts whose take
  meets its own put is done here and also called back, as in core.async."
  [ops ^ints idx flag settle ^Waiter waiter]
  (let [deliver (fn [chosen] (when (settle) (.deliver waiter chosen)))
        n (alength idx)]
    (loop [i 0]
      (when (< i n)
        (if-some [b (try-arm (ops (aget idx i)) flag deliver)]
          (when (settle) @b)
          (recur (inc i)))))))

(defn- on-channel
  "Returns `op` on the channel that stands for its port, or nil if there is none."
  [op]
  (if (vector? op)
    (when (instance? Channel (op 0)) op)
    (if (instance? Channel op) op (source-channel op))))

(defn- withdraw
  "Ends the alts of `flag` without a result. Returns false if a channel has done one of its operations, whose result then
  comes at once. That of another port may never come; it is dropped."
  [^OneShot flag settle]
  (and (or (claim-flag flag) (not (on-channel (.get ^AtomicReference (.-by flag)))))
       (settle)))

(defn- foreign-alts-by-handlers
  "Like `foreign-alts`, with one handler for each operation."
  [ops options ^Waiter waiter]
  (let [flag (OneShot. (ReentrantLock.) (AtomicReference.) (.incrementAndGet next-lock-id))
        settled (AtomicBoolean.)
        settle (fn settle [] (.compareAndSet settled false true))
        ops (vec ops)]
    (.withdrawal waiter (reify BooleanSupplier (getAsBoolean [_] (boolean (withdraw flag settle)))))
    (or (try-arms ops (order (count ops) (:priority options)) flag settle waiter)
        (when (and (contains? options :default) (claim-flag flag))
          [(:default options) :default]))))

(defn foreign-alts
  "Like skein.rt.Alts/choose, for operations some of which are on foreign ports."
  [^IPersistentVector ops options ^Waiter waiter]
  (let [n (.count ops)]
    (loop [i 0, on-channels ops]
      (if (< i n)
        (let [op (.nth ops i)]
          (if-some [known (on-channel op)]
            (recur (inc i) (if (identical? op known) on-channels (.assocN on-channels i known)))
            (foreign-alts-by-handlers ops options waiter)))
        (Alts/choose on-channels options waiter nil)))))

(Foreign/install foreign-alts)
