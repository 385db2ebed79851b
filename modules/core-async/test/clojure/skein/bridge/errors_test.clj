;; SPDX-License-Identifier: Apache-2.0
(ns skein.bridge.errors-test
  "The exceptions of blocks and threads, on the bridge: reported at once, and passed on by nothing, as core.async does."
  (:require
   [clojure.core.async :as theirs]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a]
   [skein.deadline :refer [within-deadline]])
  (:import
   (java.util.concurrent SynchronousQueue TimeUnit)))

(set! *warn-on-reflection* true)

(deftest exceptions-are-reported-and-not-passed-on
  (doseq [[what start] {"go" (fn [e] (theirs/go (throw e)))
                        "go-loop" (fn [e] (theirs/go-loop [] (throw e)))
                        "thread" (fn [e] (theirs/thread (throw e)))
                        "io-thread" (fn [e] (theirs/io-thread (throw e)))}]
    (testing what
      (let [boom (ex-info "boom" {})
            told (SynchronousQueue.) ; the port closes before its handler is told, or the handler would wait for ever
            before (Thread/getDefaultUncaughtExceptionHandler)]
        (Thread/setDefaultUncaughtExceptionHandler
          (reify Thread$UncaughtExceptionHandler
            (uncaughtException [_ _ t] (when (identical? boom t) (.put told t)))))
        (try
          (let [port (start boom), all (theirs/into [] port)]
            (is (= [] (within-deadline (a/<?? all))))
            (is (identical? boom (.poll told 60 TimeUnit/SECONDS)))
            (is (identical? boom (try (a/<?? port) (catch Exception e e))) "<? throws it too"))
          (finally (Thread/setDefaultUncaughtExceptionHandler before)))))))
