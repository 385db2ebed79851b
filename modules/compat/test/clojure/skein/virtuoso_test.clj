;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtuoso-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.deadline :refer [within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtuoso :as v])
  (:import
   (java.util.concurrent CountDownLatch ExecutionException RejectedExecutionException)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

;;;; Futures, threads and executors

(deftest a-future-has-the-value-of-its-body
  (is (= 3 @(v/future (+ 1 2))))
  (is (instance? ExecutionException (caught @(v/future (throw (ex-info "boom" {})))))))

(deftest a-thread-is-virtual-and-ends
  (let [gate (promise) seen (promise)
        ^Thread t (binding [*who* :caller] (v/thread @gate (deliver seen *who*)))]
    (is (.isVirtual t))
    (is (.isAlive t))
    (deliver gate true)
    (within-deadline (.join t))
    (is (= :caller @seen))
    (is (not (.isAlive t)))))

(deftest an-exception-in-a-thread-is-uncaught
  (let [boom (ex-info "boom" {})
        [_ seen] (await-uncaught #(identical? boom %) (fn [] (v/thread (throw boom))))]
    (is (identical? boom seen))))

(deftest leaving-an-executor-waits-for-its-tasks
  (let [done (AtomicInteger.)
        fs (within-deadline
             (v/with-executor [exe]
               (mapv (fn [i] (v/future-via [exe] (Thread/sleep 1) (.incrementAndGet done) i)) (range 20))))]
    (is (= 20 (.get done)))
    (is (every? future-done? fs))
    (is (not-any? future-cancel fs))
    (is (= (range 20) (clojure.core/map deref fs)))))

(deftest a-task-of-an-executor-can-be-cancelled
  (let [interrupted (promise) begun (promise)]
    (within-deadline
      (v/with-executor [exe]
        (let [f (v/future-via [exe] (deliver begun true)
                              (try (Thread/sleep 60000) (catch InterruptedException _ (deliver interrupted true))))]
          @begun
          (future-cancel f))))
    (is (realized? interrupted) "and was waited for")))

(deftest an-interrupt-stays-with-the-task-that-was-cancelled
  (let [pool (java.util.concurrent.Executors/newSingleThreadExecutor)]
    (try
      (dotimes [_ 200]
        (let [begun (CountDownLatch. 1)
              f (v/future-via [pool] (.countDown begun) (Thread/onSpinWait))]
          (.await begun)
          (future-cancel f)
          (is (false? (within-deadline @(v/future-via [pool] (.isInterrupted (Thread/currentThread))))))))
      (finally (.shutdown pool)))))

(deftest a-closed-executor-refuses-tasks
  (let [kept (v/with-executor [exe] exe)
        e (caught (v/future-via [kept] 1))]
    (is (instance? RejectedExecutionException e))
    (is (re-find #"closed" (ex-message e)))))

;;;; map, pmap and the like

(deftest map-gives-values-in-order
  (is (= [2 3 4] (v/map inc [1 2 3])))
  (is (= [11 22] (v/map + [1 2 3] [10 20])) "the shortest wins")
  (is (= () (v/map inc []))))

(deftest map-has-ended-when-it-returns
  (let [done (AtomicInteger.)]
    (v/map (fn [_] (Thread/sleep 1) (.incrementAndGet done)) (range 100))
    (is (= 100 (.get done)))))

(deftest map-fails-where-the-item-is-read
  (let [xs (v/map / [4 6 3 8] [2 2 0 4])]
    (is (= [2 3] (take 2 xs)))
    (is (instance? ArithmeticException (ex-cause (caught (nth xs 2)))))))

(deftest map-processes-more-than-fits-in-memory
  (let [calls (AtomicInteger.)]
    (is (= (range 5) (take 5 (v/map (fn [x] (.incrementAndGet calls) x) (range)))))
    (is (= 32768 (.get calls)) "an infinite input, as far as it is read")))

(deftest for-and-pvalues-have-ended-when-they-return
  (let [done (AtomicInteger.)
        note (fn [x] (Thread/sleep 1) (.incrementAndGet done) x)]
    (is (= [[1 :a] [1 :b] [3 :a] [3 :b]] (v/for [x [1 2 3] :when (odd? x) y [:a :b]] (note [x y]))))
    (let [xs (v/pvalues (note 1) (throw (ex-info "boom" {})) (note 3))]
      (is (= 6 (.get done)))
      (is (= 1 (first xs)))
      (is (= "boom" (ex-message (ex-cause (caught (second xs)))))))))

(deftest pmap-runs-a-chunk-when-it-is-read
  (let [begun (atom #{})
        xs (v/pmap 3 (fn [x] (swap! begun conj x) x) (range))]
    (is (= #{} @begun))
    (is (= 0 (first xs)))
    (is (= #{0 1 2} @begun))
    (is (= 2 (nth xs 2)))
    (is (= #{0 1 2} @begun) "reading the last of a chunk does not run the next")
    (is (= 3 (nth xs 3)))
    (is (= #{0 1 2 3 4 5} @begun))))

(deftest fmap-returns-completed-futures
  (let [[a b] (v/fmap 2 / [1 1] [1 0])]
    (is (= [true true] [(future-done? a) (future-done? b)]))
    (is (= 1 @a))
    (is (instance? ArithmeticException (ex-cause (caught @b))))))

(deftest bindings-are-those-of-the-call
  (let [who (fn [_] *who*)
        lazily (binding [*who* :caller] [(v/pmap 2 who [1 2 3]) (v/map who [1]) (v/for [_ [1]] *who*)
                                         (v/pvalues *who*) [@(v/future *who*)]])]
    (is (= [[:caller :caller :caller] [:caller] [:caller] [:caller] [:caller]] lazily))))

(deftest a-seq-is-processed-one-by-one
  (let [read-up-to (atom 0)
        source (fn source [i] (lazy-seq (reset! read-up-to i) (cons i (source (inc (long i))))))]
    (is (= [2 3] (take 2 (v/process-by-one inc (source 1)))))
    (is (= 2 @read-up-to))
    (is (= [2] (v/process-by-one inc [1 nil 3])))
    (is (= [1 2] (v/deref-by-one [(delay 1) (delay 2)])))))

(deftest bad-input-is-refused-at-the-call
  (let [refusal #(:skein/error (ex-data (caught (%))))]
    (is (= :skein/bad-argument (refusal #(v/pmap 0 inc [1])) (refusal #(v/fmap nil inc [1])) (refusal #(v/pmap 1.5 inc [1]))))
    (is (= :skein/bad-argument (refusal #(v/map 1 [1])) (refusal #(v/pmap 1 "f" [1])) (refusal #(v/thread* nil))))
    (is (= :skein/bad-argument (refusal #(v/future-via [nil] 1)) (refusal #(v/submit 5 inc))))
    (testing "a number is not a collection"
      (is (= :skein/bad-argument (refusal #(v/map inc 1)) (refusal #(v/map + [1] 2)) (refusal #(v/pmap 1 inc 1)))))
    (testing "the vector of a macro has its shape"
      (doseq [[form shape] {`(v/with-executor 5 1) "The vector of with-executor must be [name], but is 5. [:skein/bad-argument]"
                            `(v/with-executor [~'e 5] 1) "The vector of with-executor must be [name], but is [e 5]. [:skein/bad-argument]"
                            `(v/future-via 5 1) "The vector of future-via must be [executor], but is 5. [:skein/bad-argument]"
                            `(v/future-via [~'e 5] 1) "The vector of future-via must be [executor], but is [e 5]. [:skein/bad-argument]"
                            `(v/for 5 1) "The vector of for must be [name collection ...], but is 5. [:skein/bad-argument]"}]
        (is (= shape (ex-message (ex-cause (caught (eval form))))))))))

(deftest nil-is-an-empty-collection
  (is (= [] (v/map inc nil) (v/map + [1] nil) (v/fmap 1 inc nil) (v/pmap 1 inc nil) (v/for [x nil] x))))
