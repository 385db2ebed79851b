;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.window-test
  "pmap and prun!: how many at once, in which order, and what an exception does."
  (:require
   [clojure.test :refer [are deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.deadline :refer [within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.virtual :as v]
   [skein.virtual.window :as window])
  (:import
   (java.lang.ref WeakReference)
   (java.util.concurrent CountDownLatch CyclicBarrier)
   (java.util.concurrent.atomic AtomicInteger)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(defmacro ^:private caught [& body]
  `(try ~@body (catch Throwable t# t#)))

(defn- counting
  "Returns [f worst begun now]: `f`, the largest number of its calls at once, how many have begun, and how many are running."
  [f]
  (let [now (AtomicInteger.) worst (AtomicInteger.) begun (AtomicInteger.)]
    [(fn counted [x]
       (.incrementAndGet begun)
       (.accumulateAndGet worst (.incrementAndGet now) (fn [a b] (max a b)))
       (try (f x) (finally (.decrementAndGet now))))
     worst begun now]))

(def ^:private forms
  "The ways to run f over a collection that keep the order."
  {:seq (fn [n f coll] (v/pmap n f coll))
   :transducer (fn [n f coll] (into [] (v/pmap n f) coll))})

(deftest results-agree-with-map
  (is (:pass? (check/quick-check
                100
                (prop/for-all [xs (gen/vector gen/small-integer 0 60)
                               n (gen/choose 1 9)
                               ahead (gen/choose 1 40)
                               spins (gen/vector (gen/choose 0 500) 8)]
                  (let [f (fn [x] (dotimes [_ (nth spins (mod (long x) 8))] (Thread/onSpinWait)) (* 2 (long x)))]
                    (within-deadline
                      (and (every? (fn [form] (= (map f xs) (form {:n n :ahead ahead} f xs))) (vals forms))
                           (= (frequencies (map f xs)) (frequencies (v/pmap {:n n :ordered? false} f xs)))))))))))

(deftest never-more-than-n-at-once
  ;; Checks V1 and V3.
  (doseq [form (conj (vec (vals forms))
                     (fn [n f coll] (v/pmap {:n n :ordered? false} f coll))
                     (fn [n f coll] (let [seen (atom [])] (v/prun! n #(swap! seen conj (f %)) coll) @seen)))
          n [1 2 7]]
    (let [[f worst begun] (counting (fn [x] (when (zero? (mod (long x) 3)) (Thread/yield)) x))]
      (is (= (range 2000) (sort (within-deadline (form n f (range 2000))))))
      (is (<= (.get ^AtomicInteger worst) (long n)))
      (is (= 2000 (.get ^AtomicInteger begun)) "each item is begun once"))))

(deftest n-at-once-while-input-remains
  (testing "calls that wait until n of them are there"
    (doseq [form (vals forms)]
      (let [barrier (CyclicBarrier. 4)]
        (is (= (range 400) (within-deadline (doall (form 4 (fn [x] (.await barrier) x) (range 400))))))))))

(deftest a-slow-item-does-not-hold-up-the-others
  (doseq [form (vals forms)]
    (let [others (CountDownLatch. 12)
          f (fn [i] (if (zero? (long i)) (.await others) (.countDown others)) i)]
      (is (= (range 13) (within-deadline (doall (form 4 f (range 13)))))
          "the first waits for those up to 4n after it"))))

(deftest unordered-results-come-as-calls-end
  (let [gate (promise)
        xs (v/pmap {:n 2 :ordered? false} (fn [x] (when (= 0 x) @gate) x) (range 4))]
    (is (= [1 2 3] (within-deadline (doall (take 3 xs)))))
    (deliver gate true)
    (is (= [0] (within-deadline (doall (drop 3 xs)))))))

(deftest nothing-happens-before-the-seq-is-read
  (let [[f _ begun] (counting identity)
        xs (v/pmap 3 f (range))]
    (is (= 0 (.get ^AtomicInteger begun)))
    (is (= (range 10) (within-deadline (doall (take 10 xs)))))
    (is (<= (.get ^AtomicInteger begun) (+ 10 12)) "and no more than 4n beyond what is read")))

(deftest the-input-is-read-no-further-than-needed
  ;; Checks V2.
  (let [pulled (AtomicInteger.)
        gate (promise)
        source (fn source [i] (lazy-seq (.incrementAndGet pulled) (cons i (source (inc (long i))))))
        xs (v/pmap 3 (fn [x] (when (pos? (long x)) @gate) x) (source 0))]
    (is (= 0 (within-deadline (first xs))))
    (is (<= (.get pulled) 4))
    (deliver gate true)
    (is (= (range 20) (within-deadline (doall (take 20 xs)))))
    (is (<= (.get pulled) (+ 20 12)))))

(deftest chunked-input-does-not-widen-the-window
  (let [[f worst] (counting (fn [x] (Thread/yield) x))]
    (is (= (range 100) (within-deadline (doall (v/pmap 2 f (vec (range 100)))))))
    (is (<= (.get ^AtomicInteger worst) 2))))

(deftest several-collections
  (is (= [11 22] (v/pmap 2 + [1 2 3] [10 20])))
  (is (= [111 222] (v/pmap 2 + [1 2 3] [10 20] [100 200 300])))
  (is (= [nil false] (v/pmap 2 identity [nil false])))
  (is (= [] (v/pmap 1 inc nil) (v/pmap 1 + [1] nil)))
  (is (nil? (v/prun! 1 inc nil))))

(deftest the-first-exception-ends-all
  ;; Checks V4.
  (doseq [run [(fn [f] (doall (v/pmap 4 f (range 1000))))
               (fn [f] (doall (v/pmap {:n 4 :ordered? false} f (range 1000))))
               (fn [f] (into [] (v/pmap 4 f) (range 1000)))
               (fn [f] (v/prun! 4 f (range 1000)))]]
    (let [boom (ex-info "boom" {})
          all-there (CountDownLatch. 4)
          interrupted (AtomicInteger.)
          [f _ begun] (counting
                        (fn [x]
                          (try
                            (.countDown all-there)
                            (.await all-there)
                            (when (= 2 x) (throw boom))
                            (Thread/sleep 60000)
                            (catch InterruptedException _ (.incrementAndGet interrupted) :late))))]
      (is (identical? boom (within-deadline (caught (run f)))))
      (is (= 3 (.get interrupted)) "the others were interrupted, and have ended")
      (is (= 4 (.get ^AtomicInteger begun)) "and no more was begun"))))

(deftest results-before-the-exception-are-read-first
  (let [xs (v/pmap 1 (fn [x] (if (= 2 x) (throw (ex-info "boom" {})) x)) (range))]
    (is (= [0 1] (within-deadline (doall (take 2 xs)))))
    (is (= "boom" (ex-message (caught (doall xs)))))
    (is (= "boom" (ex-message (caught (doall xs)))) "and again")))

(deftest the-exception-of-an-input-comes-after-its-items
  (let [input (lazy-cat [1 2] (throw (ex-info "no more" {})))
        xs (v/pmap 3 inc input)]
    (is (= [2 3] (within-deadline (doall (take 2 xs)))))
    (is (= "no more" (ex-message (caught (doall xs)))))))

(defn- failing-if-odd [thrown]
  (fn [x] (if (odd? (long x)) (throw thrown) x)))

(deftest exceptions-can-be-collected
  (let [boom (ex-info "boom" {})
        options {:n 2 :on-error :collect}
        expected [{:value 0} {:error boom} {:value 2} {:error boom}]]
    (is (= expected (v/pmap options (failing-if-odd boom) (range 4))))
    (is (= expected (into [] (v/pmap options (failing-if-odd boom)) (range 4))))))

(deftest a-function-may-give-results-for-exceptions
  (let [boom (ex-info "boom" {})
        options {:n 2 :on-error (fn [thrown x] [thrown x])}]
    (is (= [0 [boom 1] 2 [boom 3]] (v/pmap options (failing-if-odd boom) (range 4))))
    (is (= [0 [boom 1] 2 [boom 3]] (into [] (v/pmap options (failing-if-odd boom)) (range 4))))
    (is (= [[boom '(1 2)]] (v/pmap options (fn [_ _] (throw boom)) [1] [2])) "for all items at a position")
    (let [seen (atom #{})]
      (is (nil? (v/prun! {:n 2 :on-error (fn [thrown x] (swap! seen conj [thrown x]))} (failing-if-odd boom) (range 4))))
      (is (= #{[boom 1] [boom 3]} @seen))))
  (testing "what it throws ends all calls"
    (let [options {:n 2 :on-error (fn [_ x] (throw (ex-info (str x) {})))}]
      (is (= "1" (ex-message (caught (doall (v/pmap options (failing-if-odd (ex-info "boom" {})) (range 2)))))))
      (is (= "1" (ex-message (caught (v/prun! options (failing-if-odd (ex-info "boom" {})) (range 2)))))))))

(deftest exceptions-can-be-reported
  (doseq [run [(fn [f] (is (= [0 2] (v/pmap {:n 2 :on-error :report} f (range 4)))))
               (fn [f] (is (= [0 2] (into [] (v/pmap {:n 2 :on-error :report} f) (range 4)))))
               (fn [f] (is (nil? (v/prun! {:n 2 :on-error :report} f (range 4)))))]]
    (let [boom (ex-info "boom" {})
          [_ seen] (await-uncaught #(identical? boom %) (fn [] (run (failing-if-odd boom))))]
      (is (identical? boom seen)))))

(deftest a-cancelled-call-is-not-reported
  (let [reported (atom #{}), boom (ex-info "boom" {})]
    (await-uncaught
      (fn [thrown] (swap! reported conj thrown) (identical? boom thrown))
      (fn []
        (within-deadline
          (into [] (comp (v/pmap {:n 2 :on-error :report} (fn [x] (when (pos? (long x)) (Thread/sleep 60000)) x)) (take 1)) (range 2)))
        (v/prun! {:n 1 :on-error :report} (fn [_] (throw boom)) [1])))
    (is (= #{boom} @reported))))

(deftest a-transduction-that-ends-early-interrupts-the-rest
  (let [[f _ _ now] (counting (fn [x] (when (< 2 (long x)) (Thread/sleep 60000)) x))]
    (is (= [0 1 2] (within-deadline (into [] (comp (v/pmap 2 f) (take 3)) (range)))))
    (is (= 0 (.get ^AtomicInteger now)) "and waits for it")
    (is (= [0] (into [] (comp (v/pmap 2 identity) (map (fn [x] (if (= 1 x) (reduced x) x))) (take 1)) (range))))
    (is (= "rf" (ex-message (caught (transduce (v/pmap 2 identity) (fn ([]) ([_]) ([_ _] (throw (ex-info "rf" {})))) (range))))))))

(deftest nothing-is-read-after-reduced
  (let [others (CountDownLatch. 7)
        threads (atom #{})
        f (fn [x] (swap! threads conj (Thread/currentThread)) (if (= 0 x) (.await others) (.countDown others)) x)
        rf (completing (fn [acc x]
                         (run! (fn [^Thread t] (.join t)) @threads)
                         (if (= 1 x) (reduced acc) (conj acc x))))]
    (is (= [0] (within-deadline (transduce (v/pmap 2 f) rf [] (range 20))))
        "though what follows is done")))

(deftest an-interrupted-reader-may-read-on
  (let [gate (promise) waits (promise)
        xs (v/pmap 2 (fn [x] (deliver waits true) @gate x) [1 2])
        outcome (promise)
        reader (Thread/startVirtualThread #(deliver outcome (caught (first xs))))]
    (within-deadline @waits)
    (.interrupt reader)
    (is (instance? InterruptedException (within-deadline @outcome)))
    (deliver gate true)
    (is (= [1 2] (within-deadline (doall xs))))))

(deftest an-interrupted-run-interrupts-its-calls
  (let [begun (CountDownLatch. 2) ended (AtomicInteger.) outcome (promise)
        f (fn [_] (.countDown begun) (try (Thread/sleep 60000) (finally (.incrementAndGet ended))))
        caller (Thread/startVirtualThread #(deliver outcome (caught (v/prun! 2 f (range 10)))))]
    (within-deadline (.await begun))
    (.interrupt caller)
    (is (instance? InterruptedException (within-deadline @outcome)))
    (is (= 2 (.get ended)) "and waits for them")))

(deftest a-seq-that-nobody-reads-is-garbage
  (let [[read-of input] ((fn [] (let [input (Object.)
                                      xs (v/pmap 2 (fn [x] [x input]) (range))]
                                  [(ffirst xs) (WeakReference. input)])))]
    (is (= 0 read-of))
    (within-deadline (while (.get ^WeakReference input) (System/gc) (Thread/yield)))))

(deftest bindings-are-those-of-the-call
  (is (= [:caller] (let [xform (v/pmap 2 (fn [_] *who*))] (binding [*who* :caller] (into [] xform [1]))))
      "or of the transduction")
  (is (= [:caller :caller] (binding [*who* :caller] (v/pmap 2 (fn [_] *who*) [1 2])))))

(deftest options-have-defaults-and-are-checked
  (is (= {:n 3 :ahead 12 :ordered? true :on-error :throw} (window/options 3)))
  (is (= {:n 3 :ahead 5 :ordered? false :on-error :collect}
         (window/options {:n 3 :ahead 5 :ordered? false :on-error :collect})))
  (is (= [1] (v/pmap {:n Integer/MAX_VALUE :ahead Integer/MAX_VALUE} inc [0])))
  (is (<= 1 (window/default-n) (long window/max-default-n)))
  (is (= (window/default-n) (:n (window/options {}))))
  (are [error options] (= error (:skein/error (ex-data (caught (v/pmap options inc [1])))))
    :skein/bad-argument 0
    :skein/bad-argument nil
    :skein/bad-argument {:n 1.5}
    :skein/bad-argument {:n 1 :ahead 0}
    :skein/bad-argument {:n 1 :ahead 1e9}
    :skein/bad-argument {:n 1 :order :done}
    :skein/bad-argument {:n 1 :on-error :ignore}
    :skein/bad-argument {:n 1 :on-error "ignore"})
  (are [error call] (= error (:skein/error (ex-data (caught call))))
    :skein/bad-argument (v/pmap 1 "inc" [1])
    :skein/bad-argument (v/pmap 1 nil)
    :skein/bad-argument (v/pmap 1 inc 5)
    :skein/bad-argument (v/pmap 1 + [1] 5)
    :skein/bad-argument (v/prun! {:n 1 :other 1} inc [])
    :skein/bad-argument (v/prun! {:n 1 :on-error :collect} inc [])
    :skein/bad-argument (v/prun! {:n 1 :ordered? false} inc [])
    :skein/bad-argument (v/prun! 1 inc 5)
    :skein/bad-argument (v/prun! 1 5 [])))
