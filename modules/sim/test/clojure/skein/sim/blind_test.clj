;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.blind-test
  "A check says what it has not seen."
  (:require
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! chan go]]
   [skein.sim :as sim]
   [skein.test :as t]
   [skein.virtual :as v])
  (:import
   (java.io StringWriter)
   (java.util ArrayList)
   (java.util.concurrent LinkedBlockingQueue)
   (java.util.concurrent.locks ReentrantLock)))

(set! *warn-on-reflection* true)

(defn- here [] "blind_test.clj:\\d+")

(defn- blind
  "What a check of `body` has not seen, with a number of places for each reason, if these are in this file."
  ([body] (blind {} body))
  ([options body]
   (update-vals (:blind (sim/check* (merge {:schedules 20 :seed 1 :report :throw} options) body {}))
                (fn [places] (when (every? #(re-matches (re-pattern (here)) %) places) (count places))))))

(deftest tasks-that-share-no-point-are-named
  (is (= {:no-common-point 2}
         (blind (fn []
                  (let [a (Object.), b (Object.)
                        f (v/future (locking a (locking b 1)))
                        g (v/future (locking b (locking a 1)))]
                    [@f @g])))))
  (is (= {:no-common-point 1} ; both are spawned in one line
         (blind (fn []
                  (let [xs (ArrayList.), blocks (mapv (fn [i] (go (.add xs i))) (range 2))]
                    (run! <!! blocks)))))))

(deftest tasks-that-share-a-point-are-not-named
  (doseq [[what body] {"an atom" (fn [] (let [n (atom 0)] (run! deref [(future (swap! n inc)) (future (swap! n inc))])))
                       "a channel" (fn [] (let [c (chan)] (go (>! c 1)) (<!! (go (<! c)))))
                       "a promise" (fn [] (let [p (promise)] (run! deref [(future (deliver p 1)) (future @p)])))
                       "a result" (fn [] (let [a (go 1)] (<!! (go (<! a)))))
                       "a ref" (fn [] (let [r (ref 0), add #(future (dosync (alter r inc)))] (run! deref [(add) (add)])))
                       "an agent" (fn [] (let [a (agent 0)] (send a inc) (send a inc) (await a)))
                       "one after the other" (fn [] [@(future 1) @(future 2)])}]
    (testing what
      (is (= {} (blind body))))))

(deftest waits-for-java-objects-are-named
  (is (= {:java-wait 1} (blind (fn [] (let [q (LinkedBlockingQueue.)] (v/future (.put q 1)) (.take q))))))
  (is (= {:java-wait 1}
         (blind (fn []
                  (let [lock (ReentrantLock.), n (atom 0)
                        add (fn [] (.lock lock) (try (swap! n inc) (swap! n inc) (finally (.unlock lock))))
                        f (v/future (add)), g (v/future (add))]
                    [@f @g])))))
  (is (= {} (blind (fn [] (.join (Thread/startVirtualThread (fn [] 1))))))))

(deftest a-value-that-differs-in-two-runs-is-named
  (is (= {:not-repeatable 1} (blind (fn [] (reset! (atom nil) (System/currentTimeMillis))))))
  (is (= {:not-repeatable 1} (blind (fn [] (let [c (chan)] (go (>! c (Math/random))) (<!! c))))))
  (is (= {} (blind (fn [] (reset! (atom nil) (rand)))))))

(deftest all-schedules-are-not-claimed-of-what-is-not-seen
  (let [summary (fn [body] (sim/check* {:strategy :exhaustive :report :throw} body {}))]
    (is (:all (summary (fn [] (let [c (chan)] (go (>! c 1)) (<!! c))))))
    (is (not (:all (summary (fn []
                              (let [xs (ArrayList.)]
                                (run! <!! [(go (.add xs 1)) (go (.add xs 2))])))))))))

(t/defsim ^:private shares-a-list
  (let [xs (ArrayList.)]
    (run! <!! [(go (.add xs 1)) (go (.add xs 2))])))

(t/defsim ^:private shares-an-atom
  (let [n (atom 0)]
    (run! <!! [(go (swap! n inc)) (go (swap! n inc))])))

(defn- printed
  "What the test `v` prints."
  [v]
  (let [out (StringWriter.)]
    (binding [test/*test-out* out, test/*report-counters* (ref test/*initial-report-counters*)]
      (test/test-vars [v]))
    (str/trim (str out))))

(deftest defsim-prints-what-is-not-seen
  (is (re-matches (re-pattern (str "skein.sim.blind-test/shares-a-list does not see all: tasks that " (here)
                                   " spawns share no point"))
                  (printed #'shares-a-list)))
  (is (= "" (printed #'shares-an-atom))))
