;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.channels-test
  (:require
   [clojure.test :refer [deftest is testing]]
   [clojure.test.check :as check]
   [clojure.test.check.generators :as gen]
   [clojure.test.check.properties :as prop]
   [skein.async :as a]
   [skein.async.channels :as channels]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (clojure.lang ExceptionInfo)
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
           [(channels/closed? c)
            (do (a/close! c) (channels/closed? c))
            (a/<!! c)
            (channels/closed? (doto (a/timeout 1) a/<!!))]))))

(deftest a-cause-is-thrown-by-strict-takes-only
  (let [c (a/chan 2)
        early (a/go (try (a/<! c) (a/<? c) (catch Throwable t t)))]
    (a/>!! c 1)
    (is (nil? (channels/close-with! c boom)))
    (is (identical? boom (await-port early)))
    (is (= [nil false nil] [(a/<!! c) (a/>!! c 2) (a/poll! c)]))
    (is (identical? boom (thrown-by #(a/<?? c))))
    (is (identical? boom (thrown-by #(let [[v p] (a/alts!! [c])] (a/rethrow p v)))))))

(deftest values-come-before-the-cause
  (let [c (doto (a/chan 2) (a/put! 1) (a/put! 2) (channels/close-with! boom))]
    (is (= [1 2 boom] [(a/<?? c) (a/<?? c) (thrown-by #(a/<?? c))]))))

(defn- failed
  "Returns a channel of 1, closed because of boom."
  []
  (doto (a/chan 1) (a/put! 1) (channels/close-with! boom)))

(defn- failed-block
  "Returns the port of an `async` block that has failed with boom."
  []
  (a/async (throw boom)))

(deftest a-cause-goes-from-channel-to-channel
  (doseq [failed [failed failed-block]
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
                      "gate" (let [out (a/chan 1)] (a/tap (a/mult (failed)) (channels/gate :slide out)) out)
                      "map>" (let [out (a/chan 1)] (a/pipe (failed) (a/map> inc out)) out)
                      "gate after gate" (let [out (a/chan 1)]
                                          (a/pipe (failed) (channels/gate :drop (channels/gate :block out)))
                                          out)
                      "pub" (a/sub (a/pub (failed) any?) true (a/chan 1))
                      "filter<" (a/filter< any? (failed))
                      "mapcat<" (a/mapcat< vector (failed))}]
    (testing what
      (is (identical? boom (within-deadline (thrown-by #(loop [] (when (some? (a/<?? out)) (recur)))))))))
  (is (= [1 nil] (let [one (a/take 1 (failed))] [(a/<!! one) (a/<?? one)])) "a take that has its values does not fail")
  (is (nil? (within-deadline (let [out (a/pipe (failed) (a/chan 1) false)] (a/<!! out) (a/poll! out)))) "an output that stays open does not fail"))

(deftest a-partial-reduction-is-no-result
  (doseq [failed [failed failed-block]
          reduction [#(a/reduce + 0 %) #(a/transduce (map inc) + 0 %) #(a/into [] %)]
          :let [^Channel port (reduction (failed))]]
    (is (identical? boom (within-deadline (thrown-by #(a/<?? port)))))
    (is (.isFailed port) "no handler has been told"))
  (is (= [1] (within-deadline (a/<!! (a/into [] (a/go 1))))))
  (is (= 1 (within-deadline (a/<!! (a/reduce (fn [_ v] (reduced v)) 0 (failed))))) "a reduction that has ended does not fail"))

;; As in core.async: the uncaught-exception handler has the exception of a `go` block, and channels do not.
(deftest a-failed-go-block-has-no-values
  (doseq [[expected values] {[] #(a/into [] %), [:none] #(a/into [:none] (a/pipe % (a/chan)))}
          :let [port (volatile! nil)]]
    (is (identical? boom (second (await-uncaught #{boom} #(vreset! port (values (a/go (throw boom))))))))
    (is (= expected (within-deadline (a/<?? @port))))))

(deftest the-first-close-counts
  (let [c (doto (a/chan) a/close! (channels/close-with! boom))
        d (doto (a/chan) (channels/close-with! boom) (channels/close-with! (Exception.)))]
    (is (= [nil boom] [(a/<?? c) (thrown-by #(a/<?? d))]))))

(deftest every-kind-of-channel-keeps-a-cause
  (doseq [c [(a/chan 1 (map inc)) (a/promise-chan) (a/timeout 60000) (a/go (a/<! (a/chan)))]]
    (channels/close-with! c boom)
    (is (identical? boom (within-deadline (thrown-by #(a/<?? c)))))))

(deftest a-cause-must-be-an-exception
  (is (= [:skein/bad-cause :skein/bad-cause :skein/not-a-channel]
         [(error-of #(channels/close-with! (a/chan) nil))
          (error-of #(channels/close-with! (a/chan) "why"))
          (error-of #(channels/close-with! 1 boom))]))
  (is (= [:skein/not-a-channel :skein/not-a-channel] [(error-of #(channels/closed? 1)) (error-of #(channels/closed? nil))])))

;;;; Takes with a time limit

(deftest a-take-within-a-time
  (let [c (a/chan 1)]
    (is (= [:late :late]
           [(await-port (a/go (channels/<!within 1 c :late)))
            (within-deadline (channels/<!!within 1 c :late))]))
    (is (true? (a/offer! c 1)))
    (is (= 1 (await-port (a/go (channels/<!within 60000 c :late)))) "nothing was taken before")
    (a/>!! c false)
    (is (false? (within-deadline (channels/<!!within 60000 c :late))))
    (a/close! c)
    (is (nil? (within-deadline (channels/<!!within 60000 c :late))))))

(deftest a-time-limit-is-a-number
  (is (= [:skein/bad-number :skein/not-a-port :skein/bad-number]
         [(error-of #(channels/<!!within "1" (a/chan) :late))
          (error-of #(channels/<!!within 1 nil :late))
          (within-deadline (error-of #(a/<?? (a/async (channels/<!within nil (a/chan) :late)))))]))
  (is (= [:late 1 :late] (within-deadline [(channels/<!!within -1 (a/chan) :late)
                                           (channels/<!!within Long/MAX_VALUE (a/go 1) :late)
                                           (channels/<!!within 1/2 (a/chan) :late)]))))

(deftest a-take-in-time-leaves-no-timer
  (let [before (skein.rt.schedule.Timeout/outstanding)]
    (dotimes [_ 100] (channels/<!!within 600000 (doto (a/chan 1) (a/put! 1)) :late))
    (is (> (+ before 50) (skein.rt.schedule.Timeout/outstanding)))))

;;;; Batches

(deftest all-batches-but-the-last-are-full
  (is (= [[0 1 2] [3 4 5] [6]] (await-port (a/into [] (channels/batch 3 (a/to-chan! (range 7)))))))
  (is (= [] (await-port (a/into [] (channels/batch {:size 3 :within 1} (a/to-chan! [])))))))

(deftest a-batch-does-not-wait-longer-than-it-may
  (let [in (a/chan)
        out (channels/batch {:size 100 :within 5} in)]
    (a/>!! in 1)
    (a/>!! in 2)
    (is (= 1 (first (await-port out))) "before the batch is full, and before in closes")
    (a/close! in)
    (is (every? seq (await-port (a/into [] out))))))

(def ^:private nothing-lost
  (prop/for-all [values (gen/vector gen/small-integer)
                 size (gen/choose 1 5)
                 within (gen/elements [nil 1 1000])
                 pause-every (gen/choose 1 10)]
    (let [in (a/chan)
          out (a/into [] (channels/batch {:size size :within within} in))]
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
  (let [out (channels/batch 5 (doto (a/chan 1) (a/put! 1) (channels/close-with! boom)))]
    (is (= [[1] boom] (within-deadline [(a/<?? out) (thrown-by #(a/<?? out))]))))
  (testing "and stops when its output closes"
    (let [in (a/chan)
          out (channels/batch {:size 1} in)]
      (a/close! out)
      (a/>!! in 1)
      (is (nil? (a/offer! in 2))))))

(deftest a-batch-whose-time-is-over-at-once-has-what-is-there
  (doseq [ms [0 -1]]
    (is (= [1] (await-port (channels/batch {:size 9 :within ms} (doto (a/chan 1) (a/put! 1))))))))

(deftest a-batch-of-nothing-is-refused
  (is (= [:skein/bad-number :skein/bad-number :skein/bad-number :skein/not-a-port :skein/bad-option]
         (mapv error-of [#(channels/batch {:size 0} (a/chan))
                         #(channels/batch {} (a/chan))
                         #(channels/batch {:size 1 :within "1"} (a/chan))
                         #(channels/batch {:size 1} [1 2])
                         #(channels/batch {:size 1 :other 1} (a/chan))]))))

;;;; Slow takers

(defn- through-gate
  "Puts 1, 2, 3 through a gate before a channel of one value. Returns what the puts gave,
  what the channel held, what was dropped."
  [policy]
  (let [dropped (atom [])
        c (a/chan 1)
        g (channels/gate {:policy policy :on-drop #(swap! dropped conj %)} c)
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
        g (channels/gate :disconnect c)]
    (is (false? (a/>!! g 1)))
    (is (= {:skein/error :skein/slow-taker} (ex-data (thrown-by #(a/<?? c)))))))

(deftest a-gate-is-a-port-like-any-other
  (let [c (a/chan 1)
        g (channels/gate :drop c)]
    (is (= [true true 1] [(a/>!! g 1) (await-port (a/go (a/>! g 2))) (a/<!! c)]))
    (is (= [true g] (a/alts!! [[g 3]])))
    (is (thrown? IllegalArgumentException (a/>!! g nil)))
    (is (= [false true] [(channels/closed? g) (do (a/close! g) (channels/closed? c))]))
    (is (false? (a/>!! g 4)))
    (is (= [:skein/bad-policy :skein/not-a-port :skein/bad-option]
           [(error-of #(channels/gate :hope c)) (error-of #(channels/gate :drop 1))
            (error-of #(channels/gate {:policy :drop :other 1} c))]))))

(deftest a-gate-survives-an-on-drop-that-throws
  (let [g (channels/gate {:policy :drop :on-drop (fn [_] (throw boom))} (a/chan))]
    (doseq [put [#(a/put! g 1) #(a/>!! g 1) #(first (a/alts!! [[g 1]])) #(a/<!! (a/go (a/>! g 1)))
                 #(a/<!! (a/go (first (a/alts! [[g 1] (a/chan)]))))]]
      (is (= [true boom] (await-uncaught #(identical? boom %) (fn [] (within-deadline (put)))))))
    (is (= :skein/not-a-function (error-of #(channels/gate {:policy :drop :on-drop 5} (a/chan)))))))

(deftest slow-taps-do-not-delay-others
  (doseq [policy [:drop :slide :disconnect]]
    (testing policy
      (let [source (a/chan)
            m (a/mult source)
            quick (a/tap m (a/chan 1000))
            slow (a/chan 1)]
        (a/tap m (channels/gate policy slow))
        (within-deadline (dotimes [i 1000] (a/>!! source i)))
        (a/close! source)
        (is (= (range 1000) (await-port (a/into [] quick))))
        (is (= ({:drop [0] :slide [999] :disconnect [0]} policy) (until-closed slow)))))))

(deftest slow-subscriptions-do-not-delay-others
  (let [source (a/chan)
        p (a/pub source odd?)
        slow (a/chan)
        quick (a/sub p true (a/chan 100))]
    (a/sub p true (channels/gate :disconnect slow))
    (within-deadline (dotimes [i 100] (a/>!! source i)))
    (a/close! source)
    (is (= (filter odd? (range 100)) (await-port (a/into [] quick))))
    (is (instance? ExceptionInfo (thrown-by #(a/<?? slow))))))
