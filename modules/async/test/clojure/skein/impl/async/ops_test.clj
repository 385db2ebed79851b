;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.async.ops-test
  "pipe, split, take, map, merge; to-chan!, onto-chan!; into, reduce, transduce."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]
   [skein.upstream :refer [both= deftwin]]))

(set! *warn-on-reflection* true)

(deftwin values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(defn- closed-with
  "A channel that is closed and holds `values`."
  [& values]
  (let [c (a/chan (max 1 (count values)))]
    (run! #(a/>!! c %) values)
    (a/close! c)
    c))

(defn- ended?
  "Returns whether the channel is closed and empty, by now or soon."
  [c]
  (nil? (await-port c)))

(defn- left-after-one
  "What is left in the channel `from` of the values 1 and 2 when 1 has been taken by a block
  that finds its output closed."
  [from]
  (within-deadline (a/>!! from 1))
  (a/put! from 2)
  (await-port from))

(defn- nil-value? [thrown] (= :skein/nil-put (:skein/error (ex-data thrown))))

;;;; pipe

(deftest pipe-moves-all-values-and-closes
  (both= [[1 2 3] true]
         (let [to (a/chan)] [(values-of (a/pipe (a/to-chan! [1 2 3]) to)) (identical? to (a/pipe (a/chan) to))]))
  (both= [1 2 :more]
         (let [to (a/chan 3)
               _ (a/pipe (a/to-chan! [1 2]) to false)
               got [(a/<!! to) (a/<!! to)]]
           (a/>!! to :more)
           (conj got (a/<!! to)))))

(deftest pipe-stops-when-its-output-closes
  (both= [2 3]
         (let [from (a/chan 3) to (a/chan)]
           (run! #(a/>!! from %) [1 2 3])
           (a/close! to)
           (a/pipe from to)
           (while (not (a/offer! from :room))) ; until 1 has been taken, which is lost
           [(a/<!! from) (a/<!! from)])))

;;;; split

(deftest split-divides-by-the-predicate
  (both= [[2 4] [1 3 5]]
         (let [[even odd] (a/split even? (a/to-chan! [1 2 3 4 5]) 5 5)] [(values-of even) (values-of odd)]))
  (both= [1 2 nil nil]
         (let [[even odd] (a/split even? (a/to-chan! [1 2]))]
           [(a/<!! odd) (a/<!! even) (a/<!! even) (a/<!! odd)])))

(deftest split-closes-both-when-one-closes
  (let [from (a/chan)
        [even odd] (a/split even? from 5 5)]
    (a/close! odd)
    (a/>!! from 0)
    (is (= 2 (left-after-one from)) "the rest stays in the source")
    (is (= [0] (within-deadline (values-of even))))))

(deftest split-closes-both-when-the-predicate-throws
  (let [boom (ex-info "boom" {})
        [[yes no]] (await-uncaught #(identical? boom %) #(a/split (fn [_] (throw boom)) (a/to-chan! [1])))]
    (is (ended? yes))
    (is (ended? no))))

;;;; take

(deftest take-passes-n-values-and-closes
  (both= [[1 2] [3]] (let [c (a/to-chan! [1 2 3])] [(values-of (a/take 2 c)) (values-of c)]))
  (both= [[1] []] [(values-of (a/take 5 (a/to-chan! [1]))) (values-of (a/take 0 (a/to-chan! [1])))])
  (both= [1 2 3] (values-of (a/take 3 (a/to-chan! (range 1 10)) 3))))

(deftest take-stops-when-its-output-closes
  (let [from (a/chan) out (a/take 5 from)]
    (a/close! out)
    (is (= 2 (left-after-one from)))))

;;;; map

(deftest map-combines-one-of-each
  (both= [[11 22] [1 2] nil]
         [(values-of (a/map + [(a/to-chan! [1 2 3]) (a/to-chan! [10 20])]))
          (values-of (a/map identity [(a/to-chan! [1 2])] 2))
          (a/<!! (a/map + []))])
  (both= [false true] (values-of (a/map not [(a/to-chan! [true false])]))))

(deftest map-takes-from-all-at-once
  (testing "so a producer may fill the channels in any order"
    (both= [3]
           (let [c (a/chan) d (a/chan) sums (a/map + [c d])]
             (a/thread (a/>!! d 1) (a/>!! c 2) (a/close! d) (a/close! c))
             (values-of sums)))))

(deftest map-reports-nil-and-closes
  (let [[v thrown] (await-uncaught nil-value?
                                   #(let [out (a/map :k [(a/to-chan! [{:k 1} {}])])]
                                      [(await-port out) (await-port out)]))]
    (is (= [1 nil] v))
    (is (= 'map (:operation (ex-data thrown))))))

(deftest map-stops-when-its-output-closes
  (let [from (a/chan) out (a/map inc [from])]
    (a/close! out)
    (is (= 2 (left-after-one from)))))

;;;; merge

(deftest merge-gives-everything-once
  (both= [(vec (range 30)) []]
         [(vec (sort (values-of (a/merge [(a/to-chan! (range 10)) (a/to-chan! (range 10 20)) (a/to-chan! (range 20 30))] 4))))
          (values-of (a/merge []))])
  (both= [0 1 2 3 4] (values-of (a/merge (list (a/to-chan! (range 5)))))))

(deftest merge-keeps-the-order-of-each-channel
  (let [tagged (fn [tag] (a/to-chan! (map vector (repeat tag) (range 200))))
        got (within-deadline (values-of (a/merge (map tagged [:a :b :c]))))]
    (doseq [tag [:a :b :c]]
      (is (= (range 200) (map second (filter #(= tag (first %)) got)))))))

(deftest merge-stops-when-its-output-closes
  (let [from (a/chan) out (a/merge [from])]
    (a/close! out)
    (is (= 2 (left-after-one from)))))

;;;; From collections

(deftest collections-go-onto-channels
  (both= [[1 2 3] [] [] [1 2] [1 2] [[:k 1]]]
         [(values-of (a/to-chan! [1 2 3])) (values-of (a/to-chan! [])) (values-of (a/to-chan!! nil))
          (values-of (a/to-chan!! (list 1 2))) (values-of (a/to-chan! [1 2])) (values-of (a/to-chan! {:k 1}))])
  (both= [[1 2] nil [:open true]]
         (let [c (a/chan 5) d (a/chan 5)
               done (a/onto-chan! c [1 2])]
           (a/<!! (a/onto-chan! d [:open] false))
           [(values-of c) (a/<!! done) [(a/<!! d) (a/>!! d :still)]]))
  (both= [[1 2] [1 2]]
         (let [c (a/chan 5) d (a/chan 5)]
           (a/onto-chan!! c [1 2])
           (a/onto-chan! d [1 2] true)
           [(values-of c) (values-of d)])))

(deftest an-endless-collection-is-read-on-demand
  (both= [0 1 2] (values-of (a/take 3 (a/to-chan! (range)))))
  (let [read-so-far (atom 0)
        c (a/chan)
        done (a/onto-chan! c (map (fn [i] (reset! read-so-far i)) (iterate inc 0)))]
    (is (= [0 1] [(await-port c) (await-port c)]))
    (a/close! c)
    (a/poll! c) ; a put that was waiting
    (is (nil? (await-port done)))
    (is (<= (long @read-so-far) 3))))

(defn- until-closed
  "Returns what is taken from `port` until it is closed, for whatever reason."
  [port]
  (await-port (a/go-loop [taken []]
                (if-some [v (a/<! port)] (recur (conj taken v)) taken))))

(deftest nil-in-a-collection-closes-with-an-exception
  (doseq [[f op] {a/to-chan! 'onto-chan!, a/to-chan!! 'onto-chan!!}]
    (let [[v thrown] (await-uncaught nil-value? #(until-closed (f [1 nil 2])))]
      (is (= [1] v))
      (is (= op (:operation (ex-data thrown)) (:operation (ex-data (try (a/<?? (a/into [] (f [1 nil]))) (catch Exception e e))))))))
  (testing "and leaves open channels that it must not close"
    (let [c (a/chan 3)
          [v] (await-uncaught nil-value? #(await-port (a/onto-chan! c [1 nil] false)))]
      (is (nil? v))
      (is (true? (a/offer! c 2))))))

(deftest a-lazy-collection-that-throws-closes-the-channel
  (let [boom (ex-info "boom" {})
        [v] (await-uncaught #(identical? boom %)
                            #(let [c (a/chan 200)]
                               (a/onto-chan! c (lazy-cat [1 2] (throw boom)))
                               (until-closed c)))]
    (is (= [1 2] v))))

;;;; Into values

(deftest channels-reduce-to-a-value
  (both= [6 0 :stopped nil [1 2] {:a 1} 6]
         [(a/<!! (a/reduce + 0 (a/to-chan! [1 2 3])))
          (a/<!! (a/reduce + 0 (a/to-chan! [])))
          (a/<!! (a/reduce (fn [_ v] (if (= v 2) (reduced :stopped) v)) 0 (a/to-chan! (range))))
          (a/<!! (a/reduce (fn [_ _] nil) 0 (a/to-chan! [1])))
          (a/<!! (a/into [] (a/to-chan! [1 2])))
          (a/<!! (a/into {} (a/to-chan! [[:a 1]])))
          (a/<!! (a/transduce (map inc) + 1 (a/to-chan! [1 2])))]))

(deftest transduce-completes-also-after-an-early-end
  (both= [[[1 2] [3]] [[0 1] :done]]
         [(a/<!! (a/transduce (partition-all 2) conj [] (a/to-chan! [1 2 3])))
          (a/<!! (a/transduce (take 2) (completing conj (fn [acc] [acc :done])) [] (a/to-chan! (range))))]))

(deftest a-reduction-that-throws-closes-its-port
  (let [boom (ex-info "boom" {})]
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      #(await-port (a/reduce (fn [_ _] (throw boom)) 0 (closed-with 1))))))))
