;; SPDX-License-Identifier: Apache-2.0
(ns skein.first-failure-test
  "Failures of programs that have failed never before: an exception may need a class that is not loaded yet."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.fresh-jvm :as fresh-jvm]))

(set! *warn-on-reflection* true)

(defn- program
  "Returns a program whose `form` uses up its file descriptors, which is the first failure in the program. It then frees them,
  and prints what the form has thrown. The form calls (exhaust)."
  [form]
  (list 'do
        '(require '[skein.async :as a] '[skein.scope :as s] '[skein.virtual :as v])
        '(Thread/setDefaultUncaughtExceptionHandler (reify Thread$UncaughtExceptionHandler (uncaughtException [_ _ _])))
        '(def held (atom []))
        '(defn exhaust [] (loop [] (swap! held conj (java.net.ServerSocket. 0)) (recur)))
        (list 'def 'outcome (list 'future (list 'try form '(catch Throwable e (Throwable->map e)))))
        '(deref outcome 10000 nil)
        '(run! (fn [s] (.close s)) @held)
        '(println (mapv :type (:via (deref outcome 10000 nil))))
        '(System/exit 0)))

(defn- first-failure [form]
  (fresh-jvm/output [] ["-e" (pr-str (program form))] :before ["sh" "-c" "ulimit -n 300 && exec \"$@\"" "sh"]))

(deftest a-first-failure-without-descriptors-arrives
  (doseq [[form expected] {'(deref (v/future (exhaust))) "[java.util.concurrent.ExecutionException java.net.SocketException]"
                           '(a/<?? (a/go (exhaust))) "[java.net.SocketException]"
                           '(a/<?? (a/thread (exhaust))) "[java.net.SocketException]"
                           '(s/scope [sc] (s/fork sc (exhaust))) "[java.net.SocketException]"
                           '(doall (v/pmap 2 (fn [_] (exhaust)) [1])) "[java.net.SocketException]"}]
    (is (= expected (first-failure form)) (pr-str form))))
