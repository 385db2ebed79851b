;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual-test
  "The functions that virtuoso has too. The others have tests of their own in skein.virtual.*."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.deadline :refer [within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtual :as v])
  (:import
   (java.util.concurrent CancellationException CompletableFuture CountDownLatch ExecutionException RejectedExecutionException)
   (java.util.concurrent.atomic AtomicInteger)
   (java.util.function Function)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

;;;; future

(deftest realized?-works-on-futures-and-forks
  (let [go-on (promise), f (v/future @go-on), cancelled (v/future @(promise))]
    (is (false? (realized? f)))
    (deliver go-on 1)
    (is (= 1 @f))
    (is (true? (realized? f)))
    (future-cancel cancelled)
    (is (true? (realized? cancelled)))))

(deftest a-future-has-the-value-of-its-body
  (let [f (v/future (+ 1 2))]
    (is (future? f))
    (is (= 3 @f))
    (is (= 3 @f) "as often as one asks"))
  (is (nil? @(v/future nil)))
  (is (false? @(v/future false)))
  (is (true? @(v/future (.isVirtual (Thread/currentThread))))))

(deftest a-future-that-fails-throws-its-cause
  (doseq [thrown [(ex-info "boom" {}) (AssertionError. "boom")]]
    (let [e (caught @(v/future (throw thrown)))]
      (is (instance? ExecutionException e))
      (is (identical? thrown (ex-cause e))))))

(deftest a-future-that-is-late-gives-the-default
  (let [gate (promise) f (v/future @gate)]
    (is (= :late (deref f 1 :late)))
    (deliver gate :value)
    (is (= :value (within-deadline @f)))))

(deftest cancelling-a-future-interrupts-its-thread
  (let [begun (promise) seen (promise)
        f (v/future (deliver begun true)
                    (try (Thread/sleep 60000) (catch InterruptedException e (deliver seen e))))]
    (within-deadline @begun)
    (is (true? (future-cancel f)))
    (is (instance? InterruptedException (within-deadline @seen)))
    (is (future-cancelled? f))
    (is (instance? CancellationException (caught @f)))))

(deftest a-future-is-a-stage
  (let [^CompletableFuture f (v/future 20)]
    (is (= 21 (within-deadline @(.thenApply f (reify Function (apply [_ x] (inc (long x))))))))))

(deftest an-unobserved-failure-is-reported
  (let [boom (ex-info "nobody asks" {})
        stop (volatile! false)
        collector (Thread/startVirtualThread (fn [] (while (not @stop) (System/gc) (Thread/sleep 5))))
        [_ seen] (await-uncaught #(identical? boom %)
                                 (fn [] (v/future (throw boom)) nil))]
    (vreset! stop true)
    (.join collector)
    (is (identical? boom seen))))

(deftest an-observed-failure-is-not-reported
  (let [asked (ex-info "asked for" {}) ignored (ex-info "ignored" {})
        reports (atom [])
        stop (volatile! false)
        collector (Thread/startVirtualThread (fn [] (while (not @stop) (System/gc) (Thread/sleep 5))))
        [_ seen] (await-uncaught
                   (fn [thrown] (swap! reports conj thrown) (identical? ignored thrown))
                   (fn []
                     (dotimes [_ 20] (caught @(v/future (throw asked))))
                     (dotimes [_ 2000] ; a stage may be added before, while or after the future fails
                       (.handle ^CompletableFuture (v/future (throw asked)) (reify java.util.function.BiFunction (apply [_ _ _]))))
                     (v/future (throw ignored))
                     nil))]
    (vreset! stop true)
    (.join collector)
    (is (identical? ignored seen))
    (is (not-any? #(identical? asked %) @reports))))

;;;; Threads and executors

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
    (is (= v/max-eager (.get calls)) "an infinite input, as far as it is read")))

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
    (is (= :skein/bad-number (refusal #(v/pmap 0 inc [1])) (refusal #(v/fmap nil inc [1])) (refusal #(v/pmap 1.5 inc [1]))))
    (is (= :skein/not-a-function (refusal #(v/map 1 [1])) (refusal #(v/pmap 1 "f" [1])) (refusal #(v/thread* nil))))
    (is (= :skein/bad-executor (refusal #(v/future-via [nil] 1)) (refusal #(v/submit 5 inc))))
    (testing "a number is not a collection"
      (is (= :skein/bad-collection (refusal #(v/map inc 1)) (refusal #(v/map + [1] 2)) (refusal #(v/pmap 1 inc 1)))))))

(deftest nil-is-an-empty-collection
  (is (= [] (v/map inc nil) (v/map + [1] nil) (v/fmap 1 inc nil) (v/pmap 1 inc nil) (v/wmap 1 inc nil) (v/wmap 1 + [1] nil)
         (v/for [x nil] x) (v/wrun! {:n 1 :on-error :collect} inc nil)))
  (is (nil? (v/wrun! 1 inc nil))))
