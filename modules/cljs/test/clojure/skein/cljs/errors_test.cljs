;; SPDX-License-Identifier: Apache-2.0
(ns skein.cljs.errors-test
  (:require-macros
   [skein.cljs.testing :refer [defblock]])
  (:require
   [cljs.test :refer-macros [is]]
   [skein.async :as a :refer [<! <? >! alts! async chan close! go put! take! timeout]]
   [skein.rt.failures :as failures]
   [skein.rt.scheduler :as scheduler]))

(set! failures/report-ms 50) ; shorter than usual

(defn- reported-while
  "Calls `f` and returns a channel of the vector of what is reported until its channel has closed and untaken exceptions are reported."
  [f]
  (let [report scheduler/report
        reported (atom [])]
    (set! scheduler/report (fn [e] (swap! reported conj e) nil))
    (go (<! (f))
        (<! (timeout (* 2 failures/report-ms)))
        (set! scheduler/report report)
        @reported)))

(defblock a-thousand-blocks-that-throw-delay-nothing
  (let [ended (chan 1000)
        reported (<! (reported-while
                       (fn [] (dotimes [i 1000]
                                (go (throw (ex-info "expected" {:i i})))
                                (go (>! ended i)))
                         (a/into [] (a/take 1000 ended)))))]
    (is (= (range 1000) (map (comp :i ex-data) reported)))))

(defblock a-block-that-throws-closes-its-port
  (let [port (volatile! nil)]
    (<! (reported-while (fn [] (vreset! port (go (throw (js/Error. "expected")))))))
    (is (nil? (<! @port)))))

(defblock an-async-block-keeps-the-same-exception
  (let [e (js/Error. "expected")]
    (is (identical? e (try (<? (async (<! (timeout 1)) (throw e))) (catch :default caught caught))))
    (is (identical? e (try (<? (async (throw e))) (catch :default caught caught))))
    (is (= 1 (<? (async 1))))
    (is (nil? (<? (async nil))))
    (let [failed (async (throw e))]
      (is (nil? (<! failed)))
      (is (identical? e (try (<? failed) (catch :default caught caught)))))))

(defblock a-channel-closes-with-a-cause
  (let [e (js/Error. "expected"), c (chan 1)]
    (put! c 1)
    (is (= [false nil] [(a/closed? c) (a/cause c)]))
    (is (= [true false] [(a/close-with! c e) (a/close-with! c (js/Error. "later"))]))
    (is (true? (a/closed? c)))
    (is (identical? e (a/cause c)))
    (is (= 1 (<? c)))
    (is (nil? (<! c)))
    (is (identical? e (try (<? c) (catch :default caught caught))))))

(defblock a-take-within-a-time
  (is (= :late (a/<!within (chan) 1 :late)))
  (is (= 1 (a/<!within (go 1) 60000 :late))))

(defn- take-outside [] (<? (chan)))

(defblock a-take-outside-of-a-block-names-itself
  (is (= "Assert failed: <? used not in (go ...) block" (try (take-outside) (catch :default e (ex-message e))))))

(defn- fails [message]
  (let [iterable #js {}]
    (unchecked-set iterable js/Symbol.asyncIterator (fn [] #js {:next (fn [] (js/Promise.reject (js/Error. message)))}))
    iterable))

(defblock only-what-nobody-has-taken-is-reported
  (let [reported (<! (reported-while
                       (fn []
                         (go (doseq [fail [#(go (throw (js/Error. %))) #(async (throw (js/Error. %))) #(js/Promise.reject (js/Error. %)) fails]]
                               (<! (fail "not taken"))
                               (try (<? (fail "taken")) (catch :default _))
                               (let [out (chan)]
                                 (a/close-with! out (a/cause (doto (fail "taken elsewhere") (-> <!))))
                                 (try (<? out) (catch :default _))))))))]
    (is (= (repeat 4 "not taken") (map ex-message reported)))))

(defblock exceptions-pass-through-a-chain
  (let [e (js/Error. "expected")
        a (async (<! (timeout 1)) (throw e))
        b (async (inc (<? a)))
        c (async (inc (<? b)))]
    (is (identical? e (try (<? c) (catch :default caught caught))))))

(defn- failing [] (async (<! (timeout 1)) (throw (js/Error. "expected"))))
(defn- middle [] (async (<? (failing))))

(defblock a-stack-trace-names-the-blocks-of-a-chain
  (let [e (try (<? (middle)) (catch :default e e))
        stack (unchecked-get e "stack")]
    ;; Names are gone once compiled by Closure.
    (if ^boolean js/COMPILED
      (is (string? stack))
      (is (= ["failing" "middle" "block"] (dedupe (map second (re-seq #"(\w+)\$go\d+" stack)))) stack))))

(defblock callbacks-that-throw-are-reported
  (let [c (chan)
        reported (<! (reported-while
                       (fn []
                         (take! c (fn [_] (throw (js/Error. "take"))))
                         (put! c 1 (fn [_]))
                         (timeout 5))))]
    (is (= ["take"] (map ex-message reported)))))

(defblock what-a-transducer-throws-is-reported
  (let [c (chan 1 (map (fn [_] (throw (js/Error. "step")))))
        reported (<! (reported-while (fn [] (put! c 1) (go))))]
    (is (= ["step"] (map ex-message reported)))))

(defblock what-an-exception-handler-throws-is-reported
  (let [c (chan 1 (map (fn [_] (throw (js/Error. "step")))) (fn [_] (throw (js/Error. "handler"))))
        accepted (volatile! nil)
        reported (<! (reported-while (fn [] (vreset! accepted (put! c 1)) (go))))]
    (is (= [true ["handler"]] [@accepted (map ex-message reported)]))))

(defblock nil-from-a-mapping-is-reported
  (let [reported (<! (reported-while (fn [] (a/into [] (a/map (constantly nil) [(a/to-chan! [1])])))))]
    (is (= [:skein/nil-put] (map (comp :skein/error ex-data) reported)))))
