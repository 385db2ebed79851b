;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.target-test
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is]]
   [skein.async :as a :refer [<! chan go]]
   [skein.console.target :as target]
   [skein.inspect :as inspect])
  (:import
   (clojure.lang ExceptionInfo)
   (java.io File)))

(set! *warn-on-reflection* true)

(defn- refused [s]
  (try (target/target s) nil
       (catch ExceptionInfo e (:skein/error (ex-data e)))))

(deftest what-is-no-target-is-refused
  (is (= :skein/not-inspectable (refused "no-such-file.edn") (refused "999999999") (refused "127.0.0.1:1")))
  (is (= :skein/not-a-dump (refused "deps.edn")))
  (is (= :skein/not-a-heap-file (refused "LICENSE"))))

(deftest this-process-is-left-as-it-was
  (inspect/stop!)
  (let [{:keys [look close! live? paths]} (target/target nil)
        c (inspect/label! (chan) "kept")]
    (go (<! c))
    (loop [] (when-not (some (comp #{"kept"} :label) (:channels (look false))) (recur)))
    (is live?)
    (is (some #(str/ends-with? % "test/clojure") (paths)))
    (close!)
    (is (not (inspect/on?)))
    (a/close! c))
  (inspect/start!)
  ((:close! (target/target nil)))
  (is (inspect/on?) "it was on before")
  (inspect/stop!))

(deftest a-dump-is-a-target-that-does-not-live
  (let [file (File/createTempFile "skein-console" ".edn")]
    (try
      (inspect/start!)
      (inspect/dump! (str file))
      (let [{:keys [look live? name]} (target/target (str file))]
        (is (not live?))
        (is (= (str (.getName file) ", a file") name))
        (is (= 1 (:skein/snapshot (look false)))))
      (finally (inspect/stop!) (io/delete-file file)))))
