;; SPDX-License-Identifier: Apache-2.0
(ns skein.sim.tokens-test
  "A file keeps the schedules that have failed, and a check replays them first."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :as test :refer [deftest is]]
   [skein.async :refer [<!! >! chan go]]
   [skein.sim :as sim])
  (:import
   (java.nio.file Files)
   (java.nio.file.attribute FileAttribute)))

(set! *warn-on-reflection* true)

(defn- transfer
  "Two blocks that change an account. `write` writes what one of them has read."
  [write]
  (let [account (atom 100), audit (chan 10)
        withdraw (fn [n] (go (let [balance @account] (>! audit n) (write account balance n))))]
    (run! <!! [(withdraw 30) (withdraw 50)])
    (assert (= 20 @account))))

(def ^:private loses (fn [account balance n] (reset! account (- (long balance) (long n)))))
(def ^:private keeps (fn [account _ n] (swap! account - n)))

(defn- check-as
  "The summary of a check in the test `v`, whose reports are dropped."
  [v options write]
  (binding [test/*testing-vars* (list v), test/report (fn [_])]
    (sim/check* options (fn [] (transfer write)) {} nil)))

(defmacro ^:private with-path
  "Binds `path` to the path of a file that does not exist yet, in a folder that neither does."
  [[path] & body]
  `(let [dir# (str (Files/createTempDirectory "tokens" (make-array FileAttribute 0)))
         ~path (str dir# "/new/tokens.txt")]
     (try ~@body (finally (run! io/delete-file (reverse (file-seq (io/file dir#))))))))

(deftest a-schedule-that-failed-is-replayed-first
  (with-path [path]
    (let [found (check-as #'transfer {:tokens path :seed 1} loses)
          lines (str/split-lines (slurp path))]
      (is (= :skein/sim-failed (:failure found)))
      (is (= [(str "skein.sim.tokens-test/transfer " (:token found))] (rest lines)))
      (is (= (select-keys found [:failure :token])
             (select-keys (check-as #'transfer {:tokens path :schedules 1 :seed 1} loses) [:failure :token]))
          "one schedule alone does not find it")
      (is (nil? (:failure (check-as #'transfer {:schedules 1 :seed 1} loses))))
      (is (= lines (str/split-lines (slurp path))) "it is kept once"))))

(deftest a-schedule-that-fails-no-more-is-no-failure
  (with-path [path]
    (check-as #'transfer {:tokens path} loses)
    (is (= 50 (:schedules (check-as #'transfer {:tokens path :schedules 50} keeps))))))

(deftest other-tests-have-other-schedules
  (with-path [path]
    (check-as #'transfer {:tokens path} loses)
    (is (nil? (:failure (check-as #'keeps {:tokens path :schedules 1} loses))))))

(deftest no-file-is-written-unless-a-test-fails
  (with-path [path]
    (check-as #'transfer {:tokens path :schedules 5} keeps)
    (binding [test/*testing-vars* nil]
      (is (thrown? clojure.lang.ExceptionInfo (sim/check* {:tokens path} (fn [] (transfer loses)) {} nil))))
    (is (not (.exists (io/file path))))))
