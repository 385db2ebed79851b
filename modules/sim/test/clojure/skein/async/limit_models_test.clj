;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.limit-models-test
  "Circuit breakers and shared calls, in virtual time."
  (:require
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.async.limit :as limit]
   [skein.scope :as scope]
   [skein.sim :as sim]))

(set! *warn-on-reflection* true)

(defn- pause [ms] (a/<!! (a/timeout ms)))

(defn- call
  "Calls with a permit what succeeds or fails. Returns :ok, \"down\" or the error."
  [breaker outcome]
  (try
    (limit/with-permit breaker (if (= :ok outcome) :ok (throw (ex-info "down" {}))))
    (catch Exception e (or (:skein/error (ex-data e)) (ex-message e)))))

(deftest a-breaker-opens-and-closes
  (sim/check {:schedules 3}
    (let [breaker (limit/circuit-breaker {:size 4 :share 0.5 :open-ms 1000 :name "db"})
          calls (fn [& outcomes] (mapv (partial call breaker) outcomes))]
      (is (= [:ok :ok "down"] (calls :ok :ok :failed)))
      (is (= {:name "db" :phase :closed :outcomes 3 :failed 1} (limit/status breaker)))
      (is (= ["down" :skein/circuit-open] (calls :failed :ok)) "two of four have failed")
      (is (= 1000 (try (limit/with-permit breaker 1) (catch Exception e (:retry-after-ms (ex-data e))))))
      (pause 1000)
      (is (= :half-open (:phase (limit/status breaker))))
      (is (= ["down" :skein/circuit-open] (calls :failed :ok)) "the probe has failed")
      (pause 1000)
      (is (= [:ok "down" "down" :ok :ok] (calls :ok :failed :failed :ok :ok)) "closed by the probe, without memory")
      (is (= :open (:phase (limit/status breaker)))))))

(deftest outcomes-of-an-earlier-phase-do-not-count
  (sim/check {:schedules 3}
    (let [breaker (limit/circuit-breaker {:size 1 :open-ms 1000 :probes 2})
          [a b] [(a/<!! breaker) (a/<!! breaker)]]
      (limit/release! a :failed)
      (pause 1000)
      (let [[p q r] (repeatedly 3 #(a/<!! breaker))]
        (is (nil? r) "two probes")
        (limit/release! b :failed)
        (limit/release! p :ok)
        (limit/release! q :ignored)
        (is (= :half-open (:phase (limit/status breaker))))
        (limit/release! (a/<!! breaker) :ok)
        (is (= :closed (:phase (limit/status breaker)))))))
  (testing "and a probe that does not come back opens the breaker again"
    (sim/check {:schedules 3}
      (let [breaker (limit/circuit-breaker {:size 1 :open-ms 1000})]
        (call breaker :failed)
        (pause 1000)
        (let [probe (a/<!! breaker)]
          (pause 1500)
          (is (= [:open nil] [(:phase (limit/status breaker)) (a/<!! breaker)]))
          (limit/release! probe :ok)
          (pause 500)
          (is (some? (a/<!! breaker))))))))

(deftest what-is-no-failure-does-not-count
  (sim/check {:schedules 3}
    (let [breaker (limit/circuit-breaker {:size 1 :failure? #(not= "down" (ex-message %))})]
      (is (= ["down" "down"] [(call breaker :failed) (call breaker :failed)]))
      (scope/scope [s]
        (let [waits (scope/fork s (limit/with-permit breaker (a/<!! (a/chan))))]
          (sim/settle)
          (future-cancel waits)))
      (is (= :ok (call breaker :ok)) "a cancellation does not count"))))

(deftest equal-calls-are-shared
  (sim/check {:schedules 20}
    (let [calls (atom [])
          f (limit/single-flight (fn [id] (swap! calls conj id) (pause 10) (case id :bad (throw (ex-info "bad" {})) nil nil id)))
          answer (fn [port] (try (a/<?? port) (catch Exception e (ex-message e))))
          ports (mapv f [1 1 2 :bad :bad nil])]
      (is (= [1 1 2 "bad" "bad" nil] (mapv answer ports)))
      (is (= {1 1, 2 1, :bad 1, nil 1} (frequencies @calls)))
      (is (= 1 (answer (f 1))))
      (is (= 2 (get (frequencies @calls) 1)) "the one before has ended"))))

(deftest results-are-kept-but-not-exceptions
  (sim/check {:schedules 5}
    (let [calls (atom 0)
          f (limit/single-flight {:keep-ms 100 :max 2 :key (fn [x _] x)}
                                 (fn [x ok?] (swap! calls inc) (if ok? x (throw (ex-info "bad" {})))))
          ask (fn [x ok?] (let [before @calls] [(try (a/<?? (f x ok?)) (catch Exception e (ex-message e))) (- @calls before)]))]
      (is (= [["bad" 1] [1 1] [1 0] [1 0]] [(ask 1 false) (ask 1 true) (ask 1 true) (ask 1 false)]))
      (pause 101)
      (is (= [1 1] (ask 1 true)) "its time is over")
      (is (= [[2 1] [3 1] [2 0] [1 1]] [(ask 2 true) (ask 3 true) (ask 2 true) (ask 1 true)]) "no more than two are kept"))))

(deftest a-call-belongs-to-no-caller
  (sim/everywhere
    (let [f (limit/single-flight (fn [] (pause 10) :done)), first-caller (atom nil)]
      (try
        (scope/scope [s]
          (sim/target s)
          (scope/in-scope s (reset! first-caller (f)))
          (scope/go s (a/<? @first-caller)))
        (catch java.util.concurrent.CancellationException _))
      (when-some [port @first-caller]
        (is (= :done (a/<?? port)))))))
