;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.pub-test
  "pub, sub, unsub."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.impl.async.hubs :as hubs]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin]]))

(set! *warn-on-reflection* true)

(deftwin values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(deftest values-go-to-the-subscribers-of-their-topic
  (both= [[1 3] [1 3] [2] true]
         (let [source (a/chan) p (a/pub source odd?)
               [odds more-odds evens] (repeatedly 3 #(a/chan 5))]
           (a/sub p true odds)
           (a/sub p true more-odds)
           (a/sub p false evens)
           (run! #(a/>!! source %) [1 2 3])
           (a/close! source)
           [(values-of odds) (values-of more-odds) (values-of evens) (identical? source (hubs/muxch* p))])))

(deftest a-topic-may-be-nil-or-unwanted
  (both= [[{:n 1}] [{:t :b}]]
         (let [source (a/chan) p (a/pub source :t) none (a/chan 5) b (a/chan 5)]
           (a/sub p nil none)
           (a/sub p :b b)
           (run! #(a/>!! source %) [{:n 1} {:t :unwanted} {:t :b}])
           (a/close! source)
           [(values-of none) (values-of b)])))

(deftest each-topic-has-the-buffer-that-was-asked-for
  (both= [[1 3 5] [:even-asked :odd-asked]]
         (let [source (a/chan) asked (atom #{})
               p (a/pub source odd? (fn [odd] (swap! asked conj (if odd :odd-asked :even-asked)) 10))
               stuck (a/chan) odds (a/chan 10)]
           (a/sub p false stuck)
           (a/sub p true odds)
           (run! #(a/>!! source %) [1 2 3 4 5]) ; 2 and 4 wait for nobody but their topic
           (a/close! source)
           [(values-of odds) (vec (sort @asked))])))

(deftest a-slow-topic-delays-the-others
  (let [source (a/chan 10) p (a/pub source odd?) stuck (a/chan) odds (a/chan 10)]
    (a/sub p false stuck)
    (a/sub p true odds)
    (run! #(a/>!! source %) [1 2 4 6 3])
    (is (= 1 (await-port odds)))
    (is (nil? (a/poll! odds)))
    (is (= [2 4 6] (repeatedly 3 #(await-port stuck))))
    (is (= 3 (await-port odds)))))

(deftest subscription-closes-with-the-source-by-default
  (both= [nil nil true]
         (let [source (a/chan) p (a/pub source identity) c (a/chan 1) d (a/chan 1) e (a/chan 1)]
           (a/sub p 1 c)
           (a/sub p 2 d true)
           (a/sub p 1 e false)
           (a/close! source)
           [(a/<!! c) (a/<!! d) (a/>!! e :open)])))

(deftest subscriptions-end
  (both= [[1 1] :open :open]
         (let [source (a/chan) p (a/pub source identity) c (a/chan 5) d (a/chan 5) all (a/chan 5)]
           (run! #(a/sub p 1 %) [c d])
           (run! #(a/sub p % all) [1 2])
           (a/>!! source 1)
           (let [got (mapv a/<!! [c d])]
             (a/<!! all)
             (a/unsub p 1 c)
             (a/unsub p :unknown c)
             (a/unsub-all p 1)
             (a/>!! source 1)
             (a/>!! source 2)
             (let [two (a/<!! all)]
               (a/unsub-all p)
               (a/>!! source 2)
               (a/close! source)
               [got
                (if (and (= 2 two) (a/>!! all :x)) :open :closed)
                (if (a/>!! c :x) :open :closed)])))))

(deftest a-subscriber-may-come-late-and-go
  (let [source (a/chan) p (a/pub source identity) c (a/chan 1)]
    (within-deadline (a/>!! source 1))
    (a/sub p 1 c)
    (a/>!! source 1)
    (is (= 1 (await-port c)))
    (a/close! c)
    (is (= [true true true] (within-deadline (mapv #(a/>!! source %) [1 1 1]))))))

(deftest a-late-subscription-closes
  (let [source (a/chan) p (a/pub source identity), before (a/sub p 1 (a/chan 1))]
    (a/close! source)
    (is (nil? (await-port before)))
    (is (nil? (await-port (a/sub p 1 (a/chan)))) "to a topic that was there")
    (is (nil? (await-port (a/sub p 2 (a/chan)))) "to a new topic")))

(deftest subscribers-close-if-the-topic-function-throws
  (let [boom (ex-info "boom" {})
        [v] (await-uncaught #(identical? boom %)
                            #(let [source (a/chan 1) c (a/chan)
                                   p (a/pub source (fn [v] (if (= v :bad) (throw boom) v)))]
                               (a/sub p 1 c)
                               (a/>!! source :bad)
                               (await-port c)))]
    (is (nil? v))))
