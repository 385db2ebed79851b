;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.foreign-test
  "Ports, handlers and buffers that are not Skein's, through the protocols that core.async
  defines: what is written for it works here."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.spi :as spi]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.scope :as scope]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin outcome]])
  (:import
   (clojure.lang Counted)
   (java.util ArrayDeque)
   (java.util.concurrent CancellationException CountDownLatch)
   (java.util.concurrent.atomic AtomicLong)
   (java.util.concurrent.locks Lock ReentrantLock)))

(set! *warn-on-reflection* true)

;;;; Ports. Those made here keep their handlers in an atom, and complete them when told to.

(deftwin ready-port
  "A port on which everything is done at once: takes give `value`, puts give `accepted`."
  [value accepted]
  (reify
    impl/ReadPort (take! [_ h] (impl/commit h) (delay value))
    impl/WritePort (put! [_ _ h] (impl/commit h) (delay accepted))))

(deftwin waiting-port
  "A port on which everything waits; its handlers go to the atom `handlers`."
  [handlers]
  (let [wait (fn wait [h] (when (impl/blockable? h) (swap! handlers conj h)) nil)]
    (reify
      impl/ReadPort (take! [_ h] (wait h))
      impl/WritePort (put! [_ _ h] (wait h))
      impl/Channel (close! [_] (reset! handlers :closed)) (closed? [_] (= :closed @handlers)))))

(deftwin finish
  "Completes the handler with a result, as a port does; false if it is no longer active."
  [^Lock handler result]
  (.lock handler)
  (let [f (try (when (impl/active? handler) (impl/commit handler)) (finally (.unlock handler)))]
    (if f (do (f result) true) false)))

(deftest operations-on-a-port-that-is-ready
  (both= [1 1 true [1 true] true 1]
         (let [p (ready-port 1 true)]
           [(a/<!! p)
            (a/poll! p)
            (a/>!! p :x)
            (let [seen (atom [])] (a/take! p #(swap! seen conj %)) (a/put! p :x #(swap! seen conj %)) @seen)
            (a/offer! p :x)
            (a/<!! (a/go (a/<! p)))]))
  (both= [nil false false]
         (let [p (ready-port nil false)]
           [(a/<!! p) (a/>!! p 1) (a/put! p 1)])))

(deftest operations-on-a-port-that-waits
  (both= [nil nil true [] [7 true]]
         (let [handlers (atom []) p (waiting-port handlers) seen (atom [])
               now [(a/poll! p) (a/offer! p 1)]
               _ (a/take! p #(swap! seen conj %))
               accepted (a/put! p 1 #(swap! seen conj %))
               before @seen]
           (finish (@handlers 0) 7)
           (finish (@handlers 1) true)
           (conj now accepted before @seen)))
  (both= :closed (let [handlers (atom []) p (waiting-port handlers)] (a/close! p) @handlers)))

(defmacro ^:private once-waiting
  "Does `completion` once a handler waits in the atom `handlers`."
  [handlers & completion]
  `(do (while (empty? @~handlers) (Thread/onSpinWait)) ~@completion))

(deftest threads-and-blocks-wait-for-a-port
  (both= [7 false 8 true]
         (mapv (fn [[start result]]
                 (let [handlers (atom [])
                       done (start (waiting-port handlers))]
                   (once-waiting handlers (finish (@handlers 0) result))
                   (a/<!! done)))
               [[(fn [p] (a/thread (a/<!! p))) 7]
                [(fn [p] (a/thread (a/>!! p 1))) false]
                [(fn [p] (a/go (a/<! p))) 8]
                [(fn [p] (a/go (a/>! p 1))) true]]))
  (both= nil (let [handlers (atom []) done (a/go (a/<! (waiting-port handlers)))]
               (once-waiting handlers (finish (@handlers 0) nil))
               (a/<!! done))))

(deftest an-exception-of-a-port-reaches-its-user
  (both= ["no port today" "no port today" :caught]
         (let [p (reify impl/ReadPort (take! [_ _] (throw (ex-info "no port today" {}))))
               caught (fn [f] (try (f) (catch Exception e (ex-message e))))]
           [(caught #(a/<!! p))
            (caught #(a/alts!! [(a/chan) p] :priority true))
            (a/<!! (a/go (try (a/<! p) (catch Exception _ :caught))))])))

(deftest exception-of-a-committed-port-reaches-its-user
  (both= (repeat 6 "too late")
         (let [fail (fn [h] (impl/commit h) (throw (ex-info "too late" {})))
               p (reify
                   impl/ReadPort (take! [_ h] (fail h))
                   impl/WritePort (put! [_ _ h] (fail h)))
               caught (fn [f] (try (f) (catch Exception e (ex-message e))))]
           [(caught #(a/<!! p))
            (caught #(a/>!! p 1))
            (caught #(a/alts!! [(a/chan) p] :priority true))
            (caught #(a/alts!! [p] :default 1))
            (a/<!! (a/go (try (a/<! p) (catch Exception e (ex-message e)))))
            (a/<!! (a/go (try (a/alts! [[p 1] (a/chan)] :priority true) (catch Exception e (ex-message e)))))])))

(deftest non-ports-are-refused
  (let [refusal (fn [f] (try (f) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))]
    (is (= :skein/bad-argument
           (refusal #(a/<!! 1)) (refusal #(a/>!! "port" 1)) (refusal #(a/alts!! [(a/chan) nil])) (refusal #(a/close! 1)))))
  (testing "an exception of the port's own stays what it is"
    (let [p (reify impl/ReadPort (take! [_ _] (throw (IllegalArgumentException. "mine"))))]
      (is (= ["mine" "mine" "mine"]
             (for [f [#(a/<!! p) #(a/poll! p) #(a/take! p identity)]] (try (f) (catch Exception e (ex-message e)))))))))

;;;; Ports in alts

(deftest alts-on-ports-that-are-ready
  (both= [[1 true] [true true] [:mine true]]
         (let [p (ready-port 1 true) c (a/chan) d (doto (a/chan 1) (a/put! :mine))
               on (fn [[v port] expected] [v (identical? port expected)])]
           [(on (a/alts!! [p c]) p)
            (on (a/alts!! [c [p :x]] :default 0) p)
            (on (a/alts!! [d p] :priority true) d)]))
  (both= [1 true] (let [p (ready-port 1 true) c (a/chan)
                        [v port] (a/<!! (a/go (a/alts! [c p])))]
                    [v (identical? p port)])))

(deftest alts-with-a-default-leaves-ports-alone
  (both= [[:none :default] [nil :default] [false false]]
         (let [handlers (atom []) p (waiting-port handlers) c (a/chan)]
           [(a/alts!! [p c] :default :none)
            (a/alts!! [c p] :default nil)
            (mapv (fn [h] (boolean (impl/active? h))) @handlers)])))

(deftest whichever-port-is-first-wins-an-alts
  (testing "the port of another kind"
    (both= [[7 true] nil]
           (let [handlers (atom []) p (waiting-port handlers) c (a/chan)
                 done (a/thread (let [[v port] (a/alts!! [c p] :priority true)] [v (identical? p port)]))]
             (once-waiting handlers (finish (@handlers 0) 7))
             [(a/<!! done) (a/offer! c 1)])))
  (testing "a channel"
    (both= [[7 true] false]
           (let [handlers (atom []) p (waiting-port handlers) c (a/chan)
                 done (a/go (let [[v port] (a/alts! [c p] :priority true)] [v (identical? c port)]))]
             (once-waiting handlers (a/>!! c 7))
             [(a/<!! done) (finish (@handlers 0) :too-late)])))
  (testing "a put on a channel"
    (both= [[true true] 5 false]
           (let [handlers (atom []) p (waiting-port handlers) c (a/chan)
                 done (a/go (let [[v port] (a/alts! [p [c 5]] :priority true)] [v (identical? c port)]))
                 taken (once-waiting handlers (a/<!! c))]
             [(a/<!! done) taken (finish (@handlers 0) :too-late)]))))

(deftest the-choice-among-ready-ports-is-uniform
  (let [c (doto (a/promise-chan) (a/put! 1))
        p (ready-port 2 true)
        counts (frequencies (repeatedly 2000 #(first (a/alts!! [c p]))))]
    (is (< 800 (counts 1 0) 1200))
    (is (= {1 100} (frequencies (repeatedly 100 #(first (a/alts!! [c p] :priority true))))))))

(deftest arm-that-lost-to-a-foreign-port-does-not-count
  (is (= 1500 (within-deadline
                (let [c (a/chan)]
                  (dotimes [_ 1500]
                    (let [handlers (atom []) p (waiting-port handlers)]
                      (spi/do-alts identity [c p] {:priority true})
                      (finish (@handlers 0) 1)))
                  1500)))))

(deftest an-interrupted-alts-withdraws-from-foreign-ports
  (let [handlers (atom []) p (waiting-port handlers) c (a/chan)
        result (promise)
        t (Thread/startVirtualThread
            (fn [] (deliver result (try (a/alts!! [c p] :priority true) (catch InterruptedException _ :interrupted)))))]
    (within-deadline (once-waiting handlers (.interrupt t)))
    (is (= :interrupted (deref result 30000 :late)))
    (is (= [false nil] [(finish (@handlers 0) 1) (a/offer! c 1)]))))

;; Such a port commits a handler at once, and calls its function later, as that of a future of another library may.
(defn- claiming-port [claimed]
  (let [claim (fn claim [^Lock h]
                (.lock h)
                (try (deliver claimed (impl/commit h)) (finally (.unlock h)))
                nil)]
    (reify
      impl/ReadPort (take! [_ h] (claim h))
      impl/WritePort (put! [_ _ h] (claim h)))))

(deftest an-interrupted-thread-leaves-a-port-that-has-claimed-it
  (doseq [[operation f] {:take a/<!!, :put #(a/>!! % 1), :alts #(a/alts!! [% (a/chan)])}
          start [#(Thread/startVirtualThread %) #(doto (Thread. ^Runnable %) (.start))]]
    (let [claimed (promise)
          result (promise)
          ^Thread t (start (fn [] (deliver result (try (f (claiming-port claimed)) (catch InterruptedException _ :interrupted)))))]
      (within-deadline @claimed)
      (.interrupt t)
      (is (= :interrupted (deref result 30000 :late)) (str operation))
      (@claimed :too-late)
      (within-deadline (.join t)))))

(deftest a-cancelled-block-leaves-a-port-that-has-claimed-it
  (let [claimed (promise)
        ended (future (scope/scope [sc]
                        (let [child (scope/go sc (a/<! (claiming-port claimed)))]
                          @claimed
                          (scope/cancel! sc)
                          (try (a/<?? child) (catch CancellationException _ :cancelled)))))]
    (is (= :cancelled (deref ended 30000 :late)))
    (@claimed :too-late)))

;;;; Handlers on our channels

(deftest a-function-as-a-handler
  (both= [nil 1 2 true]
         (let [c (a/chan 1) seen (promise)
               waits (impl/take! c (spi/fn-handler #(deliver seen %)))]
           (a/put! c 2)
           (a/put! c 1)
           [waits @(impl/take! c (spi/fn-handler identity)) @seen @(impl/put! c 3 (spi/fn-handler identity))]))
  (testing "that does not wait"
    (both= [nil nil nil nil]
           (let [c (a/chan)]
             [(impl/take! c (spi/fn-handler identity false))
              (impl/put! c 1 (spi/fn-handler identity false))
              (a/poll! c)
              (a/offer! c 1)])))
  (testing "on a closed channel"
    (both= [nil false true]
           (let [c (doto (a/chan) impl/close!)]
             [@(impl/take! c (spi/fn-handler identity)) @(impl/put! c 1 (spi/fn-handler identity)) (impl/closed? c)])))
  (testing "a nil value"
    (both= "Can't put nil on channel"
           (try (impl/put! (a/chan) nil (spi/fn-handler identity))
                (catch IllegalArgumentException e (first (str/split-lines (ex-message e))))))))

(deftest a-handler-runs-where-its-function-says
  (both= [[true] false]
         (let [c (a/chan) d (a/chan) me (Thread/currentThread) seen (atom []) elsewhere (promise)]
           (impl/take! c (spi/fn-handler (with-meta (fn [_] (swap! seen conj (identical? me (Thread/currentThread))))
                                           {:on-caller? true})))
           (a/put! c 1)
           (impl/take! d (spi/fn-handler (fn [_] (deliver elsewhere (identical? me (Thread/currentThread))))))
           (a/put! d 1)
           [@seen @elsewhere])))

(def ^:private lock-ids (AtomicLong. 1000000))

(deftwin one-of
  "A maker of handlers that share a flag: the first to commit wins, and adds to `seen`."
  [seen]
  (let [lock (ReentrantLock.) open (atom true) id (.incrementAndGet ^AtomicLong lock-ids)]
    (fn handler [tag]
      (reify
        Lock (lock [_] (.lock lock)) (unlock [_] (.unlock lock))
        impl/Handler
        (active? [_] @open)
        (blockable? [_] true)
        (lock-id [_] id)
        (commit [_]
          (reset! open false)
          (with-meta (fn won [v] (swap! seen conj [tag v])) {:on-caller? true}))))))

(deftest handlers-that-share-a-flag-win-once
  (both= [nil nil true [[:c 1]] nil]
         (let [seen (atom []) handler (one-of seen) c (a/chan) d (a/chan)]
           [(impl/take! c (handler :c)) (impl/take! d (handler :d)) (a/put! c 1) @seen (a/offer! d 2)]))
  (both= [nil nil 1 [[:c true]] nil]
         (let [seen (atom []) handler (one-of seen) c (a/chan) d (a/chan)]
           [(impl/put! c 1 (handler :c)) (impl/put! d 2 (handler :d)) (a/<!! c) @seen (a/poll! d)]))
  (testing "and one that has lost takes and puts nothing"
    (both= [nil 1 nil 2 nil]
           (let [handler (one-of (atom [])) c (doto (a/chan 1) (a/put! 1)) d (a/chan 1)]
             (impl/commit (handler :x))
             [(impl/take! c (handler :c)) (a/poll! c) (impl/put! d 1 (handler :d))
              (do (a/put! d 2) (a/poll! d)) (a/poll! d)]))))

(deftest two-locking-handlers-meet
  (both= [nil true [[:taker 5]]]
         (let [seen (atom []) taker (one-of seen) putter (one-of seen) c (a/chan)]
           [(impl/take! c (taker :taker)) @(impl/put! c 5 (putter :putter)) @seen]))
  (both= [nil 5 [[:putter true]]]
         (let [seen (atom []) taker (one-of seen) putter (one-of seen) c (a/chan)]
           [(impl/put! c 5 (putter :putter)) @(impl/take! c (taker :taker)) @seen])))

(defn- meet-once
  "Two threads do one of two operations each, on the same channels in opposite order.
  Returns how often an operation was completed."
  [_]
  (let [seen (atom []) c (a/chan) d (a/chan) start (CountDownLatch. 2)
        side (fn [op ports]
               (a/io-thread
                 (let [handler (one-of seen)]
                   (.countDown start)
                   (.await start)
                   (count (keep (fn [port] (op port (handler :h))) ports)))))
        taken (side impl/take! [c d])
        put (side (fn [port h] (impl/put! port 1 h)) [d c])]
    (+ (long (await-port taken)) (long (await-port put)) (count @seen))))

(deftest locking-handlers-of-two-threads-meet-exactly-once
  (is (= {2 2000} (frequencies (map meet-once (range 2000))))))

;;;; Buffers

(deftwin stack-buffer
  "A buffer of `n` values, last in, first out. Sets `closed` when it is closed."
  [n closed]
  (let [values (ArrayDeque.)]
    (reify
      impl/Buffer
      (full? [_] (<= (long n) (.size values)))
      (remove! [_] (.pop values))
      (add!* [b v] (.push values v) b)
      (close-buf! [_] (reset! closed true))
      Counted
      (count [_] (.size values)))))

(deftest a-buffer-of-another-kind
  (both= [[true true nil] [2 1 nil] [false true]]
         (let [closed (atom false) c (a/chan (stack-buffer 2 closed)) before @closed]
           [(mapv #(a/offer! c %) [1 2 3])
            (vec (repeatedly 3 #(a/poll! c)))
            [before (do (a/close! c) @closed)]]))
  (testing "with puts that wait"
    (both= [2 3 1] (let [c (a/chan (stack-buffer 2 (atom nil)))]
                     (run! #(a/put! c %) [1 2 3])
                     (vec (repeatedly 3 #(a/<!! c))))))
  (testing "with takes that wait"
    (both= [[1] nil] (let [c (a/chan (stack-buffer 2 (atom nil))) got (atom [])]
                       (a/take! c #(swap! got conj %))
                       (a/put! c 1)
                       [@got (a/poll! c)])))
  (testing "and a transducer"
    (both= [3 2 1] (let [c (a/chan (stack-buffer 2 (atom nil)) (mapcat identity))]
                     (a/>!! c [1 2 3])
                     (vec (repeatedly 3 #(a/<!! c)))))))

(deftest a-buffer-that-fails-to-add-loses-the-value-only
  (let [boom (ex-info "full house" {})
        failing (fn [] (reify
                         impl/Buffer
                         (full? [_] false)
                         (remove! [_] nil)
                         (add!* [_ _] (throw boom))
                         (close-buf! [_])
                         Counted
                         (count [_] 0)))
        c (a/chan (failing))]
    (is (= [true boom] (await-uncaught #(identical? boom %) #(a/put! c 1))))
    (is (nil? (within-deadline (a/poll! c))) "the channel still works")))

(deftest failing-buffer-leaves-the-channel-unlocked
  (let [fails? (atom true)
        c (a/chan (reify
                    impl/Buffer
                    (full? [_] (when @fails? (throw (ex-info "how full?" {}))) false)
                    (remove! [_] 1)
                    (add!* [b _] b)
                    (close-buf! [_])
                    Counted
                    (count [_] (when @fails? (throw (ex-info "how many?" {}))) 0)))]
    (is (= ["how full?" "how many?" true nil]
           (within-deadline
             (let [message (fn [f] (try (f) (catch Exception e (ex-message e))))
                   failures [(message #(a/put! c 1)) (message #(a/poll! c))]]
               (reset! fails? false)
               (conj failures (a/put! c 1) (a/poll! c))))))))

(deftest our-buffers-answer-the-protocol
  (both= [[false 0 1] [true 1 :a] [false 0]]
         (let [b (a/buffer 1) before [(boolean (impl/full? b)) (count b) (impl/capacity b)]]
           (impl/add! b :a)
           [before [(boolean (impl/full? b)) (count b) (impl/remove! b)] [(boolean (impl/full? b)) (count b)]]))
  (both= [[:a :b] [:b :c] 2 false]
         (let [dropping (a/dropping-buffer 2) sliding (a/sliding-buffer 2)]
           (doseq [b [dropping sliding] v [:a :b :c]] (impl/add! b v))
           [[(impl/remove! dropping) (impl/remove! dropping)] [(impl/remove! sliding) (impl/remove! sliding)]
            (impl/capacity sliding) (boolean (impl/full? dropping))]))
  (both= [:thrown "java.util.NoSuchElementException"] (pop (outcome #(impl/remove! (a/buffer 1)))))
  (both= [:thrown "java.lang.AssertionError"] (pop (outcome #(impl/add! (a/buffer 1) nil))))
  (both= true (let [b (a/buffer 1)] (and (identical? b (impl/add! b 1)) (identical? b (impl/add! b))))))
