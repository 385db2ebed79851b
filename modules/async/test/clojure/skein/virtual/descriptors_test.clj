;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.descriptors-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.fresh-jvm :as fresh-jvm]
   [skein.skip :refer [skip!]]
   [skein.virtual.descriptors :as descriptors])
  (:import
   (java.io IOException)
   (java.net SocketException)))

(set! *warn-on-reflection* true)

(deftest usage-counts-and-limits
  (if-some [{:keys [open limit]} (descriptors/usage)]
    (is (< 0 (long open) (long limit)))
    (skip! "there is no /dev/fd"))
  (is (= (some? (descriptors/usage))
         (.isDirectory (java.io.File. "/dev/fd")))
      "known where there is such a thing"))

(deftest running-out-of-descriptors-is-explained
  (let [refused (SocketException. "Too many open files")
        thrown (IOException. "could not connect" refused)
        e (try ((descriptors/explaining (fn [_] (throw thrown))) 1) (catch Exception e e))]
    (is (= :skein/too-many-open-files (:skein/error (ex-data e))))
    (is (identical? thrown (ex-cause e)))
    (is (re-find #"ulimit -n" (ex-message e)))))

(deftest other-exceptions-pass-as-they-are
  (let [thrown (IOException. "no route to host")]
    (is (identical? thrown (try ((descriptors/explaining (fn [] (throw thrown)))) (catch Exception e e))))
    (is (= [[] [1] [1 2 3]] (let [f (descriptors/explaining vector)] [(f) (f 1) (f 1 2 3)])))))

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
                           '(doall (v/wmap 2 (fn [_] (exhaust)) [1])) "[clojure.lang.ExceptionInfo java.net.SocketException]"}]
    (is (= expected (first-failure form)) (pr-str form))))
