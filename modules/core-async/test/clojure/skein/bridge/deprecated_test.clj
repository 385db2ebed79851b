;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.deprecated-test
  "What core.async has deprecated: map< and its kin."
  (:require
   [clojure.core.async :as a]
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]]))

(set! *warn-on-reflection* true)

(defn- values-of "All values of a channel." [c]
  (a/<!! (a/into [] c)))

(defn- put-all "The values that reach `out` when `coll` goes onto `in`." [in out coll]
  (a/onto-chan! in coll)
  (values-of out))

(deftest ports-that-map
  (is (= [[2 3] [2 3] [[1] nil]]
         (let [out (a/chan) c (a/chan 1)]
           [(values-of (a/map< inc (a/to-chan! [1 2])))
            (put-all (a/map> inc out) out [1 2])
            (let [p (a/map< vector c)]
              (a/>!! p 1)
              [(a/<!! p) (a/poll! p)])])))
  (is (= [[7 true] nil]
         (let [c (a/chan) p (a/map< inc c) got (promise)]
           (a/take! p (fn [v] (deliver got v)))
           (let [accepted (a/>!! c 6)
                 seen [@got accepted]]
             (a/close! p)
             [seen (a/<!! p)])))))

(deftest a-mapping-port-in-an-alts
  (is (= [[2 true] [:none :default] [true 5]]
         (let [c (a/chan 1) p (a/map< inc c) q (a/map> dec c)]
           (a/>!! c 1)
           [(let [[v port] (a/alts!! [p (a/chan)])] [v (identical? port p)])
            (a/alts!! [p] :default :none)
            (let [[accepted] (a/alts!! [[q 6]])] [accepted (a/<!! c)])]))))

(deftest ports-that-filter
  (is (= [[2 4] [1 3] true false]
         (let [evens (a/chan) odds (a/chan) closed (doto (a/chan) a/close!)]
           [(put-all (a/filter> even? evens) evens [1 2 3 4])
            (put-all (a/remove> even? odds) odds [1 2 3 4])
            (a/>!! (a/filter> even? (a/chan)) 1)
            (a/>!! (a/filter> even? closed) 1)]))))

(deftest channels-that-filter
  (is (= [[2 4] [1 3] [2 4] [1 2 1] [[1 2] [3]] [[1 3] [2] [5]]]
         [(values-of (a/filter< even? (a/to-chan! [1 2 3 4])))
          (values-of (a/remove< even? (a/to-chan! [1 2 3 4])))
          (values-of (a/filter< even? (a/to-chan! [1 2 3 4]) 4))
          (values-of (a/unique (a/to-chan! [1 1 2 2 1])))
          (values-of (a/partition 2 (a/to-chan! [1 2 3])))
          (values-of (a/partition-by odd? (a/to-chan! [1 3 2 5])))]))
  (is (= [[] [] [] []]
         [(values-of (a/filter< even? (a/to-chan! [])))
          (values-of (a/unique (a/to-chan! [])))
          (values-of (a/partition 2 (a/to-chan! [])))
          (values-of (a/partition-by odd? (a/to-chan! [])))])))

(deftest channels-that-expand
  (is (= [[0 0 1] [0 0 1] [0 1 2]]
         (let [out (a/chan)]
           [(values-of (a/mapcat< range (a/to-chan! [1 2])))
            (put-all (a/mapcat> range out) out [1 2])
            (values-of (a/take 3 (a/mapcat< (fn [_] (range)) (a/to-chan! [1]))))]))))

(deftest a-filter-stops-when-its-output-closes
  (let [from (a/chan) out (a/filter< pos? from)]
    (a/close! out)
    (within-deadline (a/>!! from 1))
    (a/put! from 2)
    (is (= 2 (await-port from)))))

(defn- until-closed
  "Returns what is taken from `port` until it is closed, for whatever reason."
  [port]
  (await-port (a/go-loop [taken []]
                (if-some [v (a/<! port)] (recur (conj taken v)) taken))))

(deftest a-filter-closes-its-output-if-the-function-throws
  (let [boom (ex-info "boom" {})]
    (is (= [[1] boom]
           (await-uncaught #(identical? boom %)
                           #(within-deadline
                              (until-closed (a/filter< (fn [v] (if (= 2 v) (throw boom) true)) (a/to-chan! [1 2 3])))))))))

(deftest taps-may-be-ports-of-another-kind
  (is (= [[11] [1]]
         (let [source (a/chan) m (a/mult source) c (a/chan 1) d (a/chan 1)]
           (a/tap m (a/map> #(+ 10 %) c))
           (a/tap m d)
           (a/>!! source 1)
           (a/close! source)
           [(values-of c) (values-of d)]))))
