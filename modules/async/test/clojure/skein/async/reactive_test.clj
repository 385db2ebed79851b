;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.reactive-test
  "Publishers and subscribers: the Reactive Streams technology compatibility kit, and what it does
  not test of channels."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.reactive :as reactive]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.uncaught :refer [await-uncaught]])
  (:import
   (java.util.concurrent Flow$Publisher Flow$Subscriber Flow$Subscription SubmissionPublisher)
   (org.testng ITestResult TestListenerAdapter TestNG)
   (skein.rt Channel)))

(set! *warn-on-reflection* true)

;;;; The compatibility kit. Its classes, in skein.reactive, call the first three functions.

(defn publisher-of
  "A publisher of `n` numbers."
  [n]
  (let [c (a/chan 4)]
    (a/go-loop [i 0]
      (if (and (< i (long n)) (a/>! c i))
        (recur (inc i))
        (a/close! c)))
    (reactive/publisher c)))

(defn failed-publisher
  "A publisher of a channel that was closed with a cause."
  []
  (reactive/publisher (doto ^Channel (a/chan) (.close ^Throwable (ex-info "failed" {})))))

(defn draining-subscriber
  "A subscriber to a channel from which everything is taken."
  []
  (let [c (a/chan)]
    (a/go-loop [] (when (some? (a/<! c)) (recur)))
    (reactive/subscriber {:window 4} c)))

(defn- run-kit
  "Runs the kit's tests in the classes. Returns {:passed n :failed [[name message]...]}."
  [& class-names]
  (let [outcomes (TestListenerAdapter.)]
    (doto (TestNG. false)
      (.setTestClasses (into-array Class (map (fn [^String n] (Class/forName n)) class-names)))
      (.setVerbose 0)
      (.addListener outcomes)
      (.run))
    {:passed (count (.getPassedTests outcomes))
     :failed (mapv (fn [^ITestResult r] [(.getName r) (str (.getThrowable r))]) (.getFailedTests outcomes))}))

(deftest publishers-keep-the-rules
  (let [{:keys [passed failed]} (run-kit "skein.reactive.PublisherTck")]
    (is (= [] failed))
    (is (< 20 (long passed)) "the kit has run")))

(deftest subscribers-keep-the-rules
  (let [{:keys [passed failed]} (run-kit "skein.reactive.SubscriberTck")]
    (is (= [] failed))
    (is (< 8 (long passed)) "the kit has run")))

;;;; From a channel

(defn- recorder
  "A subscriber that puts each signal on `signals`, and its subscription first."
  ^Flow$Subscriber [signals]
  (reify Flow$Subscriber
    (onSubscribe [_ s] (a/put! signals s))
    (onNext [_ v] (a/put! signals [:next v]))
    (onError [_ t] (a/put! signals [:error t]))
    (onComplete [_] (a/put! signals [:complete]))))

(defn- subscribe
  "Subscribes a recorder; returns [subscription signals]."
  [^Flow$Publisher publisher]
  (let [signals (a/chan 100)]
    (.subscribe publisher (recorder signals))
    [(await-port signals) signals]))

(deftest values-are-taken-as-they-are-requested
  (let [c (a/chan 3)
        _ (run! #(a/>!! c %) [1 2 3])
        [^Flow$Subscription s signals] (subscribe (reactive/publisher c))]
    (.request s 2)
    (is (= [[:next 1] [:next 2]] [(await-port signals) (await-port signals)]))
    (is (= 3 (await-port c)) "what was not requested is still there")
    (a/close! c)
    (.request s 1)
    (is (= [:complete] (await-port signals)))))

(deftest a-cancelled-subscription-loses-nothing
  (let [c (a/chan)
        [^Flow$Subscription s signals] (subscribe (reactive/publisher c))]
    (.request s 10)
    (a/>!! c 1)
    (is (= [:next 1] (await-port signals)))
    (.cancel s)
    (within-deadline (while (pos? (.takerCount ^Channel c)) (Thread/onSpinWait)))
    (is (nil? (a/offer! c 2)))))

(deftest a-subscriber-that-throws-gets-nothing-more
  (let [boom (ex-info "boom" {})
        signals (a/chan 10)
        c (doto (a/chan 3) (a/put! 1) (a/put! 2) (a/put! 3))
        subscriber (reify Flow$Subscriber
                     (onSubscribe [_ s] (.request s 10))
                     (onNext [_ v] (a/put! signals v) (throw boom))
                     (onError [_ t] (a/put! signals t))
                     (onComplete [_] (a/put! signals :complete)))]
    (is (= [nil boom] (await-uncaught #(identical? boom %)
                                      (fn [] (.subscribe (reactive/publisher c) subscriber)))))
    (a/close! c)
    (is (= [1 [2 3] nil] [(await-port signals) (await-port (a/into [] c)) (a/poll! signals)]))))

(deftest subscribers-share-a-channel
  (let [c (a/to-chan! (range 100))
        p (reactive/publisher c)
        drain (fn [] (let [to (a/chan)] (.subscribe p (reactive/subscriber to)) (a/into [] to)))
        [one two] [(drain) (drain)]]
    (is (= (range 100) (sort (concat (await-port one) (await-port two)))))))

(deftest a-closed-channel-passes-on-its-cause
  (let [boom (ex-info "boom" {})
        c (doto ^Channel (a/chan) (.close ^Throwable boom))
        to (a/chan)]
    (.subscribe (reactive/publisher c) (reactive/subscriber to))
    (is (= boom (within-deadline (try (a/<?? to) (catch Throwable t t)))))))

;;;; To a channel

(deftest no-more-is-requested-than-the-window
  (let [requests (a/chan 100)
        s (reify Flow$Subscription
            (request [_ n] (a/put! requests n))
            (cancel [_] (a/put! requests :cancelled)))
        c (a/chan)
        subscriber (reactive/subscriber {:window 4} c)]
    (.onSubscribe subscriber s)
    (is (= 4 (await-port requests)))
    (dotimes [i 4] (.onNext subscriber i))
    (is (nil? (a/poll! requests)) "nothing was accepted yet")
    (is (= [0 1 2] (mapv (fn [_] (await-port c)) (range 3))))
    (is (= 2 (await-port requests)))
    (testing "a second subscription is refused"
      (.onSubscribe subscriber s)
      (is (= :cancelled (await-port requests))))
    (testing "a closed channel ends the subscription"
      (a/close! c)
      (.onNext subscriber 4)
      (is (= :cancelled (await-port requests))))))

(deftest a-publisher-of-the-jdk-feeds-a-channel
  (with-open [p (SubmissionPublisher.)]
    (let [c (a/chan)
          all (a/into [] c)]
      (.subscribe p (reactive/subscriber c))
      (dotimes [i 1000] (.submit p i))
      (.close p)
      (is (= (range 1000) (await-port all))))))

(deftest bad-arguments-are-refused
  (let [error (fn [f] (try (f) (catch Exception e (:skein/error (ex-data e)))))]
    (is (= [:skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument :skein/bad-argument]
           (mapv error [#(reactive/publisher 1)
                        #(reactive/subscriber nil)
                        #(reactive/subscriber {:window 0} (a/chan))
                        #(reactive/subscriber {:window 1025} (a/chan))
                        #(reactive/subscriber {:window "8"} (a/chan))
                        #(reactive/subscriber {:other 1} (a/chan))])))))
