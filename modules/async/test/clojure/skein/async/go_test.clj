;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.go-test
  "What a go block is: its port, its thread, its bindings and its exceptions."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! go]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin]])
  (:import
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)
(def ^:dynamic *other* :root)

(deftwin later
  "A port that gives `v` after a while, from another thread."
  [v]
  (let [c (a/chan)]
    (a/thread (a/>!! c v))
    c))

;;;; The port

(deftest the-port-yields-the-value-and-closes
  (both= [3 nil nil] (let [p (a/go (+ 1 2))] [(a/<!! p) (a/<!! p) (a/poll! p)]))
  (both= [3 nil] (let [p (a/go (inc (a/<! (later 2))))] [(a/<!! p) (a/<!! p)]))
  (both= [false nil] (let [p (a/go false)] [(a/<!! p) (a/<!! p)]))
  (both= [nil nil] (let [p (a/go nil)] [(a/<!! p) (a/<!! p)]))
  (both= [nil nil] (let [p (a/go)] [(a/<!! p) (a/<!! p)]))
  (both= nil (a/<!! (a/go (a/<! (later 1)) nil))))

(deftest the-value-waits-for-its-taker
  (both= [1 nil] (let [done (promise) p (a/go (deliver done true) 1)]
                   @done
                   [(a/<!! p) (a/<!! p)])))

(deftest one-taker-gets-the-value-the-others-nil
  (both= {:v 1, nil 3}
         (let [gate (a/chan) p (a/go (a/<! gate) :v) got (atom []) all (promise)]
           (dotimes [_ 4] (a/take! p (fn [v] (when (= 4 (count (swap! got conj v))) (deliver all true)))))
           (a/close! gate)
           @all
           (frequencies @got))))

(deftest the-port-is-a-channel
  (testing "that can be put on"
    (both= [true nil :mine :result nil]
           (let [gate (a/chan) p (a/go (a/<! gate) :result)
                 accepted (a/offer! p :mine)
                 full (a/offer! p :more)]
             (a/>!! gate :go)
             (Thread/sleep 20)
             [accepted full (a/<!! p) (a/<!! p) (a/<!! p)])))
  (testing "that can be put on once the block is done"
    (both= [1 false] (let [p (a/go 1)] [(a/<!! p) (do (a/<!! p) (a/>!! p 2))])))
  (testing "that can be closed"
    (both= [nil nil] (let [gate (a/chan) p (a/go (a/<! gate) :result)]
                       (a/close! p)
                       (a/>!! gate :go)
                       [(a/<!! p) (a/<!! p)])))
  (testing "that alts takes from"
    (both= [1 true] (let [p (a/go 1) [v port] (a/alts!! [(a/chan) p])] [v (identical? p port)]))
    (both= [true true] (let [gate (a/chan) p (a/go (a/<! gate)) [v port] (a/alts!! [[p 1] (a/chan)])]
                         (a/close! gate)
                         [v (identical? p port)]))))

(deftest go-loop-is-a-loop-in-a-block
  (both= [0 1 2 3 4] (let [c (a/chan)]
                       (a/go-loop [i 0] (if (< i 5) (do (a/>! c i) (recur (inc i))) (a/close! c)))
                       (a/<!! (a/go-loop [seen []] (if-some [v (a/<! c)] (recur (conj seen v)) seen)))))
  (both= [1 2] (a/<!! (a/go-loop [[x y] [1 2]] [x y]))))

;;;; The thread

(deftest a-block-never-starts-on-its-callers-thread
  (both= false (let [me (Thread/currentThread)] (a/<!! (a/go (identical? me (Thread/currentThread))))))
  (is (false? (await-port (go (let [ran (promise)]
                                (go (deliver ran true))
                                (realized? ran)))))
      "nor inside another block"))

(deftest blocks-run-on-daemons
  (is (every? true? (map await-port (repeatedly 20 #(go (<! (a/timeout 1)) (.isDaemon (Thread/currentThread))))))))

;;;; Bindings

(deftest bindings-are-the-callers
  (both= [:caller :caller] (binding [*who* :caller] (a/<!! (a/go [*who* (do (a/<! (later 1)) *who*)]))))
  (both= [:caller :root] (let [gate (a/chan)
                               p (binding [*who* :caller] (a/go (a/<! gate) *who*))]
                           (a/close! gate)
                           [(a/<!! p) *who*])))

(deftest a-resumed-block-leaves-no-bindings-behind
  (is (= (repeat 50 [:root :mine :root])
         (map await-port (repeatedly 50 #(go [(do (<! (a/timeout 1)) *who*)
                                              (<! (binding [*who* :mine] (go (<! (later 1)) *who*)))
                                              (do (<! (later 1)) *who*)])))))
  (let [c (a/chan) me *who*]
    (binding [*who* :taker] (a/take! (go (<! c) 1) (fn [_])))
    (a/>!! c 1)
    (is (= me *who*) "on the thread that resumes it")))

(deftest each-block-keeps-its-own-bindings
  (is (= (range 200)
         (map await-port (mapv (fn [i] (binding [*who* i] (go (dotimes [_ 5] (<! (a/timeout 0))) *who*)))
                               (range 200))))))

(deftest binding-across-a-park
  (both= [:inside :inside :root]
         (a/<!! (a/go (let [seen (binding [*who* :inside] [*who* (do (a/<! (later 1)) *who*)])]
                        (conj seen *who*)))))
  (both= [[:one :two] [:one :root] [:root :root]]
         (a/<!! (a/go
                  (let [a1 (binding [*who* :one]
                             (let [inner (binding [*other* :two] (a/<! (later 1)) [*who* *other*])]
                               (a/<! (later 1))
                               [inner [*who* *other*]]))]
                    (conj a1 [*who* *other*])))))
  (both= [:caught :root]
         (a/<!! (a/go [(try (binding [*who* :inside] (a/<! (later 1)) (throw (ex-info "out" {})))
                            (catch Exception _ :caught))
                       *who*]))))

(deftest a-block-can-not-set-its-callers-binding
  (both= [:thrown "java.lang.IllegalStateException" "Can't set!: *who* from non-binding thread"]
         (binding [*who* :caller]
           (a/<!! (a/go (try (set! *who* :block) (catch Exception e [:thrown (.getName (class e)) (ex-message e)]))))))
  (both= [:thrown "java.lang.IllegalStateException" "Can't set!: *who* from non-binding thread"]
         (binding [*who* :caller]
           (a/<!! (a/go (a/<! (later 1))
                        (try (set! *who* :block) (catch Exception e [:thrown (.getName (class e)) (ex-message e)])))))))

(deftest a-block-can-set-its-own-binding
  (both= [:new :root] (a/<!! (a/go [(binding [*who* :mine] (set! *who* :new) *who*) *who*])))
  (is (= [:new :newer :root]
         (await-port (go (conj (binding [*who* :mine]
                                 (<! (later 1))
                                 (set! *who* :new)
                                 (let [before *who*]
                                   (<! (later 1))
                                   (set! *who* :newer)
                                   [before *who*]))
                               *who*))))
      "on whatever thread it is resumed"))

(deftest a-nested-block-has-the-bindings-of-its-place
  (both= [:inside :caller]
         (binding [*who* :caller]
           (a/<!! (a/go (let [p (binding [*who* :inside] (a/go (a/<! (later 1)) *who*))]
                          [(a/<! p) *who*]))))))

;;;; Exceptions

(deftest an-exception-closes-the-port-and-reaches-the-uncaught-handler
  (let [boom (ex-info "boom" {})
        c (a/chan)]
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(<!! (go (throw boom))))) "at once")
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(<!! (go (<! (later 1)) (throw boom))))) "after a park")
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      #(let [p (go (a/alts! [c]) (throw boom))] (a/>!! c 1) (<!! p))))
        "after an alts")
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      #(<!! (go (try (<! (later 1)) (throw boom) (finally (<! (later 2))))))))
        "through a finally that parks")))

(deftest an-error-is-an-exception-too
  (let [boom (StackOverflowError. "boom")]
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(<!! (go (<! (later 1)) (throw boom))))))))

(deftest the-port-is-closed-when-the-handler-runs
  (let [boom (ex-info "boom" {})
        port (promise)
        closed (promise)]
    (await-uncaught #(and (identical? boom %) (deliver closed (a/offer! @port 1)))
                    #(deliver port (go (<! (later 1)) (throw boom))))
    (is (false? (deref closed 30000 :late)))))

(deftest failed-blocks-do-not-hurt-others
  (let [boom (ex-info "boom" {})
        reports (atom 0)
        done (CountDownLatch. 100)]
    (is (= [nil boom]
           (await-uncaught #(and (identical? boom %) (= 100 (swap! reports inc)))
                           #(dotimes [i 200] (go (<! (a/timeout 1)) (if (even? i) (throw boom) (.countDown done)))))))
    (is (true? (within-deadline (.await done) true)))))

(deftest a-wrong-put-throws-in-the-block
  (both= "Can't put nil on channel" (a/<!! (a/go (try (a/>! (a/chan 1) nil) (catch IllegalArgumentException e (first (str/split-lines (ex-message e))))))))
  (is (= :skein/bad-argument (a/<!! (a/go (try (a/<! 1) (catch clojure.lang.ExceptionInfo e (:skein/error (ex-data e)))))))))

(deftest the-exception-of-a-go-block-is-rethrown
  (let [boom (ex-info "boom" {})]
    (is (= [boom boom [:caught boom]]
           [(try (a/<?? (go (throw boom))) (catch Exception e e))
            (try (a/<?? (go (a/<? (go (<! (a/timeout 1)) (throw boom))))) (catch Exception e e))
            (a/<!! (go (try (a/<? (go (throw boom))) (catch Exception e [:caught e]))))]))))

(deftest the-exception-of-a-thread-is-rethrown-too
  (let [boom (ex-info "boom" {})]
    (is (= [boom boom]
           [(try (a/<?? (a/thread (throw boom))) (catch Exception e e))
            (try (a/<?? (a/io-thread (throw boom))) (catch Exception e e))]))))

(deftest a-wrong-park-in-a-binding-leaves-the-bindings-in-order
  (is (= [:caught :root :root]
         (await-port (go [(try (binding [*who* :inside] (>! (a/chan) nil)) (catch Exception _ :caught))
                          *who*
                          (do (<! (later 1)) *who*)])))))

;;;; Many

(deftest a-hundred-thousand-blocks
  (let [n 100000
        ports (mapv (fn [i] (go (+ (long i) (long (<! (go 1)))))) (range n))]
    (is (= (range 1 (inc n)) (within-deadline (mapv <!! ports))))))
