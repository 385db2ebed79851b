;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.cause-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.streams :as st]
   [skein.deadline :refer [await-port within-deadline]])
  (:import
   (skein.rt Channel)))

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

;;;; The end of a channel

(deftest a-channel-tells-whether-it-is-closed
  (let [c (doto (a/chan 1) (a/put! 1))]
    (is (= [false true 1 true]
           [(a/closed? c)
            (do (a/close! c) (a/closed? c))
            (a/<!! c)
            (a/closed? (doto (a/timeout 1) a/<!!))]))))

(deftest a-cause-is-thrown-by-strict-takes-only
  (let [c (a/chan 2)
        early (a/go (try (a/<! c) (a/<? c) (catch Throwable t t)))]
    (a/>!! c 1)
    (is (true? (a/close-with! c boom)))
    (is (identical? boom (await-port early)))
    (is (= [nil false nil] [(a/<!! c) (a/>!! c 2) (a/poll! c)]))
    (is (identical? boom (thrown-by #(a/<?? c))))
    (is (identical? boom (thrown-by #(let [[v p] (a/alts!! [c])] (a/rethrow p v)))))))

(deftest values-come-before-the-cause
  (let [c (doto (a/chan 2) (a/put! 1) (a/put! 2) (a/close-with! boom))]
    (is (= [1 2 boom] [(a/<?? c) (a/<?? c) (thrown-by #(a/<?? c))]))))

(defn- failed
  "Returns a channel of 1, closed because of boom."
  []
  (doto (a/chan 1) (a/put! 1) (a/close-with! boom)))

(defn- failed-block
  "Returns the port of an `async` block that has failed with boom."
  []
  (a/async (throw boom)))

(defn- failing-block []
  (a/go (throw boom)))

(deftest a-cause-goes-from-channel-to-channel
  (doseq [failed [failed failed-block failing-block]
          [what out] {"pipe" (a/pipe (failed) (a/chan 1))
                      "split" (let [[odd even] (a/split odd? (failed))] (a/pipe odd even))
                      "take" (a/take 2 (failed))
                      "merge" (a/merge [(a/to-chan! [1]) (failed)])
                      "map" (a/map vector [(a/to-chan! [1 2]) (failed)])
                      "mult" (let [out (a/chan 1)] (a/tap (a/mult (failed)) out) out)
                      "pipeline" (let [out (a/chan 1)] (a/pipeline 1 out (map inc) (failed)) out)
                      "pipeline-async" (let [out (a/chan 1)]
                                         (a/pipeline-async 1 out (fn [v ch] (a/put! ch v) (a/close! ch)) (failed))
                                         out)
                      "gate" (let [out (a/chan 1)] (a/tap (a/mult (failed)) (st/gate :slide out)) out)
                      "gate after gate" (let [out (a/chan 1)]
                                          (a/pipe (failed) (st/gate :drop (st/gate :block out)))
                                          out)
                      "pub" (a/sub (a/pub (failed) any?) true (a/chan 1))}]
    (testing what
      (is (identical? boom (within-deadline (thrown-by #(loop [] (when (some? (a/<?? out)) (recur)))))))))
  (is (= [1 nil] (let [one (a/take 1 (failed))] [(a/<!! one) (a/<?? one)])) "a take that has its values does not fail")
  (is (nil? (within-deadline (let [out (a/pipe (failed) (a/chan 1) false)] (a/<!! out) (a/poll! out)))) "an output that stays open does not fail"))

(deftest a-partial-reduction-is-no-result
  (doseq [failed [failed failed-block failing-block]
          reduction [#(a/reduce + 0 %) #(a/transduce (map inc) + 0 %) #(a/into [] %)]
          :let [^Channel port (reduction (failed))]]
    (is (identical? boom (within-deadline (thrown-by #(a/<?? port)))))
    (is (.isFailed port) "no handler has been told"))
  (is (= [1] (within-deadline (a/<!! (a/into [] (a/go 1))))))
  (is (= 1 (within-deadline (a/<!! (a/reduce (fn [_ v] (reduced v)) 0 (failed))))) "a reduction that has ended does not fail"))

(deftest the-first-close-counts
  (let [c (doto (a/chan) a/close!), d (doto (a/chan) (a/close-with! boom))]
    (is (= [false false] [(a/close-with! c boom) (a/close-with! d (Exception.))]))
    (is (= [nil boom] [(a/<?? c) (thrown-by #(a/<?? d))]))))

(deftest a-cause-can-be-read-without-taking-it
  (is (= [nil nil boom] [(a/cause (a/chan)) (a/cause (doto (a/chan) a/close!)) (a/cause (doto (a/chan) (a/close-with! boom)))]))
  (is (identical? boom (let [p (a/async (throw boom))] (try (a/<?? p) (catch Throwable _)) (a/cause p))))
  (is (= :skein/bad-argument (error-of #(a/cause 1)))))

(deftest strict-and-limited-takes-are-functions
  (is (= [1 2] (await-port (a/go (mapv a/<? [(a/go 1) (a/go 2)])))))
  (is (= [1 :late] (await-port (a/go (mapv #(a/<!within % 1 :late) [(doto (a/chan 1) (a/put! 1)) (a/chan)])))))
  (is (identical? boom (thrown-by #(a/<?? (a/go (mapv a/<? [(a/async (throw boom))]))))))
  (is (re-find #"<\?.* used not in \(go" (ex-message (thrown-by #(a/<? (a/chan))))))
  (is (re-find #"<!within used not in \(go" (ex-message (thrown-by #(a/<!within (a/chan) 1 nil))))))

(deftest every-kind-of-channel-keeps-a-cause
  (doseq [c [(a/chan 1 (map inc)) (a/promise-chan) (a/timeout 60000) (a/go (a/<! (a/chan)))]]
    (a/close-with! c boom)
    (is (identical? boom (within-deadline (thrown-by #(a/<?? c)))))))

(deftest a-cause-must-be-an-exception
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument]
         [(error-of #(a/close-with! (a/chan) nil))
          (error-of #(a/close-with! (a/chan) "why"))
          (error-of #(a/close-with! 1 boom))]))
  (is (= [:skein/bad-argument :skein/bad-argument] [(error-of #(a/closed? 1)) (error-of #(a/closed? nil))])))

;;;; Takes with a time limit

(deftest a-take-within-a-time
  (let [c (a/chan 1)]
    (is (= [:late :late]
           [(await-port (a/go (a/<!within c 1 :late)))
            (within-deadline (a/<!!within c 1 :late))]))
    (is (true? (a/offer! c 1)))
    (is (= 1 (await-port (a/go (a/<!within c 60000 :late)))) "nothing was taken before")
    (a/>!! c false)
    (is (false? (within-deadline (a/<!!within c 60000 :late))))
    (a/close! c)
    (is (nil? (within-deadline (a/<!!within c 60000 :late))))))

(deftest a-time-limit-is-a-number
  (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument]
         [(error-of #(a/<!!within (a/chan) "1" :late))
          (error-of #(a/<!!within nil 1 :late))
          (within-deadline (error-of #(a/<?? (a/async (a/<!within (a/chan) nil :late)))))]))
  (is (= [:late 1 :late] (within-deadline [(a/<!!within (a/chan) -1 :late)
                                           (a/<!!within (a/go 1) Long/MAX_VALUE :late)
                                           (a/<!!within (a/chan) 1/2 :late)]))))

(deftest a-take-in-time-leaves-no-timer
  (let [before (skein.rt.schedule.Timeout/outstanding)]
    (dotimes [_ 100] (a/<!!within (doto (a/chan 1) (a/put! 1)) 600000 :late))
    (is (> (+ before 50) (skein.rt.schedule.Timeout/outstanding)))))
