;; SPDX-License-Identifier: Apache-2.0
(ns skein.async-test
  "Channels, their buffers, and the operations that need no block."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.spi :as spi]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= class-name outcome]])
  (:import
   (java.util NoSuchElementException)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

;;;; Making channels

(deftest buffers-of-no-size-are-refused
  (both= [:thrown "java.lang.AssertionError" "Assert failed: fixed buffers must have size > 0\n(pos? n)"]
         (a/chan 0))
  (both= [:thrown "java.lang.AssertionError" "Assert failed: fixed buffers must have size > 0\n(pos? n)"]
         (a/buffer -1)))

(deftest a-transducer-needs-a-buffer
  (both= [:thrown "java.lang.AssertionError" "Assert failed: buffer must be supplied when transducer is\nbuf-or-n"]
         (a/chan nil (map inc)))
  (both= [:thrown "java.lang.AssertionError" "Assert failed: buffer must be supplied when transducer is\nbuf-or-n"]
         (a/chan nil (map inc) identity)))

(deftest an-exception-handler-without-a-transducer-is-allowed
  (both= [true 1] (let [c (a/chan 1 nil identity)] [(a/>!! c 1) (a/<!! c)]))
  (both= [true 1] (let [c (a/chan nil nil identity)] (a/put! c 1) [true (a/<!! c)])))

(deftest a-number-makes-a-fixed-buffer
  (both= [true true nil] (let [c (a/chan 2)] [(a/offer! c 1) (a/offer! c 2) (a/offer! c 3)]))
  (both= [true nil] (let [c (a/chan (a/buffer 1))] [(a/offer! c 1) (a/offer! c 2)]))
  (both= [true nil] (let [c (a/chan 1.5)] [(a/offer! c 1) (a/offer! c 2)])))

(deftest non-buffers-are-refused
  (is (= {:skein/error :skein/bad-argument, :argument "buf-or-n of chan", :wanted "a number, a buffer or nil", :value "\"10\""}
         (try (a/chan "10") (catch clojure.lang.ExceptionInfo e (ex-data e))))))

(deftest windowed-buffers-drop-and-never-wait
  (both= [[true true true true] [1 2]]
         (let [c (a/chan (a/dropping-buffer 2))]
           [(mapv #(a/offer! c %) [1 2 3 4]) [(a/<!! c) (a/<!! c)]]))
  (both= [[true true true true] [3 4]]
         (let [c (a/chan (a/sliding-buffer 2))]
           [(mapv #(a/offer! c %) [1 2 3 4]) [(a/<!! c) (a/<!! c)]])))

(deftest windowed-buffers-of-no-size
  (both= [true nil] (let [c (a/chan (a/dropping-buffer 0))] [(a/>!! c 1) (a/poll! c)]))
  (is (= [true NoSuchElementException]
         (update (await-uncaught #(instance? NoSuchElementException %)
                                 #(a/>!! (a/chan (a/sliding-buffer 0)) 1))
                 1 class))
      "as in core.async, sliding by one fails, and the put is done"))

(deftest which-buffers-never-fill
  (both= [false true true] (mapv spi/unblocking-buffer? [(a/buffer 1) (a/dropping-buffer 1) (a/sliding-buffer 1)]))
  (both= [false false] (mapv spi/unblocking-buffer? [nil 7]))
  (both= true (spi/unblocking-buffer? (reify impl/UnblockingBuffer))))

;;;; Puts and takes

(deftest values-are-taken-in-the-order-of-their-puts
  (both= [0 1 2 3 4 5]
         (let [c (a/chan 2)]
           (dotimes [i 6] (a/put! c i))
           (vec (repeatedly 6 #(a/<!! c)))))
  (both= [[:a 0] [:b 1] [:c 2]]
         (let [c (a/chan) got (atom [])]
           (doseq [taker [:a :b :c]] (a/take! c #(swap! got conj [taker %])))
           (dotimes [i 3] (a/put! c i))
           @got)))

(deftest anything-but-nil-can-be-put
  (both= [false :x [nil]]
         (let [c (a/chan 3)]
           (run! #(a/>!! c %) [false :x [nil]])
           (vec (repeatedly 3 #(a/<!! c)))))
  (both= (repeat 5 ["java.lang.IllegalArgumentException" "Can't put nil on channel"])
         (mapv (fn [put] (try (put) (catch Throwable t [(class-name t) (first (str/split-lines (ex-message t)))])))
               [#(a/put! (a/chan 1) nil)
                #(a/put! (a/chan) nil identity)
                #(a/>!! (a/chan 1) nil)
                #(a/offer! (a/chan) nil)
                #(a/put! (doto (a/chan) a/close!) nil)]))
  (doseq [put [#(a/put! (a/chan 1) nil) #(a/>!! (a/chan 1) nil) #(a/alts!! [[(a/chan 1) nil]])]]
    (is (thrown-with-msg? Throwable #"\nA take returns nil .*\. Put a value such as ::none, or close the channel\." (put)))))

(deftest a-put-blocks-until-it-is-taken
  (let [c (a/chan) order (atom [])
        putter (a/thread (a/>!! c 1) (swap! order conj :put-done) :done)]
    (swap! order conj :taking)
    (is (= 1 (await-port c)))
    (is (= :done (await-port putter)))
    (is (= [:taking :put-done] @order))))

(deftest writes-before-a-put-are-visible-after-the-take
  (let [c (a/chan) n 20000
        taker (a/thread (loop [i 0] (if (< i n) (let [^longs v (a/<!! c)] (if (= i (aget v 0)) (recur (inc i)) i)) :all)))]
    (within-deadline (dotimes [i n] (a/>!! c (doto (long-array 1) (aset 0 i)))))
    (is (= :all (await-port taker)))))

(deftest offers-and-polls-never-wait
  (both= [nil nil] (let [c (a/chan)] [(a/offer! c 1) (a/poll! c)]))
  (both= [true 1 nil] (let [c (a/chan 1)] [(a/offer! c 1) (a/poll! c) (a/poll! c)]))
  (both= [false nil] (let [c (doto (a/chan) a/close!)] [(a/offer! c 1) (a/poll! c)]))
  (testing "they meet waiting operations"
    (both= [true 1] (let [c (a/chan) got (atom nil)]
                      (a/take! c #(reset! got %))
                      [(a/offer! c 1) @got]))
    (both= [1 true] (let [c (a/chan) done (atom nil)]
                      (a/put! c 1 #(reset! done %))
                      [(a/poll! c) @done])))
  (testing "and leave nothing behind"
    (both= [nil nil] (let [c (a/chan)] (a/poll! c) (a/offer! c 1) [(a/poll! c) (a/offer! c 2)]))))

(deftest polling-makes-room-for-a-pending-put
  (both= [1 2 3 [true true]]
         (let [c (a/chan 1) done (atom [])]
           (a/put! c 1)
           (a/put! c 2 #(swap! done conj %))
           (a/put! c 3 #(swap! done conj %))
           [(a/poll! c) (a/poll! c) (a/poll! c) @done])))

;;;; Closing

(deftest closing-ends-takes-and-refuses-puts
  (both= [nil nil] (let [c (a/chan)] [(a/close! c) (a/close! c)]))
  (both= [[nil nil] nil nil false false]
         (let [c (a/chan) got (atom [])]
           (a/take! c #(swap! got conj %))
           (a/take! c #(swap! got conj %))
           (a/close! c)
           [@got (a/<!! c) (a/poll! c) (a/>!! c 1) (a/put! c 1)]))
  (both= [false] (let [c (doto (a/chan) a/close!) accepted (atom [])]
                   (a/put! c 1 #(swap! accepted conj %))
                   @accepted)))

(deftest buffered-values-outlive-the-close
  (both= [1 2 nil false]
         (let [c (a/chan 3)]
           (a/>!! c 1)
           (a/>!! c 2)
           (a/close! c)
           [(a/<!! c) (a/<!! c) (a/<!! c) (a/>!! c 3)])))

(deftest pending-puts-outlive-the-close
  (both= [[] [1 2 3 nil] [[2 true] [3 true]] false]
         (let [c (a/chan 1) done (atom [])]
           (a/put! c 1)
           (a/put! c 2 #(swap! done conj [2 %]))
           (a/put! c 3 #(swap! done conj [3 %]))
           (a/close! c)
           [@done (vec (repeatedly 4 #(a/<!! c))) @done (a/put! c 4)]))
  (both= [1 2 nil] (let [c (a/chan)]
                     (a/put! c 1)
                     (a/put! c 2)
                     (a/close! c)
                     (vec (repeatedly 3 #(a/<!! c))))))

(deftest closing-wakes-blocked-takers
  (let [c (a/chan)
        takers (vec (repeatedly 4 #(a/thread [(a/<!! c)])))]
    (a/close! c)
    (is (= (repeat 4 [nil]) (map await-port takers)))))

;;;; Callbacks, and the thread they run on

(deftest callback-of-a-ready-take-runs-before-the-call-returns
  (both= [[1 true] nil]
         (let [c (doto (a/chan 1) (a/put! 1)) me (Thread/currentThread) seen (atom nil)
               returned (a/take! c (fn [v] (reset! seen [v (identical? me (Thread/currentThread))])))]
           [@seen returned]))
  (both= [[true true] true]
         (let [c (a/chan 1) me (Thread/currentThread) seen (atom nil)
               returned (a/put! c 1 (fn [v] (reset! seen [v (identical? me (Thread/currentThread))])))]
           [@seen returned]))
  (both= [nil true]
         (let [c (doto (a/chan) a/close!) me (Thread/currentThread) seen (atom nil)]
           (a/take! c (fn [v] (reset! seen [v (identical? me (Thread/currentThread))])) true)
           @seen)))

(deftest a-callback-not-on-caller-runs-elsewhere
  (both= [1 false]
         (let [c (doto (a/chan 1) (a/put! 1)) me (Thread/currentThread) seen (promise)]
           (a/take! c (fn [v] (deliver seen [v (identical? me (Thread/currentThread))])) false)
           @seen))
  (both= [true false]
         (let [me (Thread/currentThread) seen (promise)]
           (a/put! (a/chan 1) 1 (fn [v] (deliver seen [v (identical? me (Thread/currentThread))])) false)
           @seen)))

(deftest a-pending-callback-runs-on-the-other-partys-thread
  (both= [1 true]
         (let [c (a/chan) ran-on (promise)]
           (a/take! c (fn [v] (deliver ran-on [v (Thread/currentThread)])))
           (let [putter (a/<!! (a/thread (a/>!! c 1) (Thread/currentThread)))
                 [v t] @ran-on]
             [v (identical? putter t)])))
  (both= [true true]
         (let [c (a/chan) ran-on (promise)]
           (a/put! c 1 (fn [v] (deliver ran-on [v (Thread/currentThread)])))
           (let [taker (a/<!! (a/thread (a/<!! c) (Thread/currentThread)))
                 [v t] @ran-on]
             [v (identical? taker t)])))
  (both= [nil true]
         (let [c (a/chan) ran-on (promise)]
           (a/take! c (fn [v] (deliver ran-on [v (Thread/currentThread)])))
           (let [closer (a/<!! (a/thread (a/close! c) (Thread/currentThread)))
                 [v t] @ran-on]
             [v (identical? closer t)]))))

(deftest callback-not-on-caller-runs-on-a-worker
  (both= [1 false false]
         (let [c (a/chan) ran-on (promise) me (Thread/currentThread)]
           (a/take! c (fn [v] (deliver ran-on [v (Thread/currentThread)])) false)
           (let [putter (a/<!! (a/thread (a/>!! c 1) (Thread/currentThread)))
                 [v t] @ran-on]
             [v (identical? putter t) (identical? me t)])))
  (both= [true false]
         (let [c (a/chan) ran-on (promise) me (Thread/currentThread)]
           (a/put! c 1 (fn [v] (deliver ran-on [v (Thread/currentThread)])) false)
           (a/<!! c)
           (let [[v t] @ran-on] [v (identical? me t)]))))

(deftest a-callback-may-use-the-channel
  (both= [1 2 3]
         (let [c (a/chan 1) got (atom [])
               taker (fn taker [v] (when v (swap! got conj v) (a/take! c taker)))]
           (a/take! c taker)
           (doseq [i [1 2 3]] (a/put! c i))
           @got)))

(deftest an-exception-of-a-callback-stays-on-its-side
  (both= [:thrown "java.lang.ArithmeticException" "Divide by zero"]
         (a/take! (doto (a/chan 1) (a/put! 1)) (fn [v] (/ v 0))))
  (let [boom (ex-info "boom" {})
        c (a/chan)]
    (a/take! c (fn [_] (throw boom)))
    (is (= [true boom] (await-uncaught #(identical? boom %) #(a/put! c 1))) "pending")
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      #(a/take! (doto (a/chan 1) (a/put! 1)) (fn [_] (throw boom)) false)))
        "on a worker")
    (is (= :next (do (a/put! c :next) (a/poll! c))) "the channel is as it was")))

;;;; The limit of 1024

(def ^:private too-many-puts
  [:thrown "java.lang.AssertionError"
   "Assert failed: No more than 1024 pending puts are allowed on a single channel. Consider using a windowed buffer.\n(< (.size puts) impl/MAX-QUEUE-SIZE)"])

(def ^:private too-many-takes
  [:thrown "java.lang.AssertionError"
   "Assert failed: No more than 1024 pending takes are allowed on a single channel.\n(< (.size takes) impl/MAX-QUEUE-SIZE)"])

(deftest at-most-1024-puts-wait
  (both= [too-many-puts too-many-puts 0 true]
         (let [c (a/chan)]
           (dotimes [i 1024] (a/put! c i))
           [(outcome #(a/put! c :more))
            (outcome #(a/>!! c :more))
            (a/poll! c)
            (a/put! c :fits)]))
  (both= [:buffered 0 1023 nil]
         (let [c (a/chan 1)]
           (a/put! c :buffered)
           (dotimes [i 1024] (a/put! c i))
           (outcome #(a/put! c :more))
           (let [got (vec (repeatedly 1025 #(a/<!! c)))]
             [(got 0) (got 1) (peek got) (a/poll! c)])))
  (both= nil (let [c (a/chan)] (dotimes [i 1024] (a/put! c i)) (a/offer! c :more))))

(deftest at-most-1024-takes-wait
  (both= [too-many-takes too-many-takes true [:v] nil]
         (let [c (a/chan) got (atom [])]
           (dotimes [_ 1024] (a/take! c #(swap! got conj %)))
           [(outcome #(a/take! c identity))
            (outcome #(a/<!! c))
            (a/put! c :v)
            @got
            (a/take! c identity)]))
  (both= nil (let [c (a/chan)] (dotimes [_ 1024] (a/take! c identity)) (a/poll! c))))

;;;; Promise channels

(deftest a-promise-channel-keeps-its-first-value
  (both= [true true :first :first :first]
         (let [p (a/promise-chan)]
           [(a/>!! p :first) (a/>!! p :second) (a/<!! p) (a/poll! p) (a/<!! p)]))
  (both= [true :v :v false :v]
         (let [p (a/promise-chan)]
           [(a/offer! p :v) (a/<!! p) (do (a/close! p) (a/<!! p)) (a/put! p :late) (a/poll! p)])))

(deftest a-promise-channel-closed-empty-gives-nil
  (both= [nil nil nil false [nil nil]]
         (let [p (a/promise-chan) got (atom [])]
           (a/take! p #(swap! got conj %))
           (a/take! p #(swap! got conj %))
           (a/close! p)
           [(a/<!! p) (a/<!! p) (a/poll! p) (a/>!! p 1) @got])))

(deftest a-promise-channel-serves-all-waiters
  (both= [7 7 7]
         (let [p (a/promise-chan) got (atom [])]
           (dotimes [_ 3] (a/take! p #(swap! got conj %)))
           (a/put! p 7)
           @got))
  (let [p (a/promise-chan)
        takers (vec (repeatedly 4 #(a/thread (a/<!! p))))]
    (a/>!! p :v)
    (is (= (repeat 4 :v) (map await-port takers)))))

(deftest a-promise-channel-with-a-transducer
  (both= [nil 2 2] (let [p (a/promise-chan (comp (filter odd?) (map inc)))]
                     [(do (a/>!! p 0) (a/poll! p))
                      (do (a/>!! p 1) (a/<!! p))
                      (do (a/>!! p 3) (a/<!! p))]))
  (both= [[1] [1]] (let [p (a/promise-chan (partition-all 2))]
                     (a/>!! p 1)
                     (a/close! p)
                     [(a/<!! p) (a/<!! p)]))
  (both= ["boom" false] (let [p (a/promise-chan (map (fn [_] (throw (ex-info "boom" {})))) ex-message)]
                          (a/>!! p 1)
                          [(a/<!! p) (do (a/close! p) (a/>!! p 2))])))

;;;; Threads

(deftest every-value-arrives-once-among-many-threads
  (doseq [make [#(a/chan) #(a/chan 1) #(a/chan 100)]]
    (let [c (make) n 5000 done (CountDownLatch. 4)
          takers (vec (repeatedly 4 #(a/thread (loop [got []] (if-some [v (a/<!! c)] (recur (conj got v)) got)))))]
      (dotimes [p 4] (a/thread (dotimes [i n] (a/>!! c (+ i (* n (long p))))) (.countDown done)))
      (within-deadline (.await done))
      (a/close! c)
      (is (= (range (* 4 n)) (sort (mapcat await-port takers)))))))
