;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.alts-test
  "alts and alt, on threads, in blocks, and with a callback."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! alt! alt!! alts! alts!! go]]
   [skein.async.spi :as spi]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.upstream :refer [both= deftwin outcome]])
  (:import
   (java.util.concurrent CountDownLatch)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

(deftwin filled
  "A channel with `vs` in its buffer."
  [& vs]
  (let [c (a/chan (count vs))]
    (run! #(a/>!! c %) vs)
    c))

(deftwin closed
  "A closed channel."
  []
  (doto (a/chan) a/close!))

(defn- place
  "[value index-of-port], or [value :default], of what an alts returned."
  [[v port] & ports]
  [v (if (= :default port) port (.indexOf ^java.util.List ports port))])

;;;; What is done

(deftest alts-chooses-an-operation-that-is-ready
  (both= [1 1] (let [c (a/chan) d (filled 1)] (place (a/alts!! [c d]) c d)))
  (both= [true 0] (let [c (a/chan 1) d (a/chan)] (place (a/alts!! [[c 1] d]) c d)))
  (both= [nil 1] (let [c (a/chan) d (closed)] (place (a/alts!! [c d]) c d)))
  (both= [true true] (let [c (a/chan 1)] [(first (a/alts!! [[c false]])) (false? (first (a/alts!! [c])))])))

(deftest a-put-on-a-closed-port-is-ready-with-false
  (both= [false 0] (let [c (closed)] (place (a/alts!! [[c 1]]) c)))
  (both= [false 1] (let [c (a/chan) d (closed)] (place (a/alts!! [c [d 1]] :default :none) c d)))
  (both= [false 0] (let [c (closed)] (place (a/<!! (a/go (a/alts! [[c 1] (a/chan)]))) c))))

(deftest alts-waits-for-an-operation
  (doseq [start [(fn [ports] (a/thread (alts!! ports))) (fn [ports] (go (alts! ports)))]]
    (testing "a take"
      (let [c (a/chan) d (a/chan) e (a/chan)
            chosen (start [c [d 1] e])]
        (is (true? (within-deadline (a/>!! e 5))))
        (is (= [5 e] (await-port chosen)))
        (is (= [nil nil nil] [(a/offer! c 1) (a/poll! d) (a/offer! e 1)]) "the others are withdrawn")))
    (testing "a put"
      (let [c (a/chan) d (a/chan)
            chosen (start [c [d 7]])]
        (is (= 7 (await-port d)))
        (is (= [true d] (await-port chosen)))
        (is (nil? (a/offer! c 1)))))
    (testing "a close"
      (let [c (a/chan) d (a/chan)
            chosen (start [c d])]
        (a/close! d)
        (is (= [nil d] (await-port chosen)))
        (is (nil? (a/offer! c 1)))))))

(deftest only-one-operation-happens
  (both= [1 [false true true]]
         (let [c (filled 1) d (filled 2) e (filled 3)]
           [(first (a/alts!! [c d e] :priority true)) (mapv #(some? (a/poll! %)) [c d e])])))

(deftest two-alts-meet
  (both= [[:v 0] [true 0] nil nil]
         (let [c (a/chan) d (a/chan)
               taker (a/go (a/alts! [c d]))
               putter (a/go (a/alts! [[c :v]]))]
           [(place (a/<!! taker) c) (place (a/<!! putter) c) (a/poll! c) (a/offer! d 1)])))

(deftest ports-in-any-collection
  (both= [1 1 1] [(first (a/alts!! (list (filled 1)))) (first (a/alts!! #{(filled 1)})) (first (a/alts!! (map identity [(filled 1)])))]))

(deftest a-channel-may-occur-twice
  (both= [[1 0] nil] (let [c (filled 1)] [(place (a/alts!! [c c]) c) (a/poll! c)]))
  (both= [[1 0] nil nil] (let [c (a/chan) chosen (a/go (a/alts! [c c c]))]
                           (a/>!! c 1)
                           [(place (a/<!! chosen) c) (a/offer! c 2) (a/poll! c)]))
  (both= [[1 1] nil nil] (let [c (a/chan) d (a/chan) e (a/chan) chosen (a/go (a/alts! [c d c e d e c]))]
                           (a/>!! d 1)
                           [(place (a/<!! chosen) c d e) (a/offer! c 2) (a/offer! e 2)]))
  (both= [[true 0] [1 2]] (let [c (a/chan 2)]
                            (a/>!! c 1)
                            [(place (a/alts!! [[c 2] [c 2]]) c) [(a/<!! c) (a/<!! c)]])))

(deftest an-alts-may-meet-itself
  (both= #{[1 0] [true 0]}
         (set (repeatedly 100 #(let [c (a/chan)] (place (a/alts!! [c [c 1]]) c)))))
  (both= [true 0] (let [c (a/chan)] (place (a/alts!! [c [c 1]] :priority true) c)))
  (both= [1 0] (let [c (a/chan)] (place (a/alts!! [[c 1] c] :priority true) c)))
  (both= [nil nil] (let [c (a/chan)] (a/alts!! [c [c 1]]) [(a/poll! c) (a/offer! c 2)])))

;;;; Which is chosen

(defn- shares
  "How often each of four operations, which are all ready, is chosen by `choose`."
  [choose]
  (let [ports (vec (repeatedly 4 #(doto (a/promise-chan) (a/put! 1))))
        index (zipmap ports (range))]
    (frequencies (repeatedly 4000 #(index (nth (choose ports) 1))))))

(defn- fair?
  "Returns whether four shares of 4000 are about equal: one in 10^12 fair samples is not."
  [counts]
  (and (= #{0 1 2 3} (set (keys counts)))
       (every? (fn [n] (< 800 (long n) 1200)) (vals counts))))

(deftest the-choice-is-uniform
  (is (fair? (shares (fn [ports] (alts!! ports)))) "alts!!")
  (is (fair? (shares (fn [ports] @(spi/do-alts identity ports {})))) "do-alts")
  (is (fair? (within-deadline (shares (fn [ports] (a/<!! (go (alts! ports))))))) "alts! in a block")
  (is (fair? (await-port (go (shares (fn [ports] (alts! ports)))))) "alts! in a function of a block")
  (is (fair? (shares (fn [ports] (alts!! ports :priority false)))) ":priority false")
  (is (fair? (shares (fn [ports] (alts!! (mapv #(vector % :put) ports))))) "puts"))

(deftest priority-tries-in-order
  (both= [[1 0] [2 1] [true 2]]
         (let [c (filled 1) d (filled 2) e (a/chan 1)
               choose #(place (a/alts!! [c d [e 3]] :priority true) c d e)]
           [(choose) (choose) (choose)]))
  (both= [1 1 1 1] (let [c (doto (a/promise-chan) (a/put! 1)) d (doto (a/promise-chan) (a/put! 2))]
                     (vec (repeatedly 4 #(first (a/<!! (a/go (a/alts! [c d] :priority true)))))))))

(deftest the-default-is-for-when-nothing-is-ready
  (both= [[:none :default] [nil :default] [false :default]]
         (let [c (a/chan) d (a/chan)]
           [(a/alts!! [c [d 1]] :default :none)
            (a/alts!! [c d] :default nil)
            (a/<!! (a/go (a/alts! [c] :default false)))]))
  (both= [[1 0] [true 0] [nil 0]]
         (let [c (filled 1)]
           [(place (a/alts!! [c] :default :none) c)
            (place (a/alts!! [[c 2]] :default :none) c)
            (let [d (closed)] (place (a/alts!! [d] :default :none) d))]))
  (both= [nil nil] (let [c (a/chan) d (a/chan)]
                     (a/alts!! [c [d 1]] :default :none :priority true)
                     [(a/offer! c 1) (a/poll! d)])))

;;;; Options and errors

(deftest options-may-be-a-map
  (both= [:none :default] (a/<!! (a/go (a/alts! [(a/chan)] {:default :none}))))
  (both= [:none :default] (a/<!! (a/go (a/alts! [(a/chan)] :priority true {:default :none}))))
  (is (= [:none :default] (a/alts!! [(a/chan)] {:default :none}) (a/alts!! [(a/chan)] :priority true {:default :none}))))

(deftest unknown-options-are-refused
  (let [refusal (fn [f] (try (f) (catch clojure.lang.ExceptionInfo e [(:skein/error (ex-data e)) (ex-message e)])))]
    (doseq [f [#(a/alts!! [(a/go 1)] :defalt 3)
               #(a/alts!! [(a/go 1)] {:priority true :defalt 3})
               #(a/<?? (a/async (alts! [(a/go 1)] :defalt 3)))
               #(a/<?? (a/async (let [options {:defalt 3}] (alts! [(a/go 1)] options))))
               #(a/<?? (a/async ((fn [] (alts! [(a/go 1)] :defalt 3)))))
               #(a/<?? (a/async (alt! (a/go 1) :one :defalt 3)))
               #(alt!! (a/go 1) :one :defalt 3)
               #(spi/do-alts identity [(a/go 1)] {:defalt 3})]]
      (is (= [:skein/bad-argument "An option of alts!/alts!! must be :priority or :default, but is :defalt. [:skein/bad-argument]"] (refusal f))))
    (doseq [f [#(a/alts!! [(a/go 1)] 5) #(a/alts!! [(a/go 1)] :priority true 5)
               #(a/<?? (a/async (alts! [(a/go 1)] 5))) #(a/<?? (a/async (alts! [(a/go 1)] :priority)))]]
      (is (= :skein/bad-argument (first (refusal f)))))))

(deftest wrong-operations-are-refused-before-anything-happens
  (both= [:thrown "java.lang.AssertionError"
          "Assert failed: alts must have at least one channel operation\n(pos? (count ports))"]
         (a/alts!! []))
  (both= [["Assert failed: can't put nil on channel" "(some? (port 1))"] 1]
         (let [c (filled 1)]
           [(try (a/alts!! [c [c nil]] :priority true) (catch AssertionError e (take 2 (str/split-lines (ex-message e)))))
            (a/poll! c)]))
  (both= [:caught 1]
         (let [c (filled 1)]
           [(a/<!! (a/go (try (a/alts! [c [c nil]] :priority true) (catch AssertionError _ :caught)))) (a/poll! c)]))
  (both= :caught (a/<!! (a/go (try (a/alts! []) (catch AssertionError _ :caught))))))

(deftest the-limit-of-a-channel-holds-for-alts-too
  (let [full (a/chan) c (a/chan)
        too-many "Assert failed: No more than 1024 pending takes are allowed on a single channel."]
    (dotimes [_ 1024] (a/take! full identity))
    (is (= too-many (first (str/split-lines (peek (outcome #(spi/do-alts identity [c full] {:priority true})))))))
    (is (= too-many (await-port (go (try (alts! [c full]) (catch AssertionError e (first (str/split-lines (ex-message e)))))))))
    (is (nil? (a/offer! c 1)) "nothing stays behind in the other channel")
    (is (true? (a/put! full 1)))))

(deftest operations-that-lost-do-not-count-towards-the-limit
  (both= [2000 nil true]
         (let [c (a/chan) won (atom 0)]
           (dotimes [_ 2000]
             (let [d (a/chan)]
               (spi/do-alts (with-meta (fn [_] (swap! won inc)) {:on-caller? true}) [c d] {:priority true})
               (a/put! d 1)))
           [@won (a/offer! c 1) (do (dotimes [_ 1024] (a/take! c identity)) (a/put! c 1))]))
  (let [^Channel c (a/chan)]
    (dotimes [_ 10]
      (let [d (a/chan)] (spi/do-alts identity [c d] {}) (a/put! d 1)))
    (is (= 0 (.takerCount c)))))

;;;; do-alts

(deftest do-alts-returns-what-is-ready-and-calls-back-otherwise
  (both= [[1 0] []]
         (let [c (filled 1) later (atom [])]
           [(place @(spi/do-alts #(swap! later conj %) [c (a/chan)] {}) c) @later]))
  (both= [nil [5 1] true]
         (let [c (a/chan) d (a/chan) later (promise) me (Thread/currentThread)
               f (with-meta (fn [r] (deliver later [(place r c d) (identical? me (Thread/currentThread))]))
                   {:on-caller? true})
               now (spi/do-alts f [c d] {})]
           (a/put! d 5)
           (into [now] @later)))
  (both= [5 false]
         (let [c (a/chan) later (promise) me (Thread/currentThread)]
           (spi/do-alts (fn [[v _]] (deliver later [v (identical? me (Thread/currentThread))])) [c] {})
           (a/put! c 5)
           @later))
  (both= [:none :default] @(spi/do-alts identity [(a/chan)] {:default :none}))
  (both= [true 0] (let [c (a/chan 1)] (place @(spi/do-alts identity [[c 1]] nil) c))))

;;;; alt

(deftest alt-evaluates-the-result-of-its-clause
  (both= [:c :d :e]
         (let [run (fn [ready] (let [[c d e] (mapv #(if (= ready %) (filled 1) (a/chan)) [0 1 2])]
                                 (a/alt!! c :c d :d [e] :e)))]
           (mapv run [0 1 2])))
  (both= [1 true] (let [c (filled 1)] (a/alt!! c ([v port] [v (identical? c port)]))))
  (both= 2 (a/alt!! (filled 1) ([v] (inc v))))
  (both= [1 2] (a/alt!! (filled [1 2]) ([[x y]] [x y])))
  (both= [1] (a/alt!! (filled 1) ([& r] (vec (butlast r)))))
  (both= nil (a/alt!! (filled 1) ([_]))))

(deftest alt-with-several-ports-in-a-clause
  (both= [:first 1 true] (let [c (a/chan) d (filled 1)]
                           (a/alt!! [c d] ([v port] [:first v (identical? port d)]) (a/chan) :second)))
  (both= [:put true 7] (let [c (a/chan) d (a/chan 1)]
                         (conj (a/alt!! [c [d 7]] ([v] [:put v]) (a/chan) :second) (a/<!! d))))
  (both= :put (a/alt!! [[(a/chan 1) 1]] :put)))

(deftest alt-options
  (both= [:none nil :default] [(a/alt!! (a/chan) :c :default :none)
                               (a/alt!! (a/chan) :c :default nil)
                               (a/<!! (a/go (a/alt! (a/chan) :c :default :default)))])
  (both= [:c :c :c :c :c]
         (vec (repeatedly 5 #(a/alt!! (filled 1) :c (filled 2) :d :priority true))))
  (both= :late (a/alt!! (a/chan) :c (a/timeout 1) :late)))

(deftest alt-evaluates-ports-once-and-only-the-chosen-result
  (both= [:c [:port-c :port-d :value-d :result-c]]
         (let [order (atom []) note (fn [k v] (swap! order conj k) v)
               c (filled 1) d (a/chan)]
           [(a/alt!!
              (note :port-c c) (note :result-c :c)
              [[(note :port-d d) (note :value-d 1)]] (note :result-d :d)
              :priority true)
            @order])))

(deftest alt-in-a-block-parks
  (both= [:d 5 true]
         (let [c (a/chan) d (a/chan)
               done (a/go (a/alt! c ([v] [:c v]) d ([v port] [:d v (identical? port d)])))]
           (a/>!! d 5)
           (a/<!! done)))
  (testing "in its results too"
    (both= [1 2] (a/<!! (a/go (a/alt! (filled 1) ([v] [v (a/<! (filled 2))]) :priority true)))))
  (testing "in its ports too"
    (both= 3 (a/<!! (a/go (a/alt! (a/<! (filled (filled 3))) ([v] v))))))
  (testing "in a loop"
    (both= [1 2 3] (let [c (filled 1 2 3) stop (a/chan)]
                     (a/<!! (a/go-loop [seen []]
                              (if (= 3 (count seen))
                                seen
                                (a/alt! stop :stopped c ([v] (recur (conj seen v)))))))))))

(deftest alt-needs-a-result-for-each-clause
  (is (= (str "Assert failed: unbalanced clauses: each port, vector of ports or option needs its result or value after it,"
              " as in (alt! c ([v] v) :default nil)\n(even? (count clauses))")
         (ex-message (try (macroexpand-1 `(alt!! c)) (catch Throwable t (or (ex-cause t) t))))
         (ex-message (try (macroexpand-1 `(alt! c)) (catch Throwable t (or (ex-cause t) t)))))))

;;;; Many threads

(deftest every-value-is-taken-once-by-competing-alts
  (let [n 3000 ports (vec (concat (repeatedly 3 #(a/chan)) [(a/chan 5)])) done (CountDownLatch. 4)
        taker (fn [] (loop [got [] open ports]
                       (if (seq open)
                         (let [[v port] (alts!! open)]
                           (if (nil? v) (recur got (vec (remove #{port} open))) (recur (conj got v) open)))
                         got)))
        takers [(a/thread (taker)) (a/io-thread (taker))
                (go (loop [got [] open (into ports (rseq ports))]
                      (if (seq open)
                        (let [[v port] (alts! open)]
                          (if (nil? v) (recur got (vec (remove #{port} open))) (recur (conj got v) open)))
                        got)))]]
    (dotimes [p 4]
      (let [vs (range (* n (long p)) (* n (inc (long p))))]
        (if (even? p)
          (go (doseq [v vs] (alts! (mapv #(vector % v) ports))) (.countDown done))
          (a/thread (doseq [v vs] (alts!! (mapv #(vector % v) (shuffle ports)))) (.countDown done)))))
    (within-deadline (.await done))
    (run! a/close! ports)
    (is (= (range (* 4 n)) (sort (mapcat await-port takers))))))

(deftest the-stack-trace-of-a-refusal-begins-at-the-caller
  (let [c (a/chan)]
    (doseq [f [#(a/>!! c nil) #(a/put! c nil) #(a/alts!! [[c nil]]) #(a/alts!! []) #(a/alts!! 5) #(a/alts!! [c] :defalt 1)]]
      (is (str/starts-with? (try (f) "" (catch Throwable t (.getClassName ^StackTraceElement (first (.getStackTrace t)))))
                            "skein.async.alts_test$")))))
