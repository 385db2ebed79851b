;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.threads-test
  "thread, io-thread and thread-call: where the body runs, and where its value goes."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= class-name]])
  (:import
   (java.lang.ref WeakReference)
   (java.util.concurrent CountDownLatch Executor)
   (java.util.concurrent.atomic AtomicLong)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defn- this-thread
  "The thread, as data. Those of core.async's io-thread have no name."
  []
  (let [t (Thread/currentThread)]
    {:virtual? (.isVirtual t) :daemon? (.isDaemon t) :name (-> (.getName t) (str/replace #"^skein-io-\d+$" "") (str/replace #"\d+" "N"))}))

(deftest the-port-yields-the-value-and-closes
  (both= [3 nil nil] (let [p (a/thread (+ 1 2))] [(a/<!! p) (a/<!! p) (a/poll! p)]))
  (both= [3 nil] (let [p (a/io-thread (+ 1 2))] [(a/<!! p) (a/<!! p)]))
  (both= [false nil] (let [p (a/thread false)] [(a/<!! p) (a/<!! p)]))
  (both= [nil nil] (let [p (a/thread nil)] [(a/<!! p) (a/<!! p)]))
  (both= [nil nil] [(a/<!! (a/thread)) (a/<!! (a/io-thread))])
  (both= [1 true] (let [p (a/thread 1) [v port] (a/alts!! [p (a/chan)])] [v (identical? p port)])))

(deftest the-workload-chooses-the-executor
  (both= {:virtual? false :daemon? true :name "async-mixed-N"} (a/<!! (a/thread (this-thread))))
  (both= {:virtual? true :daemon? true :name ""} (a/<!! (a/io-thread (this-thread))))
  (both= [{:virtual? false :daemon? true :name "async-mixed-N"}
          {:virtual? false :daemon? true :name "async-mixed-N"}
          {:virtual? false :daemon? true :name "async-compute-N"}
          {:virtual? true :daemon? true :name ""}]
         [(a/<!! (a/thread-call this-thread))
          (a/<!! (a/thread-call this-thread :mixed))
          (a/<!! (a/thread-call this-thread :compute))
          (a/<!! (a/thread-call this-thread :io))]))

(def ^:private executors-made (AtomicLong.))

(defn counted-executor
  "An executor factory, named by a property in the next test."
  [_]
  (.incrementAndGet ^AtomicLong executors-made)
  (dotimes [_ 1000] (Thread/yield)) ; so that others ask meanwhile
  (reify Executor (execute [_ task] (Thread/startVirtualThread task))))

(deftest threads-that-ask-at-once-share-the-executor
  (let [property "clojure.core.async.executor-factory", start (CountDownLatch. 1)]
    (try
      (System/setProperty property "skein.async.threads-test/counted-executor")
      (let [asking (vec (repeatedly 8 #(a/thread (.await start) (a/<!! (a/thread-call (fn [] :ran) ::of-this-test)))))]
        (.countDown start)
        (is (= (repeat 8 :ran) (map await-port asking))))
      (is (= 1 (.get ^AtomicLong executors-made)))
      (finally (System/clearProperty property)))))

(deftest a-factory-that-does-not-exist-is-refused
  (let [property "clojure.core.async.executor-factory"]
    (try
      (doseq [factory ["skein.async.threads-test/no-such-var" "no.such.namespace/f"]]
        (System/setProperty property factory)
        (is (thrown-with-msg? clojure.lang.ExceptionInfo (re-pattern (str "executor-factory names " factory ", but there is no such var"))
              (a/thread-call (fn []) ::not-made))))
      (finally (System/clearProperty property)))))

(deftest an-unknown-workload-is-refused
  (is (thrown-with-msg? IllegalArgumentException #"workload must be :mixed, :io or :compute, but is :cpu\."
        (a/thread-call (fn []) :cpu))))

(deftest each-body-has-a-thread-of-its-own
  (doseq [start [(fn [f] (a/thread (f))) (fn [f] (a/io-thread (f)))]]
    (let [n 50
          all-there (CountDownLatch. n)
          ports (vec (repeatedly n #(start (fn [] (.countDown all-there) (.await all-there) :done))))]
      (is (= (repeat n :done) (map await-port ports))))))

(deftest bindings-are-the-callers
  (both= [:caller :caller :caller :root]
         (conj (binding [*who* :caller]
                 [(a/<!! (a/thread *who*)) (a/<!! (a/io-thread *who*)) (a/<!! (a/thread-call (fn [] *who*) :compute))])
               (a/<!! (a/thread *who*))))
  (both= [:changed :caller]
         (binding [*who* :caller] [(a/<!! (a/thread (set! *who* :changed) *who*)) *who*])))

(deftest an-exception-closes-the-port-and-reaches-the-uncaught-handler
  (let [boom (ex-info "boom" {})]
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(a/<!! (a/thread (throw boom))))))
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(a/<!! (a/io-thread (throw boom))))))
    (is (= [nil boom] (await-uncaught #(identical? boom %) #(a/<!! (a/thread-call (fn [] (throw boom)) :compute)))))))

(defmacro ^:private refusal
  "Evaluates to the class of what the body throws, and to the first two lines of its message."
  [& body]
  `(try ~@body (catch Throwable t# [(class-name t#) (take 2 (str/split-lines (ex-message t#)))])))

(deftest parking-is-for-blocks
  (both= ["java.lang.AssertionError" ["Assert failed: <! used not in (go ...) block" "nil"]]
         (a/<!! (a/io-thread (refusal (a/<! (a/chan 1))))))
  (both= ["java.lang.AssertionError" ["Assert failed: >! used not in (go ...) block" "nil"]]
         (a/<!! (a/thread (refusal (a/>! (a/chan 1) 1)))))
  (both= ["java.lang.AssertionError" ["Assert failed: alts! used not in (go ...) block" "nil"]]
         (a/<!! (a/thread-call #(refusal (a/alts! [(a/chan)])))))
  (testing "also when a block starts the thread"
    (both= :refused (a/<!! (a/go (a/<! (a/thread (try (a/<! (a/chan)) (catch AssertionError _ :refused)))))))))

(deftest threads-and-blocks-talk
  (doseq [start [(fn [f] (a/thread (f))) (fn [f] (a/io-thread (f)))]]
    (let [there (a/chan) back (a/chan) n 2000
          echo (start (fn [] (loop [i 0] (if-some [v (a/<!! there)] (do (a/>!! back (inc (long v))) (recur (inc i))) i))))
          sum (a/go (loop [i 0 sum 0] (if (< i n) (do (a/>! there i) (recur (inc i) (+ sum (long (a/<! back))))) sum)))]
      (is (= (quot (* n (inc n)) 2) (await-port sum)))
      (a/close! there)
      (is (= n (await-port echo))))))

(deftest a-body-does-not-hold-unused-values
  (doseq [start [(fn [ballast ref gate] (a/thread (deliver ref (WeakReference. ballast)) (a/<!! gate)))
                 (fn [ballast ref gate] (a/io-thread (deliver ref (WeakReference. ballast)) (a/<!! gate)))]]
    (let [gate (a/chan) ref (promise)
          p (start (byte-array 1000000) ref gate)]
      (is (= :cleared (within-deadline
                        (while (some? (.get ^WeakReference @ref)) (System/gc))
                        :cleared)))
      (a/>!! gate :go)
      (is (= :go (await-port p))))))
