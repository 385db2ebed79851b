;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.transducer-test
  "Channels with a transducer: what it makes of the values, when it ends, and what it throws."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.spi :as spi]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= class-name]]))

(set! *warn-on-reflection* true)

(defn- thrower
  "A transducer that throws ex-info with the value for values that satisfy `bad?`."
  [bad?]
  (map (fn check [x] (if (bad? x) (throw (ex-info "bad" {:x x})) x))))

(defn- failing-at-end
  "A transducer whose completion throws `e`."
  [e]
  (fn [rf] (fn ([] (rf)) ([_] (throw e)) ([acc x] (rf acc x)))))

(deftest values-pass-the-transducer-on-the-way-in
  (both= [2 4 nil]
         (let [c (a/chan 2 (comp (filter odd?) (map inc)))]
           (run! #(a/>!! c %) [1 2 3])
           (a/close! c)
           (vec (repeatedly 3 #(a/<!! c)))))
  (both= [[true true true] [1 nil]]
         (let [c (a/chan 2 (dedupe))]
           [(mapv #(a/>!! c %) [1 1 1]) [(a/<!! c) (a/poll! c)]])))

(deftest a-filtered-put-is-done-and-leaves-a-take-waiting
  (both= [true nil true :kept]
         (let [c (a/chan 1 (filter keyword?)) got (atom nil)]
           (a/take! c #(reset! got %))
           [(a/put! c 1) @got (a/put! c :kept) @got])))

(deftest an-expanding-transducer-may-overfill-its-buffer
  (both= [true 3 nil 1 nil 2 nil 3 true]
         (let [c (a/chan 1 (mapcat identity))]
           [(a/>!! c [1 2 3]) 3 (a/offer! c [4])
            (a/<!! c) (a/offer! c [4])
            (a/<!! c) (a/offer! c [4])
            (a/<!! c) (a/offer! c [4])]))
  (testing "and serves several takes with one put"
    (both= [true [1 2 3] 4]
           (let [c (a/chan 1 (mapcat identity)) got (atom [])]
             (dotimes [_ 3] (a/take! c #(swap! got conj %)))
             [(a/put! c [1 2 3 4]) @got (a/<!! c)]))))

(deftest a-pending-put-waits-until-an-overfull-buffer-has-room
  (both= [[] [1 2] [:second] [3 4 5 6]]
         (let [c (a/chan 2 (mapcat identity)) done (atom [])]
           (a/put! c [1 2 3])
           (a/put! c [4 5 6] (fn [_] (swap! done conj :second)))
           [@done [(a/<!! c) (a/<!! c)] @done (vec (repeatedly 4 #(a/<!! c)))])))

(deftest several-pending-puts-may-fit-at-once
  (both= [[1] [2 3 4] 4]
         (let [c (a/chan 1 (filter pos?)) done (atom [])]
           (a/put! c 1)
           (a/put! c -2 (fn [_] (swap! done conj 2)))
           (a/put! c -3 (fn [_] (swap! done conj 3)))
           (a/put! c 4 (fn [_] (swap! done conj 4)))
           [[(a/<!! c)] @done (a/<!! c)])))

(deftest reduced-closes-the-channel
  (both= [true true false [1 2 nil]]
         (let [c (a/chan 5 (take 2))]
           [(a/>!! c 1) (a/>!! c 2) (a/>!! c 3) (vec (repeatedly 3 #(a/<!! c)))]))
  (testing "pending puts are done, and what they held is dropped"
    (both= [[] 1 [[2 true] [3 true] [4 true]] 2 nil false]
           (let [c (a/chan 1 (take 2)) done (atom [])]
             (doseq [i [1 2 3 4]] (a/put! c i #(when (< 1 i) (swap! done conj [i %]))))
             [@done (a/<!! c) (vec (sort @done)) (a/<!! c) (a/<!! c) (a/put! c 5)])))
  (testing "takes that wait get nil"
    (both= [{1 1, nil 2} false]
           (let [c (a/chan 1 (take 1)) got (atom [])]
             (dotimes [_ 3] (a/take! c #(swap! got conj %)))
             (a/put! c 1)
             [(frequencies @got) (a/put! c 2)]))))

(deftest completion-comes-with-the-close
  (both= [[1 2] [3] nil nil]
         (let [c (a/chan 5 (partition-all 2))]
           (run! #(a/>!! c %) [1 2 3])
           (a/close! c)
           (vec (repeatedly 4 #(a/<!! c)))))
  (testing "for takes that wait"
    (both= [[[1]] nil]
           (let [c (a/chan 1 (partition-all 2)) got (atom [])]
             (a/put! c 1)
             (a/take! c #(swap! got conj %))
             (a/close! c)
             [@got (a/<!! c)]))
    (both= [[1] nil]
           (let [c (a/chan 1 (partition-all 2)) got (atom [])]
             (a/put! c 1)
             (dotimes [_ 2] (a/take! c #(swap! got conj %)))
             (a/close! c)
             @got))))

(deftest completion-waits-for-pending-puts
  (both= [[0 1] [2 3] [4] nil]
         (let [c (a/chan 1 (partition-all 2))]
           (dotimes [i 5] (a/put! c i))
           (a/close! c)
           (vec (repeatedly 4 #(a/<!! c)))))
  (testing "and is not there before they are taken"
    (both= [[] [0 1 2]]
           (let [ends (atom [])
                 c (a/chan 1 (fn [rf] (fn ([] (rf)) ([acc] (swap! ends conj :end) (rf acc)) ([acc x] (rf acc x)))))]
             (dotimes [i 3] (a/put! c i))
             (a/close! c)
             [@ends (vec (repeatedly 3 #(a/<!! c)))]))))

(deftest completion-comes-once
  (let [ends (atom 0)
        c (a/chan 1 (fn [rf] (fn ([] (rf)) ([acc] (swap! ends inc) (rf acc)) ([acc x] (rf acc x)))))]
    (a/close! c)
    (a/close! c)
    (dotimes [_ 3] (is (nil? (a/<!! c))))
    (is (= 1 @ends) "core.async repeats it with each take of a closed channel")))

(deftest transducer-runs-on-the-thread-of-the-put-or-take
  (both= [[true true] [true false]]
         (let [seen (atom [])
               c (a/chan 1 (map (fn [x] (swap! seen conj (Thread/currentThread)) x)))
               me (Thread/currentThread)]
           (a/put! c 1)
           (a/put! c 2)
           (let [taker (a/<!! (a/thread (a/<!! c) (Thread/currentThread)))
                 [by-put by-take] @seen]
             [[(identical? me by-put) (= 2 (count @seen))]
              [(identical? taker by-take) (identical? me by-take)]]))))

;;;; Exceptions

(deftest the-handler-gets-what-the-transducer-throws
  (both= [[true true true] [1 "bad" 3 nil]]
         (let [c (a/chan 3 (thrower even?) ex-message)]
           [(mapv #(a/>!! c %) [1 2 3])
            (do (a/close! c) (vec (repeatedly 4 #(a/<!! c))))]))
  (testing "nil drops the value"
    (both= [[true true true] [{:x 2}] [1 3 nil]]
           (let [seen (atom [])
                 c (a/chan 3 (thrower even?) (fn [e] (swap! seen conj (ex-data e)) nil))]
             [(mapv #(a/>!! c %) [1 2 3]) @seen (do (a/close! c) (vec (repeatedly 3 #(a/<!! c))))])))
  (testing "its value does not go through the transducer"
    (both= [-1 false]
           (let [c (a/chan 2 (comp (map inc) (thrower #{2})) (fn [_] -1))]
             (a/>!! c 1)
             [(a/<!! c) (do (a/close! c) (a/>!! c 1))])))
  (testing "also for a waiting put"
    (both= [1 "bad" 3]
           (let [c (a/chan 1 (thrower even?) ex-message)]
             (doseq [i [1 2 3]] (a/put! c i))
             (vec (repeatedly 3 #(a/<!! c)))))))

(deftest the-handler-serves-takes-that-wait
  (both= [["bad"] true]
         (let [c (a/chan 1 (thrower even?) ex-message) got (atom [])]
           (a/take! c #(swap! got conj %))
           (let [accepted (a/put! c 2)] [@got accepted]))))

(deftest without-a-handler-the-uncaught-handler-gets-it
  (let [boom (ex-info "boom" {})
        c (a/chan 1 (map (fn [x] (if (= 1 x) (throw boom) x))))]
    (is (= [true boom] (await-uncaught #(identical? boom %) #(a/>!! c 1))) "the put is done")
    (is (= [true 2] [(a/>!! c 2) (a/<!! c)]) "the channel goes on")))

(deftest a-step-that-emits-nil-is-an-error-of-the-transducer
  (both= [true ["java.lang.AssertionError" "(not (nil? itm))"]]
         (let [c (a/chan 1 (map (fn [_] nil)) (fn [e] [(class-name e) (re-find #"\(not.*" (ex-message e))]))]
           [(a/>!! c 1) (a/<!! c)]))
  (is (= "Assert failed: a channel's transducer made nil, which no channel can hold; use keep instead of map, or (remove nil?)
(not (nil? itm))"
         (let [c (a/chan 1 (map (fn [_] nil)) ex-message)]
           (a/>!! c 1)
           (a/<!! c)))
      "says what to do"))

(deftest the-handler-gets-what-the-completion-throws
  (both= [nil "end"]
         (let [c (a/chan 1 (failing-at-end (ex-info "end" {})) ex-message)]
           [(a/close! c) (a/<!! c)]))
  (both= [[{:at :end}] nil]
         (let [seen (atom [])
               c (a/chan 1 (failing-at-end (ex-info "end" {:at :end})) (fn [e] (swap! seen conj (ex-data e)) nil))]
           (a/close! c)
           [(vec (take 1 @seen)) (a/<!! c)]))
  (let [boom (ex-info "boom" {})]
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(a/close! (a/chan 1 (failing-at-end boom))))))))

(deftest what-the-handler-throws-is-reported-and-nothing-else-fails
  (let [boom (ex-info "boom" {})
        refuse (fn [_] (throw boom))
        reported (fn [f] (await-uncaught #(identical? boom %) (fn [] (within-deadline (f)))))
        channel #(a/chan 3 (comp cat (thrower even?)) refuse)]
    (testing "by each kind of put"
      (doseq [put [#(a/>!! % [2]) #(a/put! % [2]) #(a/offer! % [2]) #(first (a/alts!! [[% [2]]]))
                   #(a/<!! (a/go (a/>! % [2]))) #(deref (impl/put! % [2] (spi/fn-handler identity)))]]
        (is (= [true boom] (reported #(put (channel)))))))
    (testing "for a put that a take completes"
      (let [c (a/chan 1 (thrower even?) refuse) done (atom [])]
        (a/put! c 1)
        (doseq [i [2 3]] (a/put! c i #(swap! done conj [i %])))
        (is (= [1 boom] (reported #(a/<!! c))) "core.async's take loses its value")
        (is (= [[[2 true] [3 true]] 3] [@done (a/poll! c)]))))
    (testing "by a close, and by a put that closes"
      (let [c (a/chan 1 (failing-at-end (ex-info "end" {})) refuse) got (a/go [(a/<! c)])]
        (is (= [[nil] boom] (reported #(do (a/close! c) (a/<!! got))))))
      (let [c (a/chan 1 (comp (take 1) (failing-at-end (ex-info "end" {}))) refuse)]
        (is (= [[true false] boom] (reported #(vector (a/>!! c 1) (a/>!! c 2)))))))
    (testing "the values before the exception are there, and the channel is usable"
      (let [c (channel)]
        (is (= [true boom] (reported #(a/put! c [1 2 3]))))
        (is (= [1 true 5] (within-deadline [(a/<!! c) (a/>!! c [5]) (a/<!! (a/thread (a/<!! c)))])) "core.async never releases its lock")))))

(deftest blocks-that-put-survive-a-handler-that-throws
  (let [boom (ex-info "boom" {})]
    (doseq [connect [#(a/pipe %1 %2) #(a/pipeline 2 %2 (map identity) %1) #(a/admix (a/mix %2) %1)
                     #(a/tap (a/mult %1) %2) #(a/sub (a/pub %1 any?) true %2) #(a/pipe (a/merge [%1]) %2)]]
      (let [from (a/chan) to (a/chan 3 (thrower even?) (fn [_] (throw boom)))]
        (connect from to)
        (is (= [[1 3] boom] (await-uncaught #(identical? boom %)
                                            #(within-deadline (a/onto-chan! from [1 2 3]) [(a/<!! to) (a/<!! to)]))))))))

;;;; Transducers that use their channel

(deftest a-transducer-may-close-its-channel
  (both= [true true false [1 2 nil]]
         (let [self (promise)
               c (a/chan 3 (map (fn [x] (when (= 2 x) (a/close! @self)) x)))]
           (deliver self c)
           [(a/>!! c 1) (a/>!! c 2) (a/>!! c 3) (vec (repeatedly 3 #(a/<!! c)))]))
  (testing "on behalf of a put that waits"
    (both= [1 2 3 nil false]
           (let [self (promise)
                 c (a/chan 1 (map (fn [x] (when (= 2 x) (a/close! @self)) x)))]
             (deliver self c)
             (doseq [i [1 2 3]] (a/put! c i))
             (conj (vec (repeatedly 4 #(a/<!! c))) (a/put! c 4))))))

(deftest a-transducer-may-put-on-its-channel
  (both= [true [:echo 1 nil]]
         (let [self (promise)
               c (a/chan 5 (map (fn [x] (when (= 1 x) (a/offer! @self :echo)) x)))]
           (deliver self c)
           [(a/>!! c 1) (do (a/close! c) (vec (repeatedly 3 #(a/<!! c))))])))

(deftest stateful-transducers-withstand-many-threads
  (let [n 4000
        c (a/chan 10 (partition-all 7))
        putters (vec (repeatedly 4 #(a/thread (dotimes [i n] (a/>!! c i)) :done)))
        taker (a/thread (loop [sum 0 total 0]
                          (if-some [batch (a/<!! c)]
                            (recur (+ sum (long (reduce + batch))) (+ total (count batch)))
                            [sum total])))]
    (is (= (repeat 4 :done) (map await-port putters)))
    (a/close! c)
    (is (= [(* 4 (quot (* n (dec n)) 2)) (* 4 n)] (await-port taker)))))

(deftest non-transducers-are-refused-when-the-channel-is-made
  (doseq [make [#(a/chan 1 inc) #(a/pipeline 2 (a/chan) inc (a/chan)) #(a/chan 1 (constantly 5))]]
    (let [thrown (try (make) (catch clojure.lang.ExceptionInfo e e))]
      (is (= :skein/bad-argument (:skein/error (ex-data thrown))))
      (is (re-find #"must be a transducer, such as \(map inc\)" (ex-message thrown)))))
  (let [faulty (fn [_] (throw (ClassCastException. "of the program")))]
    (is (= ["of the program"]
           (try (a/chan 1 faulty) (catch Exception e (map ex-message (.getSuppressed e))))))))

(deftest refusals-say-where-a-transducer-belongs
  (is (thrown-with-msg? clojure.lang.ExceptionInfo #"a transducer is the second argument" (a/chan (map inc)))))
