;; SPDX-License-Identifier: Apache-2.0
(ns skein.fold.virtual-test
  "Folds that virtual threads call: they hold no carrier."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.fold :as fold])
  (:import
   (clojure.lang IReduceInit)
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(def ^:private xs (vec (range 1000)))
(def ^:private processors (.availableProcessors (Runtime/getRuntime)))

(defn- on-virtual
  "Returns a promise of the value of `f`, called on a virtual thread, or of what it throws."
  [f]
  (let [p (promise)]
    (Thread/startVirtualThread (bound-fn [] (deliver p (try (f) (catch Throwable t t)))))
    p))

(defn- in-go [f]
  (let [p (promise)]
    (a/go (deliver p (try (f) (catch Throwable t t))))
    p))

(defn- reducible [coll]
  (reify IReduceInit (reduce [_ f init] (reduce f init coll))))

(defn- fold-until
  "Folds the elements of `coll`, which has no end, until `ended?` is true; (begun) is called first."
  [opts xform coll begun ended?]
  (let [begin (delay (begun))]
    (fold/fold opts
               (fold/through xform {:combine (fn ([] :none) ([_ b] b))
                                    :step (fn step [_ _] @begin (if @ended? (reduced :ended) :none))}) coll)))

(def ^:private endless
  "What folds do for ever: options, xform, elements."
  {:parallel [nil (map identity) (range)]
   :a-span [nil (map identity) (range Long/MAX_VALUE)]
   :in-order [nil (comp (map identity) (dedupe)) (range Long/MAX_VALUE)]
   :in-order-from-the-first [nil (dedupe) (range Long/MAX_VALUE)]
   :a-sequence-in-order [nil (dedupe) (iterate inc 0)]
   :alone [{:workers 1} (map identity) (range Long/MAX_VALUE)]
   :a-sequence-alone [{:workers 1} (map identity) (iterate inc 0)]
   :pushed [nil (map identity) (reducible (range))]
   :pushed-in-order [nil (dedupe) (reducible (range))]})

(deftest other-virtual-threads-run-while-folds-do
  (doseq [[start how] [[on-virtual "virtual threads"] [in-go "go blocks"]]
          [kind [opts xform coll]] endless]
    (testing (str kind " in " how)
      (let [n (* 2 processors)
            begun (CountDownLatch. n)
            ended? (atom false)
            folds (doall (repeatedly n (fn [] (start #(fold-until opts xform coll (fn [] (.countDown begun)) ended?)))))]
        (is (true? (within-deadline (.await begun) @(on-virtual #(reset! ended? true)))))
        (reset! ended? true)
        (is (= (repeat n :ended) (within-deadline (mapv deref folds))))))))

(deftest many-folds-leave-room-for-others
  (doseq [[start how n] [[on-virtual "virtual threads, many more than carriers" (* 12 processors)]
                         [in-go "go blocks" (* 12 processors)]]]
    (testing how
      (let [begun (CountDownLatch. n)
            ended? (atom false)
            folds (doall (repeatedly n (fn [] (start #(fold-until nil (map identity) (range) (fn [] (.countDown begun)) ended?)))))]
        (is (true? (within-deadline (.await begun) @(start #(reset! ended? true)))))
        (reset! ended? true)
        (is (= (repeat n :ended) (within-deadline (mapv deref folds))))))))

(deftest the-caller-s-part-stays-on-its-virtual-thread
  (doseq [coll [xs (map identity xs)]
          :let [threads (fn [opts xform]
                          (within-deadline
                            @(on-virtual #(let [caller (Thread/currentThread)]
                                            (disj (fold/fold (assoc opts :grain 10)
                                                             (fold/through xform {:combine (fn ([] #{}) ([a b] (into a b)))
                                                                                  :step (fn step [acc _] (conj acc (Thread/currentThread)))})
                                                             coll)
                                                  caller)))))
                virtual (fn [threads] (filter #(.isVirtual ^Thread %) threads))]]
    (is (= #{} (threads {} (dedupe)) (threads {:workers 1} (map identity))))
    (is (= [] (virtual (threads {} (map identity))) (virtual (threads {} (comp (map identity) (dedupe))))))))

(def ^:dynamic *offset* 0)

(deftest steps-see-the-caller's-bindings-there
  (is (= 2000 (within-deadline
                @(on-virtual #(binding [*offset* 2]
                                (fold/fold {:grain 10}
                                           (fold/through (dedupe) {:combine +
                                                                   :step (fn step [acc _] (+ acc (long *offset*)))}) xs)))))))

(deftest exceptions-of-helpers-reach-the-caller
  (let [thrown (ex-info "no more" {})]
    (is (identical? thrown (within-deadline
                             @(on-virtual #(fold/fold {:grain 10}
                                                      {:combine +
                                                       :step (fn step [acc x] (if (= x 500) (throw thrown) (+ acc x)))}
                                                      xs)))))))

(defn- interrupted-in
  "Folds on a virtual thread, which is interrupted while `step` is called with 500; returns [value-or-exception interrupted?]."
  [step]
  (let [here (promise)
        result (promise)
        thread (Thread/startVirtualThread
                 (fn []
                   (let [value (try (fold/fold {:grain 1}
                                               (fold/through (dedupe) {:combine +
                                                                       :step (fn [acc x] (when (= x 500) (step here)) (+ acc x))})
                                               xs)
                                    (catch Throwable t t))]
                     (deliver result [value (.isInterrupted (Thread/currentThread))]))))]
    (within-deadline
      (is (= :ready (deref here 20000 :late)))
      (.interrupt thread)
      (deref result 20000 :late))))

(deftest interrupting-the-virtual-thread-ends-the-fold
  (let [[thrown interrupted?] (interrupted-in (fn wait [here] (deliver here :ready) @(promise)))]
    (is (instance? InterruptedException thrown))
    (is (false? interrupted?))))

(deftest an-interrupt-is-over-once-a-step-has-answered
  (is (= [499500 false]
         (interrupted-in (fn wait [here]
                           (deliver here :ready)
                           (try @(promise) (catch InterruptedException _)))))))

(deftest an-unnoticed-interrupt-is-kept
  (let [step (fn [acc x] (when (= x 999) (.interrupt (Thread/currentThread))) (+ acc x))
        folded (on-virtual #(vector (fold/fold {:grain 1} (fold/through (dedupe) {:combine +, :step step}) xs)
                                    (Thread/interrupted)))]
    (is (= [499500 true] (within-deadline @folded)))))

(deftest virtual-threads-fold-within-folds-of-virtual-threads
  (is (= (* 50 499500)
         (within-deadline
           @(on-virtual #(fold/fold {:grain 1, :workers 4}
                                    {:combine +
                                     :step (fn step [acc _] (+ acc @(on-virtual (fn [] (fold/fold {:grain 10, :workers 4} + xs)))))}
                                    (range 50)))))))
