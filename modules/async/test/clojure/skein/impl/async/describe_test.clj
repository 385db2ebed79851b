;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.describe-test
  "Channels and blocks as data and as text."
  (:require
   [clojure.datafy :as datafy]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]]
   [skein.upstream :refer [both=]]))

(set! *warn-on-reflection* true)

(deftest channels-datafy-as-in-core-async
  (let [theirs-only (fn [m] (select-keys m [:put-count :take-count :closed? :buffer]))]
    (both= '[{:put-count 2 :take-count 0 :closed? false}
             {:put-count 0 :take-count 1 :closed? false}
             {:put-count 1 :take-count 0 :closed? true :buffer {:type FixedBuffer :count 1 :capacity 1}}
             {:type DroppingBuffer :count 2 :capacity 2}
             {:type SlidingBuffer :count 0 :capacity 3}
             {:type PromiseBuffer :count 0 :capacity 1}
             {:type FixedBuffer :count 1 :capacity 1}
             {:type FixedBuffer :count 0 :capacity 3}
             {:type DroppingBuffer :count 0 :capacity 2}]
           [(theirs-only (datafy/datafy (doto (a/chan) (a/put! 1) (a/put! 2))))
            (theirs-only (datafy/datafy (doto (a/chan) (a/take! identity))))
            (theirs-only (datafy/datafy (doto (a/chan 1) (a/put! 1) (a/put! 2) a/close!)))
            (:buffer (datafy/datafy (doto (a/chan (a/dropping-buffer 2)) (a/put! 1) (a/put! 2) (a/put! 3))))
            (:buffer (datafy/datafy (a/chan (a/sliding-buffer 3))))
            (:buffer (datafy/datafy (a/promise-chan)))
            (let [result (a/go 1)]
              (within-deadline (while (not (:closed? (datafy/datafy result)))))
              (:buffer (datafy/datafy result))) ; read again: the parts of one map are not from one moment
            (datafy/datafy (a/buffer 3))
            (datafy/datafy (a/dropping-buffer 2))])
    (both= true (let [c (a/chan)] (identical? c (::datafy/obj (meta (datafy/datafy c))))))))

(defn- when-parked
  "The data of the channel `c` once something waits there."
  [c]
  (within-deadline
    (loop []
      (let [{:keys [take-count put-count] :as data} (datafy/datafy c)]
        (if (pos? (+ (long take-count) (long put-count))) data (recur))))))

(deftest channels-show-the-blocks-that-wait
  (let [c (a/chan) d (a/chan)]
    (a/go (a/<! c))
    (a/go (a/>! d :v))
    (let [{[taker] :takers} (when-parked c)
          {[putter] :putters} (when-parked d)]
      (is (= ["(a/<! c)" "(a/>! d :v)"] (map :form [taker putter])))
      (is (every? pos-int? (map :line [taker putter])))
      (testing "and lead to them"
        (is (= taker (datafy/datafy (::datafy/obj (meta taker)))))))))

(deftest a-timeout-shows-what-remains
  (is (< 50000 (long (:remaining-ms (datafy/datafy (a/timeout 60000)))) 60001)))

(defn- printed [c]
  (re-find #"[^ ]+( .*)? (?=[0-9a-f]+>)" (pr-str c)))

(deftest channels-print-briefly
  (is (= ["#<chan " "#<chan 1/3 " "#<chan puts 2 " "#<chan 1/1 puts 1 closed " "#<chan takes 1 " "#<timeout "
          "#<result closed " "#<result failed "]
         (map (comp first printed)
              [(a/chan)
               (doto (a/chan 3) (a/put! 1))
               (doto (a/chan) (a/put! 1) (a/put! 2))
               (doto (a/chan 1) (a/put! 1) (a/put! 2) a/close!)
               (doto (a/chan) (a/take! identity))
               (a/timeout 60000)
               (a/async nil)
               (a/async (throw (ex-info "no" {})))])))
  (testing "and lose nothing by it"
    (let [c (doto (a/chan 1) (a/put! :v))]
      (pr-str c)
      (is (= :v (a/poll! c))))))
