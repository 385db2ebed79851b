;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.contest-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CountDownLatch)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(defn- sleeper
  "A function that counts `begun` down, and counts its interrupt in `ended`."
  [^CountDownLatch begun ^AtomicInteger ended]
  (fn [] (.countDown begun) (try (Thread/sleep 60000) (finally (.incrementAndGet ended)))))

(deftest the-first-to-end-wins-a-race
  (let [begun (CountDownLatch. 2) ended (AtomicInteger.) s (sleeper begun ended)]
    (is (= :won (within-deadline (v/race s (fn [] (.await begun) :won) s))))
    (is (= 2 (.get ended)) "the others were interrupted, and have ended"))
  (is (= "lost" (ex-message (caught (v/race #(throw (ex-info "lost" {})) #(Thread/sleep 60000))))))
  (is (nil? (v/race (constantly nil)))))

(deftest any-skips-failures
  (is (= :good (within-deadline (v/any #(throw (ex-info "a" {})) #(do (Thread/yield) :good) #(throw (Error. "b"))))))
  (let [[a b] [(ex-info "a" {}) (ex-info "b" {})]
        thrown (within-deadline (caught (v/any #(throw a) #(throw b))))]
    (is (= #{a b} (into #{thrown} (.getSuppressed ^Throwable thrown))))))

(deftest all-gives-all-values-or-the-first-failure
  (is (= [] (v/all)))
  (is (= [1 nil 3] (v/all (fn [] (Thread/yield) 1) (fn [] nil) (fn [] 3))))
  (let [begun (CountDownLatch. 1) ended (AtomicInteger.) boom (ex-info "boom" {})]
    (is (identical? boom (within-deadline (caught (v/all (sleeper begun ended) #(do (.await begun) (throw boom)))))))
    (is (= 1 (.get ended)))))

(deftest an-interrupted-caller-interrupts-the-calls
  (let [begun (CountDownLatch. 2) ended (AtomicInteger.) s (sleeper begun ended) outcome (promise)
        caller (Thread/startVirtualThread #(deliver outcome (caught (v/all s s))))]
    (within-deadline (.await begun))
    (.interrupt caller)
    (is (instance? InterruptedException (within-deadline @outcome)))
    (is (= 2 (.get ended)))))

(deftest bindings-are-those-of-the-call
  (is (= [:caller] (binding [*who* :caller] (v/all (fn [] *who*))))))

(deftest non-functions-are-refused-before-any-call
  (let [called (atom false)]
    (is (= :skein/bad-argument (:skein/error (ex-data (caught (v/all #(reset! called true) 1))))))
    (is (= "f of race must be a function, but is 1. [:skein/bad-argument]" (ex-message (caught (v/race 1 2)))))
    (is (= "f of any must be a function, but is 1. [:skein/bad-argument]" (ex-message (caught (v/any 1 2)))))
    (is (= "f of all must be a function (for a collection of functions use (apply all fs)), but is [1 2]. [:skein/bad-argument]"
           (ex-message (caught (v/all [1 2])))))
    (is (false? @called))))
