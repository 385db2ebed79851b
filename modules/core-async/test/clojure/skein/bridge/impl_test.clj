;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.impl-test
  "The namespaces under the names of core.async's own parts."
  (:require
   [clojure.core.async :as a :refer [<! >! alts!]]
   [clojure.core.async.impl.buffers :as buffers]
   [clojure.core.async.impl.channels :as channels]
   [clojure.core.async.impl.dispatch :as dispatch]
   [clojure.core.async.impl.go :as go]
   [clojure.core.async.impl.ioc-macros :as ioc]
   [clojure.core.async.impl.protocols :as protocols]
   [clojure.core.async.impl.timers :as timers]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as skein]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (clojure.lang Var)
   (java.util.concurrent Executor ThreadFactory)
   (java.util.concurrent.atomic AtomicReferenceArray)))

(set! *warn-on-reflection* true)

(deftest buffers-answer-to-the-protocol
  (doseq [[buffer full-at-two? left] [[(buffers/fixed-buffer 2) true [:1 :2]]
                                      [(buffers/dropping-buffer 2) false [:1 :2]]
                                      [(buffers/sliding-buffer 2) false [:1 :2]]]]
    (is (= 0 (count buffer)))
    (protocols/add! buffer :1)
    (is (identical? buffer (protocols/add! buffer :2)))
    (is (= full-at-two? (protocols/full? buffer)))
    (is (= left [(protocols/remove! buffer) (protocols/remove! buffer)]))
    (is (thrown? Throwable (protocols/remove! buffer)))
    (is (thrown? AssertionError (protocols/add! buffer nil))))
  (let [promised (buffers/promise-buffer)]
    (protocols/add! promised :1)
    (protocols/add! promised :2)
    (is (= [:1 :1 1] [(protocols/remove! promised) (protocols/remove! promised) (count promised)]))
    (is (a/unblocking-buffer? promised))
    (is (nil? (protocols/close-buf! promised)))))

(defrecord ^:private Late [])
(defrecord ^:private Later [])

(deftest the-protocols-are-the-same-ones
  (extend-protocol protocols/ReadPort Late (take! [_ _] (channels/box :late)))
  (extend-protocol impl/ReadPort Later (take! [_ _] (impl/box :later)))
  (is (= [:late :later] [(within-deadline (a/<!! (->Late))) (within-deadline (a/<!! (->Later)))]))
  (is (= [:late :later] [@(protocols/take! (->Late) nil) @(protocols/take! (->Later) nil)]))
  (is (every? #(satisfies? protocols/ReadPort %) [(->Late) (->Later) (a/chan)]))
  (is (not (satisfies? protocols/WritePort (->Late))))
  (is (= 1024 protocols/MAX-QUEUE-SIZE)))

(deftest a-channel-may-be-made-of-its-parts
  (let [c (channels/chan (buffers/fixed-buffer 1) (map inc))]
    (is (= [true 2] [(a/>!! c 1) (a/<!! c)])))
  (is (nil? (await-port (timers/timeout 1)))))

(deftest threads-are-named-and-counted
  (let [^ThreadFactory factory (dispatch/counted-thread-factory "foo-%d" true)
        threads (repeatedly 3 #(.newThread factory (fn [])))]
    (is (= ["foo-1" "foo-2" "foo-3"] (map #(.getName ^Thread %) threads)))
    (is (every? #(.isDaemon ^Thread %) threads)))
  (let [order (atom [])
        ^ThreadFactory factory (dispatch/counted-thread-factory "bar" false {:init-fn #(swap! order conj :init)})
        thread (.newThread factory #(swap! order conj :run))]
    (.start thread)
    (.join thread)
    (is (= [[:init :run] false] [@order (.isDaemon thread)]))))

(deftest work-is-dispatched
  (let [where (fn [run] (let [p (promise)] (run (fn [] (deliver p (Thread/currentThread)))) (within-deadline @p)))
        me (Thread/currentThread)]
    (is (.isVirtual ^Thread (where #(dispatch/exec % :io))))
    (is (not= me (where dispatch/run)))
    (is (= me (where #(dispatch/run (with-meta % {:on-caller? true})))))
    (is (instance? Executor (dispatch/executor-for :core-async-dispatch)))
    (is (= [false true] [(dispatch/in-dispatch-thread?) (await-port (a/go (dispatch/in-dispatch-thread?)))]))
    (is (nil? (await-port (a/go (dispatch/check-blocking-in-dispatch)))))
    (is (= 2 (dispatch/with-dispatch-thread-marking 1 2))))
  (let [boom (ex-info "boom" {})]
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(dispatch/ex-handler boom))))))

;;;; State machines

;; The operations of the machines, which they do by the functions below.
(defn- now [v] v)
(defn- later [v] v)

(defn- now-run [state block v]
  (ioc/aset-all! state ioc/STATE-IDX block ioc/VALUE-IDX v)
  :recur)

(defn- later-run [state block v]
  (ioc/aset-all! state ioc/STATE-IDX block)
  (future (ioc/aset-object state ioc/VALUE-IDX v) (ioc/run-state-machine-wrapped state))
  nil)

(defmacro ^:private machine
  "A machine that runs the body and puts its value on the channel `done`."
  [done & body]
  `(let [state# (~(go/state-machine `(let [v# (do ~@body)] (a/put! ~done v#) v#) 1 [nil nil]
                                    {`now `now-run, `later `later-run}))]
     (ioc/aset-all! state#
                    ioc/BINDINGS-IDX (Var/getThreadBindingFrame)
                    ioc/USER-START-IDX ~done)
     (ioc/run-state-machine-wrapped state#)))

(def ^:dynamic *who* :root)

(deftest a-machine-runs-to-its-end-or-to-where-it-waits
  (let [done (a/chan 1)
        state (machine done (loop [i 0 sum 0] (if (< i 10) (recur (inc i) (+ sum (long (now i)))) sum)))]
    (is (= 45 (await-port done)))
    (is (= 45 (ioc/aget-object state ioc/VALUE-IDX))))
  (let [done (a/chan 1)]
    (machine done [(later 1) (now 2) (later 3)])
    (is (= [1 2 3] (await-port done))))
  (let [done (a/chan 1)]
    (binding [*who* :caller] (machine done [(later 1) *who*]))
    (is (= [1 :caller] (await-port done)))))

(defmacro ^:private go-machine
  "Like `go`, by a machine with its operations."
  [& body]
  `(let [done# (a/chan 1)]
     (-> (~(go/state-machine `(do ~@body) 1 [nil &env] ioc/async-custom-terminators))
         (ioc/aset-all! ioc/USER-START-IDX done#)
         ioc/run-state-machine-wrapped)
     done#))

(defmacro ^:private taken [port]
  `(a/<! ~port))

(defmacro ^:private in-a-let [[op arg]]
  `(let [x# ~arg] (~op x#)))

(deftest a-machine-with-a-blocks-operations-is-a-block
  (let [c (a/chan 1), d (a/chan), never (a/chan)]
    (is (= [true 1 [1 true] nil]
           (await-port (go-machine [(>! c 1)
                                    (<! c)
                                    (do (a/put! d 1) (let [[v port] (alts! [never d])] [v (identical? port d)]))
                                    (do (a/close! c) (<! c))]))))
    (is (= [7 nil nil] (let [waiting (go-machine (<! d))
                             nothing (go-machine nil)]
                         (a/>!! d 7)
                         [(await-port waiting) (await-port waiting) (await-port nothing)])))))

(deftest a-machine-finds-its-operations-by-their-vars
  (let [full (fn [] (doto (a/chan 1) (a/put! 1)))]
    (testing "under any name, and from any macro"
      (is (= [1 1 1 1 1 1]
             (await-port (go-machine [(<! (full))
                                      (a/<! (full))
                                      (clojure.core.async/<! (full))
                                      (skein/<! (full))
                                      (taken (full))
                                      (in-a-let (a/<! (full)))]))))
      (is (= [[true 3] [true 4] :five :none]
             (await-port (go-machine (let [c (a/chan 1)]
                                       [[(a/>! c 3) (first (a/alts! [c]))]
                                        [(>! c 4) (first (clojure.core.async/alts! [c]))]
                                        (do (a/>! c 5) (a/alt! c ([v] (when (= 5 v) :five))))
                                        (a/alt! c :some :default :none)]))))))
    (testing "anywhere in an expression"
      (is (= [{:a 1} #{1} 2 1 1 [1 1] 7]
             (await-port (go-machine [{:a (a/<! (full))}
                                      #{(a/<! (full))}
                                      (inc (long (a/<! (full))))
                                      (case (str (a/<! (full))) "1" (a/<! (full)))
                                      (try (throw (ex-info "x" {})) (catch Exception _ (a/<! (full))))
                                      (loop [got []] (if (< (count got) 2) (recur (conj got (a/<! (full)))) got))
                                      (letfn [(seven [] 7)] (a/<! (full)) (seven))])))))
    (testing "but not a local of that name"
      (is (= [:local :outer]
             (let [>! (fn [_ _] :outer)]
               (await-port (go-machine [(let [<! (fn [_] :local)] (<! 1)) (>! 1 2)]))))))))

(deftest a-block-in-a-machine-has-operations-of-its-own
  (let [c (a/chan), got (go-machine (a/go [(<! c) (a/<! c)]))]
    (a/put! c 1)
    (a/put! c 2)
    (is (= [1 2] (await-port (await-port got)))))
  (let [c (a/chan)
        got (go-machine (let [inner (a/go-loop [sum 0] (if-some [v (<! c)] (recur (+ sum (long v))) sum))]
                          (>! c 1)
                          (>! c 2)
                          (a/close! c)
                          (<! inner)))]
    (is (= 3 (await-port got))))
  (let [c (a/chan 1)]
    (is (= [:v true] (await-port (go-machine (let [inner (go-machine (<! c))] [(do (>! c :v) (<! inner)) (>! c :w)])))))))

(deftest an-operation-in-a-function-is-not-the-machines
  (is (= :refused (await-port (go-machine (try (mapv (fn [c] (a/<! c)) [(a/chan)])
                                               (catch AssertionError _ :refused)))))))

;; A port that gives its value by a callback within take!, as one that forwards to a closed channel does.
(defrecord ^:private AtOnce [v]
  impl/ReadPort
  (take! [_ handler] ((impl/commit handler) v) nil))

(deftest a-machine-may-be-called-back-while-it-starts-an-operation
  (is (= [1 nil 2] (await-port (go-machine [(<! (->AtOnce 1)) (<! (->AtOnce nil)) (<! (a/go 2))])))))

(deftest a-machine-that-throws-closes-its-channel
  (let [done (a/chan 1)]
    (is (thrown-with-msg? Exception #"boom" (machine done (now 1) (throw (ex-info "boom" {})))))
    (is (nil? (await-port done)))))

(deftest ioc-alts-takes-a-step
  (let [run (promise)
        state (fn [] (doto (AtomicReferenceArray. 6)
                       (ioc/aset-object ioc/FN-IDX (fn [s] (deliver run (ioc/aget-object s ioc/VALUE-IDX))))))
        c (a/chan 1) now (state) later (state)]
    (is (= nil (a/ioc-alts! later 7 [c])))
    (a/put! c :v)
    (is (= [[:v c] 7] [(within-deadline @run) (ioc/aget-object later ioc/STATE-IDX)]))
    (is (= :recur (a/ioc-alts! now 8 [c] :default :none)))
    (is (= [[:none :default] 8] [(ioc/aget-object now ioc/VALUE-IDX) (ioc/aget-object now ioc/STATE-IDX)]))))

(deftest go-impl-makes-a-go-block
  (testing "for macros that expand to one"
    (is (= 3 (await-port (eval (go/go-impl {} '((+ 1 (skein.async/<! (skein.async/go 2)))))))))))
