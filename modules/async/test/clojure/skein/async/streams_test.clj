;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.streams-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(defn- thrown-by [f]
  (try (f) (catch Throwable t t)))

(defn- error-of [f]
  (:skein/error (ex-data (thrown-by f))))

(def ^:private boom (ex-info "boom" {}))

(defn- until-closed
  "Returns what is taken from `port` until it is closed, for whatever reason."
  [port]
  (await-port (a/go-loop [taken []]
                (if-some [v (a/<! port)] (recur (conj taken v)) taken))))

;;;; Batches

(deftest all-batches-but-the-last-are-full
  (is (= [[0 1 2] [3 4 5] [6]] (await-port (a/into [] (st/batch 3 (a/to-chan! (range 7)))))))
  (is (= [] (await-port (a/into [] (st/batch {:size 3 :within-ms 1} (a/to-chan! [])))))))

(deftest a-batch-does-not-wait-longer-than-it-may
  (let [in (a/chan)
        out (st/batch {:size 100 :within-ms 5} in)]
    (a/put! in 1)
    (a/put! in 2) ; which waits if the time of the first is over
    (is (= 1 (first (await-port out))) "before the batch is full, and before in closes")
    (a/close! in)
    (is (every? seq (await-port (a/into [] out))))))

(def ^:private nothing-lost
  (prop/for-all [values (gen/vector gen/small-integer)
                 size (gen/choose 1 5)
                 within (gen/elements [nil 1 1000])
                 pause-every (gen/choose 1 10)]
    (let [in (a/chan)
          out (a/into [] (st/batch {:size size :within-ms within} in))]
      (a/go (doseq [[i v] (map-indexed vector values)]
              (when (zero? (rem (inc (long i)) (long pause-every))) (a/<! (a/timeout 2)))
              (a/>! in v))
            (a/close! in))
      (let [batches (await-port out)]
        (and (= values (into [] cat batches))
             (every? #(<= 1 (count %) size) batches))))))

(deftest batches-hold-each-value-once-in-order
  (is (:pass? (check/quick-check 60 nothing-lost))))

(deftest batches-close-as-the-input-did
  (let [out (st/batch 5 (doto (a/chan 1) (a/put! 1) (a/close-with! boom)))]
    (is (= [[1] boom] (within-deadline [(a/<?? out) (thrown-by #(a/<?? out))]))))
  (testing "and stops when its output closes"
    (let [in (a/chan)
          out (st/batch {:size 1} in)]
      (a/close! out)
      (a/>!! in 1)
      (is (nil? (a/offer! in 2))))))

(deftest a-batch-whose-time-is-over-at-once-has-what-is-there
  (doseq [ms [0 -1]]
    (is (= [1] (await-port (st/batch {:size 9 :within-ms ms} (doto (a/chan 1) (a/put! 1))))))))

(deftest a-batch-of-nothing-is-refused
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
         (mapv error-of [#(st/batch {:size 0} (a/chan))
                         #(st/batch {} (a/chan))
                         #(st/batch {:size 1 :within-ms "1"} (a/chan))
                         #(st/batch {:size 1} [1 2])
                         #(st/batch {:size 1 :other 1} (a/chan))]))))

;;;; Slow takers

(defn- through-gate
  "Puts 1, 2, 3 through a gate before a channel of one value. Returns what the puts gave,
  what the channel held, what was dropped."
  [policy]
  (let [dropped (atom [])
        c (a/chan 1)
        g (st/gate {:policy policy :on-drop #(swap! dropped conj %)} c)
        puts (mapv (fn [v] (a/put! g v)) [1 2 3])]
    (a/close! g)
    [puts (until-closed c) @dropped]))

(deftest a-gate-keeps-its-policy
  (is (= [[true true true] [1 2 3] []] (through-gate :block)))
  (is (= [[true true true] [1] [2 3]] (through-gate :drop)))
  (is (= [[true true true] [3] [1 2]] (through-gate :slide)))
  (is (= [[true false false] [1] [2]] (through-gate :disconnect))))

(deftest a-disconnected-taker-knows-why
  (let [c (a/chan)
        g (st/gate :disconnect c)]
    (is (false? (a/>!! g 1)))
    (is (= {:skein/error :skein/slow-taker} (ex-data (thrown-by #(a/<?? c)))))))

(deftest a-gate-is-a-port-like-any-other
  (let [c (a/chan 1)
        g (st/gate :drop c)]
    (is (= [true true 1] [(a/>!! g 1) (await-port (a/go (a/>! g 2))) (a/<!! c)]))
    (is (= [true g] (a/alts!! [[g 3]])))
    (is (thrown? IllegalArgumentException (a/>!! g nil)))
    (is (= [false true] [(a/closed? g) (do (a/close! g) (a/closed? c))]))
    (is (false? (a/>!! g 4)))
    (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument]
           [(error-of #(st/gate :hope c)) (error-of #(st/gate :drop 1))
            (error-of #(st/gate {:policy :drop :other 1} c))]))))

(deftest a-gate-survives-an-on-drop-that-throws
  (let [g (st/gate {:policy :drop :on-drop (fn [_] (throw boom))} (a/chan))]
    (doseq [put [#(a/put! g 1) #(a/>!! g 1) #(first (a/alts!! [[g 1]])) #(a/<!! (a/go (a/>! g 1)))
                 #(a/<!! (a/go (first (a/alts! [[g 1] (a/chan)]))))]]
      (is (= [true boom] (await-uncaught #(identical? boom %) (fn [] (within-deadline (put)))))))
    (is (= :skein/bad-argument (error-of #(st/gate {:policy :drop :on-drop 5} (a/chan)))))))

(deftest slow-taps-do-not-delay-others
  (doseq [policy [:drop :slide :disconnect]]
    (testing policy
      (let [source (a/chan)
            m (a/mult source)
            quick (a/tap m (a/chan 1000))
            slow (a/chan 1)]
        (a/tap m (st/gate policy slow))
        (within-deadline (dotimes [i 1000] (a/>!! source i)))
        (a/close! source)
        (is (= (range 1000) (await-port (a/into [] quick))))
        (is (= ({:drop [0] :slide [999] :disconnect [0]} policy) (until-closed slow)))))))

(deftest slow-subscriptions-do-not-delay-others
  (let [source (a/chan)
        p (a/pub source odd?)
        slow (a/chan)
        quick (a/sub p true (a/chan 100))]
    (a/sub p true (st/gate :disconnect slow))
    (within-deadline (dotimes [i 100] (a/>!! source i)))
    (a/close! source)
    (is (= (filter odd? (range 100)) (await-port (a/into [] quick))))
    (is (instance? ExceptionInfo (thrown-by #(a/<?? slow))))))
