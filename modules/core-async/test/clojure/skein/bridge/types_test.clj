;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.types-test
  "The types of core.async by name: imported, asked for, extended, and implemented."
  (:require
   [clojure.core.async :as a]
   [clojure.core.async.impl.protocols :as protocols]
   [clojure.pprint :as pprint]
   [clojure.test :refer [are deftest is testing]]
   [skein.async :as skein]
   [skein.async.coexist]
   [skein.async.limit :as limit]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port]])
  (:import
   (clojure.core.async.impl.buffers DroppingBuffer FixedBuffer PromiseBuffer SlidingBuffer)
   (clojure.core.async.impl.channels ManyToManyChannel)
   (clojure.core.async.impl.protocols Buffer Channel Handler ReadPort UnblockingBuffer WritePort)
   (java.util LinkedList)))

(set! *warn-on-reflection* true)

(defn- ports
  "Returns a port of each kind that users get, by name."
  []
  {:plain (a/chan)
   :buffered (a/chan 1)
   :transduced (a/chan 1 (map inc))
   :own-buffer (a/chan (a/sliding-buffer 2))
   :promise (a/promise-chan)
   :timeout (a/timeout 60000)
   :go (a/go 1)
   :go-loop (a/go-loop [i 0] (when (< i 3) (recur (inc i))))
   :thread (a/thread 1)
   :io-thread (a/io-thread 1)
   :async (skein/async 1)
   :pipe (a/pipe (a/chan) (a/chan))
   :merge (a/merge [(a/chan)])
   :into (a/into [] (a/to-chan! [1]))
   :tap (a/tap (a/mult (a/chan)) (a/chan))
   :limiter (limit/concurrency-limiter 1)})

(deftest channels-have-the-types
  (doseq [[kind port] (ports)]
    (is (= ManyToManyChannel (type port)) (str kind)))
  (doseq [[kind port] (ports), type [ReadPort WritePort Channel skein.rt.Channel]]
    (is (instance? type port) (str kind)))
  (doseq [[kind port] (ports), protocol [protocols/ReadPort protocols/WritePort protocols/Channel]]
    (is (satisfies? protocol port) (str kind)))
  (are [type] (not (instance? type {}))
    ReadPort WritePort Channel ManyToManyChannel)
  (is (not-any? #(satisfies? % {}) [protocols/ReadPort protocols/WritePort protocols/Channel])))

(deftest a-users-method-prints-channels
  (doseq [[multi print] [[print-method pr-str]
                         [print-dup #(binding [*print-dup* true] (pr-str %))]
                         [pprint/simple-dispatch #(with-out-str (pprint/write % :stream *out*))]]
          type [ManyToManyChannel ReadPort WritePort Channel]
          :let [multi ^clojure.lang.MultiFn multi]]
    (.addMethod multi type (fn ([_] (clojure.core/print "mine")) ([_ ^java.io.Writer w] (.write w "mine"))))
    (try
      (is (= #{"mine"} (set (map print (vals (ports))))) (str multi " " type))
      (finally (remove-method multi type)))))

(deftest buffers-have-the-types
  (are [class buffer] (and (= class (type buffer)) (instance? Buffer buffer) (satisfies? protocols/Buffer buffer))
    FixedBuffer (a/buffer 1)
    DroppingBuffer (a/dropping-buffer 1)
    SlidingBuffer (a/sliding-buffer 1)
    PromiseBuffer (clojure.core.async.impl.buffers/promise-buffer))
  (is (= [false true true true true]
         (mapv a/unblocking-buffer? [(a/buffer 1) (a/dropping-buffer 1) (a/sliding-buffer 1)
                                     (clojure.core.async.impl.buffers/promise-buffer)
                                     (reify protocols/UnblockingBuffer)])))
  (testing "the field of a channel that libraries read"
    (is (instance? PromiseBuffer (.-buf ^ManyToManyChannel (a/promise-chan))))
    (is (instance? FixedBuffer (.-buf ^ManyToManyChannel (a/chan 1))))))

(defprotocol ^:private Kind
  (kind [x]))

(defprotocol ^:private Narrow
  (narrow [x]))

(extend-protocol Kind
  ReadPort (kind [_] :port)
  Object (kind [_] :object))

(extend-protocol Narrow
  ReadPort (narrow [_] :port)
  Channel (narrow [_] :closeable)
  ManyToManyChannel (narrow [_] :channel))

(deftest a-protocol-extended-to-a-type-reaches-channels
  (doseq [[of port] (ports)]
    (is (= [:port :channel] [(kind port) (narrow port)]) (str of)))
  (is (= :object (kind {}))))

(defn- port-of
  "A port that answers each take with `value`, made by the protocol or by the type."
  [by value]
  (case by
    :protocol (reify
                protocols/ReadPort (take! [_ _] (impl/box value))
                protocols/WritePort (put! [_ v _] (impl/box (= v value)))
                protocols/Channel (close! [_] :closed) (closed? [_] false))
    :type (reify
            ReadPort (take! [_ _] (impl/box value))
            WritePort (put! [_ v _] (impl/box (= v value)))
            Channel (close! [_] :closed) (closed? [_] false))))

(deftest implementations-of-the-types-are-ports
  (doseq [by [:protocol :type] :let [port (port-of by 7)]]
    (is (every? #(instance? % port) [ReadPort WritePort Channel]))
    (is (every? #(satisfies? % port) [protocols/ReadPort protocols/WritePort protocols/Channel
                                      impl/ReadPort impl/WritePort impl/Channel]))
    (is (= [7 true [7 port] 7] [(a/<!! port) (a/>!! port 7) (a/alts!! [(a/chan) port]) (await-port (a/go (a/<! port)))]))
    (is (= [:closed false] [(protocols/close! port) (protocols/closed? port)]))
    (is (= [:port :port] [(kind port) (kind (port-of by 8))]))))

(deftest implementations-of-buffer-are-buffers
  (let [own (fn [^LinkedList values]
              (reify
                Buffer
                (full? [_] (<= 2 (.size values)))
                (remove! [_] (.remove values))
                (add!* [this v] (.add values v) this)
                (close-buf! [_])
                UnblockingBuffer
                clojure.lang.Counted
                (count [_] (.size values))))
        b (own (LinkedList.))
        c (a/chan b)]
    (is (instance? Buffer b))
    (is (a/unblocking-buffer? b))
    (is (= [true true nil] [(a/offer! c 1) (a/offer! c 2) (a/offer! c 3)]))
    (is (= [1 2 nil] [(a/poll! c) (a/poll! c) (a/poll! c)]))))

(deftest a-handler-by-its-type-takes-and-puts
  (let [got (promise)
        handler (fn [f] (reify
                          java.util.concurrent.locks.Lock (lock [_]) (unlock [_])
                          Handler (active? [_] true) (blockable? [_] true) (lock-id [_] 0) (commit [_] f)))
        c (a/chan)]
    (is (nil? (protocols/take! c (handler #(deliver got %)))))
    (is (= true @(protocols/put! c :v (handler identity))))
    (is (= :v (deref got 20000 :late)))))

(deftest the-methods-of-the-types-can-be-called
  (let [^ManyToManyChannel c (a/chan 1)
        ^FixedBuffer b (a/buffer 1)
        h (a/fn-handler (fn [_]))]
    (is (= true @(.put_BANG_ c 1 h)))
    (is (= 1 @(.take_BANG_ c h)))
    (is (= [false nil true] [(.closed_QMARK_ c) (.close_BANG_ c) (.closed_QMARK_ c)]))
    (is (identical? b (.add_BANG__STAR_ b :v)))
    (is (= [true :v false nil] [(.full_QMARK_ b) (.remove_BANG_ b) (.full_QMARK_ b) (.close_buf_BANG_ b)]))))

(deftest channels-print-and-datafy-as-without-the-bridge
  (is (re-matches #"#<chan 0/1 [0-9a-f]+>" (pr-str (a/chan 1))))
  (is (re-matches #"#<timeout [0-9a-f]+>" (pr-str (a/timeout 60000))))
  (is (= 'PromiseBuffer (:type (:buffer (clojure.datafy/datafy (a/promise-chan)))))))

(deftest coexist-changes-nothing-on-the-bridge
  (is (= [7 1] [(a/<!! (port-of :type 7)) (let [c (a/chan 1)] (a/>!! c 1) (skein/<!! c))])))

(deftest defblockingop-defines-a-function
  (a/defblockingop take-two
    "Takes two values."
    [port]
    [(a/<!! port) (a/<!! port)])
  (let [v (ns-resolve 'skein.bridge.types-test 'take-two)
        c (a/chan 2)]
    (run! #(a/>!! c %) [1 2])
    (is (= [1 2] (v c)))
    (is (= ['([port]) "Takes two values."] ((juxt :arglists :doc) (meta v))))))
