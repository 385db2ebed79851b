;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.coexist-test
  "Each library's operations on the other's channels: a stands for Skein, c for core.async."
  (:require
   [clojure.core.async :as c]
   [clojure.test :refer [deftest is testing]]
   [clojure.walk :as walk]
   [skein.async :as a]
   [skein.async.coexist]
   [skein.async.interop :as interop]
   [skein.async.spi :as spi]
   [skein.deadline :refer [await-port within-deadline]]))

(set! *warn-on-reflection* true)

(defmacro ^:private on-the-others
  "Asserts that the body evaluates to `expected` for Skein's operations, a/, on core.async's
  channels, other/, and the other way round."
  [expected & body]
  `(let [expected# ~expected]
     (testing "Skein on core.async's"
       (is (= expected# (within-deadline ~@(walk/postwalk-replace
                                             '{other/chan clojure.core.async/chan
                                               other/promise-chan clojure.core.async/promise-chan} body)))))
     (testing "core.async on Skein's"
       (is (= expected# (within-deadline
                          ~@(walk/postwalk
                              (fn [x] (if (and (symbol? x) (= "a" (namespace x)))
                                        (symbol "clojure.core.async" (name x))
                                        x))
                              (walk/postwalk-replace
                                '{other/chan skein.async/chan other/promise-chan skein.async/promise-chan} body))))))))

(deftest operations-that-are-ready
  (on-the-others [true 1 nil true nil 2 false false nil true]
    (let [ch (other/chan 1)]
      [(a/>!! ch 1) (a/<!! ch) (a/poll! ch) (a/offer! ch 2) (a/offer! ch 3) (a/poll! ch)
       (do (a/close! ch) (a/put! ch 4)) (a/offer! ch 5) (a/<!! ch)
       (nil? (a/<!! ch))])))

(deftest blocks-and-threads-that-wait
  (on-the-others [[1 true] [2 true] [3 true]]
    (let [ch (other/chan)]
      [(let [taken (a/go (a/<! ch)), put (a/go (a/>! ch 1))] [(a/<!! taken) (a/<!! put)])
       (let [taken (a/thread (a/<!! ch)), put (a/thread (a/>!! ch 2))] [(a/<!! taken) (a/<!! put)])
       (let [taken (a/promise-chan), put (a/promise-chan)]
         (a/take! ch (fn [v] (a/put! taken v)))
         (a/put! ch 3 (fn [v] (a/put! put v)))
         [(a/<!! taken) (a/<!! put)])])))

(deftest choices-among-channels-of-both
  (on-the-others [[1 true] [2 true] [:none :default] [true true] [4 true]]
    (let [ch (other/chan 1) mine (a/chan 1)
          on (fn [[v port] expected] [v (identical? port expected)])]
      [(do (a/>!! ch 1) (on (a/alts!! [mine ch]) ch))
       (do (a/>!! mine 2) (on (a/alts!! [ch mine]) mine))
       (a/alts!! [ch mine] :default :none)
       (on (a/alts!! [[ch 3] mine]) ch)
       (let [chosen (a/go (a/<! ch) (on (a/alts! [ch mine]) ch))]
         (a/>!! ch 4)
         (a/<!! chosen))])))

(deftest hubs-of-one-feed-channels-of-the-other
  (on-the-others [[0 1 2] [0 1 2]]
    (let [source (other/chan) m (a/mult source) one (other/chan 3) two (a/chan 3)]
      (a/tap m one)
      (a/tap m two)
      (a/onto-chan! source (range 3))
      [(a/<!! (a/into [] one)) (a/<!! (a/into [] two))]))
  (on-the-others [2 3 4]
    (let [from (other/chan 3) to (other/chan)]
      (a/onto-chan! from [1 2 3])
      (a/pipeline 2 to (map inc) from)
      (a/<!! (a/into [] to)))))

(deftest buffers-serve-either
  (is (= [[1 2] [3 4] [1]]
         (within-deadline
           [(let [ch (a/chan (c/buffer 2))] (run! #(a/offer! ch %) [1 2 3]) (a/close! ch) (a/<!! (a/into [] ch)))
            (let [ch (c/chan (a/sliding-buffer 2))] (run! #(c/>!! ch %) [1 2 3 4]) (c/close! ch) (c/<!! (c/into [] ch)))
            (let [ch (c/chan (a/dropping-buffer 1))] (run! #(c/>!! ch %) [1 2]) (c/close! ch) (c/<!! (c/into [] ch)))])))
  (is (= [true true] [(spi/unblocking-buffer? (c/sliding-buffer 1)) (c/unblocking-buffer? (a/sliding-buffer 1))])))

(deftest a-future-is-a-port-to-core-async-too
  (is (= 1 (within-deadline (c/<!! (interop/->port (future 1))))))
  (is (= 2 (within-deadline (.get (interop/->future (c/go 2)))))))

(defn- exchange
  "Producers and consumers of both libraries choose among two channels, one of each. Returns
  the sorted values that were received."
  [n]
  (let [ours (a/chan) theirs (c/chan)
        per (range n)
        producers [(a/go (doseq [i per] (a/alts! [[ours i] [theirs i]])) :done)
                   (c/go (loop [i 0] (when (< i (long n)) (c/alts! [[theirs i] [ours i]]) (recur (inc i)))) :done)]
        consume-ours (fn [] (a/go-loop [got []]
                              (let [[v _] (a/alts! [theirs ours])] (if (= :stop v) got (recur (conj got v))))))
        consume-theirs (fn [] (c/go-loop [got []]
                                (let [[v _] (c/alts! [ours theirs])] (if (= :stop v) got (recur (conj got v))))))
        consumers [(consume-ours) (consume-theirs)]]
    (run! await-port producers)
    (dotimes [_ 2] (a/>!! theirs :stop))
    (sort (mapcat await-port consumers))))

(deftest no-value-is-lost-or-doubled-between-libraries
  (is (= (sort (concat (range 2000) (range 2000))) (exchange 2000))))
