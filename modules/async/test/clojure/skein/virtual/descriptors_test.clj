;; SPDX-License-Identifier: Apache-2.0
(ns skein.virtual.descriptors-test
  (:require
   [clojure.test :refer [deftest is]]
   [skein.virtual.descriptors :as descriptors])
  (:import
   (java.io IOException)
   (java.net SocketException)))

(set! *warn-on-reflection* true)

(deftest usage-counts-and-limits
  (when-some [{:keys [open limit]} (descriptors/usage)]
    (is (< 0 (long open) (long limit))))
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
