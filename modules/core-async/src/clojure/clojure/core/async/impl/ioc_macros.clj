;; SPDX-License-Identifier: Apache-2.0
(ns clojure.core.async.impl.ioc-macros
  "State machines, for code that makes machines of its own, and for go blocks that core.async
  compiled ahead of time. A machine is an array that holds its function, which takes the array,
  its state, the value of the last operation, and its bindings. Skein's own blocks do not use
  them."
  {:no-doc true}
  (:require
   [skein.async :as a]
   [skein.async.spi :as impl])
  (:import
   (java.util.concurrent.atomic AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(def ^{:const true :tag 'long} FN-IDX "The index of the machine's function." 0)
(def ^{:const true :tag 'long} STATE-IDX "The index of the number of its next block." 1)
(def ^{:const true :tag 'long} VALUE-IDX "The index of the value of the last operation." 2)
(def ^{:const true :tag 'long} BINDINGS-IDX "The index of the thread bindings." 3)
(def ^{:const true :tag 'long} EXCEPTION-FRAMES "The index of the exception handlers." 4)
(def ^{:const true :tag 'long} USER-START-IDX "The index of the first of the user's own places." 5)

(defn aset-object
  "Sets place `idx` of the machine to `o`."
  [^AtomicReferenceArray arr ^long idx o]
  (.set arr (int idx) o))

(defn aget-object
  "Returns the value in place `idx` of the machine."
  [^AtomicReferenceArray arr ^long idx]
  (.get arr (int idx)))

(defmacro aset-all!
  "Sets places of the machine `arr`; `more` is alternating indices and values. Returns the machine."
  {:style/indent 0}
  [arr & more]
  (assert (even? (count more)) "Must give an even number of args to aset-all!")
  (let [machine (gensym "machine")]
    `(let [~machine ~arr]
       ~@(map (fn set-place [[idx value]] `(aset-object ~machine ~idx ~value)) (partition 2 more))
       ~machine)))

(defn run-state-machine
  "Runs the machine until it ends or waits."
  [state]
  ((aget-object state FN-IDX) state))

(defn run-state-machine-wrapped
  "Like `run-state-machine`. If it throws, closes the channel in place USER-START-IDX."
  [state]
  (try
    (run-state-machine state)
    (catch Throwable t
      (some-> (aget-object state USER-START-IDX) a/close!)
      (throw t))))

(defn- go-on [state value]
  (aset-object state VALUE-IDX value)
  (run-state-machine-wrapped state))

(defn- step
  "Does an operation after which the machine continues at `blk`. `start` is called with a function
  for a later value. Returns :recur if `start` returns a box with the value."
  [state blk start]
  (aset-object state STATE-IDX blk)
  (when-some [box (start (fn later [value] (go-on state value)))]
    (aset-object state VALUE-IDX @box)
    :recur))

(defn take!
  "The step of a take from `port`."
  [state blk port]
  (step state blk (fn start [later] (impl/take! port (impl/fn-handler later)))))

(defn put!
  "The step of a put of `value` on `port`."
  [state blk port value]
  (step state blk (fn start [later] (impl/put! port value (impl/fn-handler later)))))

(defn return-chan
  "Ends the machine: its channel gets `value`, unless that is nil, and closes. Returns the
  channel."
  [state value]
  (let [ch (aget-object state USER-START-IDX)]
    (when (some? value) (a/put! ch value))
    (a/close! ch)
    ch))

(def async-custom-terminators
  "The operations of a go block, for `clojure.core.async.impl.go/state-machine`."
  {'clojure.core.async/<! `take!
   'clojure.core.async/>! `put!
   'clojure.core.async/alts! 'clojure.core.async/ioc-alts!
   :Return `return-chan})

(defn alts
  "The step of an alts; see clojure.core.async/ioc-alts!."
  [state blk ports opts]
  (step state blk (fn start [later] (impl/do-alts later ports opts))))
