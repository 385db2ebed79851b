;; SPDX-License-Identifier: Apache-2.0
(ns skein.uncaught
  "Exceptions that reach the uncaught-exception handler while a test runs."
  (:require
   [skein.deadline :refer [deadline-ms within-deadline]]))

(set! *warn-on-reflection* true)

(defn- await-with
  [expected? f await-seen]
  (let [seen (promise)
        before (Thread/getDefaultUncaughtExceptionHandler)]
    (Thread/setDefaultUncaughtExceptionHandler
      (reify Thread$UncaughtExceptionHandler
        (uncaughtException [_ _ thrown]
          (when (expected? thrown) (deliver seen thrown)))))
    (try
      (let [value (f)]
        [value (await-seen seen)])
      (finally (Thread/setDefaultUncaughtExceptionHandler before)))))

(defn await-uncaught
  "Calls `f` and waits for an uncaught exception that satisfies `expected?`, on any thread.
  Returns [value-of-f exception], or [value-of-f ::late] at the deadline."
  [expected? f]
  (await-with expected? f (fn [seen] (deref seen deadline-ms ::late))))

(defn await-unread
  "Like `await-uncaught`, for an exception that is reported when the object that holds it is garbage."
  [expected? f]
  (await-with expected? f
              (fn [seen]
                (within-deadline
                  (loop []
                    (System/gc)
                    (if (= ::none (deref seen 10 ::none)) (recur) @seen))))))
