;; SPDX-License-Identifier: Apache-2.0
(ns skein.deadline
  "Deadlines for concurrency tests: what is stuck is dumped, then the test fails."
  (:require [clojure.test :as test]
            [skein.async :as a]))

(set! *warn-on-reflection* true)

(def ^:const deadline-ms
  "Generous, because it is reached only by a test that hangs."
  30000)

(defn- print-threads []
  (println (skein.rt.Scheduler/describe))
  (doseq [[^Thread thread frames] (Thread/getAllStackTraces)
          :when (seq frames)]
    (println "Thread" (.getName thread) (str (.getState thread)))
    (doseq [frame frames] (println "   " (str frame)))))

(defn await-port
  "Takes from `port` on this thread; at the deadline prints all threads, fails the test
  and returns ::late."
  [port]
  (let [late (a/timeout deadline-ms)
        [v p] (a/alts!! [port late] :priority true)]
    (a/close! late)
    (if (identical? p late)
      (do (test/is (not (identical? p late)) "the deadline passed")
          (print-threads)
          ::late)
      v)))

(defmacro within-deadline
  "Evaluates the body on a thread of its own; its value, or ::late at the deadline.
  An exception fails the test."
  [& body]
  `(let [result# (await-port (a/thread (try [:value (do ~@body)] (catch Throwable t# [:thrown t#]))))]
     (if (and (vector? result#) (= :thrown (result# 0)))
       (throw (result# 1))
       (if (= ::late result#) ::late (result# 1)))))
