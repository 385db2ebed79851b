;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold]
   [skein.fold.kinds :as kinds]
   [skein.fold.source :as source])
  (:import
   (clojure.lang ExceptionInfo IFn IReduceInit Seqable)
   (java.util.concurrent CountDownLatch Executor ExecutorService Executors TimeUnit)))

(set! *warn-on-reflection* true)

(def ^:private xs (vec (range 1000)))

(defn- data-of [f] (try (f) nil (catch ExceptionInfo e (ex-data e))))
(defn- error-of [f] (:skein/error (data-of f)))

(defn- await-latch [^CountDownLatch latch]
  (when-not (.await latch 20 TimeUnit/SECONDS) (throw (ex-info "nobody came" {}))))

(defn- meeting
  "A step that lets no thread through until `n` of them are in it."
  [n]
  (let [latch (CountDownLatch. n)
        here (ThreadLocal.)]
    (fn step [acc x]
      (when-not (.get here)
        (.set here true)
        (.countDown latch)
        (await-latch latch))
      (conj acc x))))

(defn- spin
  "Computes for some microseconds."
  []
  (dotimes [_ 2000] (Math/sin 1.5)))

;;;; Parallel, in order

(defn- reducible [coll]
  (reify IReduceInit (reduce [_ f init] (reduce f init coll))))

(deftest sources-are-folded-by-several-threads-at-once
  (doseq [[kind coll] {:vector xs, :subvec (subvec xs 1), :range (range 1000), :list (apply list xs), :lazy (map identity xs)
                       :hash-map (zipmap xs xs), :hash-set (set xs), :sorted-set (into (sorted-set) xs)
                       :array-list (java.util.ArrayList. ^java.util.Collection xs), :longs (long-array xs), :doubles (double-array xs)
                       :ints (int-array xs), :objects (object-array xs), :bytes (byte-array 1000), :string (apply str xs)
                       :eduction (eduction (map inc) xs), :seqable (reify Seqable (seq [_] (seq xs)))
                       :iterator (.iterator ^Iterable xs), :stream (.stream ^java.util.Collection xs)}]
    (testing kind
      (is (= (if (contains? #{:iterator :stream} kind) xs (into [] coll))
             (within-deadline (fold/fold {:grain 10, :workers 3} {:combine into, :step (meeting 3)} coll)))))))

(deftest a-user's-executor-is-used
  (let [^ExecutorService pool (Executors/newFixedThreadPool 2)
        threads (atom #{})]
    (try
      (is (= 499500 (within-deadline
                      (fold/fold {:pool pool, :grain 1, :workers 3}
                                 {:combine +
                                  :step (let [meet (meeting 3)]
                                          (fn step [acc x] (swap! threads conj (.getName (Thread/currentThread))) (meet [] x) (+ acc x)))}
                                 xs))))
      (is (some #(re-find #"^pool-" %) @threads))
      (finally (.shutdown pool)))))

(deftest a-pool-that-is-shut-down-leaves-the-work-to-the-caller
  (let [pool (doto (Executors/newFixedThreadPool 1) .shutdown)]
    (is (= 499500 (within-deadline (fold/fold {:pool pool, :grain 1, :workers 3} + xs))))))

(deftest pool-that-runs-tasks-on-the-caller-adds-no-helper
  (doseq [[opts xform] [[{} nil] [{:grain 1} nil] [{:grain 1} (comp (map inc) (take 900))]]
          :let [busy (atom false)
                pool (reify Executor
                       (execute [_ task]
                         (if (compare-and-set! busy false true) (.start (Thread. ^Runnable task)) (.run task))))]]
    (is (= (reduce + 0 (eduction (or xform identity) xs))
           (within-deadline (fold/fold (assoc opts :pool pool :workers 4)
                                       (fold/through xform {:combine +, :step (fn ([acc] acc) ([acc x] (spin) (+ acc x)))})
                                       xs))))))

(deftest a-pool-that-runs-its-tasks-at-once-is-no-help
  (let [at-once (reify Executor (execute [_ task] (.run task)))]
    (doseq [coll [xs (apply list xs) (reducible xs)]
            opts [{} {:grain 10}]]
      (is (= 499500 (within-deadline (fold/fold (assoc opts :pool at-once :workers 3)
                                                {:combine +, :step (fn step [acc x] (spin) (+ acc x))} coll)))))))

(deftest workers-of-one-runs-on-the-caller-alone
  (let [threads (atom #{})]
    (fold/fold {:workers 1, :grain 1}
               {:combine +, :step (fn step [acc x] (swap! threads conj (Thread/currentThread)) (+ acc x))} xs)
    (is (= #{(Thread/currentThread)} @threads))))

(deftest unordered-gives-the-same-sum
  (is (= 499500 (within-deadline (fold/fold {:ordered? false, :grain 7, :workers 4} + xs))))
  (is (= 499500 (within-deadline (fold/fold {:ordered? false, :grain 7, :workers 4} + (map identity xs))))))

;;;; How a fold ends

(deftest reduced-ends-the-fold-at-its-position
  (doseq [coll [xs (map identity xs) (reducible xs) (range)]]
    (is (= (range 501)
           (within-deadline
             (fold/fold {:grain 10, :workers 4}
                        {:combine into, :step (fn step [acc x] (if (= x 500) (reduced (conj acc x)) (conj acc x)))} coll))))))

(deftest parts-right-of-a-reduced-are-dropped-between-steps
  ;; A transient accumulator shows any step that gets another thread's, or none.
  (let [fold-to (fn [stop] (fold/fold {:grain 1, :workers 4}
                                      {:identity (fn [] (transient []))
                                       :combine into
                                       :step (fn ([acc] (persistent! acc))
                                               ([acc x] (if (= x stop) (reduced acc) (conj! acc x))))}
                                      xs))]
    (is (every? #(= (range %) (within-deadline (fold-to %))) (map #(+ 100 (mod (* 37 (long %)) 800)) (range 3000))))))

(deftest fold-may-end-in-the-measured-block
  (let [slow-start (fn [x] (when (zero? (long x)) (Thread/sleep 2)) x)
        step (fn step [acc x] (if (= 1 (slow-start x)) (reduced (conj acc :end)) (conj acc x)))]
    (doseq [coll [(list 0 1 2 3) (vec (range 4)) (reducible (range 4))]]
      (is (= [0 :end] (within-deadline (fold/fold {:workers 2} {:combine into, :step step} coll))))
      (is (= [0 1] (within-deadline (fold/fold {:workers 2}
                                               (fold/through (comp (map slow-start) (take 2)) (fold/into [])) coll)))))))

(deftest a-reduced-combination-ends-the-fold
  (doseq [coll [xs (iterate inc 0)]]
    (is (= :enough (within-deadline (fold/fold {:grain 10, :workers 2}
                                               {:combine (fn ([] 0) ([_ _] (reduced :enough)))
                                                :step (let [meet (meeting 2)] (fn step [acc x] (meet [] x) acc))} coll))))))

(defn- leftmost-and-another
  "A function of x that calls (first-one) for 0, once another thread has called (other x) for another x."
  [first-one other]
  (let [come (CountDownLatch. 1)]
    (fn [x] (if (= 0 x)
              (do (await-latch come) (first-one))
              (try (other x) (finally (.countDown come)))))))

(deftest exceptions-right-of-a-reduced-are-dropped
  (let [go (fn [] (leftmost-and-another (fn [] 0) (fn [_] (throw (ex-info "boom" {})))))]
    (doseq [coll [xs (apply list xs)]
            :let [go (go)]]
      (is (= [0] (within-deadline (fold/fold {:grain 1, :workers 2}
                                             {:combine into, :step (fn step [acc x] (reduced (conj acc (go x))))} coll)))))
    (doseq [coll [xs (apply list xs)]]
      (is (= [0] (within-deadline (fold/fold {:grain 1, :workers 2}
                                             (fold/through (comp (map (go)) (take 1)) (fold/into [])) coll)))))))

(deftest the-leftmost-of-two-exceptions-is-thrown
  (doseq [coll [xs (apply list xs)]
          :let [go (leftmost-and-another (fn [] (throw (ex-info "left" {:left true}))) (fn [_] (throw (ex-info "right" {}))))]]
    (is (= {:left true} (data-of #(within-deadline (fold/fold {:grain 1, :workers 2}
                                                              {:combine +, :step (fn step [_ x] (go x))} coll)))))))

(deftest step-blocked-right-of-a-reduced-does-not-block-the-fold
  (let [stuck-right (fn [] (let [come (CountDownLatch. 1)]
                             (fn [x] (if (= 0 x)
                                       (do (await-latch come) 0)
                                       (do (.countDown come) (.await (CountDownLatch. 1)))))))]
    (doseq [coll [xs (apply list xs)]]
      (is (= [0] (within-deadline (let [go (stuck-right)]
                                    (fold/fold {:grain 1, :workers 2}
                                               {:combine into, :step (fn step [acc x] (reduced (conj acc (go x))))} coll))))))
    (doseq [coll [xs (apply list xs)]]
      (is (= [0 false] (within-deadline [(fold/fold {:grain 1, :workers 2}
                                                    (fold/through (comp (map (stuck-right)) (take 1)) +) coll)
                                         (.isInterrupted (Thread/currentThread))]))))))

(deftest source-exception-counts-only-if-the-fold-reaches-it
  (doseq [grain [1 10]
          source [(fn [boom] (map boom (apply list xs)))
                  (fn [boom] (.iterator ^Iterable (map boom (apply list xs))))]
          :let [thrown (CountDownLatch. 1)
                boom (fn [x] (if (= 5 x) (do (.countDown thrown) (throw (ex-info "boom" {:boom x}))) x))
                opts {:grain grain, :workers 2}
                step (fn step [acc x] (if (= 3 x) (do (await-latch thrown) (reduced (conj acc x))) (conj acc x)))]]
    (is (= [0 1 2 3] (within-deadline (fold/fold opts {:combine into, :step step} (source boom)))))
    (is (= [0 1 2] (within-deadline (fold/fold opts
                                               (fold/through (comp (map identity) (take 3)) (fold/into [])) (source boom)))))
    (is (= {:boom 5} (data-of #(within-deadline (fold/fold opts (fold/into []) (source boom))))))))

(deftest blocked-producer-does-not-block-an-ended-fold
  (let [never (CountDownLatch. 1)
        waiting (CountDownLatch. 1)
        source (cons 9 (lazy-seq (.countDown waiting) (.await never) nil))
        step (fn step [acc x] (await-latch waiting) (reduced (conj acc x)))]
    (is (= [9] (within-deadline (fold/fold {:grain 1, :workers 2} {:combine into, :step step} source))))
    (is (not (.isInterrupted (Thread/currentThread))))))

(deftest exceptions-come-out-as-they-are
  (let [boom (Exception. "boom")
        step (fn step [acc x] (if (= x 700) (throw boom) (+ acc x)))]
    (doseq [coll [xs (map identity xs) (reducible xs) (set xs)]
            opts [{:workers 1} {:grain 10, :workers 4}]]
      (is (identical? boom (try (within-deadline (fold/fold opts {:combine +, :step step} coll)) (catch Exception e e)))))
    (is (identical? boom (try (within-deadline (fold/fold {:grain 10} + (map #(if (= % 700) (throw boom) %) xs)))
                              (catch Exception e e))))
    (is (identical? boom (try (within-deadline (fold/fold {:grain 10, :workers 2}
                                                          {:combine (fn ([] 0) ([_ _] (throw boom)))
                                                           :step (let [meet (meeting 2)] (fn step [acc x] (meet [] x) acc))}
                                                          xs))
                              (catch Exception e e))))))

(deftest an-exception-interrupts-the-others
  (let [stuck (CountDownLatch. 1)
        never (CountDownLatch. 1)
        caller (Thread/currentThread)
        step (fn step [acc x]
               (if (= caller (Thread/currentThread))
                 (do (await-latch stuck) (throw (ex-info "boom" {:boom x})))
                 (do (.countDown stuck) (.await never) acc)))]
    (is (contains? (data-of #(fold/fold {:grain 1, :workers 2} {:combine +, :step step} xs)) :boom))))

(defn- caller-right-of-helper
  "Returns a function of x. On a helper's thread it calls (helper x) once the caller waits for ever at a later x."
  [helper]
  (let [caller (Thread/currentThread)
        begun (CountDownLatch. 1)
        stuck (CountDownLatch. 1)
        at (atom nil)]
    {:stuck stuck
     :f (fn [x]
          (if (= caller (Thread/currentThread))
            (do (await-latch begun)
                (when (< (long @at) (long x)) (.countDown stuck) (.await (CountDownLatch. 1))))
            (do (compare-and-set! at nil x)
                (.countDown begun)
                (await-latch stuck)
                (helper x)))
          x)}))

(deftest an-exception-interrupts-the-caller-s-step
  (let [boom (fn [x] (throw (ex-info "boom" {:boom x})))]
    (doseq [coll [xs (apply list xs)]]
      (is (= [true false]
             (within-deadline
               [(contains? (data-of #(fold/fold {:grain 1, :workers 2}
                                                (fold/through (map (:f (caller-right-of-helper boom))) +) coll)) :boom)
                (.isInterrupted (Thread/currentThread))]))))))

(deftest interrupting-a-caller-that-is-in-a-step-cancels
  (doseq [coll [xs (apply list xs)]
          xform [identity (take 900)]
          :let [made (promise)
                outcome (promise)
                never (CountDownLatch. 1)
                caller (doto (Thread. (fn run []
                                        (let [{:keys [f stuck]} (caller-right-of-helper (fn [_] (.await never)))]
                                          (deliver made stuck)
                                          (deliver outcome
                                                   (try (fold/fold {:grain 1, :workers 2}
                                                                   (fold/through (comp (map f) xform) +) coll)
                                                        (catch InterruptedException _ [:interrupted (.isInterrupted (Thread/currentThread))])))))) .start)]]
    (await-latch @made)
    (.interrupt caller)
    (is (= [:interrupted false] (deref outcome 20000 :late)))))

(deftest interrupting-a-caller-that-waits-for-an-element-cancels
  (let [never (CountDownLatch. 1)
        waiting (CountDownLatch. 1)
        outcome (promise)
        source (lazy-seq (.countDown waiting) (.await never) nil)
        caller (doto (Thread. (fn run []
                                (deliver outcome (try (fold/fold {:grain 1, :workers 3} + source)
                                                      (catch InterruptedException _ :interrupted)))))
                 .start)]
    (await-latch waiting)
    (.interrupt caller)
    (is (= :interrupted (deref outcome 20000 :late)))))

(deftest step-that-interrupts-itself-harms-no-later-fold
  (dotimes [_ 20]
    (try (within-deadline (fold/fold {:grain 1, :workers 3}
                                     {:combine +, :step (fn step [acc x] (.interrupt (Thread/currentThread)) (+ acc x))} xs))
         (catch InterruptedException _)))
  (is (= xs (within-deadline (fold/fold {:grain 10, :workers 2} {:combine into, :step (meeting 2)} xs)))))

;; Checks RN3.
(deftest no-step-runs-when-the-fold-has-ended
  (let [running (atom 0)
        step (fn step [acc x]
               (swap! running inc)
               (try (when (= x 600) (throw (ex-info "boom" {}))) (+ acc x)
                    (finally (swap! running dec))))]
    (dotimes [_ 50]
      (try (within-deadline (fold/fold {:grain 5, :workers 4} {:combine +, :step step} xs)) (catch ExceptionInfo _))
      (is (zero? (long @running))))))

(deftest interrupting-the-caller-cancels
  (doseq [coll [(repeat 1) (reducible (repeat 1))]
          :let [started (CountDownLatch. 1)
                outcome (promise)
                step (fn step [acc _] (.countDown started) acc)
                caller (doto (Thread. (fn run []
                                        (deliver outcome
                                                 (try (fold/fold {:grain 1, :workers 2} {:combine +, :step step} coll)
                                                      (catch InterruptedException _ [:interrupted (.isInterrupted (Thread/currentThread))]))))) .start)]]
    (await-latch started)
    (.interrupt caller)
    (is (= [:interrupted false] (deref outcome 20000 :late)))))

;;;; Where it is called from

(defn- nested [^long depth coll]
  (if (zero? depth)
    (fold/fold {:grain 1, :workers 3} + coll)
    (fold/fold {:grain 1, :workers 3} {:combine +, :step (fn step [acc _] (+ acc (nested (dec depth) coll)))} coll)))

;; Checks RN4.
(deftest nested-folds-end
  (is (= (* 4 4 4 6) (within-deadline (nested 3 [0 1 2 3])))))

(deftest folds-from-many-threads-at-once-end
  (is (= (repeat 20 499500)
         (within-deadline (mapv deref (mapv (fn [_] (future (fold/fold {:grain 3, :workers 4} + xs))) (range 20)))))))

(defn- on-virtual [f]
  (let [result (promise)]
    (Thread/startVirtualThread (fn run [] (deliver result (try (f) (catch Throwable t t)))))
    (deref result 20000 :late)))

(deftest virtual-threads-fold-while-the-crew-waits-for-them
  (is (= (* 8 499500)
         (within-deadline
           (fold/fold {:grain 1, :workers 4}
                      {:combine +, :step (fn step [acc _] (+ acc (on-virtual #(fold/fold {:grain 10, :workers 4} + xs))))}
                      (range 8))))))

(deftest a-go-block-may-fold
  (is (= 499500 (within-deadline (a/<!! (a/go (fold/fold {:grain 10, :workers 2} + xs)))))))

(def ^:dynamic *offset* 0)

(deftest steps-see-the-caller's-bindings
  (binding [*offset* 1]
    (is (= 1000 (within-deadline (fold/fold {:grain 10, :workers 3}
                                            {:combine +
                                             :step (let [meet (meeting 3)] (fn step [acc x] (meet [] x) (+ acc (long *offset*))))}
                                            xs))))))

;;;; Laziness, progress, explanation

(deftest a-sequence-is-not-realized-far-ahead
  (let [realized (atom 0)
        when-met (atom [])
        meet (meeting 2)
        look (fn look [x] (when (< (count @when-met) 2) (swap! when-met conj @realized) (meet [] x)) x)
        coll (iterate (fn next-one [x] (swap! realized inc) (inc x)) 0)]
    (within-deadline (fold/fold {:grain 5, :workers 2}
                                (fold/through (map look) {:combine +
                                                          :step (fn step [acc x] (if (= x 100) (reduced acc) (+ acc x)))})
                                coll))
    (is (<= 1 (count @when-met) 3))
    (is (every? #(<= (long %) 11) @when-met) "two threads have taken a block each")
    (doseq [[opts most] {{:workers 1} 10, {:workers 2, :grain 5} 60}]
      (reset! realized 0)
      (is (= (range 1 11) (within-deadline (fold/fold opts (fold/through (comp (map inc) (take 10)) (fold/into []))
                                                      (iterate (fn next-one [x] (swap! realized inc) (inc x)) 0)))))
      (is (<= 9 (long @realized) (long most))))))

(deftest progress-goes-up-to-the-total
  (let [reports (atom [])]
    (within-deadline (fold/fold {:on-progress #(swap! reports conj %), :grain 10, :workers 3} fold/sum xs))
    (is (= {:done 1000, :total 1000, :unit :elements} (peek @reports)))
    (is (apply <= (map :done @reports)))))

(deftest progress-of-unknown-size-ends-with-the-actual-size
  (doseq [opts [{} {:grain 7, :workers 3}]
          coll [(map identity xs) (set xs) (reducible xs) (source/reading (let [left (atom xs)] #(let [x (first @left)] (swap! left next) x)))]
          :let [last-report (atom nil)]]
    (within-deadline (fold/fold (assoc opts :on-progress #(reset! last-report %)) fold/count coll))
    (is (= {:done 1000, :total nil, :unit :elements} @last-report))))

(deftest an-exception-of-the-callback-ends-the-fold
  (is (= {:stop true} (data-of #(fold/fold {:on-progress (fn [_] (throw (ex-info "stop" {:stop true})))} fold/sum xs)))))

(deftest explain-returns-the-path
  (let [path #(:path (fold/explain %1 %2 xs))]
    (is (= :serial (path {:grain 10, :workers 1} fold/sum)))
    (is (= :parallel (path {:grain 10, :workers 2} fold/sum)))
    (is (= :in-order (path {:grain 10, :workers 2} (fold/through (comp (map inc) (take 5)) fold/sum))))
    (is (= [:serial "the first transducer needs its elements in order"]
           ((juxt :path :reason) (fold/explain {:grain 10, :workers 2} (fold/through (take 5) fold/sum) xs)))))
  (let [{:keys [value pieces grain]} (fold/explain {:grain 10, :workers 2} fold/sum xs)]
    (is (= [499500 1000] [value (reduce + (map :units pieces))]))
    (is (<= 1 grain 10))))

(deftest explain-counts-threads-before-the-ordered-stage
  (let [meet (meeting 3)
        explained (within-deadline (fold/explain {:grain 10, :workers 3} (fold/through (comp (map #(do (meet [] %) %)) (drop 3)) fold/count) xs))]
    (is (= [997 :in-order 3 1] ((juxt :value :path :threads (comp count :pieces)) explained)))))

;;;; Folds as values

(defn- both
  "The value of `f` for one piece and for many."
  [f coll]
  (let [whole (fold/fold {:workers 1} f coll)
        parts (within-deadline (fold/fold {:grain 3, :workers 4} f coll))]
    (is (= whole parts))
    parts))

(deftest ready-made-folds-agree-with-clojure
  (let [words (mapv #(str "w" (mod (* 7 (long %)) 13)) xs)]
    (is (= 1000 (both fold/count xs)))
    (is (= 499500 (both fold/sum xs)))
    (is (= [0 999] (both (fold/fuse [fold/min fold/max]) xs)))
    (is (= [nil nil nil nil] (both (fold/fuse [fold/min fold/max fold/mean fold/variance]) [])))
    (is (= (frequencies words) (both fold/frequencies words)))
    (is (= (distinct words) (both fold/distinct words)))
    (is (= (group-by count words) (both (fold/group-by count (fold/into [])) words)))
    (is (= [999 998 997] (both (fold/top 3) xs)))
    (is (= [[3 3] [3 7] [3 11]] (both (fold/top 3 first) (mapv #(vector (mod (long %) 4) %) xs))))
    (is (= [100 900] (both (fold/histogram [100]) xs)))
    (is (= (into (sorted-set) words) (both (fold/into (sorted-set)) words)))
    (is (= (into '() xs) (both (fold/into '()) xs)))
    (is (= {:a 1, :b 1} (fold/fold (fold/finish #(dissoc % :c) fold/frequencies) [:a :b :c])))))

(deftest frequencies-compare-keys-as-clojure-does
  (is (= {1 2, [1] 2, nil 1} (fold/fold fold/frequencies [1 1N [1] '(1) nil]))))

(deftest moments-are-near-the-definition
  (let [[mean variance] (within-deadline (fold/fold {:grain 3, :workers 4} (fold/fuse [fold/mean fold/variance]) xs))]
    (is (< (Math/abs (- 499.5 (double mean))) 1e-9))
    (is (< (Math/abs (- 83416.66666666667 (double variance))) 1e-6))))

(deftest means-of-numbers-at-the-edge
  (let [mean #(both fold/mean %)]
    (is (= [##Inf ##Inf ##-Inf] (map mean [[##Inf 1] [1 ##Inf 2 3 4 5] [0 0 0 0 0 ##-Inf]])))
    (is (= [0.0 1e308] (map mean [[-1e308 1e308] [1e308 1e308 1e308 1e308]])))
    (is (every? NaN? (map #(fold/fold fold/mean %) [[##Inf ##-Inf] [##NaN 1] [1 ##NaN]])))
    (is (= [5.0 nil] [(mean [5]) (both fold/variance [5])]))))

(deftest quantiles-are-within-one-percent
  (let [quantiles (both (fold/quantiles [0 0.1 0.5 0.99 1]) (range -1000 10000))]
    (doseq [[p q] quantiles
            :let [exact (+ -1000 (* (double p) 10999))]]
      (is (<= (Math/abs (- (double q) exact)) (+ 1 (* 0.01 (Math/abs exact))))))))

(deftest boundary-numbers-have-their-bucket
  (let [max Double/MAX_VALUE, least Double/MIN_VALUE]
    (is (= {0 ##-Inf, 0.5 0.0, 1 ##Inf} (both (fold/quantiles [0 0.5 1]) [##Inf ##-Inf -0.0 1.0 -1.0])))
    (doseq [x [max (- max)]]
      (is (< 0.98 (/ (get (both (fold/quantiles [1]) [x]) 1) x) 1.01)))
    (is (pos? (get (both (fold/quantiles [0]) [least]) 0)))
    (is (NaN? (get (fold/fold {:grain 1 :workers 2} (fold/quantiles [0.5]) [1.0 ##NaN 2.0 3.0]) 0.5)))
    (is (= {0.5 nil} (both (fold/quantiles [0.5]) [])))
    (is (= [0 2 1] (both (fold/histogram [0 10]) [-0.0 0 ##Inf]) (both (fold/histogram [-0.0 10]) [-0.0 0 ##Inf])))
    (is (= [1 1 1] (both (fold/histogram [-5 10]) [##-Inf 0 ##NaN])))))

(deftest parts-of-a-fold-stop-on-their-own
  (let [first-over (fn [n] {:combine (fn ([] nil) ([a b] (or a b))), :step (fn step [_ x] (when (< n x) (reduced x)))})]
    (is (= {:over-10 11, :over-500 501, :n 1000}
           (both (fold/fuse {:over-10 (first-over 10), :over-500 (first-over 500), :n fold/count}) xs)))
    (is (= [11 501] (both (fold/fuse [(first-over 10) (first-over 500)]) xs)))
    (is (= {true 12, false 11} (both (fold/group-by even? (first-over 10)) xs)))))

(deftest parts-that-need-order-get-it
  (is (= {:first [0 1 2], :pairs 500}
         (both (fold/fuse {:first (fold/through (take 3) (fold/into []))
                           :pairs (fold/through (partition-all 2) fold/count)}) xs)))
  (is (= {true [0 2 4], false [1 3 5]}
         (both (fold/group-by even? (fold/through (take 3) (fold/into []))) xs))))

(deftest partial-values-are-data
  (let [parts (atom [])
        watched (fn [f] (update f :combine (fn [combine] (fn [l r] (swap! parts conj l r) (combine l r)))))]
    (within-deadline
      (fold/fold {:grain 3, :workers 4}
                 (watched (fold/group-by even? (fold/fuse {:f fold/frequencies, :top (fold/top 2), :into (fold/into [])}))) xs))
    (is (every? map? @parts))
    (is (= @parts (read-string (pr-str @parts))))))

(deftest a-fold-knows-the-call-that-made-it
  (let [made #(:call (:skein.fold/made (meta %)))
        f (fold/top 3)]
    (is (= `[fold/top 3 ~identity] (made f)))
    (is (= `[fold/through nil ~f] (made (fold/through nil f))))
    (is (= f (:fold (:skein.fold/made (meta f)))))
    (is (not= (assoc f :complete str) (:fold (:skein.fold/made (meta (assoc f :complete str))))))))

(deftest a-remote-source-gets-the-fold
  (let [there (reify
                source/Source (-source [this] this)
                kinds/Remote
                (-fold [_ opts f] [opts (some? (:xform f)) ((:combine f) 1 2)])
                (-explain [this opts f] {:value (kinds/-fold this opts f), :path :far}))]
    (is (= [nil true 3] (fold/fold (fold/through (map inc) +) there)))
    (is (= [nil false 3] (fold/fold + there)))
    (is (= [nil true 3] (fold/fold + (eduction (map inc) there))))
    (is (= [{:its-own 1} false 3] (fold/fold {:its-own 1} fold/sum there)))
    (is (= "[nil false 3]" (fold/fold (fold/finish str fold/sum) there)))
    (is (= {:value "[{:its-own 1} true 3]", :path :far}
           (fold/explain {:its-own 1} (fold/finish str fold/sum) (eduction (map inc) there))))))
