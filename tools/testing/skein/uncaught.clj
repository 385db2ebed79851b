;; SPDX-License-Identifier: Apache-2.0
(ns skein.uncaught
  "Exceptions that reach the uncaught-exception handler while a test runs."
  (:require
   [skein.deadline :refer [deadline-ms]]))

(set! *warn-on-reflection* true)

(defn await-uncaught
  "Calls `f` and waits for an uncaught exception that satisfies `expected?`, on any thread.
  Returns [value-of-f exception], or [value-of-f ::late] at the deadline."
  [expected? f]
  (let [seen (promise)
        before (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler
      (reify Thread$UncaughtExceptionHandler
        (uncaughtException [_ _ thrown]
          (when (expected? thrown) (deliver seen thrown)))))
    (try
      (let [value (f)]
        [value (deref seen deadline-ms ::late)])
      (finally (Thread/setDefaultUncaughtExceptionHandler before)))))
