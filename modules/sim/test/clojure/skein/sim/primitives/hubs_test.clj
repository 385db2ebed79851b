;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.primitives.hubs-test
  "mult, mix and pub, under many schedules."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! >!! chan close! go go-loop]]
   [skein.sim :as sim]))

(set! *warn-on-reflection* true)

(def ^:private o {:schedules 100 :max-steps 5000})

(defn- prefix? [part all]
  (= part (take (count part) all)))

(defn- suffix? [part all]
  (= part (drop (- (count all) (count part)) all)))

;;;; mult

(deftest each-tap-gets-all-in-order-and-closes
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan 1)]
      (a/tap m c)
      (a/tap m d)
      (a/onto-chan! in [1 2 3])
      (is (= [[1 2 3] [1 2 3]] (mapv <!! [(a/into [] c) (a/into [] d)]))))))

(deftest taps-one-after-the-other-miss-nothing
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan)]
      (a/tap m c)
      (a/onto-chan! in [1 2])
      (sim/yield)
      (a/tap m d)
      (is (= [[1 2] [1 2]] (mapv <!! [(a/into [] c) (a/into [] d)]))))))

(deftest before-the-first-tap-values-are-dropped
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan)]
      (>!! in 0)
      (>!! in 0)
      (sim/settle)
      (a/tap m c)
      (a/onto-chan! in [1 2])
      (is (= [1 2] (<!! (a/into [] c)))))))

(deftest the-first-value-goes-to-the-taps-of-that-moment
  (sim/check {:schedules 100 :max-steps 5000 :leaks :none}
    (let [in (chan), m (a/mult in), c (chan), d (chan), e (chan)]
      (a/tap m c)
      (a/put! in 1)
      (sim/settle)
      (a/tap m d)
      (sim/settle)
      (a/untap m c)
      (sim/settle)
      (is (nil? (a/poll! c)))
      (a/tap m e)
      (is (= 1 (<!! d)))
      (is (= 1 (<!! e))))))

(deftest a-new-tap-may-accept-the-first-value
  (sim/check {:schedules 100 :leaks :none}
    (let [in (chan), m (a/mult in), c (chan), d (chan)]
      (a/tap m c)
      (a/put! in 1)
      (sim/settle)
      (a/tap m d)
      (is (= 1 (<!! d))))))

(deftest a-late-tap-gets-the-rest
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan)]
      (a/tap m c)
      (a/onto-chan! in [1 2 3])
      (go (a/tap m d))
      (let [all (a/into [] c), rest (a/into [] d)]
        (is (= [1 2 3] (<!! all)))
        (sim/settle)
        (is (suffix? (or (a/poll! rest) []) [1 2 3]))))))

(deftest an-untapped-channel-gets-no-more
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan 10), all (a/into [] c)]
      (a/tap m c)
      (a/tap m d)
      (>!! in 1)
      (>!! in 2)
      (sim/settle)
      (a/untap m d)
      (a/onto-chan! in [3 4])
      (is (= [1 2 3 4] (<!! all)))
      (close! d)
      (is (= [1 2] (<!! (a/into [] d)))))))

(deftest a-tap-can-go-at-any-time
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan 10)]
      (a/tap m c)
      (a/tap m d)
      (a/onto-chan! in [1 2 3 4])
      (go (a/untap m d))
      (is (= [1 2 3 4] (<!! (a/into [] c))))
      (close! d)
      (is (prefix? (<!! (a/into [] d)) [1 2 3 4])))))

(deftest a-closed-tap-is-removed
  (sim/check {:schedules 100 :max-steps 5000 :leaks :all}
    (let [in (chan), m (a/mult in), c (chan), d (chan)]
      (a/tap m c)
      (a/tap m d)
      (a/onto-chan! in [1 2 3])
      (go (<! d) (close! d) (<! d)) ; a put that waited already goes through
      (is (= [1 2 3] (<!! (a/into [] c)))))))

(deftest the-first-tap-may-be-closed
  (sim/check {:schedules 100 :max-steps 5000 :leaks :all}
    (let [in (chan), m (a/mult in), c (chan), d (chan)]
      (a/tap m c)
      (a/tap m d)
      (close! c)
      (a/onto-chan! in [1 2])
      (is (= [1 2] (<!! (a/into [] d)))))))

(deftest the-slowest-tap-decides
  (sim/check o
    (let [in (chan), m (a/mult in), got [(atom 0) (atom 0)]
          consume (fn [n] (let [c (chan)]
                            (a/tap m c)
                            (go-loop [] (when (<! c) (swap! n inc) (recur)))))
          [p q] (mapv consume got)]
      (sim/always #(<= -2 (- (long @(got 0)) (long @(got 1))) 2) "a tap is far ahead")
      (a/onto-chan! in (range 6))
      (<!! p)
      (<!! q)
      (is (= [6 6] (map deref got))))))

(deftest outputs-stay-open-on-request
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan), d (chan 5)]
      (a/tap m c)
      (a/tap m d)
      (a/tap m d false)
      (a/onto-chan! in [1 2])
      (is (= [1 2] (<!! (a/into [] c))))
      (sim/settle)
      (is (true? (a/offer! d :more)))
      (close! d)
      (is (= [1 2 :more] (<!! (a/into [] d)))))))

(deftest without-taps-values-are-dropped
  (sim/check o
    (let [in (chan), m (a/mult in), c (chan 5)]
      (a/tap m c)
      (>!! in 1)
      (sim/settle)
      (a/untap-all m)
      (>!! in 2)
      (>!! in 3)
      (sim/settle)
      (a/tap m c)
      (a/onto-chan! in [4])
      (is (= [1 4] (<!! (a/into [] c)))))))

;;;; mix

(defn- takes
  "The next `n` values of `ch`."
  [n ch]
  (vec (repeatedly n #(<!! ch))))

(deftest a-mix-passes-all-of-each-input-in-order
  (sim/check o
    (let [out (chan), m (a/mix out), c (chan), d (chan)]
      (a/admix m c)
      (a/admix m d)
      (a/onto-chan! c [1 2 3])
      (a/onto-chan! d [11 12 13])
      (let [got (takes 6 out)]
        (is (= [1 2 3] (filter #(< (long %) 10) got)))
        (is (= [11 12 13] (filter #(< 10 (long %)) got)))))))

(deftest muted-inputs-are-taken-and-dropped
  (sim/check o
    (let [out (chan), m (a/mix out), c (chan), d (chan)]
      (a/admix m c)
      (a/toggle m {d {:mute true}})
      (sim/settle)
      (>!! d 11)
      (>!! d 12)
      (a/put! c 1)
      (is (= 1 (<!! out)))
      (a/toggle m {d {:mute false}})
      (sim/settle)
      (a/put! d 13)
      (is (= 13 (<!! out))))))

(deftest paused-inputs-are-not-taken
  (sim/check o
    (let [out (chan), m (a/mix out), c (chan), d (chan)]
      (a/admix m c)
      (a/admix m d)
      (a/toggle m {d {:pause true}})
      (sim/settle)
      (is (nil? (a/offer! d 11)))
      (a/put! d 12)
      (a/put! c 1)
      (is (= 1 (<!! out)))
      (sim/settle)
      (is (nil? (a/poll! out)))
      (a/toggle m {d {:pause false}})
      (is (= 12 (<!! out))))))

(deftest a-soloed-input-silences-the-others
  (testing "by muting them"
    (sim/check o
      (let [out (chan), m (a/mix out), c (chan), d (chan)]
        (a/admix m d)
        (a/toggle m {c {:solo true :mute true :pause true}})
        (sim/settle)
        (>!! d 11)
        (a/put! c 1)
        (is (= 1 (<!! out)))
        (>!! d 12)
        (sim/settle)
        (is (nil? (a/poll! out))))))
  (testing "by pausing them"
    (sim/check o
      (let [out (chan), m (a/mix out), c (chan), d (chan)]
        (a/solo-mode m :pause)
        (a/admix m d)
        (a/toggle m {c {:solo true :pause true}})
        (sim/settle)
        (is (nil? (a/offer! d 11)))
        (a/put! c 1)
        (is (= 1 (<!! out)))
        (a/toggle m {c {:solo false}})
        (sim/settle)
        (is (nil? (a/offer! c 2)))
        (a/put! d 12)
        (is (= 12 (<!! out)))))))

(deftest unmixed-inputs-are-left-alone
  (sim/check o
    (let [out (chan), m (a/mix out), c (chan), d (chan)]
      (a/admix m c)
      (a/admix m d)
      (a/unmix m d)
      (sim/settle)
      (is (nil? (a/offer! d 11)))
      (a/put! c 1)
      (is (= 1 (<!! out)))
      (a/unmix-all m)
      (sim/settle)
      (is (nil? (a/offer! c 2))))))

(deftest a-closed-input-ends-alone
  (sim/check o
    (let [out (chan), m (a/mix out), c (chan), d (chan)]
      (a/admix m c)
      (a/admix m d)
      (close! c)
      (go (>! d 11) (>! d 12))
      (is (= [11 12] (takes 2 out))))))

(deftest a-mix-ends-with-its-output
  (sim/check {:schedules 100 :max-steps 5000 :leaks :all}
    (let [out (chan), m (a/mix out), c (chan)]
      (a/admix m c)
      (close! out)
      (>!! c 1)
      (sim/settle)
      (is (nil? (a/offer! c 2))))))

(deftest many-inputs-are-asked-in-order
  ;; The same run twice: an order by hashes of channels would differ.
  (sim/check {:schedules 20 :max-steps 5000}
    (let [out (chan 30), m (a/mix out), inputs (vec (repeatedly 12 #(chan 1)))]
      (run! #(a/admix m %) inputs)
      (dotimes [i 12] (a/put! (inputs i) i))
      (is (= (range 12) (sort (takes 12 out)))))))

;;;; pub

(defn- message [topic n] {:topic topic :n n})

(deftest each-subscriber-gets-its-topic-in-order
  (sim/check {:schedules 100 :max-steps 5000 :leaks :all}
    (let [in (chan), p (a/pub in :topic), c (chan), d (chan), e (chan)]
      (a/sub p :x c)
      (a/sub p :x d)
      (a/sub p :y e)
      (a/onto-chan! in [(message :x 1) (message :y 2) (message :z 3) (message :x 4)])
      (is (= [[1 4] [1 4] [2]] (mapv #(mapv :n (<!! %)) (mapv #(a/into [] %) [c d e])))))))

(deftest subscribing-at-once-makes-one-topic
  (sim/check o
    (let [in (chan), p (a/pub in :topic), c (chan), d (chan)
          sub (fn [ch] (go (a/sub p :x ch)))]
      (run! <!! (mapv sub [c d]))
      (a/onto-chan! in [(message :x 1)])
      (is (= [[1] [1]] (mapv #(mapv :n (<!! %)) (mapv #(a/into [] %) [c d])))))))

(deftest an-unsubscribed-channel-gets-no-more
  (sim/check o
    (let [in (chan), p (a/pub in :topic), c (chan 5), d (chan 5)]
      (a/sub p :x c)
      (a/sub p :x d)
      (>!! in (message :x 1))
      (sim/settle)
      (a/unsub p :x d)
      (>!! in (message :x 2))
      (sim/settle)
      (a/unsub-all p :x)
      (>!! in (message :x 3))
      (sim/settle)
      (run! close! [c d])
      (is (= [[1 2] [1]] (mapv #(mapv :n (<!! (a/into [] %))) [c d]))))))

(deftest all-topics-can-go
  (sim/check o
    (let [in (chan), p (a/pub in :topic), c (chan 5), d (chan 5)]
      (a/sub p :x c)
      (a/sub p :y d)
      (a/unsub-all p)
      (>!! in (message :x 1))
      (>!! in (message :y 2))
      (close! in)
      (sim/settle)
      (is (nil? (a/poll! c)))
      (is (nil? (a/poll! d))))))

(deftest a-buffered-topic-does-not-delay-the-others
  (sim/check {:schedules 100 :max-steps 5000 :leaks :none}
    (let [in (chan), p (a/pub in :topic {:x 5}), c (chan), d (chan)]
      (a/sub p :x c)
      (a/sub p :y d)
      (go (>! in (message :x 1)) (>! in (message :x 2)) (>! in (message :x 3)) (>! in (message :y 4)))
      (is (= 4 (:n (<!! d)))))))

(deftest a-subscriber-may-stay-open
  (sim/check o
    (let [in (chan), p (a/pub in :topic), c (chan), d (chan 5)]
      (a/sub p :x c)
      (a/sub p :x d false)
      (a/onto-chan! in [(message :x 1)])
      (is (= 1 (count (<!! (a/into [] c)))))
      (sim/settle)
      (is (true? (a/offer! d :more))))))
