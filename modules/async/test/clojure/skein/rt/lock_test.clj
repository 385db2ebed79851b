;; SPDX-License-Identifier: Apache-2.0
(ns skein.rt.lock-test
  "The lock of channels, beyond what jcstress checks."
  (:require
   [clojure.test :refer [deftest is]]
   [skein.deadline :refer [within-deadline]])
  (:import
   (java.util.concurrent.locks LockSupport)
   (skein.rt Channel Lock)))

(set! *warn-on-reflection* true)

(defn- caller
  "Returns a function that calls a method of Lock, which are protected."
  [^String method-name]
  (let [m (doto (.getDeclaredMethod Lock method-name (make-array Class 0)) (.setAccessible true))]
    (fn call [lock] (.invoke m lock (object-array 0)))))

(deftest waiting-for-the-lock-keeps-an-unpark-for-the-caller
  (let [lock! (caller "lock")
        unlock! (caller "unlock")
        c (Channel. nil)
        waiter (Thread. (fn wait []
                          (LockSupport/unpark (Thread/currentThread)) ; what it waits for has happened meanwhile
                          (lock! c)
                          (unlock! c)
                          (LockSupport/park)))]
    (lock! c)
    (.start waiter)
    (while (not= Thread$State/TIMED_WAITING (.getState waiter)) (Thread/onSpinWait)) ; it sleeps for the lock
    (unlock! c)
    (is (within-deadline (.join waiter) true))))
