;; SPDX-License-Identifier: Apache-2.0
(ns skein.impl.port-test
  "What operations refuse, at the call and before anything has begun."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.async :as a]
   [skein.async.spi :as spi]
   [skein.impl.port :as port])
  (:import
   (clojure.lang ExceptionInfo)))

(set! *warn-on-reflection* true)

(defn- refusal
  "The :skein/error of what `f` throws."
  [f]
  (try (f) :accepted (catch ExceptionInfo e (:skein/error (ex-data e)))))

(defmacro ^:private refused-as
  "Asserts that each of the forms throws the error."
  [error & forms]
  `(do ~@(for [form forms]
           `(is (= ~error (refusal (fn [] ~form))) ~(pr-str form)))))

(deftest takes-refuse-non-ports
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/pipe nil c) (a/split odd? 1) (a/take 1 nil) (a/merge [c :no]) (a/map + [c nil])
                (a/reduce + 0 nil) (a/into [] nil) (a/transduce (map inc) + 0 nil)
                (a/pipeline 1 c (map inc) nil) (a/pipeline-blocking 1 c (map inc) nil)
                (a/pipeline-async 1 c (fn [_ _]) nil)
                (a/mult nil) (a/pub nil identity) (a/admix (a/mix c) nil) (a/toggle (a/mix c) {:no {:mute true}}))))

(deftest puts-refuse-non-ports
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/pipe c nil) (a/onto-chan! nil [1]) (a/onto-chan!! nil [1]) (a/mix nil)
                (a/tap (a/mult c) nil) (a/sub (a/pub c identity) 1 nil)
                (a/pipeline 1 nil (map inc) c) (a/pipeline-async 1 nil (fn [_ _]) c))))

(deftest operations-refuse-non-ports
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/<!! nil) (a/>!! 5 1) (a/close! nil) (a/poll! "c") (a/offer! nil 1) (a/take! nil identity) (a/put! 5 1)
                (a/put! nil 1 identity) (a/alts!! [5]) (a/alts!! [[5 1]]) (a/alts!! [c nil])
                (a/<?? (a/async (a/<! nil))) (a/<?? (a/async (a/>! 5 1))) (a/<?? (a/async (a/alts! [7])))
                (a/<?? (a/async (a/<? :no))))
    (refused-as :skein/bad-argument
                (a/alts!! c) (a/alts!! 5) (a/alts!! [[c]]) (a/<?? (a/async (a/alts! c))) (spi/do-alts identity 5 {}))))

(deftest refusals-name-the-argument-and-its-value
  (let [message (fn [f] (try (f) (catch clojure.lang.ExceptionInfo e (ex-message e))))
        c (a/chan)]
    (is (= "chan of close! must be a channel, but is nil. [:skein/bad-argument]" (message #(a/close! nil))))
    (is (= "The port of a put must be a channel, which comes before the value, but is 1. [:skein/bad-argument]" (message #(a/>!! 1 c))))
    (is (re-find #"a channel \(take from a future by deref, or load skein.async.interop\), but is " (message #(a/<!! (atom 1)))) "an atom, since a promise is a port once skein.async.interop is loaded")
    (is (= "from of pipeline must be a channel to take from, but is #<function of clojure.core/map>. [:skein/bad-argument]"
           (message #(a/pipeline 1 c c (map inc)))))))

(defn- channel-of-core-async
  "Returns an object whose class has the name of a class of core.async."
  []
  (let [its-name 'clojure.core.async.impl.channels.unknown]
    (try
      (binding [*ns* (create-ns its-name)]
        (eval '(do (clojure.core/deftype Unknown []) (Unknown.))))
      (finally (remove-ns its-name)))))

(deftest a-channel-of-core-async-is-refused-with-advice
  (let [c (channel-of-core-async)]
    (doseq [f [#(a/<!! c) #(a/>!! c 1) #(a/alts!! [c]) #(a/close! c) #(a/pipe c (a/chan))]]
      (is (thrown-with-msg? clojure.lang.ExceptionInfo #"load skein.async.coexist" (f))))))

(deftest wrong-hubs-are-refused
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/tap c c) (a/untap c c) (a/untap-all nil) (a/admix c c) (a/unmix c c) (a/unmix-all c) (a/toggle c {})
                (a/solo-mode c :mute) (a/sub c 1 c) (a/unsub c 1 c) (a/unsub-all c) (a/unsub-all c 1))))

(deftest numbers-and-collections-are-checked
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/timeout nil) (a/timeout "5") (a/timeout ##NaN) (a/buffer nil)
                (a/dropping-buffer nil) (a/sliding-buffer "1") (a/take nil c) (a/pipeline nil c (map inc) c)
                (a/pipeline-blocking nil c (map inc) c))
    (refused-as :skein/bad-argument
                (a/toggle (a/mix c) 5) (a/toggle (a/mix c) "x") (a/into 5 c) (a/merge 5) (a/map + 5) (a/to-chan! 5)
                (a/to-chan!! 5) (a/onto-chan! c 5) (a/onto-chan!! c 5))))

(deftest wrong-buffers-are-refused
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (a/split odd? c :k 1) (a/split odd? c 1 :k) (a/take 1 c :k) (a/map + [c] :k) (a/merge [c] :k))))

(deftest non-functions-are-refused
  (let [c (a/chan)]
    (refused-as :skein/bad-argument
                (spi/do-alts 5 [c] {}) (a/take! c 5) (a/put! c 1 5) (a/chan 1 5) (a/chan 1 (map inc) 5) (a/pipeline 1 c nil c) (a/thread-call nil)
                (a/split "no" c) (a/map 1 [c]) (a/reduce 1 0 c) (a/transduce 1 + 0 c) (a/transduce (map inc) 1 0 c) (a/pub c 1) (a/pub c identity 1)
                (a/pipeline-async 1 c "no" c) (a/promise-chan 5) (a/promise-chan (map inc) 5)
                (a/pipeline-blocking 1 c nil c) (a/pipeline-blocking 1 c (map inc) c true 5))))

(deftest valid-arguments-are-returned
  (let [c (a/chan)]
    (is (= [c c :k 1] [(port/source "c" c) (port/target "c" c) :k 1])))
  (let [port (reify spi/ReadPort)]
    (is (identical? port (port/source "port" port)))))
