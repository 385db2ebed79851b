;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.mult-test
  "mult, tap, untap."
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.spi :as impl]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.impl.async.hubs :as hubs]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin]]))

(set! *warn-on-reflection* true)

(deftwin values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(deftest every-tap-gets-every-value
  (both= [[1 2 3] [1 2 3]]
         (let [source (a/chan) m (a/mult source)
               taps [(a/tap m (a/chan 3)) (a/tap m (a/chan 3))]]
           (run! #(a/>!! source %) [1 2 3])
           (a/close! source)
           (mapv values-of taps)))
  (both= true (let [source (a/chan)] (identical? source (hubs/muxch* (a/mult source))))))

(deftest the-next-value-waits-for-all-taps
  (both= [1 nil 1 2 nil]
         (let [source (a/chan 3) m (a/mult source) c (a/chan) d (a/chan)]
           (a/tap m c)
           (a/tap m d)
           (run! #(a/>!! source %) [1 2 3])
           [(a/<!! c) (a/poll! c) (a/<!! d) (a/<!! c) (a/poll! c)])))

(deftest without-taps-values-are-dropped
  (both= [:kept]
         (let [source (a/chan) m (a/mult source)]
           (run! #(a/>!! source %) [1 2 3])
           (let [c (a/tap m (a/chan 1))]
             (a/>!! source :kept)
             (a/close! source)
             (remove #{3} (values-of c))))))

(deftest taps-made-before-the-first-value-is-accepted-miss-nothing
  (dotimes [_ 50]
    (let [m (a/mult (a/to-chan! [1 2 3]))
          taps (vec (repeatedly 4 #(a/tap m (a/chan))))
          dead (a/tap m (a/chan))]
      (a/close! dead)
      (is (= (repeat 4 [1 2 3]) (within-deadline (mapv a/<!! (mapv #(a/into [] %) taps))))))))

(deftest the-first-value-goes-to-the-tap-that-is-read-first
  (dotimes [_ 20]
    (let [m (a/mult (a/to-chan! [1 2]))
          [c d e] (vec (repeatedly 3 #(a/tap m (a/chan))))]
      (is (= [1 1 1 2] (within-deadline (mapv a/<!! [e c d d])))))))

(deftest before-the-first-tap-puts-continue-and-values-stay
  (within-deadline
    (let [source (a/chan 2) m (a/mult source)]
      (run! #(a/>!! source %) (range 6))
      (a/close! source)
      (is (= [4 5] (a/<!! (a/into [] (a/tap m (a/chan 2))))))))
  (testing "puts that waited before the mult continue too"
    (let [source (a/chan) waits (a/thread (a/>!! source 1))]
      (a/mult source)
      (is (true? (await-port waits))))))

(deftest a-closed-tap-is-removed
  (both= [1 2]
         (let [source (a/chan) m (a/mult source) dead (a/chan) c (a/tap m (a/chan 2))]
           (a/tap m dead)
           (a/close! dead)
           (run! #(a/>!! source %) [1 2])
           (a/close! source)
           (values-of c)))
  (testing "also one that closes while a value waits for it"
    (let [source (a/chan) m (a/mult source) slow (a/tap m (a/chan)) c (a/tap m (a/chan 2))]
      (a/>!! source 1)
      (is (= 1 (await-port c)))
      (a/close! slow)
      (is (= 1 (await-port slow)) "the pending put is there to be taken")
      (a/>!! source 2)
      (is (= 2 (await-port c)))
      (is (nil? (await-port slow))))))

(deftest a-tap-closes-with-the-source-unless-told-otherwise
  (both= [nil nil true]
         (let [source (a/chan) m (a/mult source) c (a/chan 1) d (a/chan 1) e (a/chan 1)]
           (a/tap m c)
           (a/tap m d true)
           (a/tap m e true)
           (a/tap m e false)
           (a/close! source)
           [(a/<!! c) (a/<!! d) (a/>!! e :open)])))

(deftest a-late-tap-closes-unless-close-is-false
  (let [source (a/chan) m (a/mult source), first-tap (a/tap m (a/chan 1))]
    (a/close! source)
    (is (nil? (await-port first-tap)))
    (is (nil? (await-port (a/tap m (a/chan)))))
    (is (= [:open :default] (a/alts!! [(a/tap m (a/chan) false)] :default :open)) "with close? false")))

(deftest untapped-channels-get-no-more-and-stay-open
  (both= [[1] [1 2] true]
         (let [source (a/chan) m (a/mult source) c (a/chan 5) d (a/chan 5) e (a/chan 5)]
           (run! #(a/tap m %) [c d e])
           (a/>!! source 1)
           (let [first-of-each (mapv a/<!! [c d e])]
             (a/untap m c)
             (a/untap m e)
             (a/>!! source 2)
             (let [second-of-d (a/<!! d)]
               (a/untap-all m)
               (a/>!! source 3)
               (a/close! source)
               [[(first first-of-each)] [(second first-of-each) second-of-d] (a/>!! c :open)])))))

(deftest a-tap-that-throws-is-reported-and-the-others-continue
  (let [boom (ex-info "boom" {})
        bad (reify
              impl/Channel (close! [_]) (closed? [_] false)
              impl/WritePort (put! [_ _ _] (throw boom)))
        [v] (await-uncaught #(identical? boom %)
                            #(let [source (a/chan) m (a/mult source) c (a/chan 2)]
                               (a/tap m bad)
                               (a/tap m c)
                               (run! (fn [i] (a/>!! source i)) [1 2])
                               [(await-port c) (await-port c)]))]
    (is (= [1 2] v))))

(deftest a-tap-whose-exception-handler-throws-stops-nothing
  (let [boom (ex-info "boom" {})]
    (dotimes [i 8]
      (let [source (a/chan) m (a/mult source)
            bad (a/chan 1 (map (fn [_] (throw (ex-info "step" {})))) (fn [_] (throw boom)))
            good (a/chan 3)]
        (run! #(a/tap m %) (if (even? i) [bad good] [good bad]))
        (is (= [[1 2] boom] (await-uncaught #(identical? boom %)
                                            (fn []
                                              (within-deadline
                                                (run! #(a/>!! source %) [1 2])
                                                (a/close! source)
                                                (values-of good))))))))))

(deftest a-tap-with-too-many-puts-does-not-stop-the-first-value
  (let [source (a/chan) m (a/mult source) full (a/chan) good (a/chan)]
    (dotimes [i 1024] (a/put! full i))
    (run! #(a/tap m %) [full good])
    (is (= [1 2] (first (await-uncaught #(instance? AssertionError %)
                                        (fn []
                                          (within-deadline
                                            (a/onto-chan! source [1 2])
                                            (values-of good)))))))))

(deftest a-tap-that-throws-when-closed-is-reported-and-the-others-close
  (let [boom (ex-info "boom" {})
        bad (reify
              impl/Channel (close! [_] (throw boom)) (closed? [_] false)
              impl/WritePort (put! [_ _ _] (delay true)))
        source (a/chan) m (a/mult source) good (a/chan 1)]
    (run! #(a/tap m %) [bad good])
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      (fn [] (a/close! source) (await-port good)))))))

(deftest blocks-and-threads-may-tap
  (within-deadline
    (let [source (a/chan) m (a/mult source) n 2000
          takers (vec (for [i (range 6)]
                        (let [c (a/tap m (a/chan (inc i)))]
                          (if (even? i)
                            (a/go-loop [sum 0] (if-some [v (a/<! c)] (recur (+ sum (long v))) sum))
                            (a/thread (loop [sum 0] (if-some [v (a/<!! c)] (recur (+ sum (long v))) sum)))))))]
      (dotimes [i n] (a/>!! source i))
      (a/close! source)
      (is (= (repeat 6 (quot (* n (dec n)) 2)) (mapv a/<!! takers))))))

;;;; Lock-step against a model

(def ^:private gen-sizes (gen/vector (gen/choose 0 3) 1 4))

(defn- at-hand
  "Takes from `c` until it is empty for good: `expected` values, and then none."
  [c expected]
  (let [got (vec (repeatedly expected #(await-port c)))]
    (conj got (a/poll! c))))

(deftest taps-stay-in-step
  (let [property
        (prop/for-all [sizes gen-sizes n (gen/choose 0 8)]
          (let [source (a/chan 8)
                m (a/mult source)
                taps (mapv (fn [size] (a/tap m (if (zero? (long size)) (a/chan) (a/chan size)))) sizes)]
            (dotimes [i n] (a/>!! source i))
            ;; The first tap is emptied: it gets as much as the slowest of the others allows.
            (let [others (rest sizes)
                  available (if (seq others)
                              (min (long n) (inc (long (apply min others))))
                              n)]
              (= (conj (vec (range available)) nil)
                 (at-hand (first taps) available)))))
        result (check/quick-check 60 property)]
    (is (:pass? result) (pr-str (:shrunk result)))))
