;; SPDX-License-Identifier: Apache-2.0
(ns skein.prompt-timers
  "Timers that are never late: what happens if a timeout fires before anybody waits for it."
  (:import [skein.rt Scheduler Scheduler$Dispatcher]))

(set! *warn-on-reflection* true)

(defmacro with-prompt-timers
  "Evaluates the body while timeouts fire as soon as they are made."
  [& body]
  `(do
     (Scheduler/dispatcher (reify Scheduler$Dispatcher
                             (execute [_# work#] (Thread/startVirtualThread ^Runnable work#))
                             (nanoTime [_#] (System/nanoTime))
                             (schedule [_# work# _#] (.run ^Runnable work#))))
     (try ~@body (finally (Scheduler/dispatcher nil)))))
