;; SPDX-License-Identifier: Apache-2.0
(ns skein.async.async-block-test
  "`async` starts at once on the caller's thread, and returns a port like that of `go`. Its errors
  arrive."
  (:require
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! <? <?? async go]]
   [skein.async.streams :as st]
   [skein.deadline :refer [await-port within-deadline]]
   [skein.fresh-jvm :as fresh-jvm])
  (:import
   (java.util.concurrent CountDownLatch TimeUnit)
   (skein.rt Uncaught Uncaught$Report)))

(set! *warn-on-reflection* true)

(def ^:dynamic *who* :root)

(deftest a-block-runs-on-the-callers-thread-up-to-its-first-park
  (let [gate (a/chan)
        threads (atom [])
        note #(swap! threads conj (Thread/currentThread))
        result (async (note) (<! (go 1)) (note) :done)]
    (is (identical? (Thread/currentThread) (first @threads)))
    (is (= :done (await-port result)))
    (let [events (atom [])]
      (async (swap! events conj :before) (<! gate) (swap! events conj :after))
      (is (= [:before] @events) "what stands before the park is done when async returns"))))

(deftest a-result-that-is-ready-needs-no-worker
  (let [p (async (+ 1 2))]
    (is (= 3 (a/poll! p)))
    (is (nil? (a/poll! p)) "it is taken once")
    (is (nil? (<!! p)) "and the port is closed")))

(deftest an-operation-that-is-ready-does-not-park
  (let [c (doto (a/chan 1) (a/put! 5))]
    (is (= [5 (Thread/currentThread)] (a/poll! (async [(<! c) (Thread/currentThread)]))))))

(deftest the-same-exception-arrives
  (let [boom (ex-info "boom" {:x 1})
        fails #(async (throw boom))
        fails-later #(async (<! (a/timeout 1)) (throw boom))
        caught (fn [f] (try (f) (catch Exception e e)))]
    (is (identical? boom (caught #(<?? (fails)))))
    (is (identical? boom (caught #(<?? (fails-later)))))
    (is (identical? boom (await-port (go (try (<? (fails)) (catch Exception e e))))))
    (is (identical? boom (await-port (go (try (<? (fails-later)) (catch Exception e e))))))
    (is (identical? boom (caught #(<?? (async (<? (async (<? (fails-later)))))))) "through several blocks")))

(deftest a-failed-block-closes-its-port
  (let [p (async (throw (ex-info "seen nowhere" {})))]
    (is (nil? (await-port p)))
    (is (= "seen nowhere" (try (<?? p) (catch Exception e (ex-message e)))))))

(defn- reports-of
  "Calls `f`, which fails with `boom`. Waits for the uncaught-exception handler to get it, and returns what the handler got."
  [boom f]
  (let [seen (CountDownLatch. 1)
        reports (atom [])
        before (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler
      (reify Thread$UncaughtExceptionHandler
        (uncaughtException [_ _ t]
          (when (identical? t boom) (swap! reports conj t) (.countDown seen)))))
    (try
      (f)
      (is (.await seen 60 TimeUnit/SECONDS))
      @reports
      (finally (Thread/setDefaultUncaughtExceptionHandler before)))))

(deftest an-unobserved-failure-is-reported-once
  (let [boom (ex-info "nobody asks" {})]
    (is (= [boom] (reports-of boom (fn [] (async (throw boom)) nil))))
    (is (= [boom] (reports-of boom (fn [] (<!! (a/pipe (async (throw boom)) (a/chan))))))
        "nobody asks the channel to which the port was piped")
    (let [closed (doto (a/chan) a/close!)]
      (is (= [boom] (reports-of boom (fn [] (a/pipe (async (throw boom)) closed) nil))) "a channel that was closed before keeps nothing")
      (is (nil? (<?? closed))))))

(deftest an-unobserved-failure-of-a-channel-is-reported
  (let [boom (ex-info "nobody asks" {}), fails (fn [_] (throw boom))]
    (doseq [[what out] {"batch" #(st/batch 2 (async (throw boom)))
                        "the input of pmap" #(st/pmap 2 inc (async (throw boom)))
                        "a call of pmap" #(st/pmap 2 fails (a/to-chan! [1]))
                        "a call, not ordered" #(st/pmap {:n 2 :ordered? false} fails (a/to-chan! [1]))}]
      (testing what
        (is (= [boom] (reports-of boom (fn [] (<!! (out))))))))))

(deftest a-failure-that-is-taken-is-not-reported
  (doseq [take-it [<??
                   (fn passed-on [p] (<?? (a/pipe p (a/chan))))
                   (fn closed-with-it [p] (let [out (a/chan)] (<!! p) (a/close-with! out (a/cause p)) (<?? out)))
                   (fn as-the-failure-of-into [p] (<?? (a/into [] p)))]
          start [(fn [e] (go (throw e))) (fn [e] (async (throw e)))
                 (fn [e] (a/thread (throw e))) (fn [e] (a/io-thread (throw e)))]]
    (let [boom (ex-info "taken" {})]
      (is (identical? boom (try (take-it (start boom)) (catch Exception e e))))))
  (let [sentinel (ex-info "not taken" {})]
    (is (= [sentinel] (reports-of sentinel (fn [] (go (throw sentinel))))) "the time for reports has passed")
    (is (not-any? #{"taken"} (map (fn [^Uncaught$Report u] (ex-message (.thrown u))) (Uncaught/last))))))

(deftest a-plain-take-and-a-look-do-not-take-a-failure
  (let [boom (ex-info "not taken" {})]
    (is (= [boom] (reports-of boom (fn [] (let [p (go (throw boom))] (<!! p) (a/cause p))))))))

(deftest a-failure-that-was-reported-is-still-thrown
  (let [boom (ex-info "taken late" {}), port (volatile! nil)]
    (is (= [boom] (reports-of boom (fn [] (vreset! port (go (throw boom)))))))
    (is (identical? boom (try (<?? @port) (catch Exception e e))))))

(deftest unread-failures-are-reported-when-the-jvm-ends
  (let [printed (fresh-jvm/output
                  [] ["-e" (pr-str '(do (require '[skein.async :as a])
                                        (def unread (a/async (throw (ex-info "never taken" {}))))
                                        (def read (a/async (throw (ex-info "rethrown" {}))))
                                        (println (try (a/<?? read) (catch Exception e (ex-message e)))
                                                 (a/<!! (a/async (throw (ex-info "taken as nil" {})))))))])]
    (is (str/includes? printed "rethrown nil"))
    (is (= ["never taken" "taken as nil"]
           (sort (map second (re-seq #"ExceptionInfo: (.*) \{}" printed)))))))

;; In a shutdown hook, System/exit waits forever.
(deftest a-handler-that-exits-does-not-hang-the-jvm
  (let [printed (fresh-jvm/output
                  [] ["-e" (pr-str '(do (require '[skein.async :as a])
                                        (Thread/setDefaultUncaughtExceptionHandler
                                          (reify Thread$UncaughtExceptionHandler
                                            (uncaughtException [_ _ t]
                                              (.println System/out (str "handled " (ex-message t)))
                                              (System/exit 1))))
                                        (def unread (a/async (throw (ex-info "never taken" {}))))
                                        (System/exit 0)))])]
    (is (= ["handled never taken"] (str/split-lines printed)))))

(defn- nested [n] (async (if (pos? (long n)) (inc (long (<! (nested (dec (long n)))))) 0)))
(defn- nested-parking [n]
  (async (if (pos? (long n)) (inc (long (<! (nested-parking (dec (long n)))))) (do (<! (a/timeout 1)) 0))))

(deftest nesting-is-not-limited-by-the-stack
  (is (= 100000 (await-port (nested 100000))))
  (is (= 100000 (await-port (nested-parking 100000)))))

(deftest bindings-are-the-callers-and-stay-the-callers
  (binding [*who* :caller]
    (let [gate (a/chan)
          p (async (let [before *who*]
                     (binding [*who* :inside]
                       (<! gate)
                       [before *who*])))]
      (is (= :caller *who*) "after a park inside a binding of the block's own")
      (a/close! gate)
      (is (= [:caller :inside] (await-port p))))))

(deftest blocks-inside-blocks
  (is (= [1 2 3] (await-port (go [(<! (async 1)) (<! (go (<! (async (<! (go 2)))))) (<! (async (<! (a/timeout 1)) 3))])))))
