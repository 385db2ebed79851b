;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.parallel-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.parallel :refer [parallel-map]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.scope :as s])
  (:import
   (java.util.concurrent CountDownLatch)))

(set! *warn-on-reflection* true)

(def ^:private boom (ex-info "boom" {}))

(defn- all [port]
  (await-port (a/into [] port)))

(defn- thrown-by [f]
  (try (f) (catch Throwable t t)))

(def ^:private maps-like-keep
  (prop/for-all [values (gen/vector gen/small-integer)
                 n (gen/choose 1 6)
                 ordered? gen/boolean]
    (let [f (fn [v] (when-not (zero? (rem (long v) 3))
                      (when (even? (long v)) (a/<!! (a/timeout 1)))
                      (* 2 (long v))))
          got (all (parallel-map {:n n :ordered? ordered?} f (a/to-chan! values)))
          expected (keep f values)]
      (if ordered? (= expected got) (= (frequencies expected) (frequencies got))))))

(deftest results-are-those-of-the-function
  (is (:pass? (check/quick-check 100 maps-like-keep))))

(defn- watched
  "Returns a function that notes in the atom how many calls are under way, and the largest number so far."
  [state]
  (fn [v]
    (swap! state (fn [{:keys [now most]}] {:now (inc now) :most (max most (inc now))}))
    (a/<!! (a/timeout 1))
    (swap! state update :now dec)
    v))

(deftest no-more-than-n-are-under-way
  (doseq [n [1 3], ordered? [true false]]
    (let [state (atom {:now 0 :most 0})
          got (all (parallel-map {:n n :ordered? ordered?} (watched state) (a/to-chan! (range 60))))]
      (is (= (range 60) (sort got)))
      (is (= {:now 0 :most n} @state) "as many as allowed, and no more"))))

(deftest a-cancelled-call-is-no-error
  (doseq [ordered? [true false]]
    (let [told (atom []), begun (CountDownLatch. 2)
          on-error (fn [thrown _] (swap! told conj thrown))]
      (within-deadline
        (s/scope [sc]
          (s/in-scope sc (parallel-map {:n 2 :ordered? ordered? :on-error on-error}
                                       (fn [_] (.countDown begun) (a/<!! (a/chan)))
                                       (a/to-chan! [1 2 3])))
          (.await begun)
          (s/cancel! sc)))
      (is (= [] @told)))))

(deftest n-may-be-any-number
  (doseq [n [1000000 Integer/MAX_VALUE Long/MAX_VALUE], ordered? [true false]]
    (is (= (range 1 101) (sort (all (parallel-map {:n n :ordered? ordered?} inc (a/to-chan! (range 100)))))))))

(deftest no-value-is-taken-before-its-call-can-start
  (doseq [ordered? [true false]]
    (let [in (a/chan)
          hold (a/chan)
          out (parallel-map {:n 2 :ordered? ordered?} (fn [v] (a/<!! hold) v) in)]
      (a/>!! in 1)
      (a/>!! in 2)
      (is (nil? (a/offer! in 3)))
      (a/close! hold)
      (is (= #{1 2} (within-deadline (set [(a/<!! out) (a/<!! out)]))))
      (within-deadline (while (nil? (a/offer! in 3)) (Thread/onSpinWait)))
      (a/close! in)
      (is (= [3] (all out))))))

(deftest calls-run-at-the-same-time
  (let [together (CountDownLatch. 4)]
    (is (= (range 4) (all (parallel-map 4 (fn [v] (.countDown together) (.await together) v)
                                        (a/to-chan! (range 4))))))))

(deftest unordered-results-come-as-calls-end
  (let [hold (a/chan)
        out (parallel-map {:n 2 :ordered? false} (fn [v] (when (= :slow v) (a/<!! hold)) v) (a/to-chan! [:slow :a :b]))]
    (is (= [:a :b] (within-deadline [(a/<!! out) (a/<!! out)])))
    (a/close! hold)
    (is (= [:slow] (all out)))))

(defn- fails-on [bad]
  (fn [v] (if (= bad v) (throw boom) v)))

(deftest an-exception-stops-the-work
  (let [in (a/chan)
        out (parallel-map 1 (fails-on 2) in)]
    (a/>!! in 1)
    (is (= 1 (await-port out)))
    (a/>!! in 2)
    (is (identical? boom (within-deadline (thrown-by #(a/<?? out)))))
    (is (nil? (a/offer! in 3))))
  (testing "after the results that come before, when ordered"
    (let [out (parallel-map 4 (fails-on 2) (a/to-chan! (range 10)))]
      (is (= [0 1 boom] (within-deadline [(a/<?? out) (a/<?? out) (thrown-by #(a/<?? out))])))))
  (testing "also when not ordered"
    (let [out (parallel-map {:n 2 :ordered? false} (fails-on 2) (a/to-chan! [2]))]
      (is (identical? boom (within-deadline (thrown-by #(a/<?? out))))))))

(deftest an-exception-may-be-skipped-or-replaced
  (is (= [0 1 3] (all (parallel-map {:n 2 :on-error :skip} (fails-on 2) (a/to-chan! (range 4))))))
  (is (= [0 1 [boom 2] 3] (all (parallel-map {:n 2 :on-error vector} (fails-on 2) (a/to-chan! (range 4))))))
  (testing "a handler that throws stops the work"
    (let [other (ex-info "other" {})
          out (parallel-map {:n 2 :on-error (fn [_ _] (throw other))} (fails-on 0) (a/to-chan! [0]))]
      (is (identical? other (within-deadline (thrown-by #(a/<?? out))))))))

(deftest the-output-closes-as-the-input-did
  (doseq [ordered? [true false]]
    (let [in (doto (a/chan 1) (a/put! 1) (a/close-with! boom))
          out (parallel-map {:n 3 :ordered? ordered?} inc in)]
      (is (= [2 boom] (within-deadline [(a/<?? out) (thrown-by #(a/<?? out))]))))))

(deftest no-value-is-taken-after-the-output-closes
  (doseq [ordered? [true false]]
    (let [in (a/chan)
          out (parallel-map {:n 1 :ordered? ordered?} identity in)]
      (a/close! out)
      (a/>!! in 1)
      (within-deadline (while (pos? (.takerCount ^skein.rt.Channel in)) (Thread/onSpinWait)))
      (is (nil? (a/offer! in 2))))))

(deftest bad-arguments-are-refused
  (is (= [:skein/bad-number :skein/bad-number :skein/not-a-function :skein/not-a-port :skein/bad-policy :skein/bad-option]
         (mapv (fn [f] (:skein/error (ex-data (thrown-by f))))
               [#(parallel-map 0 inc (a/chan)) #(parallel-map nil inc (a/chan)) #(parallel-map 1 1 (a/chan))
                #(parallel-map 1 inc [1 2]) #(parallel-map {:n 1 :on-error :hope} inc (a/chan))
                #(parallel-map {:n 1 :other 1} inc (a/chan))]))))

(deftest the-reader-ends-with-the-work
  ;; If it waited for a permit that never comes back, the scope would wait for the reader.
  (doseq [ordered? [true false], _ (range 50)]
    (let [call #(if (= 3 %) (throw boom) %)]
      (is (identical? boom
                      (within-deadline
                        (thrown-by #(s/scope [sc]
                                      (s/in-scope sc
                                        (a/<?? (a/into [] (parallel-map {:n 2 :ordered? ordered?} call (a/to-chan! (range 100))))))))))))))
