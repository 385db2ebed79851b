;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.pmap-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.scope :as s]
   [skein.uncaught :refer [await-uncaught]])
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
          got (all (st/pmap {:n n :ordered? ordered?} f (a/to-chan! values)))
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
          got (all (st/pmap {:n n :ordered? ordered?} (watched state) (a/to-chan! (range 60))))]
      (is (= (range 60) (sort got)))
      (is (= {:now 0 :most n} @state) "as many as allowed, and no more"))))

(deftest a-cancelled-call-is-no-error
  (doseq [ordered? [true false]]
    (let [told (atom []), begun (CountDownLatch. 2)
          on-error (fn [thrown _] (swap! told conj thrown))]
      (within-deadline
        (s/scope [sc]
          (s/in-scope sc (st/pmap {:n 2 :ordered? ordered? :on-error on-error}
                           (fn [_] (.countDown begun) (a/<!! (a/chan)))
                           (a/to-chan! [1 2 3])))
          (.await begun)
          (s/cancel! sc)))
      (is (= [] @told)))))

(deftest n-may-be-any-number
  (doseq [n [1000000 Integer/MAX_VALUE Long/MAX_VALUE], ordered? [true false]]
    (is (= (range 1 101) (sort (all (st/pmap {:n n :ordered? ordered?} inc (a/to-chan! (range 100)))))))))

(deftest no-value-is-taken-before-its-call-can-start
  (doseq [ordered? [true false]]
    (let [in (a/chan)
          hold (a/chan)
          out (st/pmap {:n 2 :ordered? ordered?} (fn [v] (a/<!! hold) v) in)]
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
    (is (= (range 4) (all (st/pmap 4 (fn [v] (.countDown together) (.await together) v)
                            (a/to-chan! (range 4))))))))

(deftest unordered-results-come-as-calls-end
  (let [hold (a/chan)
        out (st/pmap {:n 2 :ordered? false} (fn [v] (when (= :slow v) (a/<!! hold)) v) (a/to-chan! [:slow :a :b]))]
    (is (= [:a :b] (within-deadline [(a/<!! out) (a/<!! out)])))
    (a/close! hold)
    (is (= [:slow] (all out)))))

(defn- fails-on [bad]
  (fn [v] (if (= bad v) (throw boom) v)))

(deftest an-exception-stops-the-work
  (let [in (a/chan)
        out (st/pmap 1 (fails-on 2) in)]
    (a/>!! in 1)
    (is (= 1 (await-port out)))
    (a/>!! in 2)
    (is (identical? boom (within-deadline (thrown-by #(a/<?? out)))))
    (is (nil? (a/offer! in 3))))
  (testing "after the results that come before, when ordered"
    (let [out (st/pmap 4 (fails-on 2) (a/to-chan! (range 10)))]
      (is (= [0 1 boom] (within-deadline [(a/<?? out) (a/<?? out) (thrown-by #(a/<?? out))])))))
  (testing "also when not ordered"
    (let [out (st/pmap {:n 2 :ordered? false} (fails-on 2) (a/to-chan! [2]))]
      (is (identical? boom (within-deadline (thrown-by #(a/<?? out))))))))

(deftest an-exception-may-be-a-result
  (is (= [0 1 3] (all (st/pmap {:n 2 :on-error (constantly nil)} (fails-on 2) (a/to-chan! (range 4))))))
  (is (= [0 1 [boom 2] 3] (all (st/pmap {:n 2 :on-error vector} (fails-on 2) (a/to-chan! (range 4))))))
  (is (= [{:value 0} {:value 1} {:error boom} {:value nil}]
         (all (st/pmap {:n 2 :on-error :collect} (comp #(when (not= 3 %) %) (fails-on 2)) (a/to-chan! (range 4))))))
  (is (identical? boom (second (await-uncaught #{boom} #(is (= [0 1 3] (all (st/pmap {:n 2 :on-error :report} (fails-on 2) (a/to-chan! (range 4))))))))))
  (testing "a handler that throws stops the work"
    (let [other (ex-info "other" {})
          out (st/pmap {:n 2 :on-error (fn [_ _] (throw other))} (fails-on 0) (a/to-chan! [0]))]
      (is (identical? other (within-deadline (thrown-by #(a/<?? out))))))))

(deftest the-output-closes-as-the-input-did
  (doseq [ordered? [true false]]
    (let [in (doto (a/chan 1) (a/put! 1) (a/close-with! boom))
          out (st/pmap {:n 3 :ordered? ordered?} inc in)]
      (is (= [2 boom] (within-deadline [(a/<?? out) (thrown-by #(a/<?? out))]))))))

(deftest no-value-is-taken-after-the-output-closes
  (doseq [ordered? [true false]]
    (let [in (a/chan)
          out (st/pmap {:n 1 :ordered? ordered?} identity in)]
      (a/close! out)
      (a/>!! in 1)
      (within-deadline (while (pos? (.takerCount ^skein.rt.Channel in)) (Thread/onSpinWait)))
      (is (nil? (a/offer! in 2))))))

(deftest a-slow-call-does-not-stop-the-others
  (let [hold (a/chan)
        state (atom 0)
        out (st/pmap {:n 2 :ahead 5} (fn [v] (if (zero? (long v)) (a/<!! hold) (swap! state inc)) v) (a/to-chan! (range 10)))]
    (within-deadline (while (< (long @state) 4) (Thread/onSpinWait)))
    (is (= 4 @state) "five values are held")
    (a/close! hold)
    (is (= (range 10) (all out)))))

(deftest calls-are-cancelled-when-the-work-ends-early
  (doseq [early [:throw :closed]]
    (let [in (a/chan), begun (CountDownLatch. 1), cancelled (promise)
          out (st/pmap {:n 2 :ordered? false}
                       (fn [v]
                         (case v
                           :wait (try (.countDown begun) (a/<!! (a/chan)) (catch Throwable t (deliver cancelled t) (throw t)))
                           :throw (throw boom)
                           :closed v))
                       in)]
      (a/>!! in :wait)
      (within-deadline (.await begun))
      (when (= :closed early) (a/close! out))
      (a/>!! in early)
      (is (instance? Throwable (deref cancelled 60000 nil)) early)
      (is (identical? (when (= :throw early) boom) (within-deadline (thrown-by #(a/<?? out))))))))

(deftest bad-arguments-are-refused
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
         (mapv (fn [f] (:skein/error (ex-data (thrown-by f))))
               [#(st/pmap 0 inc (a/chan)) #(st/pmap nil inc (a/chan)) #(st/pmap 1 1 (a/chan))
                #(st/pmap 1 inc [1 2]) #(st/pmap {:n 1 :on-error :hope} inc (a/chan))
                #(st/pmap {:n 1 :other 1} inc (a/chan))]))))

(deftest the-reader-ends-with-the-work
  ;; If it waited for a permit that never comes back, the scope would wait for the reader.
  (doseq [ordered? [true false], _ (range 50)]
    (let [call #(if (= 3 %) (throw boom) %)]
      (is (identical? boom
                      (within-deadline
                        (thrown-by #(s/scope [sc]
                                      (s/in-scope sc
                                        (a/<?? (a/into [] (st/pmap {:n 2 :ordered? ordered?} call (a/to-chan! (range 100))))))))))))))
