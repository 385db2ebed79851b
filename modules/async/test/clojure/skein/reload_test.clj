;; SPDX-License-Identifier: Apache-2.0
(ns skein.reload-test
  "Objects from before Skein is loaded again continue to work, as after `:reload` or `:reload-all` at a REPL."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires
  '[[clojure.datafy :as datafy] [skein.async :as a] [skein.async.streams :as st] [skein.async.interop :as interop] [skein.async.limit :as limit]
    [skein.async.reactive :as reactive]
    [skein.errors :as errors] [skein.async.spi :as impl] [skein.scope :as scope] [skein.virtual :as virtual]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload))
          '[skein.async.spi skein.impl.foreign skein.impl.threads skein.async skein.scope skein.virtual skein.async.streams
            skein.async.interop skein.async.limit skein.async.reactive
            skein.errors])
    (require 'skein.async 'skein.scope 'skein.virtual 'skein.async.streams 'skein.async.interop 'skein.async.limit
             'skein.async.reactive 'skein.errors :reload-all)])

;; [name, the object, what is done with it, the result]. A foreign port is one that is not Skein's channel.
(def ^:private rows
  '[[:transducer (a/chan 1 (map inc)) (fn [c] (a/>!! c 1) (a/<!! c)) 2]
    [:timeout (a/timeout 60000) (fn [t] (a/close! t) (a/<!! t)) nil]
    [:promise-chan (a/promise-chan) (fn [c] (a/>!! c 1) [(a/<!! c) (a/<!! c)]) [1 1]]
    [:block (let [c (a/chan)] [c (a/go (inc (a/<! c)))]) (fn [[c port]] (a/>!! c 1) (a/<!! port)) 2]
    [:failed-channel (doto (a/chan) (a/close-with! (ex-info "boom" {}))) (fn [port] (try (a/<?? port) (catch Exception e (ex-message e)))) "boom"]
    [:thread (let [c (a/chan)] [c (a/thread (inc (a/<!! c)))]) (fn [[c port]] (a/>!! c 1) (a/<!! port)) 2]
    [:pipeline (let [from (a/chan) to (a/chan)] (a/pipeline 2 to (map inc) from) [from to]) (fn [[from to]] (a/>!! from 1) (a/<!! to)) 2]
    [:mult (let [c (a/chan)] [c (a/mult c)]) (fn [[c m]] (let [tap (a/tap m (a/chan 1))] (a/>!! c 1) (a/<!! tap))) 1]
    [:pub (let [c (a/chan)] [c (a/pub c :topic)]) (fn [[c p]] (let [sub (a/sub p 1 (a/chan 1))] (a/>!! c {:topic 1}) (a/<!! sub))) {:topic 1}]
    [:mix (let [c (a/chan 1)] [c (a/mix c)]) (fn [[c m]] (let [in (a/chan)] (a/admix m in) (a/>!! in 1) (a/<!! c))) 1]
    [:foreign-port
     (reify impl/ReadPort (take! [_ _] (impl/box 1)) impl/WritePort (put! [_ v _] (impl/box v)))
     (fn [p] [(a/<!! p) (a/>!! p 2) (first (a/alts!! [p])) (a/<!! (a/go (a/<! p)))])
     [1 2 1 1]]
    [:waits-for-foreign-ports
     (let [c (a/chan)
           got (future (a/alts!! [(reify impl/ReadPort (take! [_ h] (impl/take! c h))) (a/chan)]))]
       (while (zero? (:take-count (datafy/datafy c))) (Thread/yield))
       [c got])
     ;; The two handlers meet in the channel.
     (fn [[c got]]
       [(first (a/alts!! [[(reify impl/WritePort (put! [_ v h] (impl/put! c v h))) 1] (a/chan)])) (first @got)])
     [true 1]]
    [:own-type
     (do (deftype Own [] impl/ReadPort (take! [_ _] (impl/box 1))) (->Own))
     (fn [p] [(satisfies? impl/ReadPort p) (a/<!! p)])
     [true 1]]
    [:own-buffer
     (let [kept (java.util.LinkedList.)]
       (reify
         impl/Buffer (full? [_] false) (remove! [_] (.remove kept)) (add!* [b v] (.add kept v) b) (close-buf! [_])
         clojure.lang.Counted (count [_] (.size kept))))
     (fn [b] (let [c (a/chan b)] (a/>!! c 1) (a/<!! c)))
     1]
    [:gate (let [c (a/chan 1)] [c (st/gate :drop c)]) (fn [[c gate]] [(a/>!! gate 1) (a/>!! gate 2) (a/<!! c)]) [true true 1]]
    [:batch (let [in (a/chan)] [in (st/batch 2 in)]) (fn [[in out]] (a/>!! in 1) (a/>!! in 2) (a/<!! out)) [1 2]]
    [:concurrency-limiter
     (limit/concurrency-limiter {:n 1 :name "l"})
     (fn [lim] [(limit/with-permit lim 1) (limit/with-permit lim 2) (:in-use (limit/status lim))])
     [1 2 0]]
    [:permit
     (let [lim (limit/concurrency-limiter 1)] [lim (a/<!! lim)])
     (fn [[lim permit]] [(a/poll! lim) (limit/release! permit) (limit/with-permit lim 1)])
     [nil nil 1]]
    [:rate-limiter (limit/rate-limiter 1000) (fn [lim] [(a/<!! lim) (limit/with-permit lim 1) (:rate (limit/status lim))]) [true 1 1000]]
    [:scope
     (let [forks (promise) stuck (promise)
           opened (future (scope/scope [sc] (deliver forks (fn [f] (scope/fork sc (f)))) @stuck))]
       [@forks stuck opened])
     (fn [[fork stuck opened]] [@(fork (fn [] 1)) (do (deliver stuck 2) @opened)])
     [1 2]]
    [:cancelled-scope
     (let [opened (promise)
           ended (future (scope/scope [sc]
                           (let [child (scope/fork sc @(promise))]
                             (deliver opened sc)
                             (try @child (catch Throwable _ :cancelled)))))]
       [@opened ended])
     (fn [[sc ended]] (scope/cancel! sc) @ended)
     :cancelled]
    [:time-limit
     (let [go-on (promise)] [go-on (virtual/future (virtual/with-timeout 600000 @go-on))])
     (fn [[go-on ended]] (deliver go-on 1) @ended)
     1]
    [:lazy-window (virtual/pmap 2 inc (range 100)) (fn [xs] (reduce + xs)) 5050]
    [:retry
     (let [go-on (promise) n (atom 0)]
       [go-on (virtual/future (virtual/retry {:attempts 2 :backoff-ms 1} (fn [] @go-on (if (= 1 (swap! n inc)) (throw (ex-info "x" {})) @n))))])
     (fn [[go-on ended]] (deliver go-on 1) @ended)
     2]
    [:future (java.util.concurrent.CompletableFuture.) (fn [f] (let [got (a/go (a/<! f))] (.complete f 1) [(a/<!! got) (a/<!! f)])) [1 1]]
    [:taken-future
     (let [f (java.util.concurrent.CompletableFuture.)] [f (a/go (a/<! f))])
     (fn [[f got]] (.complete f 1) [(a/<!! got) (a/<!! f)])
     [1 1]]
    [:stage (let [c (a/chan)] [c (interop/->future c)]) (fn [[c f]] (a/>!! c 1) (.join f)) 1]
    [:values (let [c (a/chan 3)] [c (interop/->values c)]) (fn [[c xs]] (run! #(a/>!! c %) [1 2]) (a/close! c) (vec xs)) [1 2]]
    [:pmap (let [in (a/chan)] [in (st/pmap 2 inc in)]) (fn [[in out]] (a/>!! in 1) (a/<!! out)) 2]
    [:publisher
     (let [c (a/chan)] [c (reactive/publisher c)])
     (fn [[c published]]
       (let [got (a/chan 1)] (.subscribe published (reactive/subscriber got)) (a/>!! c 1) (a/<!! got)))
     1]
    [:spawn-traces
     (errors/set-spawn-traces! true)
     (fn [_]
       (errors/set-spawn-traces! false)
       (let [c (a/chan), port (a/async (a/<! c) (throw (ex-info "x" {})))]
         (a/>!! c 1)
         (try (a/<?? port) (catch Exception e (some #{:spawned-by} (map :via (errors/async-trace e)))))))
     nil]])

(deftest objects-from-before-a-reload-work
  (is (= [] (reloading/faults requires reloads rows))))
