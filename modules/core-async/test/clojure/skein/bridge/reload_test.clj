;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.reload-test
  "Ports and machines from before a reload of core.async's namespaces continue to work."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.reloading :as reloading]))

(set! *warn-on-reflection* true)

(def ^:private requires
  '[[clojure.core.async :as a] [clojure.core.async.impl.go :as go] [clojure.core.async.impl.ioc-macros :as ioc]
    [clojure.core.async.impl.protocols :as protocols] [clojure.core.async.lab :as lab]])

(def ^:private reloads
  '[(run! (fn [n] (require n :reload))
          '[clojure.core.async.impl.protocols clojure.core.async.impl.buffers clojure.core.async.impl.channels clojure.core.async.impl.go
            clojure.core.async.impl.ioc-macros clojure.core.async clojure.core.async.lab])
    (require 'clojure.core.async 'clojure.core.async.lab 'clojure.core.async.impl.go :reload-all)])

(def ^:private rows
  '[[:channel
     (a/chan 1)
     (fn [c] [(a/>!! c 1) (a/<!! c) (= clojure.core.async.impl.channels.ManyToManyChannel (type c))])
     [true 1 true]]
    [:mult (let [c (a/chan)] [c (a/mult c)]) (fn [[c m]] (let [tap (a/tap m (a/chan 1))] (a/>!! c 1) (a/<!! tap))) 1]
    [:multiplex (let [c (a/chan 1)] [c (lab/multiplex c (a/chan))]) (fn [[c port]] (a/>!! c 1) (a/<!! port)) 1]
    [:broadcast (let [c (a/chan 1)] [c (lab/broadcast c (a/chan 1))]) (fn [[c port]] (a/>!! port 1) (a/<!! c)) 1]
    [:own-type
     (do (deftype Own [] protocols/ReadPort (take! [_ _] (atom 1)))
         (deftype Named [] clojure.core.async.impl.protocols.ReadPort (take! [_ _] (atom 1)))
         [(->Own) (->Named)])
     (fn [ports] (mapv (juxt (partial satisfies? protocols/ReadPort) a/<!!) ports))
     [[true 1] [true 1]]]
    [:waiting-machine
     (do (defmacro machine [done & body]
           `(-> (~(go/state-machine `(do ~@body) 1 [nil &env] ioc/async-custom-terminators))
                (ioc/aset-all! ioc/USER-START-IDX ~done)
                ioc/run-state-machine-wrapped))
         (let [c (a/chan) done (a/chan 1)] (machine done [(a/<! c) (a/<! c)]) [c done]))
     (fn [[c done]] (a/>!! c 1) (a/>!! c 2) (a/<!! done))
     [1 2]]])

(deftest ports-and-machines-from-before-a-reload-work
  (is (= [] (reloading/faults requires reloads rows))))
